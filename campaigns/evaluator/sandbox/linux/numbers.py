"""Numbers of the system calls that the sandbox makes or refuses: (x86_64, aarch64).

From 424 on all architectures count alike.
"""

from __future__ import annotations

import errno
import os
import platform
import re

# AUDIT_ARCH_… of linux/audit.h, which a filter is told with every call.
AUDIT_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# With this bit an x86_64 kernel takes a call by the x32 numbers, which no table here has.
X32_BIT = 0x40000000
# Calls above this one did not exist when the tables were written, so they are not in them.
LAST_KNOWN = 466

# "-" where aarch64 does not have the call, which is None below.
_TABLE = """
accept 43 202                   accept4 288 242                 acct 163 89
add_key 248 217                 adjtimex 159 171                bind 49 200
bpf 321 280                     capset 126 91                   chmod 90 -
chown 92 -                      chroot 161 51                   clock_adjtime 305 266
clock_gettime 228 113           clock_settime 227 112           clone 56 220
clone3 435 435                  connect 42 203                  creat 85 -
delete_module 176 106           execve 59 221                   execveat 322 281
fanotify_init 300 262           fanotify_mark 301 263           fchmod 91 52
fchmodat 268 53                 fchmodat2 452 452               fchown 93 55
fchownat 260 54                 fcntl 72 25                     finit_module 313 273
fork 57 -                       fremovexattr 199 16             fsconfig 431 431
fsetxattr 190 7                 fsmount 432 432                 fsopen 430 430
fspick 433 433                  futex 202 98                    futimesat 261 -
init_module 175 105             inotify_add_watch 254 27        inotify_init 253 -
inotify_init1 294 26            io_setup 206 0                  io_uring_enter 426 426
io_uring_register 427 427       io_uring_setup 425 425          ioctl 16 29
ioperm 173 -                    iopl 172 -                      ioprio_set 251 30
kcmp 312 272                    kexec_file_load 320 294         kexec_load 246 104
keyctl 250 219                  kill 62 129                     landlock_add_rule 445 445
landlock_create_ruleset 444 444 landlock_restrict_self 446 446  lchown 94 -
link 86 -                       linkat 265 37                   listen 50 201
listmount 458 458               lookup_dcookie 212 18           lremovexattr 198 15
lsetxattr 189 6                 lsm_get_self_attr 459 459       lsm_list_modules 461 461
lsm_set_self_attr 460 460       madvise 28 233                  memfd_create 319 279
memfd_secret 447 447            migrate_pages 256 238           mkdir 83 -
mkdirat 258 34                  mknod 133 -                     mknodat 259 33
modify_ldt 154 -                mount 165 40                    mount_setattr 442 442
move_mount 429 429              move_pages 279 239              mq_open 240 180
mq_unlink 241 181               msgctl 71 187                   msgget 68 186
msgrcv 70 188                   msgsnd 69 189                   name_to_handle_at 303 264
nfsservctl 180 42               open 2 -                        open_by_handle_at 304 265
open_tree 428 428               openat 257 56                   openat2 437 437
perf_event_open 298 241         personality 135 92              pidfd_getfd 438 438
pidfd_open 434 434              pidfd_send_signal 424 424       pivot_root 155 41
prctl 157 167                   prlimit64 302 261               process_madvise 440 440
process_mrelease 448 448        process_vm_readv 310 270        process_vm_writev 311 271
ptrace 101 117                  quotactl 179 60                 quotactl_fd 443 443
read 0 63                       reboot 169 142                  recvmsg 47 212
removexattr 197 14              removexattrat 466 466           rename 82 -
renameat 264 38                 renameat2 316 276               request_key 249 218
rt_sigqueueinfo 129 138         rt_tgsigqueueinfo 297 240       sched_setaffinity 203 122
sched_setattr 314 274           sched_setparam 142 118          sched_setscheduler 144 119
sched_yield 24 124              seccomp 317 277                 semctl 66 191
semget 64 190                   semop 65 193                    semtimedop 220 192
sendto 44 206                   setdomainname 171 162           setfsgid 123 152
setfsuid 122 151                setgid 106 144                  setgroups 116 159
sethostname 170 161             setns 308 268                   setpgid 109 154
setpriority 141 140             setregid 114 143                setresgid 119 149
setresuid 117 147               setreuid 113 145                setrlimit 160 164
setsid 112 157                  settimeofday 164 170            setuid 105 146
setxattr 188 5                  setxattrat 463 463              shmat 30 196
shmctl 31 195                   shmget 29 194                   socket 41 198
socketpair 53 199               statmount 457 457               swapoff 168 225
swapon 167 224                  symlink 88 -                    symlinkat 266 36
sync 162 81                     syncfs 306 267                  syslog 103 116
tgkill 234 131                  tkill 200 130                   truncate 76 45
umount2 166 39                  unlink 87 -                     unlinkat 263 35
unshare 272 97                  uselib 134 -                    userfaultfd 323 282
utime 132 -                     utimensat 280 88                utimes 235 -
vfork 58 -                      vhangup 153 58                  write 1 64
"""
SYSTEM_CALLS: dict[str, tuple[int | None, ...]] = {
    name: tuple(None if number == "-" else int(number) for number in pair)
    for name, *pair in re.findall(r"(\w+) (\d+) (\d+|-)", _TABLE)
}


def audit_architecture() -> int:
    """What a filter is told about this machine. Raises OSError where there is no table for it."""
    machine = platform.machine()
    if machine not in AUDIT_ARCHITECTURES:
        accepted = ", ".join(AUDIT_ARCHITECTURES)
        raise OSError(errno.ENOSYS, f"no table for {machine}; there are {accepted}")
    return AUDIT_ARCHITECTURES[machine]


def has(name: str) -> bool:
    """Whether this architecture has the call."""
    return SYSTEM_CALLS[name][_column()] is not None


def number(name: str) -> int:
    """The number of a call here. Raises OSError (ENOSYS) where this architecture has it not."""
    found = SYSTEM_CALLS[name][_column()]
    if found is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), name)
    return found


def names() -> dict[int, str]:
    """The names of the calls of this architecture by their numbers."""
    column = _column()
    return {n: name for name, pair in SYSTEM_CALLS.items() if (n := pair[column]) is not None}


def _column() -> int:
    audit_architecture()
    return 0 if platform.machine() == "x86_64" else 1
