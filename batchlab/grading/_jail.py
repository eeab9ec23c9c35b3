"""Three levels of isolation, and how a process gets into each.

    a level, paths to read, a place to write  ->  a process that reaches nothing else

    L3  namespaces of its own: no network, own processes, a root of a few read-only folders, a
        private /tmp; besides, Landlock (where the kernel has it), seccomp and limits
    L2  Landlock, seccomp and limits: where namespaces are refused, as in most containers
    L0  limits alone

A level counts as in force only when it was probed from inside (`_probe`). Its calls are made here,
after the fork, so that what was loaded is loaded once.

Words
    keeper   the process that stands between the grader and a student's; it ends what is left over
    view     the folders that a student's process may read
"""

import contextlib
import json
import os
import signal
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import batchlab
from batchlab.grading import _kernel

__all__ = ["LEVELS", "Order", "checking", "locked_in", "view"]

LEVELS = ("L3", "L2", "L0")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache",
          "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/sys/devices/system/cpu",
          "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")  # fmt: skip
OF_PROC = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/self", "/proc/version")
PROCESSES, FILES, FILE_BYTES = 64, 256, 64 << 20
SPARE = 256  # threads that an ordinary user may start elsewhere while a student's process runs
PLACE = "/scratch"  # all that L3 may write
FIRST_USER, USERS = 61184, 4000  # those that systemd calls dynamic


@dataclass(frozen=True)
class Order:
    """What a student's process is let into."""

    level: str
    root: str  # an empty folder: the new root is mounted there
    work: str  # an empty folder: what L2 and L0 may write
    memory: int  # bytes that it may have beside what is loaded
    cpu: int  # seconds after which the kernel ends it, whoever watches


def view() -> list[str]:
    """Folders that Python and this library need, shortest first; no course, no home."""
    scheme = sysconfig.get_paths()
    own = [sys.prefix, sys.base_prefix, *(scheme[name] for name in ("stdlib", "platstdlib"))]
    own += [scheme["purelib"], scheme["platlib"], str(Path(batchlab.__file__).parent)]
    wanted = [*SYSTEM, *own, *(os.path.realpath(one) for one in own)]
    return sorted({one for one in wanted if Path(one).exists()}, key=len)


def locked_in(order: Order, status: int, work: Callable[[], None]) -> None:
    """Run `work` at a level, and say on `status` which process it is and how it ended.

    Called in a fresh copy of the zygote, and never returns.
    """
    try:
        _kernel.die_with_parent()
        if order.level == "L3":
            _unshared()
            child = os.fork()
            if child:
                os.close(status)
                os.waitpid(child, 0)
                os._exit(0)
            _kernel.die_with_parent()
            _root(order)
        else:
            _kernel.reap_orphans()
        _keep(order, status, work)
    except BaseException as error:
        _say(status, failed=f"{type(error).__name__}: {error}")
    os._exit(1)


def _keep(order: Order, status: int, work: Callable[[], None]) -> None:
    """Start the student's process, wait for its end, and end what it left behind."""
    child = os.fork()
    if child == 0:
        try:
            _confine(order)
        except BaseException as error:
            _say(status, failed=f"{type(error).__name__}: {error}")
            os._exit(1)
        os.close(status)
        with contextlib.suppress(BaseException):
            work()
        os._exit(0)
    for one in range(3, 64):
        if one != status:
            with contextlib.suppress(OSError):
                os.close(one)
    ended = None
    while ended is None:
        found, how = os.waitpid(-1, 0)
        ended = how if found == child else None
    left = _end_the_rest()
    used = os.times()
    seconds = used.children_user + used.children_system
    _say(status, ended=ended, left=left, seconds=seconds)
    os._exit(0)


def _end_the_rest() -> int:
    """Kill all descendants; how many there were."""
    killed: set[int] = set()
    while True:
        with contextlib.suppress(OSError):
            for one in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
                if Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    os.kill(int(one), signal.SIGKILL)
                    killed.add(int(one))
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return len(killed)


def _say(status: int, **said: Any) -> None:
    with contextlib.suppress(OSError):
        os.write(status, json.dumps(said).encode() + b"\n")


def _unshared() -> None:
    """Own namespaces for this process and, of processes, for its children."""
    as_root = os.geteuid() == 0
    try:
        _kernel.unshare(_kernel.NAMESPACES if as_root else _kernel.NAMESPACES | _kernel.USER)
    except PermissionError:
        if not as_root:
            raise
        _kernel.unshare(_kernel.NAMESPACES | _kernel.USER)
    _kernel.make_private()


def _root(order: Order) -> None:
    """A root that holds the view and nothing else.

    Who is not root may mount /proc only while another one is in sight: before the old root goes.
    """
    folders, root = view(), order.root
    _kernel.mount("tmpfs", root, "tmpfs", _kernel.PLAIN, "size=1m,nr_inodes=2k,mode=755")
    for path in folders:
        _shown(Path(path), Path(root + path))
    for name in ("proc", PLACE[1:], "dev/shm", ".old", "etc"):
        Path(root, name).mkdir(parents=True, exist_ok=True)
    if not Path(root, "tmp").exists():  # it does where Python or this library lies in it
        Path(root, "tmp").symlink_to(PLACE)
    Path(f"{root}/etc/passwd").write_text("student:x:1000:1000::/scratch:/bin/false\n")
    _kernel.read_only(root)
    for name in (PLACE[1:], "dev/shm"):
        most = f"size={FILE_BYTES},nr_inodes=4k,mode=1777"
        _kernel.mount("tmpfs", f"{root}/{name}", "tmpfs", _kernel.PLAIN, most)
    _kernel.mount("proc", f"{root}/proc", "proc", _kernel.PLAIN_DATA)
    os.chdir(root)
    _kernel.pivot_root(".", ".old")
    os.chdir("/")
    _kernel.unmount("/.old", _kernel.DETACH)


def _shown(path: Path, there: Path) -> None:
    """Make a path visible in the new root: a link as a link, all else bound."""
    if there.exists() or there.is_symlink():
        return
    there.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() and not path.readlink().is_absolute():
        there.symlink_to(path.readlink())
        return
    if path.is_dir():
        there.mkdir()
    else:
        there.touch()
    _kernel.mount(os.path.realpath(path), str(there))


def _confine(order: Order) -> None:
    """Rights, files, calls and limits of the student's own process."""
    place = PLACE if order.level == "L3" else order.work
    os.chdir(place)
    for name in ("HOME", "TMPDIR", "MPLCONFIGDIR", "XDG_CACHE_HOME", "HF_HOME"):
        os.environ[name] = place
    tempfile.tempdir = None
    os.setsid()
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    _limits(order)
    _become_nobody(order)
    if order.level == "L0":
        _kernel.die_with_parent()
        return
    _kernel.drop_capabilities()
    version = _kernel.landlock_version()
    if order.level == "L2" or version:
        reads = ["/"] if order.level == "L3" else [*view(), *OF_PROC]
        _kernel.landlock(reads, [place, "/dev/shm" if order.level == "L3" else place, "/dev/null"])
    _kernel.die_with_parent()
    _kernel.seccomp(own_signals=order.level == "L2" and version < 6)


def checking(order: Order) -> None:
    """Let the checker read the libraries, write a folder of its own, and reach nothing else.

    It runs our code; a stranger's values are all that it reads, and it needs no more than this.
    """
    place = f"{order.work}-checks"
    Path(place).mkdir(mode=0o700, exist_ok=True)
    os.environ["TMPDIR"], tempfile.tempdir = place, None
    _data_limit(order.memory)
    if order.level != "L0":
        if _kernel.landlock_version():
            _kernel.landlock([*view(), *OF_PROC], [place, "/dev/null"])
        _kernel.seccomp()


def _become_nobody(order: Order) -> None:
    """Another user than root, where that user can still read the view."""
    if os.geteuid() != 0:
        return
    user = FIRST_USER + int.from_bytes(os.urandom(2), "big") % USERS
    os.setgroups([])
    os.setresgid(user, user, user)
    if order.level != "L3":
        os.chown(order.work, user, user)
        os.setresuid(user, 0, 0)
        if not all(os.access(one, os.R_OK) for one in (*view(), order.work)):
            os.setresuid(0, 0, 0)
            os.chown(order.work, 0, 0)
            return
    os.setresuid(user, user, user)


def _limits(order: Order) -> None:
    import resource  # Windows has none

    _data_limit(order.memory)
    for name, most in (
        ("CORE", 0), ("FSIZE", FILE_BYTES), ("NOFILE", FILES), ("NPROC", _others() + PROCESSES),
        ("CPU", order.cpu),
    ):  # fmt: skip
        kind = getattr(resource, f"RLIMIT_{name}")
        top = resource.getrlimit(kind)[1]
        most = most if top == resource.RLIM_INFINITY else min(most, top)
        resource.setrlimit(kind, (most, most))


def _others() -> int:
    """Threads that this user has: the kernel counts them all, not those of a student alone."""
    if os.geteuid() == 0:  # it becomes a user that has none
        return 0
    count, me = 0, os.geteuid()
    for one in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if one.stat().st_uid == me:
                count += len(os.listdir(one / "task"))  # noqa: PTH208
    return count + SPARE


def _data_limit(memory: int) -> None:
    """Let this process have so many bytes beside what it has."""
    import resource  # Windows has none

    held = 0
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData"):
            held = int(line.split()[1]) * 1024
    top = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = held + memory if top == resource.RLIM_INFINITY else min(held + memory, top)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
