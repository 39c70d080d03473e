"""What hostile student code would try first. `probes` sends this file into a sandbox as a submission.

Each attack gets `target` (see `probes`), returns when it has reached its goal and raises when it was
refused. None does harm where it succeeds: its victims are there for the purpose.
"""

import ctypes
import fcntl
import mmap
import os
import resource
import signal
import socket
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np

Target = dict[str, Any]

_libc = ctypes.CDLL(None, use_errno=True)


def _system_call(function: Callable[..., int], *arguments: Any) -> int:
    result = function(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def read_a_file(target: Target) -> None:
    """Reads what only the grader should read."""
    with open(target["file"]) as file:
        file.read()


def write_a_file(target: Target) -> None:
    """Opens the grader's file for writing."""
    with open(target["file"], "r+"):
        pass


def remove_a_file(target: Target) -> None:
    """Removes the grader's file."""
    os.remove(target["file"])


def change_rights(target: Target) -> None:
    """Changes who may read the grader's file, which Landlock alone would allow."""
    os.chmod(target["file"], 0o600)


def list_a_folder(target: Target) -> None:
    """Looks for names of files beside the grader's."""
    os.listdir(os.path.dirname(target["file"]))


def read_the_grader_s_environment(target: Target) -> None:
    """Looks for keys in the environment of the grader."""
    with open(f"/proc/{target['grader']}/environ", "rb") as file:
        file.read()


def open_the_parent_s_memory(target: Target) -> None:
    """Opens the memory of the process it was forked from."""
    with open(f"/proc/{os.getppid()}/mem", "rb"):
        pass


def connect_by_tcp(target: Target) -> None:
    """Talks to a server of this machine."""
    with socket.create_connection(("127.0.0.1", target["port"]), 1):
        pass


def connect_to_a_unix_socket(target: Target) -> None:
    """Talks to a service of this machine."""
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(target["stream"])


def send_a_datagram(target: Target) -> None:
    """Uses one end of a pair to write to any datagram socket, such as the system's log."""
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        one.sendto(b"here", target["datagram"])


def change_the_limits_of_another(target: Target) -> None:
    """Sets limits of a process that is not its own."""
    resource.prlimit(target["canary"], resource.RLIMIT_CORE, (0, 0))


def signal_through_a_descriptor(target: Target) -> None:
    """Makes a pair of sockets send SIGIO, which kills, to a process of its choice."""
    one, other = socket.socketpair()
    with one, other:
        fcntl.fcntl(one, fcntl.F_SETOWN, target["canary"])


def kill_another(target: Target) -> None:
    """Kills a process that is not its own."""
    os.kill(target["canary"], signal.SIGKILL)


def fork(target: Target) -> None:
    """Makes a process, as a fork bomb would."""
    if os.fork() == 0:
        os._exit(0)


def run_a_program(target: Target) -> None:
    """Runs a program of this machine."""
    subprocess.run(["/bin/true"], check=True)


def make_a_memory_file(target: Target) -> None:
    """Takes memory that its limit does not count."""
    os.close(os.memfd_create("attack"))


def share_memory(target: Target) -> None:
    """Leaves memory for the next student."""
    segment = _system_call(_libc.shmget, 0, 4096, 0o1600)
    _system_call(_libc.shmctl, segment, 0, None)


def write_into_a_package(target: Target) -> None:
    """Opens NumPy itself for writing."""
    with open(np.__file__, "a"):
        pass


def import_what_is_not_offered(target: Target) -> None:
    """Imports a package that is installed for the grader alone."""
    import pytest

    _ = pytest


def empty_its_own_file(target: Target) -> None:
    """Empties the submission through a descriptor opened for reading, which Landlock before 3 allows."""
    os.close(os.open(__file__, os.O_RDONLY | os.O_TRUNC))


def trace_another(target: Target) -> None:
    """Attaches to a process as a debugger does."""
    _system_call(_libc.ptrace, 0x4206, target["canary"], 0, 0)


def make_a_user_namespace(target: Target) -> None:
    """Becomes root of a world of its own."""
    _system_call(_libc.unshare, 0x10000000)


def read_the_keyring(target: Target) -> None:
    """Asks for the session's keyring."""
    _system_call(_libc.syscall, 250, 0, -3, 1)


def call_as_32_bit(target: Target) -> None:
    """Enters the kernel by int 0x80, whose numbers mean other calls."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, getpid; int 0x80; ret
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


def call_as_x32(target: Target) -> None:
    """Enters the kernel by the numbers of the x32 ABI."""
    _system_call(_libc.syscall, 0x40000000 | 39)


def end_at_once(target: Target) -> None:
    """Ends with exit code 0, as if all were well."""
    os._exit(0)


def crash(target: Target) -> None:
    """Reads where nothing is."""
    ctypes.string_at(8)


def answer_with_a_pickle(target: Target) -> None:
    """Writes something else than a reply into the channel."""
    os.write(3, b"\x10\x00\x00\x00\x80\x04\x95\x09\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix.")
    signal.pause()


def take_all_memory(target: Target) -> None:
    """Asks for 50 GB."""
    np.zeros(50 << 27)


def look_at_its_environment(target: Target) -> dict[str, Any]:
    """Counts the variables it was given."""
    return {"number": len(os.environ)}


def work(target: Target) -> dict[str, Any]:
    """What an honest program does."""
    return {"number": float(np.linalg.det(np.diag([1.0, 2.0, 3.0])))}
