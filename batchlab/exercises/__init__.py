"""One exercise, one file: reference, hints, cases, mistakes, other right styles.

    an answer  ->  nothing, or four short lines that name the thought behind the mistake

A mistake is one function, or an edit of the reference; its docstring is the thought. A folder holds
the exercises of a lesson, a file one exercise, named as on the page: `packing/first_fit.py` is
`packing/first-fit`. Everything here imports with the standard library and NumPy; what needs
PyTorch imports it inside its functions.

The author's guide
    reference   a function or class, named as the student's; its text becomes the answer cell
    shown       cases of every check, each the first to tell some mistake; `By` names arguments
    drawn       fresh cases from a generator: every corner that the page names, nothing beyond
    mistake     `@exercise.mistake` on a wrong version, or `exercise.edit(thought, [(old, new)])`
    style       `@exercise.style`: another right way, which must pass
    the value   that the reference gives says how an answer is judged: a float near, an int exactly,
                a tensor by dtype, shape and values, a dict key by key; an exception is expected
    scene       `scene(answer, *case)`: plain data of live objects, seen beside the answer
    meets       `meets(*case)`: what the scene gets in place of the case, if the case needs the
                reference: a scene runs beside a stranger's answer, and brings no right one
    beheld      `beheld(report, *met)`: a scene's report with what `meets` handed over has seen:
                what runs beside a stranger's answer can be made to miscount
    fault       `fault(got, *case)`: what is wrong with a result of which several are right
    endless     `endless(*case)`: why an answer may never return in this case, or nothing; it is
                asked after `seconds` of CPU, 20 if nothing is said
    mentions    `mentions(*case)`: what the text of a refusal must name
    misnamed    `misnamed(text, *case)`: what else is wrong with the text, or nothing
    given       names that cells above define and an answer may use; the file has them, too
    tests       the exercise whose wrong versions a student's test must catch; `explain(got)` may
                then say what the test lacks that let one through
    worded      a word for each case: `worded(exercise, words, why, wrong)` explains and judges them
    asserts     True: a test that returns False has refused nothing

`python -m batchlab.authoring.laws padding` tries all of it; `... .new padding waste` begins a file.
"""

from batchlab.exercises._exercise import By, Exercise, Mistake
from batchlab.exercises._find import folders, foreseen, found, judge, ordered, refusal
from batchlab.exercises._page import answered
from batchlab.exercises._text import solution
from batchlab.exercises._worded import worded
from batchlab.exercises._words import MOST_LETTERS

__all__ = [
    "MOST_LETTERS",
    "By",
    "Exercise",
    "Mistake",
    "answered",
    "folders",
    "foreseen",
    "found",
    "judge",
    "ordered",
    "refusal",
    "solution",
    "worded",
]
