"""What Linux offers to lock a process in: namespaces, Landlock, seccomp, by ctypes alone.

    a list of paths, a list of calls  ->  a process that can do no more than that

Numbers stand in `_headers`, for x86_64 and aarch64. Every call here raises OSError where
the kernel refuses it: who relies on it, probes it first.
"""

import ctypes
import errno
import os
import platform
import signal
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from batchlab.grading import _headers as linux

__all__ = [
    "DETACH",
    "NAMESPACES",
    "PLAIN",
    "PLAIN_DATA",
    "USER",
    "die_with_parent",
    "drop_capabilities",
    "landlock",
    "landlock_version",
    "large_pages",
    "mount",
    "no_more_rights",
    "numbers",
    "pivot_root",
    "read_only",
    "reap_orphans",
    "seccomp",
    "unmount",
    "unshare",
]

NAMESPACES = (
    linux.CLONE_NEWNS | linux.CLONE_NEWUTS | linux.CLONE_NEWIPC | linux.CLONE_NEWPID
    | linux.CLONE_NEWNET
)  # fmt: skip
USER, DETACH = linux.CLONE_NEWUSER, linux.MNT_DETACH
ANY_NAMESPACE = NAMESPACES | USER | linux.CLONE_NEWCGROUP | linux.CLONE_NEWTIME
PLAIN = linux.MS_NOSUID | linux.MS_NODEV  # a mount that gives no rights
PLAIN_DATA = PLAIN | linux.MS_NOEXEC  # and starts no program

DENIED = (  # what no exercise needs
    "socket", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_open", "pidfd_getfd",
    "pidfd_send_signal", "kcmp", "mount", "umount2", "pivot_root", "chroot", "unshare", "setns",
    "bpf", "add_key", "request_key", "keyctl", "perf_event_open", "userfaultfd", "io_uring_setup",
    "io_uring_enter", "io_uring_register", "init_module", "finit_module", "delete_module",
    "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl", "syslog",
    "name_to_handle_at", "open_by_handle_at", "open_tree", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "mount_setattr", "process_madvise", "memfd_create", "memfd_secret",
    "shmget", "semget", "msgget", "mq_open",  # memory that no process is counted for
)  # fmt: skip
LOAD = linux.BPF_LD | linux.BPF_W | linux.BPF_ABS
EQUAL = linux.BPF_JMP | linux.BPF_JEQ | linux.BPF_K
AT_LEAST = linux.BPF_JMP | linux.BPF_JGE | linux.BPF_K
ANY_BIT = linux.BPF_JMP | linux.BPF_JSET | linux.BPF_K
DONE = linux.BPF_RET | linux.BPF_K
NUMBER, MACHINE, FIRST = 0, 4, 16  # in struct seccomp_data; of the first argument the lower half
_libc: Any = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None


def _call(name: str, *arguments: object) -> int:
    found = int(_libc.syscall(ctypes.c_long(numbers()[name]), *arguments))
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


def numbers(machine: str = platform.machine()) -> dict[str, int]:
    """System calls by name, as this machine numbers them; OSError for one that is not known."""
    if machine not in linux.CALLS:
        raise OSError(f"no numbers of system calls for {machine}")
    return {**linux.CALLS[machine], **linux.NEWER}


def die_with_parent() -> None:
    """Be killed when the parent ends, however it ends; dropping rights undoes this."""
    _prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)


def reap_orphans() -> None:
    """Become the parent of all descendants whose own parent ends."""
    _prctl(linux.PR_SET_CHILD_SUBREAPER, 1)


def no_more_rights() -> None:
    """No program that is started gains rights: set-user-id bits count nothing."""
    _prctl(linux.PR_SET_NO_NEW_PRIVS, 1)


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
    flags = flags if kind else flags or linux.MS_BIND | linux.MS_REC
    texts = [one.encode() if one else None for one in (source, target, kind, options)]
    _checked(_libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]))


def make_private() -> None:
    """What is mounted from now on is seen in this namespace only."""
    mount("none", "/", "none", linux.MS_REC | linux.MS_PRIVATE)


def read_only(target: str) -> None:
    """Make a mount, and all in it, read-only; nothing in it gives rights."""
    what = struct.pack("QQQQ", linux.MOUNT_ATTR_RDONLY | linux.MOUNT_ATTR_NOSUID, 0, 0, 0)
    place = linux.AT_FDCWD, target.encode()
    _call("mount_setattr", *place, linux.AT_RECURSIVE, what, len(what))


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root, and the root before it `old`."""
    _call("pivot_root", new.encode(), old.encode())


def unmount(target: str, flags: int = 0) -> None:
    """Unmount."""
    _checked(_libc.umount2(target.encode(), flags))


def drop_capabilities() -> None:
    """Give up every capability, for good."""
    for one in range(64):
        if _libc.prctl(linux.PR_CAPBSET_DROP, one, 0, 0, 0) < 0:
            break
    header = struct.pack("Ii", linux._LINUX_CAPABILITY_VERSION_3, 0)
    _call("capset", header, bytes(12 * linux._LINUX_CAPABILITY_U32S_3))


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
            done += (last - first) * (_libc.madvise(*wanted, linux.MADV_COLLAPSE) == 0)
    return done


def landlock_version() -> int:
    """Version of Landlock that this kernel has; 0 for none."""
    try:
        return _call("landlock_create_ruleset", None, 0, linux.LANDLOCK_CREATE_RULESET_VERSION)
    except OSError:
        return 0


def landlock(reads: Sequence[str], writes: Sequence[str]) -> None:
    """Read only below `reads`, write only below `writes`; no TCP, no signals to the outside."""
    version = landlock_version()
    if not version:
        raise OSError("this kernel has no Landlock")
    every = _rights(version)
    net = linux.LANDLOCK_ACCESS_NET_BIND_TCP | linux.LANDLOCK_ACCESS_NET_CONNECT_TCP
    scoped = linux.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | linux.LANDLOCK_SCOPE_SIGNAL
    what = struct.pack("QQQ", every, net * (version >= 4), scoped * (version >= 6))
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = _call("landlock_create_ruleset", what[:size], size, 0)
    file = linux.LANDLOCK_ACCESS_FS_EXECUTE | linux.LANDLOCK_ACCESS_FS_READ_FILE
    read = file | linux.LANDLOCK_ACCESS_FS_READ_DIR
    on_file = file | linux.LANDLOCK_ACCESS_FS_WRITE_FILE
    on_file |= linux.LANDLOCK_ACCESS_FS_TRUNCATE | linux.LANDLOCK_ACCESS_FS_IOCTL_DEV
    for paths, rights in ((reads, read), (writes, every)):
        for path in paths:
            try:
                opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            granted = rights & (every if Path(path).is_dir() else on_file) & every
            rule = struct.pack("=Qi", granted, opened)
            _call("landlock_add_rule", rules, linux.LANDLOCK_RULE_PATH_BENEATH, rule, 0)
            os.close(opened)
    no_more_rights()
    _call("landlock_restrict_self", rules, 0)
    os.close(rules)


def _rights(version: int) -> int:
    """All rights to files that a version of Landlock knows."""
    last = {
        1: linux.LANDLOCK_ACCESS_FS_MAKE_SYM, 2: linux.LANDLOCK_ACCESS_FS_REFER,
        3: linux.LANDLOCK_ACCESS_FS_TRUNCATE, 4: linux.LANDLOCK_ACCESS_FS_TRUNCATE,
    }.get(version, linux.LANDLOCK_ACCESS_FS_IOCTL_DEV)  # fmt: skip
    return 2 * last - 1


def seccomp(*, own_signals: bool = False) -> None:
    """Refuse what no exercise needs; `own_signals` lets a process signal itself alone."""
    code = _program(platform.machine(), os.getpid() if own_signals else None)
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in code))
    what = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program))
    no_more_rights()
    buffer = ctypes.create_string_buffer(what)
    place = ctypes.c_void_p(ctypes.addressof(buffer))
    _checked(_libc.prctl(linux.PR_SET_SECCOMP, linux.SECCOMP_MODE_FILTER, place, 0, 0))


def _program(machine: str, own: int | None) -> list[tuple[int, int, int, int]]:
    """The filter: what is done, steps ahead if it holds, if it does not, and with which number.

    own  the only process that may be signalled; None: whom the kernel allows otherwise
    """
    call, arch = numbers(machine), linux.AUDIT_ARCH[machine]
    allow = (DONE, 0, 0, linux.SECCOMP_RET_ALLOW)
    refuse = (DONE, 0, 0, linux.SECCOMP_RET_ERRNO | errno.EPERM)
    unknown = (DONE, 0, 0, linux.SECCOMP_RET_ERRNO | errno.ENOSYS)
    kill, first = (DONE, 0, 0, linux.SECCOMP_RET_KILL_PROCESS), (LOAD, 0, 0, FIRST)
    code = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, arch), kill, (LOAD, 0, 0, NUMBER)]
    if machine == "x86_64":  # the calls of x32 have the same effects under other numbers
        code += [(AT_LEAST, 0, 1, linux.X32_SYSCALL_BIT), refuse]
    for name in DENIED:
        code += [(EQUAL, 0, 1, call[name]), refuse]
    code += [(EQUAL, 0, 1, call["clone3"]), unknown]
    code += [(EQUAL, 0, 4, call["clone"]), first, (ANY_BIT, 0, 1, ANY_NAMESPACE), refuse, allow]
    code += [(EQUAL, 0, 4, call["prlimit64"]), first, (EQUAL, 1, 0, 0), refuse, allow]
    if own is not None:
        for name in ("kill", "tkill", "tgkill"):
            code += [(EQUAL, 0, 4, call[name]), first, (EQUAL, 1, 0, own), refuse, allow]
    return [*code, allow]
