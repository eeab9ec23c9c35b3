"""Exercises whose answer is a word for each case, in a dictionary.

an exercise, its words, what speaks against a wrong one  ->  its explanation, and its mistakes
"""

from typing import Any

from batchlab.exercises._exercise import Exercise

__all__ = ["worded"]


def worded(
    exercise: Exercise, words: tuple[str, ...], why: dict[str, str], wrong: dict[str, str]
) -> None:
    """Judge a word for each case; a wrong word, a foreign one and a missing case are mistakes.

    why    what speaks against any wrong word of a case; wrong: a natural wrong word of each
    """
    right: dict[str, str] = exercise.right()
    one_of = f"one of these words is asked: {', '.join(words)}"

    def explain(got: Any) -> str:
        for case, word in right.items():
            said = got[case].strip().casefold() if isinstance(got[case], str) else ""
            if said != word:
                return why[case] if said in words else one_of
        return ""

    exercise.explain = explain
    for case, word in wrong.items():
        exercise.edit(why[case], [(f'"{case}": "{right[case]}"', f'"{case}": "{word}"')])
    exercise.edit(one_of, [(f'"A": "{right["A"]}"', '"A": "another"')])
    last = max(right)
    missing = f'        "{last}": "{right[last]}",\n'
    exercise.edit("a case is missing", [(missing, "")], says=f"'{last}'")
