"""A student's process reaches nothing but its answers, at each level that stands here.

What is tried here does no harm where it is granted: a signal of number 0, a file in a folder of the
test, a bounded number of processes.
"""

# ruff: noqa: E501  (code of students stands on one line)

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from batchlab.grading import Engine, _jail, _kernel, _processes
from tests.torture_lesson import cell, notebook, right_but, sent, written

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces and Landlock are Linux")
ALL = ["PASS"] * 5


@pytest.fixture(scope="module", params=["L3", pytest.param("L2", marks=pytest.mark.slow)])
def engine(request, tmp_path_factory):
    teacher = written(tmp_path_factory.mktemp("course"))
    with contextlib.ExitStack() as stack:
        try:
            one = Engine(teacher, seed="zq", level=request.param, cpu_seconds=2, memory=1 << 29)
            stack.enter_context(one)
        except ValueError as reason:
            pytest.skip(f"{request.param} does not stand here: {reason}")
        yield one


def told(engine, code):
    """What a student's function found out: the text that it raises."""
    body = "\n".join(f"    {line}" for line in code.splitlines())
    source = f"def total(lengths):\n    import os, sys, socket, ctypes, pathlib\n{body}"
    judged = engine.grade(json.dumps(right_but(total=source)).encode())
    assert [one.verdict for one in judged[1:]] == ALL[1:], "the neighbours are as they were"
    assert judged[0].points == 0
    return judged[0]


def refused(engine, code):
    one = told(engine, code + "\nraise RuntimeError('granted')")
    assert "granted" not in one.detail, one.detail
    return one


def test_t17_files_of_others_are_not_found(engine, tmp_path, monkeypatch):
    secret = tmp_path / "gradebook.db"
    secret.write_text("canary")
    secret.chmod(0o644)
    refused(engine, f"open({str(secret)!r}).read()")
    refused(engine, f"open({str(Path.home() / '.bashrc')!r}).read()")
    refused(engine, f"os.listdir({str(tmp_path.parent)!r})")
    refused(engine, "open('/etc/shadow').read()")
    assert (
        "{}"
        in told(
            engine,
            "raise RuntimeError({k: v for k, v in os.environ.items() if 'SEED' in k or 'KEY' in k})",
        ).detail
    )


def test_t18_nothing_is_written_outside_and_nothing_stays(engine, tmp_path):
    tmp_path.chmod(0o777)
    refused(engine, f"open({str(tmp_path / 'x')!r}, 'w').write('x')")
    refused(engine, "open('/etc/x', 'w').write('x')")
    refused(engine, "open('/var/tmp/x', 'w').write('x')")
    told(engine, "pathlib.Path('left.txt').write_text('x')\nraise RuntimeError('written')")
    assert (
        "absent"
        in told(
            engine, "raise RuntimeError('there' if pathlib.Path('left.txt').exists() else 'absent')"
        ).detail
    )
    assert not Path("/tmp/left.txt").exists()
    assert not list(tmp_path.iterdir())


def test_t19_no_network_of_any_kind(engine):
    with socket.socket() as service:
        service.bind(("127.0.0.1", 0))
        service.listen()
        port = service.getsockname()[1]
        refused(engine, f"socket.create_connection(('127.0.0.1', {port}), 1)")
    refused(
        engine, "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))"
    )
    refused(engine, "socket.socket(socket.AF_INET6)")
    refused(engine, "socket.socket(socket.AF_UNIX).connect(chr(0) + 'x')")
    refused(engine, "socket.getaddrinfo('example.org', 80)")
    refused(engine, "if ctypes.CDLL(None, use_errno=True).syscall(425, 8, 0) < 0: raise OSError")


def test_t20_no_way_to_the_grader_or_to_more_rights(engine):
    refused(engine, f"os.kill({os.getpid()}, 0)")
    refused(engine, f"os.pidfd_open({os.getpid()})")
    call = "libc = ctypes.CDLL(None, use_errno=True)\nif libc.{} < 0: raise OSError"
    for what in (f"ptrace(16, {os.getpid()}, 0, 0)", "unshare(0x10000000)", "syscall(321, 0, 0, 0)",
                 "syscall(250, 0, 0)", "syscall(430, b'tmpfs', 0)", "syscall(175, 0, 0, 0)"):  # fmt: skip
        refused(engine, call.format(what))
    refused(engine, "os.setuid(0)\nopen('/etc/shadow')")


def test_t26_processes_that_are_left_behind_are_ended(engine):
    code = """import time
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
return sum(lengths)"""
    source = "def total(lengths):\n    import os\n" + "\n".join(
        f"    {x}" for x in code.splitlines()
    )
    before = _processes.used(engine._zygote.pid).processes
    judged = engine.grade(json.dumps(right_but(total=source)).encode())
    assert [one.verdict for one in judged[1:]] == ALL[1:]
    assert judged[0].verdict in {"PASS", "ERROR", "FORBIDDEN"}
    until = time.monotonic() + 20
    while _processes.used(engine._zygote.pid).processes > before:  # the ended ones are collected
        assert time.monotonic() < until, "a process is left behind"
        time.sleep(0.05)


def test_t26_a_fork_bomb_costs_one_question(engine):
    one = told(
        engine,
        "for _ in range(3000):\n    if os.fork() == 0:\n        import time; time.sleep(600)",
    )
    assert one.verdict in {"ERROR", "FORBIDDEN", "TIMEOUT"}


def alive(folder):
    """Processes that stand in a folder of this test."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if str(path.readlink()).startswith(str(folder)):
                found.add(path.parent.name)
    return found


def test_t27_a_full_disk_is_the_students_own(engine):
    one = told(
        engine, "with open('big', 'wb') as f:\n    for _ in range(300): f.write(bytes(1 << 20))"
    )
    assert "Error" in one.detail
    assert [one.verdict for one in engine.grade(json.dumps(sent()).encode())] == ALL


def test_t15_files_of_one_student_are_not_there_for_the_next(engine):
    shadow = cell("shadow", "open('json.py', 'w').write('raise SystemExit')")
    for what in (notebook([shadow, *sent()["cells"]]), sent()):
        assert [one.verdict for one in engine.grade(json.dumps(what).encode())] == ALL


def test_t50_the_level_is_what_was_probed_and_never_what_is_wished(tmp_path, monkeypatch):
    def off(flags):
        raise PermissionError(1, "no namespaces here")

    teacher = written(tmp_path)
    monkeypatch.setitem(os.environ, "PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif any('_zygote' in a for a in sys.orig_argv):\n"
        "    from batchlab.grading import _kernel\n"
        "    def off(*a, **k): raise PermissionError(1, 'off')\n"
        "    _kernel.unshare = off\n"
    )
    with Engine(teacher, seed=None) as one:
        assert one.level in {"L2", "L0"}
        assert "off" in one.refused["L3"]["start"]
    with (
        pytest.raises(ValueError, match="level L3 does not stand"),
        Engine(teacher, seed=None, level="L3"),
    ):
        pass
    assert off and _jail.LEVELS == ("L3", "L2", "L0")


def test_t50_without_landlock_or_seccomp_only_limits_are_reported(tmp_path, monkeypatch):
    teacher = written(tmp_path)
    monkeypatch.setitem(os.environ, "PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif any('_zygote' in a for a in sys.orig_argv):\n"
        "    from batchlab.grading import _kernel\n"
        "    def off(*a, **k): raise OSError(1, 'off')\n"
        "    _kernel.unshare = _kernel.seccomp = _kernel.landlock = off\n"
    )
    with Engine(teacher, seed=None) as one:
        assert one.level == "L0"


def test_a_lying_jail_is_found_out_by_the_probe(tmp_path, monkeypatch):
    """The mistake beside the law: calls that say yes and do nothing are no level."""
    teacher = written(tmp_path)
    monkeypatch.setitem(os.environ, "PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif any('_zygote' in a for a in sys.orig_argv):\n"
        "    from batchlab.grading import _kernel\n"
        "    _kernel.seccomp = _kernel.landlock = lambda *a, **k: None\n"
        "    def off(*a, **k): raise OSError(1, 'off')\n"
        "    _kernel.unshare = off\n"
    )
    with Engine(teacher, seed=None) as one:
        assert one.level == "L0"
        assert "done" in one.refused["L2"].values()


def test_the_end_of_the_grader_is_the_end_of_all_its_processes(tmp_path):
    teacher = written(tmp_path)
    code = (
        "import os, sys, json, signal\nfrom pathlib import Path\nfrom batchlab.grading import Engine\n"
        f"one = Engine(Path({str(teacher)!r}), seed=None).__enter__()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run(
        [sys.executable, "-c", code], capture_output=True, cwd=Path(__file__).parent.parent,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    for _ in range(100):
        if not alive(tmp_path):
            break
        subprocess.run(["sleep", "0.1"])
    assert list(tmp_path.glob("batchlab-grading-*")) and not alive(tmp_path)
    assert _processes.used(os.getpid()).processes >= 1 and _kernel.landlock_version() >= 0


ORDINARY = """\
import json, subprocess, sys
from pathlib import Path
from batchlab.grading import Engine
others = [subprocess.Popen(["sleep", "60"]) for _ in range(100)]
try:
    for level in ("L3", "L2"):
        with Engine(Path(sys.argv[1]), seed="zq", level=level) as one:
            print(level, sum(two.points for two in one.grade(Path(sys.argv[2]).read_bytes())))
finally:
    for one in others:
        one.kill()
"""
THREADS = """\
import threading
some = [threading.Thread(target=str) for _ in range(20)]
[one.start() for one in some]
def total(lengths):
    return sum(lengths)"""


def test_an_ordinary_user_with_many_processes_gets_the_best_level(tmp_path):
    """Where this test runs as root, it becomes another user, who must be able to read Python."""
    user = 61183 if os.geteuid() == 0 else os.geteuid()
    libraries = (sys.base_prefix, sys.prefix, Path(__file__).parent)
    if user != os.geteuid() and not all(_others_may_read(Path(one)) for one in libraries):
        pytest.skip("another user cannot read this Python")
    home = Path(tempfile.mkdtemp(prefix="batchlab-user-"))
    teacher = written(home)
    (home / "sent.ipynb").write_text(json.dumps(right_but(total=THREADS)))
    for path in (home, *home.rglob("*")):
        os.chown(path, user, -1)
    more = {"user": user, "group": user, "extra_groups": []} if user != os.geteuid() else {}
    done = subprocess.run(
        [sys.executable, "-c", ORDINARY, str(teacher), str(home / "sent.ipynb")], text=True,
        capture_output=True, cwd=home, env={**os.environ, "HOME": str(home), "TMPDIR": str(home),
                                            "PYTHONPATH": os.pathsep.join(sys.path)}, **more,
    )  # fmt: skip
    shutil.rmtree(home)
    if "does not stand" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.stdout.splitlines() == ["L3 10.0", "L2 10.0"], done.stderr


def _others_may_read(path):
    return all(
        one.stat().st_mode & 0o005 == 0o005 for one in (path.resolve(), *path.resolve().parents)
    )


DRIP = """\
def total(lengths):
    import os, struct, time
    lines = []
    for door in range(3, 64):
        try:
            if 'socket' in os.readlink(f'/proc/self/fd/{door}'):
                lines.append(door)
        except OSError:
            pass
    told = struct.pack('<4sQQ', b'tEB1', 1 << 20, 0)
    while lines:
        for door in lines:
            os.write(door, told)
        told = b'['
        time.sleep(0.05)
    return 8  # no line was found: a right answer, and a test that fails
"""


@pytest.mark.slow
def test_t21_a_message_that_drips_for_ever_costs_one_question(tmp_path):
    """A head that promises a MiB, then a byte at a time: nobody waits longer than the clock says."""
    with Engine(written(tmp_path), seed="zq", cpu_seconds=10, wall_seconds=2) as engine:
        judged = engine.grade(json.dumps(right_but(total=DRIP)).encode())
        assert [one.verdict for one in judged] == ["TIMEOUT", *ALL[1:]]
        assert [one.verdict for one in engine.grade(json.dumps(sent()).encode())] == ALL
