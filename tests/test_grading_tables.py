"""Grades go into the tables of an LMS: the difference first, and nothing of others is touched.

The tables are spelled as Canvas and Moodle spell them: a line of points, a byte order mark, names
with commas and quotes. What goes out is read back by `csv` and compared cell by cell (T40, T49).
"""

import csv
import io
import re

import pytest

from batchlab.grading import _class, desk
from batchlab.grading import _names as names
from tests import tiny_course as tiny

LESSON = "02_padding"
CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Homework 1 (77),02 padding (78),Final\r\n"
    '"    Points Possible",,,,,10,4,(read only)\r\n'
    '"Doe, Jane",12345,u1,jane@x.org,"A, B",9,,90\r\n'
    '"O\'Hara ""Zoë""",222,u2,zoe,A,8,EX,80\r\n'
    "=HYPERLINK(1),333,u3,eve,A,7,2.5,70\r\n"
    "Nobody,444,u4,nobody,A,,1,0\r\n"
    '"Student, Test",999,,t,A,,,\r\n'
)
MOODLE = (
    "\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade,"
    "Grade can be changed,Last modified (submission),Last modified (grade),Feedback comments\n"
    'Participant 12345,"Doe, Jane",j@x.org,Submitted for grading,,4.00,Yes,'
    '"Sunday, 3 May 2026, 10:00 AM",-,\n'
    'Participant 222,=1+1,z@x.org,Submitted for grading - graded,"2,00",4.00,Yes,-,-,good\n'
)


@pytest.fixture(autouse=True)
def no_processes(monkeypatch):
    monkeypatch.setattr(_class, "Crew", tiny.Crew)


@pytest.fixture
def course(tmp_path):
    return desk.opened(tiny.build(tmp_path / "course"))


def graded(course, **students):
    """Grades of one lesson, by what each answers."""
    for student, answers in students.items():
        tiny.hand_in(course.root, student.lstrip("s"), **answers)
    some = desk.received(course.root / "submitted", course)
    desk.grade(course, some, seed=desk.seed(course))
    return desk.grades(course)


def a_class(course):
    full = {"waste": "PASS", "mask": "PASS"}
    return graded(course, s12345=full, s222=full, s333={"waste": "0.5", "mask": "PASS"}, s555=full)


def parsed(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def write(tmp_path, text):
    path = tmp_path / "from_the_lms.csv"
    path.write_bytes(text.encode())
    return path


def changes(table):
    return [(one.student, one.before, one.after) for one in table.changes]


def test_canvas_gets_its_own_rows_back_with_our_column_filled(course, tmp_path):
    table = desk.canvas(course, a_class(course), write(tmp_path, CANVAS))
    assert changes(table) == [("12345", "", "4")], "equal points and an excused one are no change"
    assert table.unplaced == ("555",)
    assert table.text == (
        "Student,ID,SIS User ID,SIS Login ID,Section,02 padding (78)\r\n"
        "    Points Possible,,,,,4\r\n"
        '"Doe, Jane",12345,u1,jane@x.org,"A, B",4\r\n'
        '"O\'Hara ""Zoë""",222,u2,zoe,A,EX\r\n'
        "'=HYPERLINK(1),333,u3,eve,A,2.5\r\n"
        "Nobody,444,u4,nobody,A,1\r\n"
        '"Student, Test",999,,t,A,\r\n'
    )


def test_what_was_written_for_canvas_read_again_changes_nothing(course, tmp_path):
    grades = a_class(course)
    table = desk.canvas(course, grades, write(tmp_path, CANVAS))
    again = desk.canvas(course, grades, write(tmp_path, table.text))
    assert again.changes == () and again.text == table.text


def test_a_login_finds_the_row_where_a_class_was_collected_by_name(course, tmp_path):
    table = desk.canvas(course, graded(course, szoe={}, seve={}), write(tmp_path, CANVAS))
    assert changes(table) == [("eve", "2.5", "0")], "eve has a row, zoe is excused"


def test_columns_and_points_that_do_not_fit_are_refused_with_the_line_that_helps(course, tmp_path):
    grades = a_class(course)
    for text, said in (
        (CANVAS.replace("02 padding (78)", "Homework 2 (78)"), "no columns look like 02_padding"),
        (CANVAS.replace("Homework 1 (77)", "02-Padding (77)"), "2 columns look like 02_padding"),
        (CANVAS.replace(",10,4,", ",10,100,"), '"02_padding" = 100'),
        (CANVAS.replace("Student,ID,", "Student,Number,"), "no column ID"),
        (CANVAS.replace("90\r\n", "90,1\r\n"), "row 3 has 9 cells, the head 8"),
        ("", "no column Student"),
    ):
        with pytest.raises(ValueError, match=re.escape(said)):
            desk.canvas(course, grades, write(tmp_path, text))


def test_points_and_columns_of_course_toml_are_used(tmp_path):
    root = tiny.build(tmp_path / "course")
    with (root / "course.toml").open("a") as file:
        file.write('\n[points]\n"02_padding" = 100\n[columns]\n"02_padding" = "Homework 1 (77)"\n')
    course = desk.opened(root)
    text = CANVAS.replace(",10,4,", ",100,4,")
    table = desk.canvas(course, a_class(course), write(tmp_path, text))
    assert changes(table) == [("12345", "9", "100"), ("222", "8", "100"), ("333", "7", "62.5")]


def test_moodle_gets_its_worksheet_back_with_the_grade_filled_and_nothing_else(course, tmp_path):
    full = {"waste": "PASS", "mask": "PASS"}
    table = desk.moodle(course, graded(course, s12345=full, s222={}), write(tmp_path, MOODLE))
    assert changes(table) == [("12345", "", "4"), ("222", "2,00", "0")]
    before, after = parsed(MOODLE.lstrip("\ufeff")), parsed(table.text)
    grade, name = before[0].index("Grade"), before[0].index("Full name")
    for old, new in zip(before, after, strict=True):
        assert [c for n, c in enumerate(old) if n not in (grade, name)] == [
            c for n, c in enumerate(new) if n not in (grade, name)
        ]
    assert after[2][name] == "'=1+1" and after[1][name] == "Doe, Jane"
    again = desk.moodle(course, desk.grades(course), write(tmp_path, table.text))
    assert again.changes == ()


def test_a_worksheet_is_of_one_lesson_and_of_its_points(course, tmp_path):
    tiny.hand_in(course.root, "12345", "03_buckets")
    grades = graded(course, s12345={})
    with pytest.raises(ValueError, match="of one assignment: say which with --lesson"):
        desk.moodle(course, grades, write(tmp_path, MOODLE))
    with pytest.raises(ValueError, match="counts 100 points there and 4 here"):
        desk.moodle(course, grades[:1], write(tmp_path, MOODLE.replace("4.00", "100.00")))


# T40: what students are called
EVIL = ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", " =1", 'a"b', "Doe, Jane", "a\nb", "\N{SNAKE}", "é",
        "\r=1", "n" * 300, "\ud800", "\x00=1", "'=1"]  # fmt: skip


@pytest.mark.parametrize("text", EVIL)
def test_no_cell_computes_and_each_reads_back_as_one(text):
    cell = names.cell(text)
    out = io.StringIO(newline="")
    csv.writer(out).writerow([cell, "end"])
    assert parsed(out.getvalue()) == [[cell, "end"]] and len(cell) <= 301
    assert not cell.lstrip().startswith(("=", "+", "-", "@")), "a spreadsheet would compute it"


def test_a_cell_as_it_came_would_compute():
    """The mistake beside the law: quotes of CSV stop no formula."""
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerow(["=1+1"])
    assert parsed(out.getvalue())[0][0] == "=1+1" and names.formula("=1+1")


def test_our_own_table_is_exact_for_a_class_with_strange_names(course):
    tiny.hand_in(course.root, "Doe, Jane", content=tiny.right(LESSON))
    tiny.hand_in(course.root, "Doe, Jane", "03_buckets", order="1.25")
    tiny.hand_in(course.root, "=1+1", waste="0.333333")
    tiny.hand_in(course.root, "\N{SNAKE}", waste="RAISE")
    table = desk.plain(course, graded(course))
    assert table.text == (
        "student,name,02_padding,03_buckets,total\r\n"
        "'=1+1,,0.333,,0.333\r\n"
        '"Doe, Jane",,4,1.25,5.25\r\n'
        "\N{SNAKE},,,,0\r\n"
    ), "our own fault is an empty cell and no zero"


def test_folders_of_students_never_collide_nor_lead_anywhere():
    students = [
        *EVIL,
        "ada",
        "Ada",
        "ADA",
        "..",
        "../x",
        "a/b",
        "con",
        "Zo\u00eb",
        "Zoe\u0308",
        "a~1",
    ]
    folders = [names.folder(one) for one in students]
    assert len({one.lower() for one in folders}) == len(students)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9~_-]{0,63}", one) for one in folders)
    assert names.folder("ada") == "ada" and names.folder("con") != "con"


def test_a_terminal_is_never_driven_by_a_name():
    assert names.shown("a\x1b[2J\nb\u202e", 40) == "a\\x1b[2J\\nb\\u202e"
    assert names.shown("\ud800") == "\\ud800" and len(names.shown("n" * 999)) == 60
