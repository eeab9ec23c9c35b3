"""What the order of documents costs: the record that lesson 03 replays, on this machine.

    python benchmarks/order_curves.py --output FILE [--seeds 10]

The small model, the same documents, the same target tokens in every step; only the order differs.
One line of the record is one run; runs that FILE holds already are not repeated. Minutes on two
cores.
"""

import argparse
from pathlib import Path

from batchlab import padding, records
from batchlab.exercises.buckets import scenes


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    there = records.read(options.output) if options.output.exists() else []
    done = {(one["order"], one["seed"]) for one in there}
    for seed in range(options.seeds):
        for name in scenes.ORDERS:
            if (name, seed) in done:
                continue
            ordered = scenes.order(name, seed)
            target_tokens, losses = scenes.curve(ordered, seed)
            record = {
                "order": name,
                "seed": seed,
                "rows": scenes.ROWS,
                "documents": len(scenes.documents()),
                "waste": padding.measure(scenes.documents(), ordered).waste,
                "target_tokens": target_tokens,
                "loss": [round(loss, 5) for loss in losses],
                **records.environment(),
            }
            records.append(options.output, record)
            print(seed, f"{name:16}", " ".join(f"{loss:.3f}" for loss in losses), flush=True)


if __name__ == "__main__":
    main()
