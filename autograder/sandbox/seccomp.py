"""The system calls a worker may make: an allow-list for Python and NumPy, one process, no sockets.

Calls on the list pass, those in LOUD kill with SIGSYS (no honest program makes them), everything else
returns EPERM, so that an honest program gets an ordinary exception. No new process, no memory outside
the address-space limit, no signal to others: that is what makes the limits hold without cgroups.
Numbers: arch/x86/entry/syscalls/syscall_64.tbl.
"""

import functools
import os
import platform
import struct

from . import kernel

# fmt: off
ALLOWED = dict(
    read=0, write=1, open=2, close=3, stat=4, fstat=5, lstat=6, poll=7, lseek=8, mmap=9, mprotect=10,
    munmap=11, brk=12, rt_sigaction=13, rt_sigprocmask=14, rt_sigreturn=15, pread64=17, pwrite64=18,
    readv=19, writev=20, access=21, sched_yield=24, mremap=25, msync=26, madvise=28, dup=32, dup2=33,
    pause=34, nanosleep=35, getitimer=36, alarm=37, setitimer=38, getpid=39, sendto=44, recvfrom=45,
    sendmsg=46, recvmsg=47, shutdown=48, exit=60, uname=63, fsync=74, ftruncate=77, getcwd=79, chdir=80,
    rename=82, mkdir=83, rmdir=84, unlink=87, readlink=89, umask=95, gettimeofday=96, getrlimit=97,
    getrusage=98, sysinfo=99, times=100, getuid=102, getgid=104, geteuid=107, getegid=108, getppid=110,
    getgroups=115, sigaltstack=131, arch_prctl=158, gettid=186, time=201, futex=202,
    sched_getaffinity=204, getdents64=217, restart_syscall=219, clock_gettime=228, clock_getres=229,
    clock_nanosleep=230, exit_group=231, openat=257, mkdirat=258, newfstatat=262, unlinkat=263,
    renameat=264, readlinkat=267, faccessat=269, pselect6=270, ppoll=271, set_robust_list=273,
    epoll_create1=291, dup3=292, pipe2=293, epoll_wait=232, epoll_ctl=233, epoll_pwait=281,
    eventfd2=290, getrandom=318, membarrier=324, statx=332, rseq=334, close_range=436, faccessat2=439,
)
LOUD = dict(
    ptrace=101, process_vm_readv=310, process_vm_writev=311, mount=165, umount2=166, pivot_root=155,
    unshare=272, setns=308, bpf=321, init_module=175, finit_module=313, kexec_load=246,
    perf_event_open=298, userfaultfd=323, keyctl=250, add_key=248, request_key=249, io_uring_setup=425,
    pidfd_getfd=438,
)
# fmt: on
# What a compiler's driver does besides: it starts its own programs, waits for them, sets their files' modes.
COMPILER = dict(
    pipe=22, fork=57, vfork=58, execve=59, wait4=61, chmod=90, fchmod=91, set_tid_address=218, fadvise64=221
)
_TGKILL, _PRLIMIT, _FCNTL, _IOCTL, _CLONE, _CLONE3, _SOCKETPAIR, _KILL = 234, 302, 72, 16, 56, 435, 53, 62
_FCNTL_COMMANDS = (0, 1, 2, 3, 4, 5, 6, 7, 1030, 1031, 1032, 1033, 1034)  # no F_SETOWN: it sends signals
_IOCTL_COMMANDS = (0x5401, 0x5413, 0x5421, 0x541B, 0x5450, 0x5451)  # terminal size, FIONREAD, FIOCLEX …
_AF_UNIX = 1
_STREAMS = (0x1, 0x801, 0x80001, 0x80801)  # a datagram socket could write to any other one by its path
_SIGKILL, _RLIMIT_CPU = 9, 0
_CLONE_THREAD = 0x10000
_CLONE_NAMESPACES = 0x7E020000

_AUDIT_X86_64, _X32_BIT = 0xC000003E, 0x40000000
_ALLOW, _EPERM, _ENOSYS, _KILL_PROCESS = 0x7FFF0000, 0x00050001, 0x00050000 | 38, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, 16
_PID = 0x7EADBEEF  # stands for the process's own id until it is known


def _load(offset: int) -> bytes:
    return struct.pack("HBBI", 0x20, 0, 0, offset)


def _if_equal(value: int, then: int, otherwise: int) -> bytes:
    return struct.pack("HBBI", 0x15, then, otherwise, value)


def _if_at_least(value: int, then: int, otherwise: int) -> bytes:
    return struct.pack("HBBI", 0x35, then, otherwise, value)


def _if_bits(bits: int, then: int, otherwise: int) -> bytes:
    return struct.pack("HBBI", 0x45, then, otherwise, bits)


def _return(action: int) -> bytes:
    return struct.pack("HBBI", 0x06, 0, 0, action)


def _when(number: int, arguments: dict[int, tuple[int, ...]]) -> list[bytes]:
    """Allow the call if each of these arguments is one of its values; refuse it else."""
    body = []
    for argument, values in arguments.items():
        tests = [_if_equal(value, len(values) - index, 0) for index, value in enumerate(values)]
        body += [_load(_ARGUMENT + 8 * argument), *tests, _return(_EPERM)]
    return [_if_equal(number, 0, len(body) + 1), *body, _return(_ALLOW)]


def _unless(number: int, argument: int, value: int) -> list[bytes]:
    """Refuse the call if its argument has this value; leave it to later rules else."""
    body = [_load(_ARGUMENT + 8 * argument), _if_equal(value, 0, 1), _return(_EPERM), _load(_NUMBER)]
    return [_if_equal(number, 0, len(body)), *body]


@functools.cache
def template(compiler: bool = False) -> bytes:
    """The filter with a placeholder for the process's own id; built once, before any fork."""
    program = [
        _load(_ARCHITECTURE),
        _if_equal(_AUDIT_X86_64, 1, 0),
        _return(_KILL_PROCESS),  # int 0x80 and other entries
        _load(_NUMBER),
        _if_at_least(_X32_BIT, 0, 1),
        _return(_KILL_PROCESS),
    ]
    for number in (ALLOWED | COMPILER if compiler else ALLOWED).values():
        program += [_if_equal(number, 0, 1), _return(_ALLOW)]
    for number in LOUD.values():
        program += [_if_equal(number, 0, 1), _return(_KILL_PROCESS)]
    # A worker that could send SIGKILL to itself would look as if the machine had killed it.
    program += _unless(_TGKILL, 2, _SIGKILL) + _unless(_KILL, 1, _SIGKILL) + _unless(_PRLIMIT, 1, _RLIMIT_CPU)
    program += _when(_TGKILL, {0: (_PID,)})
    program += _when(_KILL, {0: (_PID,)})
    program += _when(_PRLIMIT, {0: (0,)})
    program += _when(_FCNTL, {1: _FCNTL_COMMANDS})
    program += _when(_IOCTL, {1: _IOCTL_COMMANDS})
    program += _when(_SOCKETPAIR, {0: (_AF_UNIX,), 1: _STREAMS})  # asyncio wakes itself through one
    program += [_if_equal(_CLONE3, 0, 1), _return(_ENOSYS)]  # the C library then falls back to clone
    if compiler:
        program += [_if_equal(_CLONE, 0, 3), _load(_ARGUMENT), _if_bits(_CLONE_NAMESPACES, 1, 0)]
    else:
        program += [_if_equal(_CLONE, 0, 3), _load(_ARGUMENT), _if_bits(_CLONE_THREAD, 0, 1)]
    program += [_return(_ALLOW)]
    return b"".join([*program, _return(_EPERM)])


def supported() -> bool:
    """Whether the table fits this machine's processor."""
    return platform.machine() == "x86_64"


def restrict(compiler: bool = False) -> None:
    """Load the filter into this process, for good; `compiler`: it may start processes. Raises: OSError."""
    if not supported():
        raise OSError(f"no table of system calls for {platform.machine()}, only for x86_64")
    own = struct.pack("I", os.getpid())
    kernel.seccomp(template(compiler).replace(struct.pack("I", _PID), own))
