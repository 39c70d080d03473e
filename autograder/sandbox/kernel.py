"""What we ask of the Linux kernel beyond Python's `os`: namespaces, mounts, capabilities, Landlock.

Numbers are those of <linux/sched.h>, <sys/mount.h>, <linux/prctl.h> and <linux/landlock.h>; the file
imports nothing but the standard library, since it runs before anything else may be imported.
"""

import ctypes
import os
import struct

NEW_MOUNTS, NEW_UTS, NEW_IPC = 0x20000, 0x4000000, 0x8000000
NEW_USER, NEW_PIDS, NEW_NET = 0x10000000, 0x20000000, 0x40000000

READ_ONLY, NO_SUID, NO_DEV, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
DETACH = 2
NOBODY = 65534

_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Leave namespaces shared with the parent. Raises: OSError."""
    _check(_libc.unshare(flags), "unshare")


def map_user(user: int, group: int) -> None:
    """In a new user namespace, stay who we are: one user, one group. Raises: OSError."""
    for file, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{file}", "w") as handle:
            handle.write(text)


def become_nobody() -> None:
    """Root becomes user 65534 for good; where there is no such user (rootless containers) it stays."""
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except OSError:
        return
    set_dumpable(True)  # or /proc/self/uid_map would stay root's


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """mount(2). Raises: OSError naming the target."""

    def text(value: str | None) -> bytes | None:
        return None if value is None else os.fsencode(value)

    done = _libc.mount(text(source), text(target), text(kind), ctypes.c_ulong(flags), text(options))
    _check(done, f"mount {target}")


def bind(source: str, target: str) -> None:
    """Show `source`, and what is mounted below it, at `target`, which is created."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "x"):
            pass
    mount(source, target, None, BIND | RECURSIVE)


def make_read_only(target: str) -> None:
    """Make one mount read-only, without devices and set-user-id programs."""
    mount(None, target, None, BIND | REMOUNT | READ_ONLY | NO_SUID | NO_DEV)


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root and show the old one at `old` below it. Raises: OSError."""
    number = _PIVOT_ROOT[os.uname().machine]
    _check(_libc.syscall(number, os.fsencode(new), os.fsencode(old)), "pivot_root")


def unmount(target: str) -> None:
    """Take a mount away as soon as nobody uses it. Raises: OSError."""
    _check(_libc.umount2(os.fsencode(target), DETACH), f"umount {target}")


def _prctl(option: int, value: int) -> int:
    return int(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0))


def die_with_parent(signal: int = 9) -> None:
    """SIGKILL, or another signal, for this process as soon as its parent ends."""
    _check(_prctl(1, signal), "prctl(PDEATHSIG)")


def set_dumpable(value: bool) -> None:
    """Whether processes of the same user may trace this one; also who owns its /proc entries."""
    _check(_prctl(4, int(value)), "prctl(DUMPABLE)")


def no_new_privileges() -> None:
    """From now on no exec gives rights; Landlock and seccomp need it."""
    _check(_prctl(38, 1), "prctl(NO_NEW_PRIVS)")


def drop_capabilities() -> None:
    """Give up every capability for good, uid 0 or not."""
    for capability in range(64):
        if _prctl(24, capability) < 0:  # bounding set: no right to drop it, or beyond the kernel's last
            break
    _libc.prctl(47, 4, 0, 0, 0)  # ambient set
    header = struct.pack("Ii", 0x20080522, 0)
    _check(_libc.capset(header, bytes(24)), "capset")


def landlock_abi() -> int:
    """The kernel's Landlock version; 0 where there is none."""
    return max(0, int(_libc.syscall(_LANDLOCK_CREATE, None, 0, 1)))


_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _MAKE_DEVICES = 1, 2, 4, 8, (1 << 6) | (1 << 11)
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15


def landlock(readable: list[str], writable: list[str]) -> None:
    """Restrict this process, for good: it may read below `readable`, and do anything below `writable`.

    Devices can be made nowhere. Where the kernel knows how, TCP, abstract sockets and signals to others
    are refused as well.
    Raises: OSError, also for a path that does not exist.
    """
    abi = landlock_abi()
    handled = (1 << 13) - 1
    for since, right in ((2, 1 << 13), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        handled |= right if abi >= since else 0
    attributes = struct.pack("QQQ", handled, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    rules = _check(_libc.syscall(_LANDLOCK_CREATE, attributes, size, 0), "landlock_create_ruleset")
    everything = handled & ~(_EXECUTE | _MAKE_DEVICES | _IOCTL_DEV)
    for paths, rights in ((readable, _EXECUTE | _READ_FILE | _READ_DIR), (writable, everything)):
        for path in paths:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            if not os.path.isdir(path):
                rights_here = rights & (_EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE) & handled
            else:
                rights_here = rights & handled
            rule = struct.pack("=Qi", rights_here, place)
            _check(_libc.syscall(_LANDLOCK_ADD, rules, 1, rule, 0), f"landlock_add_rule {path}")
            os.close(place)
    _check(_libc.syscall(_LANDLOCK_RESTRICT, rules, 0), "landlock_restrict_self")
    os.close(rules)


def seccomp(program: bytes) -> None:
    """Load a filter, for good. Needs `no_new_privileges` first. Raises: OSError."""
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    _check(_libc.prctl(22, 2, header, 0, 0), "seccomp")
