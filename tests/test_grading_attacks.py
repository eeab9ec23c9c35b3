"""Attacks on the engine by somebody who reads it: no point for any, and the next one is graded."""

# ruff: noqa: E501  (code of students stands on one line)

import json
import re
import sys
from pathlib import Path

import pytest

from batchlab import grading
from batchlab.grading import Engine, total
from tests.torture_lesson import cell, notebook, right_but, sent, written

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks"),
]
LINE = """import gc
from batchlab.grading._wire import Peer
(peer,) = [one for one in gc.get_objects() if isinstance(one, Peer)]
say = lambda tree: peer.channel.send(tree, [])
"""
IN_A_CALL = {
    "thirty early replies": LINE + "for _ in range(30): say(['d', ['value', 8], ['number', 1], ['found', ['d']]])",
    "a function of the checker": LINE + "say(['d', ['value', ['F', 0]]])",
    "arguments that became long": LINE + "say(['d', ['value', 8], ['changed', ['l', ['l', 0, ['L', [1] * 150000]]]]])",
    "arguments that are not there": LINE + "say(['d', ['value', 8], ['changed', ['l', ['l', 99, 1]]]])",
    "arguments of another kind": LINE + "say(['d', ['value', 8], ['changed', ['l', ['l', 0, 5]]]])",
    "an earlier result": LINE + "say(['d', ['value', 8], ['number', 1], ['earlier', ['l', ['l', 0, 8]]]])",
    "a message of numbers": LINE + "say(['d', [1, 2]])",
    "a question to the checker": LINE + "return peer.ask('get', of=1, name='x')",
    "a call of the checker": LINE + "return peer.ask('call', of=1, given=[[], {}])",
    "a verdict": "from batchlab.classroom.verdict import CheckFailed\nraise CheckFailed('Right.')",
    "the end of the line": "from batchlab.classroom.afar import Gone\nraise Gone('x')",
    "too much": "from batchlab.grading._values import Flood\nraise Flood('x')",
    "the end of a stream": "raise StopIteration",
    "markup": "raise ValueError('<script>alert(1)</script>\\x1b[2J')",
    "half letters": "raise ValueError('\\ud800' * 100)",
    "a class with a long name": "raise type('E' * 10**6, (Exception,), {})('x')",
    "three thousand classes": "kind = Exception\nfor n in range(300): kind = type(f'E{n}', (kind,), {})\nraise kind",
    "signals to everybody": "import os\nfor one in range(1, 50):\n    try: os.kill(one, 9)\n    except OSError: pass",
    "all doors closed": "import os\nos.closerange(0, 300)",
    "noise on every door": "import os\nfor one in range(3, 20):\n    try: os.write(one, b'x' * 100)\n    except OSError: pass",
    "two answers of two processes": "import os\nos.fork()\nreturn 0",
    "no limit": "import resource\ntry: resource.setrlimit(resource.RLIMIT_DATA, (-1, -1))\nexcept Exception: pass\nreturn len([bytearray(1 << 24) for _ in range(400)])",
    "another 8": "import ctypes\nctypes.memset(id(8), 0, 32)\nreturn 8",
    "a number that equals all": "return type('I', (int,), {'__eq__': lambda *a: True, '__hash__': int.__hash__})(3)",
    "memory of no process": "import os\nreturn 8 * (os.memfd_create('x') > 0)",
    "memory of System V": "import ctypes\nlibc = ctypes.CDLL(None)\nreturn 8 * (libc.shmget(0, 1 << 20, 0o1600) >= 0 or libc.semget(0, 1, 0o1600) >= 0 or libc.msgget(0, 0o1600) >= 0)",
    "keys of one hash": LINE + "say(['d', ['value', ['d', *[[['I', hex(k * (2**61 - 1))], 0] for k in range(1, 90_000)]]], ['number', 1]])",
    "members of one hash": "return {k * (2**61 - 1) for k in range(1, 3_000)}",
    "a class that another one imports": LINE + "say(['d', ['value', ['N', 'numpy', 'os._wrap_close']], ['number', 1]])",
    "a text of millions of letters": LINE + "say(['d', ['error', ['d', ['names', ['L', ['ValueError']]], ['text', 'x1,' * 5_000_000], ['bare', False], ['complaint', ''], ['innermost', '']]]])",
    "an end that never comes": "class S:\n    def __del__(self):\n        while True: pass\nS()\nreturn 0",
}  # fmt: skip
IN_A_CELL = {
    "names that are numbers": "from batchlab.grading import _student\n_student._Notebook.named = lambda self, asked: {'found': dict.fromkeys(asked['names'], 8), 'printed': 0}",
    "calls that are right": "from batchlab.grading import _far\n_far._Called.call = lambda self, asked: {'value': 8, 'number': 1}",
    "what is packed": "from batchlab.grading import _packing\n_packing.Packing.tree = lambda self, value, depth: 8",
    "answers to come": "import json\njson.dumps = lambda *a, **k: '[\"d\",[\"value\",8]]'",
    "what is sent": "from batchlab.grading import _codec\n_codec.Codec.pack = lambda self, value, frozen=False: (['d', ['value', 8]], [])",
    "another program": "import os, sys\nos.environ['LD_PRELOAD'] = 'x.so'\nos.execv(sys.executable, [sys.executable, '-c', 'print(8)'])",
    "Python itself": "import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.type = builtins.sum = builtins.len = lambda *a: 8",
    "who looks at frames": "import sys\ndef look(frame, event, given):\n    frame.f_locals.update(reply={'value': 8})\n    return look\nsys.settrace(look)\nsys.setprofile(look)",
    "an audit hook": "import sys\ndef hook(event, given):\n    if event == 'compile': raise RuntimeError('no')\nsys.addaudithook(hook)",
    "a storm of signals": "import signal\ndef end(*a): raise KeyboardInterrupt\nsignal.signal(signal.SIGALRM, end)\nsignal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)",
    "no modules": "import sys\nsys.modules.clear()",
    "all names the same": "class Same(dict):\n    def __missing__(self, key): return 8\nglobals().update(total=8, parts=8)",
}  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    teacher = written(tmp_path_factory.mktemp("course"))
    with Engine(
        teacher, seed="zq-autumn-81", cpu_seconds=1, wall_seconds=20, memory=1 << 29
    ) as one:
        yield one
        assert total(one.grade(json.dumps(sent()).encode())) == 10, "the next one is graded as ever"


IN_A_TEST = {
    "names of the versions": "assert total.__name__ != '<lambda>' or vars(total.stand)['name'] != '<lambda>'",
    "a count of the calls": "import os\n    open(f'{len(os.listdir())}', 'w').close()\n    assert len(os.listdir()) < 3",
    "a class of mine": "class X(int):\n        __add__ = __radd__ = lambda *a: 5\n    assert total([X(2), X(3)]) == 5",
    "calls in calls without end": "class S:\n        __iter__ = lambda self: self\n        __next__ = lambda self: total(S())\n    total(S())",
    "calls of what is not mine": LINE.replace("\n", "\n    ") + "for n in range(50): peer.channel.send(['d', ['ask', 'call'], ['of', ['F', n]], ['given', ['l', ['u'], ['d']]], ['fresh', False]], [])\n    assert 0",
    "what ours says of itself": "try: total(5)\n    except Exception as error: assert 'some' in str(vars(error))",
}  # fmt: skip


@pytest.mark.parametrize("code", IN_A_TEST.values(), ids=IN_A_TEST)
def test_a_test_learns_nothing_but_what_a_version_does(engine, code):
    source = f"def total_test(total):\n    {code}"
    judged = engine.grade(json.dumps(right_but(total_test=source)).encode())
    assert judged[3].points == 0 and judged[0].points == 2 and judged[3].verdict != "INFRA"


@pytest.mark.parametrize("code", IN_A_CALL.values(), ids=IN_A_CALL)
def test_an_attack_in_a_call_gets_nothing(engine, code):
    body = "\n".join(f"    {line}" for line in code.splitlines())
    judged = engine.grade(json.dumps(right_but(total=f"def total(lengths):\n{body}")).encode())
    assert judged[0].points == 0 and judged[0].verdict != "INFRA"


@pytest.mark.parametrize("code", IN_A_CELL.values(), ids=IN_A_CELL)
def test_an_attack_in_a_cell_gets_nothing(engine, code):
    judged = engine.grade(json.dumps(notebook([cell("x", code), *sent({})["cells"]])).encode())
    assert total(judged) == 0


def test_the_questions_that_a_students_process_is_asked_are_these():
    """None of them asks for a verdict: cells run, names are found, calls and their parts come back."""
    home = Path(grading.__file__).parent
    text = "\n".join(path.read_text() for path in home.glob("*.py"))
    assert set(re.findall(r"\.ask\(\s*\"(\w+)\"", text)) == {
        "call",
        "cell",
        "get",
        "named",
        "next",
        "taken",
    }
