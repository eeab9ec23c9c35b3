# ruff: noqa
import runpy
_n = runpy.run_path(str(__import__('pathlib').Path(__file__).with_name('s8_15_many.py')))
rm, es, ss, rt = _n["rm"], _n["es"], _n["ss"], _n["rt"]
RIGHT = {
"rank-mean": {
 "bare raise ValueError": rm(err="raise ValueError"),
 "raise ValueError()": rm(err="raise ValueError()"),
 "reduce_scatter and all_gather, with a message": _n["RIGHT"]["rank-mean"]["reduce_scatter then all_gather, scalar arrays"].replace("raise ValueError", "raise ValueError('x')"),
 },
"exact-step": {"bare raise ValueError": es(err="raise ValueError"), "raise ValueError()": es(err="raise ValueError()")},
}
WRONG = {
"rank-mean": {
 "room for four ranks": _n["WRONG"]["rank-mean"]["room for four ranks"].replace("raise ValueError", "raise ValueError('x')"),
 "loss zero sends no tokens, refuses only if none has tokens": _n["WRONG"]["rank-mean"]["a rank with loss zero sends no tokens, but refuses only if none has tokens"].replace("raise ValueError", "raise ValueError('x')"),
 "single precision on the wire: seventh digit": rm(arr="np.array([loss, tokens], dtype=np.float32)"),
 "single precision on the wire and tokens in it above 2**24 are not whole": rm(arr="np.array([loss, tokens], dtype=np.float32).astype(np.float64)"),
},
"exact-step": {
 "everybody's whole gradients gathered, in two collectives": es(flat="rank.all_gather(np.concatenate([total[n].ravel() for n in names] + [[loss, tokens]])).reshape(rank.world_size, -1).sum(0)", err="raise ValueError('x')"),
 "max_norm 0 switches clipping off (open)": es(clip="if max_norm and norm > max_norm: grad = grad * (max_norm / norm)"),
 "rank 0's loss and tokens are sent through 16 bits": es(before="tokens = int(np.int64(tokens).astype(np.uint8))"),
 "same arrays as in weights where the gradient is zero (aliased)": es(new="weights[n] - rate * g if g.any() else weights[n]"),
 "a gradient is added in place to the first micro-batch's": es(own="l, g, t = summed(weights, micro)", before="total = {n: total[n].astype(np.float32) for n in names}"),
},
"sharded-step": {
 "keeps 4 of the whole layers": ss(pre="layers = {}", fwd="x @ (layers.setdefault(i, whole(pieces[i])) if i < 4 else whole(pieces[i]))", layer="layers[i] if i < 4 else whole(pieces[i])"),
 "whole layers kept as torch tensors, gathered for backward too": ss(pre="import torch; layers = []", mid="layers.append(torch.from_numpy(np.array(whole(pieces[i]))).clone()) if len(layers) < 0 else None", layer="whole(pieces[i])", after="layers.append(torch.tensor(layer))"),
 "whole gradients as half precision in a list": ss(pre="kept = []", after="kept.append(gradient.astype(np.float16))"),
},
}
