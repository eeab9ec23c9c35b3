"""Every number of Linux is that of its header, and what is denied by number is denied by name."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from batchlab.grading import _headers, _kernel

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the headers are Linux's")

OURS = {name: value for name, value in vars(_headers).items() if isinstance(value, int)}
OURS |= {f"AUDIT_ARCH_{machine.upper()}": n for machine, n in _headers.AUDIT_ARCH.items()}
FILES = ("sched", "mount", "fcntl", "prctl", "capability", "landlock", "seccomp", "bpf_common",
         "audit", "elf-em")  # fmt: skip
INCLUDE = Path("/usr/include")
DEFINED = re.compile(r"^\s*#\s*define\s+(\w+)\s+([^/\n]+)|^\s+(\w+)\s*=\s*([^,/\n]+),", re.M)
CALL = re.compile(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)", re.M)


def read(text, known):
    """Numbers that a header gives names, by those names; what is no arithmetic is left out."""
    for one in DEFINED.finditer(text):
        name, value = (one[1], one[2]) if one[1] else (one[3], one[4])
        plain = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", value.strip())
        try:
            tree = ast.parse(plain, mode="eval")
            if not any(isinstance(node, ast.Call) for node in ast.walk(tree)):
                found = eval(compile(tree, name, "eval"), {"__builtins__": {}}, known)
                known |= {name: found} if isinstance(found, int) else {}
        except (SyntaxError, NameError, TypeError):
            continue
    return known


def header(*names):
    for name in names:
        if (INCLUDE / name).exists():
            return (INCLUDE / name).read_text()
    pytest.skip(f"no header {names[0]}: the programs that are built here need none")


def wrong(ours, theirs):
    return {name: n for name, n in ours.items() if theirs.get(name, n) != n}


def test_every_number_is_that_of_its_header():
    known = {}
    header("linux/prctl.h")
    for name in FILES:
        read(header(f"linux/{name}.h"), known)
    read(header("asm-generic/mman-common.h"), known)
    assert wrong(OURS, known) == {}
    assert len(OURS.keys() & known.keys()) >= 45, "names that no header knows are checked by none"


def test_a_wrong_digit_is_seen():
    """The mistake beside the law: 36 for 38, and a bit one place too far."""
    text = "#define PR_SET_NO_NEW_PRIVS\t38\n#define LANDLOCK_ACCESS_FS_REFER\t(1ULL << 13)\n"
    theirs = read(text, {})
    assert wrong(OURS, theirs) == {}
    ours = {"PR_SET_NO_NEW_PRIVS": 36, "LANDLOCK_ACCESS_FS_REFER": 1 << 12}
    assert wrong(ours, theirs) == ours


@pytest.mark.parametrize(
    ("machine", "files"),
    [
        ("x86_64", ["asm/unistd_64.h", "x86_64-linux-gnu/asm/unistd_64.h"]),
        ("aarch64", ["asm-generic/unistd.h"]),
    ],
)
def test_every_call_has_the_number_of_its_machine(machine, files):
    theirs = {name: int(number) for name, number in CALL.findall(header(*files))}
    ours = _kernel.numbers(machine)
    assert wrong(ours, theirs) == {} and len(ours.keys() & theirs.keys()) >= 50
    assert wrong(ours | {"bpf": 1}, theirs) == {"bpf": 1}


def test_both_machines_name_the_same_calls_and_no_number_twice():
    first, second = (_kernel.numbers(machine) for machine in ("x86_64", "aarch64"))
    assert first.keys() == second.keys() >= {*_kernel.DENIED}
    assert all(len(set(one.values())) == len(one) for one in (first, second))
    with pytest.raises(OSError, match="no numbers of system calls for riscv64"):
        _kernel.numbers("riscv64")


BY_NAME = """
import ctypes, errno, os
from batchlab.grading import _kernel
libc = ctypes.CDLL(None, use_errno=True)
bad = ctypes.c_long(-1)
CALLS = {name: getattr(libc, name) for name in (
    "socket", "ptrace", "process_vm_readv", "process_vm_writev", "mount", "umount2", "chroot",
    "unshare", "setns", "name_to_handle_at", "open_by_handle_at", "acct", "swapon", "swapoff",
    "quotactl", "delete_module", "init_module") if hasattr(libc, name)}
def said(call):
    ctypes.set_errno(0)
    call(bad, bad, bad, bad, bad, bad)
    return errno.errorcode.get(ctypes.get_errno(), "none")
before = {name: said(call) for name, call in CALLS.items()}
_kernel.seccomp()
after = {name: said(call) for name, call in CALLS.items()}
print(sorted(set(after.values())), sum(one != "EPERM" for one in before.values()))
"""


def test_what_is_denied_by_number_is_denied_by_the_name_that_the_c_library_has():
    """The judge where there are no headers: its own numbers are those of this machine."""
    done = subprocess.run(
        [sys.executable, "-c", BY_NAME], capture_output=True, text=True, check=True
    )
    refused, otherwise = done.stdout.rsplit(" ", 1)
    assert refused == "['EPERM']" and int(otherwise) >= 5
