"""What attention must give, in float64, and how far rounding may carry a kernel from it."""

import itertools

import torch
from torch import Tensor


def exact_and_bound(
    q: Tensor, k: Tensor, v: Tensor, at: tuple[int, ...], *, causal: bool = True
) -> tuple[Tensor, Tensor]:
    """Softmax attention of each document in float64 on the CPU, and a bound for each value.

    With unit roundoff u of the dtype of q: a kernel rounds the weights p to that dtype, and the
    output o = sum p v once more, so |error| <= 2 u sum p |v| to first order. Scores are summed in
    float32 (u32) over D products, errors there move p by twice as much, and sums over up to L
    keys add L u32. One u more covers the second order.
    """
    u, u32 = torch.finfo(q.dtype).eps / 2, 2.0**-24
    size, groups = q.shape[2], q.shape[1] // k.shape[1]
    q, k, v = (x.detach().cpu().double().transpose(0, 1) for x in (q, k, v))
    k, v = (x.repeat_interleave(groups, dim=0) for x in (k, v))
    exact, bound = torch.empty_like(q), torch.empty_like(q)
    for start, end in itertools.pairwise(at):
        now = slice(start, end)
        scores = q[:, now] @ k[:, now].mT / size**0.5
        if causal:
            later = torch.ones(end - start, end - start, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, -torch.inf)
        weights = scores.softmax(-1)
        largest = (q[:, now].abs() @ k[:, now].abs().mT / size**0.5).amax().item()
        relative = 3 * u + 2 * size * u32 * largest + (end - start) * u32
        exact[:, now] = weights @ v[:, now]
        bound[:, now] = relative * (weights @ v[:, now].abs())
    return exact.transpose(0, 1), bound.transpose(0, 1)
