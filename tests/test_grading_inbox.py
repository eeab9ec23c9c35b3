"""What a class hands in is read without following, running or unpacking anything (T37 to T42).

Each hostile thing lies beside an honest neighbour, whose submission must be found unchanged.
"""

import io
import os
import socket
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from batchlab.grading import _items as items
from batchlab.grading import desk
from tests import tiny_course as tiny

LESSON = "02_padding"
GOOD = tiny.right(LESSON)


@pytest.fixture
def root(tmp_path):
    return tiny.build(tmp_path / "course")


def found(root, path=None, lesson=""):
    """What was received, by student; the honest neighbour is checked and left out."""
    path = path or root / "submitted"
    some = desk.received(path, desk.opened(root), lesson)
    neighbours = [one for one in some if one.student == "honest"]
    assert [one.read() for one in neighbours] in ([], [GOOD]), "a neighbour changed"
    return {one.student: one for one in some if one.student != "honest"}


def beside_an_honest_one(root):
    tiny.hand_in(root, "honest", content=GOOD)
    return root / "submitted"


# T37: names
def test_a_notebook_with_a_wrong_name_is_known_by_what_it_says(root):
    submitted = beside_an_honest_one(root)
    (submitted / "ada").mkdir()
    (submitted / "ada/my work (final).ipynb").write_bytes(GOOD)
    one = found(root)["ada"]
    assert (one.lesson, one.fault, one.look) == (LESSON, "", ())


def test_a_notebook_of_another_lesson_than_was_named_is_looked_at(root):
    submitted = root / "submitted"
    (submitted / "eve").mkdir(parents=True)
    (submitted / "eve/x.ipynb").write_bytes(b'{"source": "classroom.start(\'03_buckets\')"}')
    (one,) = found(root, submitted, LESSON)["eve"].look
    assert one == f"it was graded as {LESSON}, and its first cell says 03_buckets"
    assert found(root, submitted, "03_buckets")["eve"].look == ()


def test_without_its_first_cell_the_ids_say_the_lesson_and_without_those_the_name(root):
    submitted = beside_an_honest_one(root)
    (submitted / "ids.ipynb").write_bytes(GOOD.replace(b"classroom.start", b"classroom.end"))
    bare = GOOD.replace(b"classroom.start", b"x").replace(b'"grade_id"', b'"lost"')
    (submitted / "bob").mkdir()
    (submitted / "bob/padding-1.ipynb").write_bytes(bare)
    (submitted / "eve").mkdir()
    (submitted / "eve/unknown.ipynb").write_bytes(bare)
    some = found(root)
    assert some["ids"].lesson == some["bob"].lesson == LESSON
    assert some["eve"].lesson == "" and "name it with --lesson" in some["eve"].fault
    assert found(root, lesson=LESSON)["eve"].fault == "", "--lesson decides"


def test_a_notebook_with_an_ending_of_the_browser_or_saved_as_python_is_one(root):
    submitted = beside_an_honest_one(root)
    (submitted / "ada.ipynb.txt").write_bytes(GOOD)
    (submitted / "bob.IPYNB").write_bytes(GOOD)
    script = b"classroom.start('02_padding')\ndef waste(batches):\n    return 1\n"
    for student in ("eve", "dan"):
        (submitted / student).mkdir()
        (submitted / student / "my_work.py").write_bytes(script)
    (submitted / "dan/padding.ipynb").write_bytes(GOOD)
    (submitted / "fay").mkdir()
    (submitted / "fay/helper.py").write_bytes(b"def mine():\n    return 1\n")
    some = found(root)
    assert [some[one].lesson for one in ("ada", "bob", "eve", "dan")] == [LESSON] * 4
    assert some["eve"].read() == script and not some["eve"].fault
    assert some["dan"].read() == GOOD and not some["dan"].look, "a helper beside a notebook is one"
    assert "fay/helper.py" in some["fay"].fault


def test_an_empty_folder_is_missing_and_other_files_are_no_notebook(root):
    submitted = beside_an_honest_one(root)
    (submitted / "empty").mkdir()
    (submitted / "other").mkdir()
    (submitted / "other/homework.docx").write_bytes(b"PK")
    some = found(root)
    assert some["empty"].missing and some["empty"].fault == "nothing was handed in"
    assert not some["other"].missing and "other/homework.docx" in some["other"].fault


def test_a_folder_that_is_called_a_notebook_is_a_fault_and_its_inside_no_submission(root):
    submitted = beside_an_honest_one(root)
    (submitted / f"ada/{LESSON}/padding.ipynb").mkdir(parents=True)
    (submitted / f"ada/{LESSON}/padding.ipynb/padding.ipynb").write_bytes(GOOD)
    (submitted / "bob.ipynb").mkdir()
    some = found(root)
    assert {who: one.fault for who, one in some.items()} == dict.fromkeys(
        ("ada", "bob"), "it is a folder"
    )


def test_of_two_notebooks_the_right_name_counts_then_the_newest_and_a_person_looks(root):
    beside_an_honest_one(root)
    right = tiny.hand_in(root, "ada", waste="PASS")
    other = tiny.hand_in(root, "ada", name="padding-old.ipynb")
    os.utime(other, (2e9, 2e9))
    one = found(root)["ada"]
    assert one.read() == right.read_bytes() and "padding-old.ipynb" in one.look[0]
    other.write_bytes(right.read_bytes())
    assert found(root)["ada"].look == (), "two equal files are one"


# T38: what is no plain file
def test_links_pipes_sockets_and_closed_files_are_faults_and_never_read(root, tmp_path):
    submitted = beside_an_honest_one(root)
    secret = root / "solutions/02_padding/padding.ipynb"
    tiny.hand_in(root, "link").unlink()
    (submitted / f"link/{LESSON}/padding.ipynb").symlink_to(secret)
    tiny.hand_in(root, "passwd").unlink()
    (submitted / f"passwd/{LESSON}/padding.ipynb").symlink_to("/etc/passwd")
    tiny.hand_in(root, "hard").unlink()
    os.link(secret, submitted / f"hard/{LESSON}/padding.ipynb")
    tiny.hand_in(root, "pipe").unlink()
    os.mkfifo(submitted / f"pipe/{LESSON}/padding.ipynb")
    tiny.hand_in(root, "sock").unlink()
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(submitted / f"sock/{LESSON}")  # a socket's path has at most 107 letters
        one.bind("padding.ipynb")
        os.chdir(here)
    some = found(root)
    for student, fault in {
        "link": "it is a link to another place",
        "passwd": "it is a link to another place",
        "hard": "it has a second name elsewhere (a hard link): copy it",
        "pipe": "it is a pipe",
        "sock": "it is a socket",
    }.items():
        assert some[student].fault == fault
    assert secret.read_bytes() == tiny.right(LESSON)


def test_a_file_that_becomes_a_link_after_it_was_found_is_not_followed(root):
    beside_an_honest_one(root)
    path = tiny.hand_in(root, "ada")
    one = found(root)["ada"]
    path.unlink()
    path.symlink_to(root / "solutions/02_padding/padding.ipynb")
    with pytest.raises(items.Unreadable, match="cannot be read"):
        one.read()


def test_a_linked_folder_is_not_entered(root):
    submitted = beside_an_honest_one(root)
    (submitted / "eve").symlink_to(submitted / "honest")
    one = found(root)["eve"]
    assert one.fault == "no notebook was handed in, but eve (it is a link to another place)"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads what is closed to all")
def test_a_closed_file_is_a_fault(root):
    beside_an_honest_one(root)
    tiny.hand_in(root, "ada").chmod(0)
    with pytest.raises(items.Unreadable, match="Permission denied"):
        found(root)["ada"].read()


def test_a_file_beyond_the_limit_is_a_fault_before_it_is_read(root):
    beside_an_honest_one(root)
    path = tiny.hand_in(root, "ada")
    with path.open("wb") as file:
        file.truncate(10**12)  # sparse: no byte of it is on the disk
    assert "1,000,000,000,000 bytes" in found(root)["ada"].fault


# T39: archives
def archive(path, *members, junk=b""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for info, content in members:
            made.writestr(info, content)
    path.write_bytes(path.read_bytes() + junk)
    return path


def linked(name):
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o120777 << 16
    return info


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("../../outside.ipynb", "climbs out"),
        ("ada/../../outside.ipynb", "climbs out"),
        ("/tmp/outside.ipynb", "no place in the archive"),
        ("C:\\outside.ipynb", "no place in the archive"),
        ("..\\outside.ipynb", "climbs out"),
        (linked("eve.ipynb"), "a link"),
    ],
)
def test_a_member_that_leads_out_is_a_fault_and_nothing_is_written(root, tmp_path, name, fault):
    path = archive(tmp_path / "class.zip", (name, GOOD), ("honest.ipynb", GOOD))
    before = sorted(tmp_path.rglob("*"))
    (one,) = found(root, path).values()
    assert fault in one.fault
    assert sorted(tmp_path.rglob("*")) == before


def test_a_bomb_is_read_to_the_limit_and_no_further(root, tmp_path, monkeypatch):
    monkeypatch.setattr(items, "LARGEST", 2**20)
    zeros = b"\0" * (4 * 2**20)
    path = archive(tmp_path / "class.zip", ("bomb.ipynb", zeros), ("honest.ipynb", GOOD))
    assert "bytes; a notebook has at most" in found(root, path)["bomb"].fault
    liar = path.read_bytes().replace(struct.pack("<L", len(zeros)), struct.pack("<L", 100))
    path.write_bytes(liar)  # it says of itself that it is small
    one = found(root, path)["bomb"]
    with pytest.raises(items.Unreadable):
        one.read()


def tarred(tmp_path):
    """A tar of a link and of a file that goes through it: unpacked, it would write elsewhere."""
    path = tmp_path / "work.tar.gz"
    with tarfile.open(path, "w:gz") as made:
        link = tarfile.TarInfo("out")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
        made.addfile(link)
        through = tarfile.TarInfo("out/padding.ipynb")
        through.size = len(GOOD)
        made.addfile(through, io.BytesIO(GOOD))
    return path


def test_a_tar_is_no_class_and_is_never_unpacked(root, tmp_path):
    path = tarred(tmp_path)
    with pytest.raises(ValueError, match=r"a folder, a \.zip or a notebook is needed"):
        found(root, path)
    assert not (tmp_path / "padding.ipynb").exists()


def test_doubled_encrypted_and_broken_members_are_faults_and_nested_archives_no_notebooks(
    root, tmp_path
):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as made:
        made.writestr("padding.ipynb", GOOD)
    with pytest.warns(UserWarning, match="Duplicate"):
        path = archive(
            tmp_path / "class.zip",
            ("twice.ipynb", GOOD),
            ("twice.ipynb", GOOD),
            ("nested/work.zip", inner.getvalue()),
            ("tarred/work.tar.gz", tarred(tmp_path).read_bytes()),
            ("torn.ipynb", GOOD * 50),
            ("honest.ipynb", GOOD),
        )
    broken = bytearray(path.read_bytes())
    at = broken.index(b"torn.ipynb") + 60
    broken[at : at + 20] = b"\xff" * 20
    path.write_bytes(bytes(broken))
    some = found(root, path)
    assert some["twice"].fault == "its name stands twice"
    assert "nested/work.zip" in some["nested"].fault
    assert "tarred/work.tar.gz" in some["tarred"].fault
    with pytest.raises(items.Unreadable, match="broken in the archive"):
        some["torn"].read()
    with zipfile.ZipFile(path) as there:
        flags = there.getinfo("honest.ipynb")
    flags.flag_bits |= 1
    assert items._bad(flags) == "it is encrypted"


def test_an_archive_that_is_cut_off_or_none_is_one_line(root, tmp_path):
    path = archive(tmp_path / "class.zip", ("honest.ipynb", GOOD * 30))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match=r"class\.zip: no zip, or cut off"):
        found(root, path)
    with pytest.raises(ValueError, match="no such file or folder"):
        found(root, tmp_path / "none")


def test_more_members_than_a_class_hands_in_is_refused(root, tmp_path, monkeypatch):
    monkeypatch.setattr(items, "MOST", 2)
    path = archive(tmp_path / "class.zip", *((f"s{n}.ipynb", GOOD) for n in range(3)))
    with pytest.raises(ValueError, match="3 members; a class hands in at most 2"):
        found(root, path)


# the archives of Canvas and Moodle, with their own spelling
def test_names_of_canvas_give_the_number_of_the_student_and_the_newest_file_counts(root, tmp_path):
    path = archive(
        tmp_path / "submissions.zip",
        ("doejane_12345_678901_padding.ipynb", tiny.notebook(LESSON, {})),
        ("doejane_12345_678955_padding-1.ipynb", GOOD),
        ("obrienmía_LATE_222_678902_homework.ipynb", GOOD),
        ("anon1x_333_678903_padding.ipynb", GOOD),
    )
    some = found(root, path)
    assert {who: (one.name, one.lesson) for who, one in some.items()} == {
        "12345": ("doejane", LESSON),
        "222": ("obrienmía", LESSON),
        "333": ("anon1x", LESSON),
    }
    assert some["12345"].read() == GOOD and "678901" in some["12345"].look[0]


@pytest.mark.parametrize(
    "name", ["doejane_12345_678_padding.ipynb", "Jane Doe_12345_assignsubmission_file/my.ipynb"]
)
def test_a_zip_that_a_browser_unpacked_is_the_same_class(root, tmp_path, name):
    path = archive(tmp_path / "class.zip", (name, GOOD))
    with zipfile.ZipFile(path) as there:
        there.extractall(tmp_path / "class")
    packed, unpacked = found(root, path), found(root, tmp_path / "class")
    assert [*packed] == [*unpacked] == ["12345"]
    assert packed["12345"].file == unpacked["12345"].file


def test_names_of_moodle_give_the_number_of_the_participant(root, tmp_path):
    path = archive(
        tmp_path / "class.zip",
        ("Jane Doe_12_assignsubmission_file_/padding.ipynb", GOOD),
        ("O'Hara, Zoë_13_assignsubmission_file/padding.ipynb", GOOD),
        ("=cmd|' calc'_14_assignsubmission_file_padding.ipynb", GOOD),
        ("Max Muster_15_assignsubmission_file_/essay.pdf", b"%PDF"),
    )
    some = found(root, path)
    assert {who: one.name for who, one in some.items()} == {
        "12": "Jane Doe",
        "13": "O'Hara, Zoë",
        "14": "=cmd|' calc'",
        "15": "Max Muster",
    }
    assert some["15"].fault.startswith("no notebook was handed in")
    assert all(some[who].lesson == LESSON for who in ("12", "13", "14"))


# T40: names of students
STRANGE = ["*", "[x]", "a\nb", "a+b", "Doe, Jane", 'a"b', "=1+1", "\N{SNAKE}", "n" * 200, "-rf"]


@pytest.mark.parametrize("student", STRANGE)
def test_a_strange_id_is_graded_like_any_other(root, student):
    beside_an_honest_one(root)
    tiny.hand_in(root, student, content=GOOD)
    assert found(root)[student].fault == ""


def test_two_forms_of_one_name_are_two_students_and_a_person_looks():
    nfc, nfd = "Zo\u00eb", "Zoe\u0308"
    assert desk.alike([nfc, nfd, "ada", "Ada", "bob"]) == [("Ada", "ada"), (nfd, nfc)]


# T41, T42: times
def test_the_time_of_receipt_is_that_of_nbgrader_and_a_forged_one_costs_nothing(root):
    beside_an_honest_one(root)
    for who, text, want in (
        ("utc", "2026-05-03 10:00:00.123456 UTC", "2026-05-03T10:00:00+00:00"),
        ("zone", "2026-05-03T12:00:00+02:00", "2026-05-03T10:00:00+00:00"),
        ("early", "0001-01-01 00:00:00 UTC", "0001-01-01T00:00:00+00:00"),
    ):
        tiny.hand_in(root, who).with_name("timestamp.txt").write_text(text)
        assert found(root)[who].received == want
    path = tiny.hand_in(root, "junk")
    path.with_name("timestamp.txt").write_bytes(b"\xff tomorrow")
    os.utime(path, (1e9, 1e9))
    assert found(root)["junk"].received == "2001-09-09T01:46:40+00:00", "then the file's own time"


def test_a_folder_of_one_student_and_a_folder_of_a_lesson_are_understood(root):
    beside_an_honest_one(root)
    assert [one.student for one in desk.received(root / "submitted/honest", desk.opened(root))] == [
        "honest"
    ]
    by_lesson = root / "by_lesson"
    (by_lesson / LESSON).mkdir(parents=True)
    (by_lesson / LESSON / "ada.ipynb").write_bytes(GOOD)
    assert found(root, by_lesson)["ada"].lesson == LESSON
