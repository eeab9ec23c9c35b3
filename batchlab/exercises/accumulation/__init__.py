"""Accumulation: one step in several pieces. The exercises in the order of the page."""

ORDER = (
    "share",
    "epoch-test",
    "take-step",
)
GIVEN = ("targets", "loss_sum")  # the page defines them for its answers


def targets(micro):
    """How many tokens of a micro-batch the loss counts."""
    return int((micro["labels"][:, 1:] != -100).sum())


def loss_sum(network, micro):
    """Cross-entropy in nats, summed over the target tokens of a micro-batch."""
    from batchlab import loop

    return loop.summed_loss(loop.logits_of(network, micro), micro["labels"])
