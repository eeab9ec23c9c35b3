"""Feedback under the names that an LMS gives back to students: one zip for a class.

grades of one lesson  ->  name in the zip, its bytes

Jane Doe_1234_assignsubmission_file/feedback.html    Moodle reads the folder's number
doejane_1234_5678_padding.ipynb                      Canvas reads both numbers, and shows the
                                                     file under the name that was handed in:
                                                     so this is a notebook, of one raw cell
ada.html                                             all else
"""

import json
import zipfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import PurePosixPath

from batchlab.grading import _feedback as feedback
from batchlab.grading import _names as names
from batchlab.grading._inbox import CANVAS, MOODLE
from batchlab.grading._points import Grade

__all__ = ["handed_back", "zipped"]

ALWAYS = (1980, 1, 1, 0, 0, 0)  # the same grades make the same zip


def handed_back(grades: Iterable[Grade]) -> dict[str, bytes]:
    """The files of a zip for the LMS, by name; none for who handed in nothing."""
    found = {}
    for grade in grades:
        if grade.score is not None:
            name = _name(grade)
            found[name] = _notebook(grade) if name.endswith(".ipynb") else _page(grade)
    return dict(sorted(found.items()))


def zipped(files: dict[str, bytes]) -> bytes:
    """The bytes of a zip."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            sayable = name.encode("utf-8", "replace").decode()  # a folder may hold one that is not
            made.writestr(zipfile.ZipInfo(sayable, ALWAYS), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _name(grade: Grade) -> str:
    top, *inner = PurePosixPath(grade.record.file).parts or ("",)
    if match := MOODLE.fullmatch(top):
        before = top.removesuffix(match["rest"])
        return f"{top}/feedback.html" if inner else f"{before}feedback.html"
    if not inner and top.endswith(".ipynb") and CANVAS.fullmatch(top):
        return top
    return f"{names.folder(grade.record.student)}.html"


def _page(grade: Grade) -> bytes:
    return feedback.page(grade).encode("utf-8", "replace")


def _notebook(grade: Grade) -> bytes:
    """A raw cell: no front end computes or draws what stands in it."""
    cell = {"cell_type": "raw", "id": "feedback", "metadata": {}, "source": feedback.text(grade)}
    book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    return json.dumps(book, indent=1).encode() + b"\n"
