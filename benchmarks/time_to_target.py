"""How far off the time to a target is, where public runs are foretold by a fit without them.

    python benchmarks/time_to_target.py

Prints a table in Markdown: relative misses of half of the configurations and of nine in ten, by
benchmark, with the configuration, all runs of its model or all of its device left out of the fit of
the speed. `book/proposal.md` shows it, `tests/test_proposal.py` holds its last line. Derived,
verified by nobody; the notice is that of `records.public_runs`.
"""

from batchlab import proposal, records


def main() -> None:
    print("| left out | benchmark | configurations | half | nine in ten | leans |")
    print("|---|---|---|---|---|---|")
    for by in ("configuration", "model", "device"):
        for name, miss in proposal.time_to_target(by=by).items():
            print(
                f"| {by} | {name} | {miss.configurations} | {miss.half:.0%} | "
                f"{miss.nine_in_ten:.0%} | {miss.lean:+.0%} |"
            )
    print(f"\n{records.public_runs().notice}")


if __name__ == "__main__":
    main()
