# ruff: noqa
import runpy
_n = runpy.run_path(str(__import__('pathlib').Path(__file__).with_name('s8_15_many.py')))
rm, es, ss, rt = _n["rm"], _n["es"], _n["ss"], _n["rt"]
RIGHT = {
"sharded-step": {
 "import torch inside the function": ss(pre="import torch"),
 "from math import inside the function": ss(pre="from scipy import linalg") if False else ss(pre="import fractions"),
 "as tuple of pieces": ss(ret="tuple(new)"),
},
"rank-mean": {"import torch inside": rm(before="import torch")},
}
WRONG = {
"sharded-step": {
 "whole layers kept as torch tensors": "import torch\n" + ss(pre="layers = []", fwd="x @ (layers.append(torch.tensor(whole(pieces[i]))) or layers[-1].numpy())", layer="layers[i].numpy()"),
 "whole layers kept as torch tensors, gathered for backward too": "import torch\n" + ss(pre="layers = []", mid="layers.append(torch.tensor(whole(pieces[i]) if False else np.zeros((width, width))))"),
 "gradient in single precision, twice three passes in bytes: all_reduce in 4 bytes": ss(new="pieces[i] - rate * np.array_split(rank.all_reduce(gradient.astype(np.float32)).ravel(), rank.world_size)[rank.rank]"),
},
"report-test": {
 "kept looked at as a set of sizes, mean rounded to one place": rt(mean="np.allclose(np.round(r['mean'], 1), np.round(want, 1))"),
 "one case, mean and sent right, kept by hand": rt(cases="(three,)", length="True"),
},
}
