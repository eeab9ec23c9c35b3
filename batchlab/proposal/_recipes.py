"""Settings that public runs printed: batch and rate, each with its source.

evidence  ->  Recipe;  stage, parameters  ->  those of like size
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["LIKE", "Recipe", "like", "recipes"]

LIKE = 2.0  # times larger or smaller is a like size


@dataclass(frozen=True)
class Recipe:
    """One run as its authors print it; `where` in its source."""

    name: str
    stage: str
    parameters: float
    tokens: float | None
    batch: float
    unit: str
    generations: int | None
    rate: float
    source: str  # key of the bibliography
    where: str


@cache
def recipes() -> tuple[Recipe, ...]:
    """All of them.

    >>> [one.batch for one in recipes() if one.name == "OLMo 2 7B"]
    [4194304.0]
    """
    text = (files("batchlab") / "evidence/published_recipes.csv").read_text("utf-8")
    return tuple(
        Recipe(
            line["name"],
            line["stage"],
            1e6 * float(line["parameters_millions"]),
            1e9 * float(line["tokens_billions"]) if line["tokens_billions"] else None,
            float(line["batch"]),
            line["unit"],
            int(line["generations"]) if line["generations"] else None,
            float(line["rate"]),
            line["source"],
            line["where"],
        )
        for line in csv.DictReader(text.splitlines())
    )


def like(stage: str, parameters: float) -> list[Recipe]:
    """Those of a stage whose model is of like size; of adapters and GRPO all.

    >>> [one.name for one in like("pretraining", 1.1e9)]
    ['GPT-3 Large', 'GPT-3 XL', 'Pythia 1B']
    """
    return [
        one
        for one in recipes()
        if one.stage == stage
        and (stage != "pretraining" or 1 / LIKE <= one.parameters / parameters <= LIKE)
    ]
