"""Numbers of Linux by the names that its headers give them, each group under its header.

    a name of <linux/...h>  ->  its number

The headers are those that programs are built with (uapi, Linux 6.18). Where they lie on a machine,
`tests/test_grading_headers.py` compares every name here with them.
"""

from collections.abc import Mapping

__all__ = ["AUDIT_ARCH", "CALLS", "NEWER"]  # and every number by its name

# <linux/sched.h>
CLONE_NEWTIME = 0x00000080
CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

# <linux/mount.h>
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MOUNT_ATTR_RDONLY = 0x00000001
MOUNT_ATTR_NOSUID = 0x00000002
MNT_DETACH = 2  # of umount2(2), in <sys/mount.h>

# <linux/fcntl.h>
AT_FDCWD = -100
AT_RECURSIVE = 0x8000

# <linux/prctl.h>
PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

# <linux/capability.h>
_LINUX_CAPABILITY_VERSION_3 = 0x20080522
_LINUX_CAPABILITY_U32S_3 = 2

# <asm-generic/mman-common.h>
MADV_COLLAPSE = 25

# <linux/landlock.h>
LANDLOCK_CREATE_RULESET_VERSION = 1 << 0
LANDLOCK_RULE_PATH_BENEATH = 1
LANDLOCK_ACCESS_FS_EXECUTE = 1 << 0
LANDLOCK_ACCESS_FS_WRITE_FILE = 1 << 1
LANDLOCK_ACCESS_FS_READ_FILE = 1 << 2
LANDLOCK_ACCESS_FS_READ_DIR = 1 << 3
LANDLOCK_ACCESS_FS_MAKE_SYM = 1 << 12  # the last of version 1
LANDLOCK_ACCESS_FS_REFER = 1 << 13  # version 2
LANDLOCK_ACCESS_FS_TRUNCATE = 1 << 14  # version 3
LANDLOCK_ACCESS_FS_IOCTL_DEV = 1 << 15  # version 5
LANDLOCK_ACCESS_NET_BIND_TCP = 1 << 0  # version 4
LANDLOCK_ACCESS_NET_CONNECT_TCP = 1 << 1
LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0  # version 6
LANDLOCK_SCOPE_SIGNAL = 1 << 1

# <linux/seccomp.h>
SECCOMP_MODE_FILTER = 2
SECCOMP_RET_KILL_PROCESS = 0x80000000
SECCOMP_RET_ERRNO = 0x00050000  # with the number of the error in its lower half
SECCOMP_RET_ALLOW = 0x7FFF0000

# <linux/bpf_common.h>
BPF_LD = 0x00
BPF_JMP = 0x05
BPF_RET = 0x06
BPF_W = 0x00
BPF_ABS = 0x20
BPF_JEQ = 0x10
BPF_JGE = 0x30
BPF_JSET = 0x40
BPF_K = 0x00

# <asm/unistd.h> of x86_64
X32_SYSCALL_BIT = 0x40000000

# <linux/audit.h>: by what `platform.machine()` says
AUDIT_ARCH: Mapping[str, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# <asm/unistd_64.h> of x86_64, <asm-generic/unistd.h>, which is that of aarch64
CALLS: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "shmget": 29, "socket": 41, "clone": 56, "kill": 62, "semget": 64, "msgget": 68,
        "ptrace": 101, "syslog": 103, "capset": 126, "pivot_root": 155,
        "chroot": 161, "acct": 163, "mount": 165, "umount2": 166,
        "swapon": 167, "swapoff": 168, "reboot": 169, "init_module": 175, "delete_module": 176,
        "quotactl": 179, "tkill": 200, "tgkill": 234, "mq_open": 240, "kexec_load": 246,
        "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298,
        "prlimit64": 302, "name_to_handle_at": 303, "open_by_handle_at": 304, "setns": 308,
        "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "finit_module": 313,
        "memfd_create": 319, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
    },
    "aarch64": {
        "umount2": 39, "mount": 40, "pivot_root": 41, "chroot": 51, "quotactl": 60, "acct": 89,
        "capset": 91, "unshare": 97, "kexec_load": 104, "init_module": 105, "delete_module": 106,
        "syslog": 116, "ptrace": 117, "kill": 129, "tkill": 130, "tgkill": 131, "reboot": 142,
        "mq_open": 180, "msgget": 186, "semget": 190, "shmget": 194,
        "socket": 198, "add_key": 217, "request_key": 218, "keyctl": 219, "clone": 220,
        "swapon": 224, "swapoff": 225, "perf_event_open": 241, "prlimit64": 261,
        "name_to_handle_at": 264, "open_by_handle_at": 265, "setns": 268,
        "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273,
        "memfd_create": 279, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
    },
}  # fmt: skip

# the same on both since Linux 5.1
NEWER: Mapping[str, int] = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431,
    "fsmount": 432, "fspick": 433, "pidfd_open": 434, "clone3": 435, "pidfd_getfd": 438,
    "process_madvise": 440, "mount_setattr": 442, "landlock_create_ruleset": 444,
    "landlock_add_rule": 445, "landlock_restrict_self": 446, "memfd_secret": 447,
}  # fmt: skip
