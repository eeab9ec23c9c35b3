"""What Linux offers to lock a process in: namespaces, Landlock, seccomp, by ctypes alone.

    a list of paths, a list of calls  ->  a process that can do no more than that

Numbers are those of the kernel's headers (x86_64 and aarch64). Every call here raises OSError where
the kernel refuses it: who relies on it, probes it first.
"""

import ctypes
import os
import platform
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = [
    "DETACH",
    "NAMESPACES",
    "USER",
    "die_with_parent",
    "drop_capabilities",
    "landlock",
    "landlock_version",
    "large_pages",
    "mount",
    "no_more_rights",
    "pivot_root",
    "read_only",
    "reap_orphans",
    "seccomp",
    "unmount",
    "unshare",
]

NEWNS, NEWUTS, NEWIPC, USER, NEWPID, NEWNET = (
    0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
NAMESPACES = NEWNS | NEWUTS | NEWIPC | NEWPID | NEWNET
ANY_NAMESPACE = NAMESPACES | USER | 0x2000000 | 0x80  # control groups and time, too
DETACH = 2
NOSUID, NODEV, NOEXEC, BIND, REC, PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18

DENIED = {  # call: its number on x86_64, on aarch64
    "socket": (41, 198), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424), "kcmp": (312, 272), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268),
    "bpf": (321, 280), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "syslog": (103, 116),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "process_madvise": (440, 440),
}  # fmt: skip
OTHERS = {"clone": (56, 220), "clone3": (435, 435), "prlimit64": (302, 261), "kill": (62, 129),
          "tkill": (200, 130), "tgkill": (234, 131), "capset": (126, 91)}  # fmt: skip
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_libc: Any = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None


def _call(number: int, *arguments: object) -> int:
    found = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if found < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return found


def _checked(found: int) -> None:
    if found < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _prctl(option: int, *arguments: int) -> None:
    four = [ctypes.c_ulong(one) for one in (*arguments, 0, 0, 0, 0)[:4]]
    _checked(_libc.prctl(option, *four))


def _column() -> int:
    if platform.machine() not in MACHINES:
        raise OSError(f"no numbers of system calls for {platform.machine()}")
    return MACHINES[platform.machine()][0]


def die_with_parent() -> None:
    """Be killed when the parent ends, however it ends; dropping rights undoes this."""
    _prctl(1, 9)


def reap_orphans() -> None:
    """Become the parent of all descendants whose own parent ends."""
    _prctl(36, 1)


def no_more_rights() -> None:
    """No program that is started gains rights: set-user-id bits count nothing."""
    _prctl(38, 1)


def unshare(flags: int) -> None:
    """Leave namespaces; with USER, be the same user in one of one's own."""
    user, group = os.getuid(), os.getgid()
    _checked(_libc.unshare(ctypes.c_int(flags)))
    if flags & USER:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount; without a kind, bind `source` with all that is mounted in it."""
    flags = flags if kind else flags or BIND | REC
    texts = [one.encode() if one else None for one in (source, target, kind, options)]
    _checked(_libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]))


def make_private() -> None:
    """What is mounted from now on is seen in this namespace only."""
    mount("none", "/", "none", REC | PRIVATE)


def read_only(target: str) -> None:
    """Make a mount, and all in it, read-only; nothing in it gives rights."""
    what = struct.pack("QQQQ", 1 | 2, 0, 0, 0)
    _call(442, -100, target.encode(), 0x8000, what, len(what))


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root, and the root before it `old`."""
    _call((155, 41)[_column()], new.encode(), old.encode())


def unmount(target: str, flags: int = 0) -> None:
    """Unmount."""
    _checked(_libc.umount2(target.encode(), flags))


def drop_capabilities() -> None:
    """Give up every capability, for good."""
    for one in range(64):
        if _libc.prctl(24, one, 0, 0, 0) < 0:
            break
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    _call(OTHERS["capset"][_column()], header, nothing)


def large_pages() -> int:
    """Gather own memory in pages of 2 MiB, and say how many bytes; older kernels than 6.1 refuse.

    A copy of a process pays for each page of it: with large ones a fork takes a third of the time.
    """
    size, done = 2 << 20, 0
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, rights, _, _, file, *_ = line.split()
        first, last = (int(one, 16) for one in place.split("-"))
        first, last = -(-first // size) * size, last // size * size
        if rights == "rw-p" and file == "0" and first < last:
            wanted = ctypes.c_void_p(first), ctypes.c_size_t(last - first)
            done += (last - first) * (_libc.madvise(*wanted, 25) == 0)
    return done


def landlock_version() -> int:
    """Version of Landlock that this kernel has; 0 for none."""
    try:
        return _call(444, None, 0, 1)
    except OSError:
        return 0


def landlock(reads: Sequence[str], writes: Sequence[str]) -> None:
    """Read only below `reads`, write only below `writes`; no TCP, no signals to the outside."""
    version = landlock_version()
    if not version:
        raise OSError("this kernel has no Landlock")
    every = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    net, scoped = (3 if version >= 4 else 0), (3 if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = _call(444, struct.pack("QQQ", every, net, scoped)[:size], size, 0)
    read, on_file = 1 | 4 | 8, 1 | 2 | 4 | 1 << 14 | 1 << 15
    for paths, rights in ((reads, read), (writes, every)):
        for path in paths:
            try:
                opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            granted = rights & (every if Path(path).is_dir() else on_file) & every
            _call(445, rules, 1, struct.pack("=Qi", granted, opened), 0)
            os.close(opened)
    no_more_rights()
    _call(446, rules, 0)
    os.close(rules)


def seccomp(*, own_signals: bool = False) -> None:
    """Refuse what no exercise needs; `own_signals` lets a process signal itself alone."""
    column, machine = _column(), MACHINES[platform.machine()][1]
    load, equal, at_least, any_bit, done = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, eperm, enosys, kill = 0x7FFF0000, 0x50001, 0x50026, 0x80000000
    code = [(load, 0, 0, 4), (equal, 1, 0, machine), (done, 0, 0, kill), (load, 0, 0, 0)]
    if column == 0:  # the calls of x32 have the same effects under other numbers
        code += [(at_least, 0, 1, 0x40000000), (done, 0, 0, eperm)]
    for numbers in DENIED.values():
        code += [(equal, 0, 1, numbers[column]), (done, 0, 0, eperm)]
    code += [(equal, 0, 1, OTHERS["clone3"][column]), (done, 0, 0, enosys)]
    first = (load, 0, 0, 16)  # the lower half of the first argument
    code += [(equal, 0, 4, OTHERS["clone"][column]), first, (any_bit, 0, 1, ANY_NAMESPACE)]
    code += [(done, 0, 0, eperm), (done, 0, 0, allow)]
    code += [(equal, 0, 4, OTHERS["prlimit64"][column]), first, (equal, 1, 0, 0)]
    code += [(done, 0, 0, eperm), (done, 0, 0, allow)]
    for name in ("kill", "tkill", "tgkill") if own_signals else ():
        code += [(equal, 0, 4, OTHERS[name][column]), first, (equal, 1, 0, os.getpid())]
        code += [(done, 0, 0, eperm), (done, 0, 0, allow)]
    code.append((done, 0, 0, allow))
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in code))
    what = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program))
    no_more_rights()
    buffer = ctypes.create_string_buffer(what)
    _checked(_libc.prctl(22, 2, ctypes.c_void_p(ctypes.addressof(buffer)), 0, 0))
