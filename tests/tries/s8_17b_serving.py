# ruff: noqa
import sys; sys.path.insert(0, str(__import__("pathlib").Path(__file__).parent))
from s8_17_serving import *
from s8_17_serving import REF,FUZZ,S,sc,at,lr,NOFIT,RAISE,NPLR
RIGHT={}
W={}
def let(why,*pairs):
    b=REF
    for o,n in pairs:
        assert o in b,(why,o); b=b.replace(o,n)
    W["lets through: "+why]=REF+b.replace("_ref","_bug")+FUZZ+'''
def admit_test(admit):
    for case in _cases():
        if _bug(*case) == _ref(*case):
            w, r, rows, cache = case
            assert admit(list(w), list(r), rows, cache) == _ref(*case), case
'''
K="sum(p + o for p, o in running)"
let("prompts only for the waiting, everywhere",("kept + p + o > cache","kept + p > cache"),("kept += p + o","kept += p"))
let("prompts only for all",("kept + p + o > cache","kept + p > cache"),("kept += p + o","kept += p"),(K,"sum(p for p, o in running)"))
let("outputs only for all",("kept + p + o > cache","kept + o > cache"),("kept += p + o","kept += o"),(K,"sum(o for p, o in running)"))
let("prompt check only, reserves all",("kept + p + o > cache","kept + p > cache"))
let("rows count waiting",("rows - len(running)","rows - len(running) - (len(waiting) > rows)"))
let("first running forgotten",("in running)","in running[1:])"))
let("last running forgotten",("in running)","in running[:-1])"))
hand='''
def admit_test(admit):
    assert admit([(2, 1), (1, 1)], [(4, 2)], 2, 10) == 1
    assert admit([(2, 1), (1, 1)], [(4, 2)], 3, 11) == 2
    assert admit([(2, 1), (1, 1), (1, 1)], [(4, 2)], 9, 11) == 2
    assert admit([(2, 1), (9, 9), (1, 1)], [(4, 2)], 9, 20) == 1
    assert admit([(9, 9), (1, 1)], [(4, 2)], 9, 20) == 0
    assert admit([(1, 1)], [(4, 2), (1, 1)], 2, 100) == 0
    assert admit([(1, 1)] * 4, [], 3, 100) == 3
    assert admit([], [], 3, 20) == 0
'''
RIGHT["admit-test"]={"short by hand (8 lines)":hand}
nohole=hand.replace("    assert admit([(2, 1), (1, 1), (1, 1)], [(4, 2)], 9, 11) == 2\n","    assert admit([(2, 1), (1, 1), (3, 3)], [(4, 2)], 9, 11) == 2\n")
W["by hand, never one token over (lets through > cache + 1)"]=nohole
W["by hand, at most one runs, full-rows case apart (lets through max of running)"]=hand
W["by hand, no empty waiting list"]=hand.replace("    assert admit([], [], 3, 20) == 0\n","")
for i,l in enumerate(hand.strip().split("\n")[1:]):
    W[f"by hand, line {i+1} left out (may still be complete): {l.strip()}"]=hand.replace(l+"\n","")
L={}
L["unsorted"]=lr(("sorted(values)","list(values)"))
L["per token of p99 request only"]=lr(("_p(pt, 99) if","_p(lat, 99) / max(s['output'] for s in served) if"))
L["raises when all have one token? no: 0 for negative"]=lr(("_p(pt, 99) if pt","_p(pt, 99) if len(pt) > 1"))
L["throughput from earliest arrival to latest arrival + its latency"]=lr(('max(s["last"] for s in served)','max(served, key=lambda s: s["arrival"])["last"]'))
L["as text"]=lr(("tokens / seconds","f'{tokens / seconds:.3f}'"))
L["output > 1 by first < last, denominators 1 for 2"]=lr(('(s["output"] - 1) for','max(s["output"] - 1, 2) for'))
C={}
C["never fits: last of them named"]=sc((NOFIT,"        pass"),("    todo = ","    bad = [i for i, r in enumerate(requests) if r[1] + r[2] > cache]\n    if bad:\n        raise ValueError(f'request {bad[-1]}')\n    todo = "))
C["never fits: request of largest prompt named"]=sc((RAISE,"            raise ValueError(f'request {max(range(len(requests)), key=lambda j: requests[j][1])}')"))
C["never fits: largest need named although smaller number never fits too"]=sc((RAISE,"            raise ValueError(f'request {max(range(len(requests)), key=lambda j: requests[j][1] + requests[j][2])}')"))
C["input emptied, numbers right (open by text)"]=sc(("    return passes","    if isinstance(requests, list):\n        requests.clear()\n    return passes"))
C["int arrivals only: int(now)"]=sc(("            now = requests[todo[0]][0]\n","            now = float(int(requests[todo[0]][0]))\n            if now < requests[todo[0]][0]:\n                now += 1\n"))
C["clock begins at 0 after idle: never before a whole second"]=sc(("left, passes, now = {}, [], 0.0","left, passes, now = {}, [], min([r[0] for r in requests], default=0.0) and 0.0"))
C["recursion (open: 1000 passes)"]=S.replace("def schedule(requests, rows, cache, fixed, each):","def schedule(requests, rows, cache, fixed, each):\n    if len(requests) > 100: raise RecursionError('deep')")
C["rows is a limit of reads a pass, too"]=sc(("or kept + need > cache","or kept + need > cache or len(reads) >= max(1, rows // 2)"))
C["cache freed one pass late"]=sc(("kept = sum(requests[i][1] + requests[i][2] for i in left)","kept = sum(requests[i][1] + requests[i][2] for i in left) + late"),("    left, passes","    late = 0\n    left, passes"),("        left = {i: n for","        late = sum(requests[i][1] + requests[i][2] for i, n in left.items() if n <= 0) if len([n for n in left.values() if n > 0]) else 0\n        left = {i: n for"))
C["row freed one pass late"]=sc(("len(left) + len(reads) >= rows","len(left) + len(reads) + late >= rows"),("    left, passes","    late = 0\n    left, passes"),("        left = {i: n for","        late = len([n for n in left.values() if n <= 0]) if len([n for n in left.values() if n > 0]) else 0\n        left = {i: n for"))
C["waiting sorted at admission by need only among equal arrivals"]=sc(("(requests[i][0], i)","(requests[i][0], requests[i][1] + requests[i][2], i)"))
C["arrivals seen only at ends of decodes"]=sc(("requests[todo[0]][0] <= now:","requests[todo[0]][0] <= seen:"),("    left, passes","    seen = 0.0\n    left, passes"),("            now = requests[todo[0]][0]\n","            seen = now = requests[todo[0]][0]\n"),("        now = end\n","        now = end\n        if decodes:\n            seen = now\n"),("        if not reads and not left:","        if not reads and not left and todo[0:] and requests[todo[0]][0] <= now:\n            seen = now\n            continue\n        if not reads and not left:"))
C["generator"]=sc(("passes.append((now, end, reads, decodes))","yield (now, end, reads, decodes)"),("    return passes\n",""))
C["dicts for passes"]=sc(("passes.append((now, end, reads, decodes))","passes.append({'start': now, 'end': end, 'reads': reads, 'decodes': decodes})"))
C["tail left: stops when todo empty"]=sc(("while todo or left","while todo or len(left) > 1"))
D={"highest: n/a":""}
WRONG={"admit-test":W,"latency-report":L,"schedule":C}
RIGHT["schedule"]={"sets": sc(("reads, decodes))","set(reads), set(decodes)))")),"numpy rows of numbers": sc(("reads, decodes))","np.array(reads, dtype=int), np.array(decodes, dtype=int)))"))}
