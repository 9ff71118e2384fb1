"""What a candidate may try from inside its runner, in C++, each with what must become of it.

Every attempt prints `try NAME RESULT ERRNO` to its log, so that a test knows that it really ran.
Each is harmless where it is not refused, since that is when a test of a broken sandbox runs it, as
root: signal 0, values that no kernel takes, nothing that stays behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from errno import EACCES, ENOENT, ENOSYS, EPERM, EROFS, EXDEV

from campaigns.evaluator.contract import Source
from tests.evaluator.small import LOOP, source

NOT_SEEN = (ENOENT,)
REFUSED = (EPERM,)
NOT_WRITABLE = (EROFS, EACCES, ENOENT, EPERM)
HEADERS = (
    *("cerrno", "cstdio", "cstdlib", "cstring", "dirent.h", "fcntl.h", "sched.h", "signal.h"),
    *("sys/mman.h", "sys/mount.h", "sys/ptrace.h", "sys/prctl.h", "sys/resource.h", "sys/socket.h"),
    *("sys/stat.h", "sys/syscall.h", "sys/time.h", "sys/types.h", "sys/uio.h", "sys/un.h"),
    *("sys/wait.h", "time.h", "unistd.h", "grp.h", "netinet/in.h", "arpa/inet.h", "sys/shm.h"),
    *("sys/inotify.h", "linux/netlink.h", "mqueue.h", "sys/ioctl.h", "net/if.h", "sys/xattr.h"),
)
BEFORE = """
#define TRY(name, ...) do { errno = 0; long result = (long)(__VA_ARGS__); \\
  fprintf(stderr, "try %s %ld %d\\n", name, result, errno); fflush(stderr); } while (0)
static long opened(const char* path, int flags) {
  long fd = open(path, flags, 0600); int error = errno;
  if (fd >= 0 && (flags & O_CREAT)) unlink(path);
  errno = error; return fd;
}
static long born(long child) { if (child == 0) _exit(0); return child; }
// How many files of this name other processes have that can be opened; -1 for none.
static long of_others(const char* name, int flags) {
  long count = 0; DIR* proc = opendir("/proc"); char path[300]; int last = ENOENT;
  while (dirent* entry = readdir(proc)) {
    int pid = atoi(entry->d_name);
    if (pid <= 0 || pid == getpid()) continue;
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    if (open(path, flags) >= 0) ++count; else last = errno;
  }
  closedir(proc); errno = last; return count ? count : -1;
}
static long through_link(const char* target) {
  unlink("link"); if (symlink(target, "link")) return -2;
  return open("link", O_RDONLY);
}
static int own_socket() {  // the one that leads to the judge
  struct stat s; int fd = 3;
  while (fd < 64 && (fstat(fd, &s) || !S_ISSOCK(s.st_mode))) ++fd;
  return fd;
}
static long networks() {  // how many bytes it is told about the networks of the host
  char room[1024]; ifconf c; c.ifc_len = sizeof room; c.ifc_buf = room;
  return ioctl(own_socket(), SIOCGIFCONF, &c) ? -1 : c.ifc_len;
}
static long limited(int pid) {
  rlimit same; getrlimit(RLIMIT_NOFILE, &same);
  return syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, &same, 0);
}
static long of_32_bits(long number) {
  long result;
  asm volatile("int $0x80" : "=a"(result) : "a"(number) : "memory", "r8", "r9", "r10", "r11");
  return result;
}
static long other_files() {  // open descriptors that are neither output nor a socket
  long count = 0; struct stat s;
  for (int fd = 3; fd < 1024; ++fd) if (!fstat(fd, &s) && !S_ISSOCK(s.st_mode)) ++count;
  errno = 0; return count ? count : -1;
}
"""


@dataclass(frozen=True)
class Attempt:
    """One expression. errnos: what it may fail with. recorded: words that the report then has."""

    call: str
    errnos: tuple[int, ...] = REFUSED
    recorded: str = ""


def candidate(attempts: Mapping[str, Attempt], values: Mapping[str, str]) -> Source:
    """An honest kernel that makes all `attempts` in its first call."""
    calls = "\n".join(f'TRY("{name}", {a.call});' for name, a in attempts.items())
    defines = "\n".join(f'#define {name} "{value}"' for name, value in values.items())
    includes = "\n".join(f"#include <{name}>" for name in HEADERS)
    before = f"{includes}\n{defines}\n{BEFORE}"
    body = f"static int calls = 0;\nif (calls++ == 0) {{\n{calls}\n}}\n{LOOP}"
    return source(body, before)


FILES = {
    "read a secret": Attempt("opened(SECRET, O_RDONLY)", NOT_SEEN, "openat SECRET"),
    "read the database": Attempt("opened(DATABASE, O_RDONLY)", NOT_SEEN, "openat DATABASE"),
    "read the reference": Attempt(
        'opened(PROBLEM "/ref.py", O_RDONLY)', NOT_SEEN, "PROBLEM/ref.py"
    ),
    "read the job": Attempt('opened(SCRATCH "/job.json", O_RDONLY)', NOT_SEEN, "SCRATCH/job.json"),
    "read the judge's log": Attempt('opened(SCRATCH "/judge.log", O_RDONLY)', NOT_SEEN),
    "read home": Attempt("opened(HOME, O_RDONLY | O_DIRECTORY)", (*NOT_SEEN, EACCES)),
    "read shadow": Attempt('opened("/etc/shadow", O_RDONLY)', NOT_SEEN, "openat /etc/shadow"),
    "follow a link out": Attempt("through_link(SECRET)", NOT_SEEN, "symlink SECRET"),
    "climb out": Attempt('opened("../../../../../.." SECRET, O_RDONLY)', NOT_SEEN),
    "hard link to a system file": Attempt('link("/usr/bin/env", "hard")', (EXDEV, EACCES, EPERM)),
    "write beside the secret": Attempt('opened(SECRET "2", O_CREAT | O_WRONLY)', NOT_WRITABLE),
    "write to the root": Attempt(
        'opened("/escaped", O_CREAT | O_WRONLY)', NOT_WRITABLE, "openat /escaped to write"
    ),
    "write to /usr": Attempt('opened("/usr/escaped", O_CREAT | O_WRONLY)', NOT_WRITABLE),
    "write to /etc": Attempt('opened("/etc/passwd", O_WRONLY)', NOT_WRITABLE),
    "write to Python": Attempt('opened(PYTHON "/os.py", O_WRONLY)', NOT_WRITABLE),
    "write to the evaluator": Attempt('opened(EVALUATOR "/wire.py", O_WRONLY)', NOT_WRITABLE),
    "write to the host's /dev/shm": Attempt("opened(SHARED, O_RDWR)", NOT_SEEN),
    "make a device": Attempt('mknod("disk", S_IFBLK, 0)', REFUSED, "mknod"),
    "open memory": Attempt('opened("/dev/mem", O_RDWR)', NOT_SEEN),
    "open a terminal": Attempt('opened("/dev/tty", O_RDWR)', NOT_SEEN),
    "open a GPU": Attempt('opened("/dev/nvidiactl", O_RDWR)', NOT_SEEN),
    "change a setting": Attempt('opened("/proc/sys/kernel/hostname", O_WRONLY)', NOT_WRITABLE),
    "set the core pattern": Attempt(
        'opened("/proc/sys/kernel/core_pattern", O_WRONLY)', NOT_WRITABLE
    ),
    "press sysrq": Attempt('opened("/proc/sysrq-trigger", O_WRONLY)', NOT_WRITABLE),
    "leave the cgroup": Attempt('opened("/sys/fs/cgroup/cgroup.procs", O_WRONLY)', NOT_WRITABLE),
    "leave the cgroup, v1": Attempt(
        'opened("/sys/fs/cgroup/memory/cgroup.procs", O_WRONLY)', NOT_WRITABLE
    ),
    "lease a file": Attempt("fcntl(0, F_SETLEASE, F_RDLCK)", REFUSED, "fcntl"),
    "list the network cards": Attempt('opened("/sys/devices/virtual/net", O_RDONLY)', NOT_SEEN),
    "open by handle": Attempt("syscall(SYS_open_by_handle_at, AT_FDCWD, 0, 0)"),
    "inherit files": Attempt("other_files()", (0,)),
}

PROCESSES = {
    "signal everybody": Attempt("kill(-1, 0)", REFUSED, "kill"),
    "signal the parent": Attempt("kill(getppid(), 0)"),
    "signal the group": Attempt("kill(0, 0)"),
    "signal the service": Attempt("kill(atoi(SERVICE), 0)"),
    "signal a thread": Attempt("syscall(SYS_tgkill, getppid(), getppid(), 0)"),
    "queue a signal": Attempt("syscall(SYS_rt_sigqueueinfo, atoi(SERVICE), 0, 0)"),
    "signal by a file": Attempt("fcntl(own_socket(), F_SETOWN, getppid())", REFUSED, "fcntl"),
    "signal by a file, the old way": Attempt(
        "[] { int to = getppid(); return ioctl(own_socket(), FIOSETOWN, &to); }()", REFUSED, "ioctl"
    ),
    "choose such a signal": Attempt("fcntl(0, F_SETSIG, 9)"),
    "limit the service": Attempt("limited(atoi(SERVICE))", REFUSED, "prlimit64"),
    "trace the parent": Attempt("ptrace(PTRACE_SEIZE, getppid(), 0, 0)", REFUSED, "ptrace"),
    "read memory": Attempt("process_vm_readv(getppid(), 0, 0, 0, 0, 0)"),
    "write memory": Attempt("process_vm_writev(getppid(), 0, 0, 0, 0, 0)"),
    "open a process": Attempt("syscall(SYS_pidfd_open, getppid(), 0)", REFUSED, "pidfd_open"),
    "environments of others": Attempt('of_others("environ", O_RDONLY)', (EACCES, EPERM, ENOENT)),
    "memory of others": Attempt('of_others("mem", O_RDWR)', (EACCES, EPERM, ENOENT)),
    "maps of others": Attempt('of_others("maps", O_RDONLY)', (EACCES, EPERM, ENOENT)),
    "files of others": Attempt('of_others("fd/3", O_RDONLY)', (EACCES, EPERM, ENOENT)),
    "fork": Attempt("born(fork())", REFUSED, "clone"),
    "fork, the old way": Attempt("born(syscall(SYS_fork))"),
    "start a thread with files of its own": Attempt(
        "born(syscall(SYS_clone, CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0))",
        REFUSED,
        "clone",
    ),
    "start a shell": Attempt('execl("/bin/sh", "sh", "-c", "id", nullptr)', REFUSED, "execve"),
    "start a setuid program": Attempt('execl("/usr/bin/su", "su", nullptr)'),
    "be nicer than others": Attempt("setpriority(PRIO_PROCESS, 0, -5)"),
    "be in real time": Attempt("syscall(SYS_sched_setscheduler, 0, 1, 0)"),
    "raise a limit": Attempt(
        "[] { rlimit r{1 << 20, 1 << 20}; return setrlimit(RLIMIT_NOFILE, &r); }()"
    ),
    "outlive the warden": Attempt("prctl(PR_SET_PDEATHSIG, 0)"),
    "leave the session": Attempt("setsid()"),
    "become root": Attempt("setuid(0)", REFUSED, "setuid"),
    "set groups": Attempt("setgroups(0, nullptr)"),
    "set capabilities": Attempt("syscall(SYS_capset, 0, 0)"),
    "shared memory": Attempt("shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600)", REFUSED, "shmget"),
    "shared memory of others": Attempt("shmget(0x6b6f7074, 4096, 0)"),
    "message queue": Attempt('mq_open("/kopt", O_CREAT | O_RDWR, 0600, nullptr)'),
    "memory file": Attempt('syscall(SYS_memfd_create, "x", 0)'),
}

SYSTEM = {
    "connect to loopback": Attempt("socket(AF_INET, SOCK_STREAM, 0)", REFUSED, "socket"),
    "connect by IPv6": Attempt("socket(AF_INET6, SOCK_DGRAM, 0)"),
    "connect to a unix socket": Attempt("socket(AF_UNIX, SOCK_STREAM, 0)"),
    "netlink": Attempt("socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE)"),
    "raw packets": Attempt("socket(AF_INET, SOCK_RAW, 1)"),
    "ask for the host's networks": Attempt("networks()", REFUSED, "ioctl"),
    "mount": Attempt('mount("none", "/nowhere", "none", 0, "")', REFUSED, "mount"),
    "unmount": Attempt('umount("/nowhere")'),
    "change root": Attempt('chroot(".")', REFUSED, "chroot"),
    "pivot root": Attempt('syscall(SYS_pivot_root, ".", ".")'),
    "new user namespace": Attempt("unshare(CLONE_NEWUSER)", REFUSED, "unshare"),
    "clone into a user namespace": Attempt(
        "born(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0))"
    ),
    "clone3": Attempt("syscall(435, 0, 0)", (ENOSYS,)),
    "join a namespace": Attempt("setns(0, 0)", REFUSED, "setns"),
    "host name": Attempt("syscall(SYS_sethostname, 0, -1)", REFUSED, "sethostname"),
    "clock": Attempt(
        "[] { timespec t{1, -1}; return syscall(SYS_clock_settime, CLOCK_REALTIME, &t); }()",
        REFUSED,
        "clock_settime",
    ),
    "clock, the old way": Attempt(
        "[] { timeval t{1, -1}; return syscall(SYS_settimeofday, &t, 0); }()"
    ),
    "keyring": Attempt("syscall(SYS_keyctl, 0, -3, 0)", REFUSED, "keyctl"),
    "new key": Attempt('syscall(SYS_add_key, "user", "x", "y", 1, -3)'),
    "kernel module": Attempt("syscall(SYS_init_module, 0, 0, 0)"),
    "another kernel": Attempt("syscall(SYS_kexec_load, 0, 0, 0, 0)"),
    "restart": Attempt("syscall(SYS_reboot, 0, 0, 0, 0)"),
    "swap": Attempt("syscall(SYS_swapon, 0, 0)"),
    "BPF": Attempt("syscall(SYS_bpf, 0, 0, 0)", REFUSED, "bpf"),
    "performance counters": Attempt("syscall(SYS_perf_event_open, 0, 0, -1, -1, 0)"),
    "user faults": Attempt("syscall(SYS_userfaultfd, 0)"),
    "io_uring": Attempt("syscall(SYS_io_uring_setup, 1, 0)", REFUSED, "io_uring_setup"),
    "events of the whole host": Attempt(
        "[] { unsigned long c = 0; return syscall(SYS_io_setup, 1, &c); }()", REFUSED, "io_setup"
    ),
    "write all disks back": Attempt("(sync(), errno ? -1 : 0)", REFUSED, "sync"),
    "write a disk back": Attempt("syncfs(1)", REFUSED, "syncfs"),
    "personality": Attempt("syscall(SYS_personality, 8)"),
    "watch files": Attempt("inotify_init()", REFUSED, "inotify_init"),
    "watch a file system": Attempt("syscall(SYS_fanotify_init, 0, 0)"),
    "holes in the judge's memory": Attempt("madvise(0, 0, 9)", REFUSED, "madvise"),
    "huge pages of the judge's memory": Attempt("madvise(0, 0, 25)", REFUSED, "madvise"),
    "secret memory": Attempt("syscall(447, 0)"),
    "own filter": Attempt("syscall(SYS_seccomp, 1, 0, 0)"),
    "own filter, the old way": Attempt("prctl(PR_SET_SECCOMP, 2, 0)"),
    "own Landlock": Attempt("syscall(444, 0, 0, 1)"),
    "kernel log": Attempt("syscall(SYS_syslog, 3, 0, 0)"),
    "a call of tomorrow": Attempt("syscall(999)", (ENOSYS,)),
    "32 bits": Attempt("of_32_bits(20)", (0,), "foreign"),
    "x32": Attempt("syscall(0x40000000 | 39)", REFUSED, "foreign"),
}
# What a view makes harmless, with MINE a file of the worker's user: where there is none, Landlock
# and the filter alone keep a candidate from it.
WITHOUT_A_VIEW = {
    "read another account": Attempt('opened("/etc/shadow", O_RDONLY)', (EACCES,)),
    "read a setting": Attempt('opened("/etc/environment", O_RDONLY)', (EACCES, ENOENT)),
    "open a device": Attempt('opened("/dev/ptmx", O_RDONLY)', (EACCES,)),
    "read a file": Attempt("opened(MINE, O_RDONLY)", (EACCES,)),
    "change its mode": Attempt("chmod(MINE, 0)", REFUSED, "chmod"),
    "change its mode, another way": Attempt("fchmodat(AT_FDCWD, MINE, 0, 0)"),
    "change its mode, the new way": Attempt("syscall(452, AT_FDCWD, MINE, 0, 0)"),
    "change a mode by a descriptor": Attempt('fchmod(opened("/usr/bin/env", O_RDONLY), 0755)'),
    "change its owner": Attempt("chown(MINE, getuid(), getgid())", REFUSED, "chown"),
    "change its owner, another way": Attempt("fchownat(AT_FDCWD, MINE, getuid(), getgid(), 0)"),
    "change its times": Attempt("utimes(MINE, nullptr)"),
    "change its times, another way": Attempt("utimensat(AT_FDCWD, MINE, nullptr, 0)"),
    "label it": Attempt('setxattr(MINE, "user.kopt", "x", 1, 0)', REFUSED, "setxattr"),
    "flag a file": Attempt(
        '[] { int f = 0; return ioctl(opened("/usr/bin/env", O_RDONLY), 0x40086602, &f); }()',
        REFUSED,
        "ioctl",
    ),
    "cut it": Attempt("truncate(MINE, 0)", REFUSED, "truncate MINE"),
    "cut it by opening": Attempt("opened(MINE, O_RDONLY | O_TRUNC)"),
    "open it, the new way": Attempt("syscall(437, AT_FDCWD, MINE, 0, 0)", (ENOSYS,)),
    "leave a file": Attempt('opened("left", O_CREAT | O_WRONLY)', (EACCES,)),
    "leave a folder": Attempt('mkdir("left", 0700)', (EACCES,)),
    "leave a file without a name": Attempt('opened(".", O_TMPFILE | O_RDWR)', (EACCES,)),
    "write to the host's /dev/shm": Attempt("opened(SHARED, O_RDWR)", (EACCES,)),
    "read the host's /dev/shm": Attempt("opened(SHARED, O_RDONLY)", (EACCES,)),
    "signal the service": Attempt("kill(atoi(SERVICE), 0)"),
    "signal the service by a file": Attempt("fcntl(own_socket(), F_SETOWN, atoi(SERVICE))"),
    "limit the service": Attempt("limited(atoi(SERVICE))", REFUSED, "prlimit64"),
    "read the service": Attempt('opened("/proc/" SERVICE "/mem", O_RDONLY)', (EACCES,)),
    "connect to a unix socket": Attempt("socket(AF_UNIX, SOCK_STREAM, 0)", REFUSED, "socket"),
}
EVERY = {"files": FILES, "processes": PROCESSES, "system": SYSTEM}
