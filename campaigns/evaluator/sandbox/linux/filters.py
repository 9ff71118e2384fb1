"""Which system calls a candidate or a compiler may make, and what becomes of the others.

Everything that computes stays: memory, threads, files by path (other layers bound those), the
devices' ioctl. What a kernel never needs fails with EPERM, so that code which tries and goes on
does go on. Calls younger than our tables do not exist.

A filter is a classic BPF program that seccomp runs before each call: a row of blocks, each of which
looks for one call and ends in a verdict or falls through, so no jump is longer than its block.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.evaluator.sandbox.linux.numbers import (
    LAST_KNOWN,
    X32_BIT,
    audit_architecture,
    has,
    number,
)

ALLOW = 0x7FFF0000
NOTIFY = 0x7FC00000
ERRNO = 0x00050000
REFUSED, MISSING = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS

# Offsets in struct seccomp_data: number, architecture, instruction pointer, six 64-bit arguments.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16

_LOAD, _AND, _EQUAL, _GREATER, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x25, 0x45, 0x06
_Instruction = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Test:
    """Whether one 32-bit word of an argument equals `value`, or has any bit of it.

    mask: the bits that are compared; None for all.
    """

    argument: int
    value: int
    high: bool = False
    mask: int | None = None
    any_bit: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A verdict on one call. With tests, `verdict` where all of them hold, else `otherwise`.

    Any of `tests` is enough where `any_of` is set.
    """

    call: str
    verdict: int
    tests: tuple[Test, ...] = ()
    otherwise: int = ALLOW
    any_of: bool = False


# Made all the time; answered first on kernels that keep no list of calls that always pass.
OFTEN = ("futex", "read", "write", "sched_yield", "recvmsg", "sendto", "clock_gettime")

# What a candidate never needs. Grouped by what it would reach.
OTHER_PROCESSES = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease"),
    *("kcmp", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "tkill", "setsid", "setpgid"),
    *("setpriority", "ioprio_set", "sched_setscheduler", "sched_setattr", "sched_setparam"),
    "migrate_pages",
)
NETWORK = ("socket", "connect", "bind", "listen", "accept", "accept4")
FILE_SYSTEMS = (
    *("mount", "umount2", "pivot_root", "chroot", "fsopen", "fsmount", "fsconfig", "fspick"),
    *("open_tree", "move_mount", "mount_setattr", "swapon", "swapoff", "quotactl", "quotactl_fd"),
    *("open_by_handle_at", "name_to_handle_at", "mknod", "mknodat", "acct"),
    *("statmount", "listmount"),
    *("fanotify_init", "fanotify_mark", "inotify_init", "inotify_init1", "inotify_add_watch"),
)
THE_SYSTEM = (
    *("reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module"),
    *("bpf", "perf_event_open", "userfaultfd", "syslog", "vhangup", "lookup_dcookie", "uselib"),
    *("nfsservctl", "iopl", "ioperm", "modify_ldt", "sethostname", "setdomainname"),
    *("clock_settime", "settimeofday", "adjtimex", "clock_adjtime"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register"),
    # These take from a number of events that the whole host shares, and empty its caches to disk.
    *("io_setup", "sync", "syncfs"),
)
RIGHTS = (
    *("unshare", "setns", "seccomp", "capset", "setuid", "setgid", "setreuid", "setregid"),
    *("setresuid", "setresgid", "setfsuid", "setfsgid", "setgroups", "setrlimit"),
    *("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"),
    *("lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules"),
    *("keyctl", "add_key", "request_key", "memfd_secret"),
)
SHARED_OBJECTS = (
    *("shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop"),
    *("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"),
)
# What Landlock does not know of: mode, owner, times and labels of a file, by its name alone or by a
# descriptor that may only read.
ATTRIBUTES = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat"),
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr"),
    *("fremovexattr", "removexattrat", "utime", "utimes", "futimesat", "utimensat"),
)
# A GPU's driver and tracer may use these two; on a CPU they are only ways round a limit.
HOST_ONLY = ("memfd_create", "socketpair")
PROGRAMS = ("fork", "vfork", "execve", "execveat")
# What a profiler of the CPU needs, until the program that it counts takes their place. It opens
# events of a process; to filter further takes away alone.
FOR_EVENTS = ("perf_event_open", "seccomp")
# perf_event_open: the events of one process, wherever it runs. With a CPU named they may be of all.
ANY_CPU = Test(2, 0xFFFFFFFF)
# Calls with a path that are looked at where attempts are counted; they then go on, and the view and
# Landlock decide. Which argument is the path, and which the flags of an open.
PATHS: dict[str, tuple[int, int | None]] = {
    "open": (0, 1),
    "openat": (1, 2),
    "openat2": (1, None),
    "symlink": (0, None),
    "symlinkat": (0, None),
    "link": (0, None),
    "linkat": (1, None),
    **dict.fromkeys(("creat", "truncate", "unlink", "rename", "mkdir"), (0, None)),
    **dict.fromkeys(("unlinkat", "renameat", "renameat2", "mkdirat"), (1, None)),
}
SIGNALS = ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
READ_ONLY = {"open", "openat", "openat2", "symlink", "symlinkat", "link", "linkat"}

NEW_NAMESPACE = 0x7E020000
# A thread as libraries make them: memory, working folder, open files and signals are everybody's.
# One with a table of files of its own would count anew how many may be open.
CLONE_THREAD = 0x00010000 | 0x00000800 | 0x00000400 | 0x00000200 | 0x00000100
# prctl: a death signal, own memory maps, tracer, filter, adopting orphans, capabilities.
PRCTL = (1, 8, 22, 24, 28, 35, 36, 47, 0x59616D61)
QUERY_PERSONALITY = 0xFFFFFFFF
# fcntl: which process is signalled when a descriptor is ready, leases and notices on files. Such a
# signal reaches any process of the same user, and no rule on `kill` would see it.
FCNTL = (8, 10, 15, 1024, 1026)
# madvise: holes in a shared file, and huge pages made of what lies in it. The file is the judge's:
# it would be read faster, for having been changed, than memory that a caller brings along.
ADVICE = tuple(Test(2, advice) for advice in (9, 25))
# ioctl by the kind in its second byte: of sockets (the runner's own was made outside of its network
# namespace, and tells of the network there), and of files' flags, by a descriptor that may read.
IOCTL = (Test(1, 0x8900, mask=0xFFFFFF00), Test(1, 0x6600, mask=0xFF00))
# An open that shortens a file though it may only read: Landlock asks for nothing more before its
# third version, nor of `truncate`.
CUTS = os.O_TRUNC
ACCESS = os.O_ACCMODE | os.O_TRUNC


@dataclass(frozen=True, slots=True)
class Permissions:
    """programs: it may start programs. on_gpu: it uses a driver. shares_uid: others run as it does.

    notify: refused calls are handed to the warden, which counts and refuses them; paths too.
    changes_files: it may cut files by name and change their attributes, since it sees nobody's but
    its own, or is a compiler. signals: it may stop other processes. opens_events: it may count
    events of processes that it may trace, and filter further (`FOR_EVENTS`).
    """

    programs: bool
    on_gpu: bool
    shares_uid: bool
    notify: bool
    changes_files: bool
    signals: bool = False
    opens_events: bool = False


# It compiles loops of its own, hands memory over, and stops runners.
JUDGE = Permissions(
    programs=True, on_gpu=True, shares_uid=False, notify=False, changes_files=True, signals=True
)


def program(allowed: Permissions) -> bytes:
    """The BPF program for this process. Raises OSError on an architecture without tables."""
    refused = NOTIFY if allowed.notify else REFUSED
    never = [*OTHER_PROCESSES, *NETWORK, *FILE_SYSTEMS, *THE_SYSTEM, *RIGHTS, *SHARED_OBJECTS]
    if not allowed.on_gpu:
        never += HOST_ONLY
    if not allowed.programs:
        never += PROGRAMS
    if not allowed.changes_files:
        never += ATTRIBUTES
    if allowed.opens_events:
        never = [name for name in never if name not in FOR_EVENTS]
    rules = [Rule(name, ALLOW) for name in OFTEN]
    rules.append(Rule("ioctl", refused, IOCTL, any_of=True))
    rules += [Rule(name, refused) for name in never if has(name)]
    rules += _conditional(allowed, refused)
    if allowed.notify:
        rules += [Rule(name, NOTIFY) for name in PATHS if has(name)]
    return _assembled(rules, refused)


def refusing(names: Sequence[str]) -> bytes:
    """A program that refuses these calls, on top of the filter that a process has."""
    return _assembled([Rule(name, REFUSED) for name in names], REFUSED)


def _assembled(rules: Sequence[Rule], refused: int) -> bytes:
    # What is of a foreign architecture or of the x32 ABI is refused, and what is younger than the
    # rules does not exist.
    program: list[_Instruction] = [
        (_LOAD, 0, 0, ARCHITECTURE),
        (_EQUAL, 1, 0, audit_architecture()),
        (_RETURN, 0, 0, refused),
        (_LOAD, 0, 0, NUMBER),
        (_ANY_BIT, 0, 1, X32_BIT),
        (_RETURN, 0, 0, refused),
        (_GREATER, 0, 1, LAST_KNOWN),
        (_RETURN, 0, 0, MISSING),
    ]
    for rule in rules:
        program += _block(rule)
    program.append((_RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def _conditional(allowed: Permissions, refused: int) -> list[Rule]:
    own = (Test(0, os.getpid()),)
    # Its flags lie in memory, where a filter cannot look; libc then uses clone.
    rules = [Rule("clone3", MISSING)]
    if allowed.programs:
        rules.append(Rule("clone", refused, (Test(0, NEW_NAMESPACE, any_bit=True),)))
    else:
        rules.append(Rule("clone", ALLOW, (Test(0, CLONE_THREAD, mask=CLONE_THREAD),), refused))
    rules += [Rule(name, ALLOW, own, refused) for name in SIGNALS if not allowed.signals]
    rules.append(Rule("prctl", refused, tuple(Test(0, option) for option in PRCTL), any_of=True))
    rules.append(Rule("madvise", refused, ADVICE, any_of=True))
    rules.append(Rule("fcntl", refused, tuple(Test(1, command) for command in FCNTL), any_of=True))
    if allowed.programs and not allowed.notify:
        # A compiler takes more stack. Nobody's limits but its own: one of none ends a process.
        rules.append(Rule("prlimit64", ALLOW, (Test(0, 0),), refused))
    else:
        # The kernel itself refuses to raise a limit; here the attempt is counted. To ask is free.
        rules.append(Rule("prlimit64", ALLOW, (Test(2, 0), Test(2, 0, high=True)), refused))
    if not allowed.changes_files:
        # Refused is what shortens a file without a right to write it; or the warden looks and does.
        rules.append(Rule("openat2", MISSING))
    if not allowed.changes_files and not allowed.notify:
        for name in filter(has, ("open", "openat")):
            cut = Test(PATHS[name][1] or 0, CUTS, mask=ACCESS)
            rules.append(Rule(name, REFUSED, (cut,)))
        rules.append(Rule("truncate", REFUSED))
    rules.append(Rule("personality", ALLOW, (Test(0, QUERY_PERSONALITY),), refused))
    if allowed.opens_events:
        rules.append(Rule("perf_event_open", ALLOW, (ANY_CPU,), refused))
    rules.append(Rule("move_pages", ALLOW, (Test(0, 0),), refused))
    if allowed.shares_uid:
        rules.append(Rule("sched_setaffinity", ALLOW, (Test(0, 0),), refused))
    return rules


def _block(rule: Rule) -> list[_Instruction]:
    """`if number == …`, the tests, the two verdicts; a mismatch falls through to the next block."""
    body: list[_Instruction] = []
    for test in reversed(rule.tests):
        # Behind the later tests lie `verdict` and then `otherwise`.
        later = len(body)
        jumps = (later, int(later == 0)) if rule.any_of else (0, later + 1)
        word = ARGUMENTS + 8 * test.argument + (4 if test.high else 0)
        masked = [] if test.mask is None else [(_AND, 0, 0, test.mask)]
        compared = (_ANY_BIT if test.any_bit else _EQUAL, *jumps, test.value)
        body[:0] = [(_LOAD, 0, 0, word), *masked, compared]
    body.append((_RETURN, 0, 0, rule.verdict))
    if rule.tests:
        body.append((_RETURN, 0, 0, rule.otherwise))
    return [(_EQUAL, 0, len(body), number(rule.call)), *body]


def cuts(name: str, arguments: Sequence[int]) -> bool:
    """Whether this call would shorten a file that it may only read."""
    flags_at = PATHS[name][1]
    return name == "truncate" or (flags_at is not None and arguments[flags_at] & ACCESS == CUTS)
