"""The desk of a course: what was handed in, graded, kept and handed on.

course.toml, submissions  ->  records  ->  feedback, tables, gradebook
"""

from batchlab.grading._class import Run, grade
from batchlab.grading._course import Course, Lesson, fingerprint, opened, seed
from batchlab.grading._feedback import write as feedback
from batchlab.grading._gradebook import gradebook
from batchlab.grading._gradescope import autograder, packed
from batchlab.grading._handback import handed_back, zipped
from batchlab.grading._inbox import Submission, received
from batchlab.grading._names import alike, shown
from batchlab.grading._points import Grade, grades, lost, number, unplaced
from batchlab.grading._record import Record, whole
from batchlab.grading._rehearsal import Rehearsal, rehearsed
from batchlab.grading._tables import Change, Table, canvas, moodle, plain
from batchlab.grading._twins import twins

__all__ = [
    "Change",
    "Course",
    "Grade",
    "Lesson",
    "Record",
    "Rehearsal",
    "Run",
    "Submission",
    "Table",
    "alike",
    "autograder",
    "canvas",
    "feedback",
    "fingerprint",
    "grade",
    "gradebook",
    "grades",
    "handed_back",
    "lost",
    "moodle",
    "number",
    "opened",
    "packed",
    "plain",
    "received",
    "rehearsed",
    "seed",
    "shown",
    "twins",
    "unplaced",
    "whole",
    "zipped",
]
