"""Students who take more than they may: memory, time, and what lies between processes."""

import ctypes
import mmap
import os
import re
import sys
import threading
import zlib

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True


def fifty_gigabytes_of_zeros(target):
    """Ends: out-of-memory"""
    np.zeros(50 << 27)


def a_list_without_end(target):
    """Ends: out-of-memory"""
    return len(list(range(10**10)))


def a_compressed_bomb(target):
    """Ends: out-of-memory"""
    bomb = zlib.compress(bytes(50 << 20))
    return len(b"".join(zlib.decompress(bomb) for _ in range(100)))


def shared_memory_without_a_name(target):
    """Ends: refused"""
    mmap.mmap(-1, 1 << 30)


def memory_files(target):
    """Ends: refused"""
    files = [os.memfd_create("attack") for _ in range(16)]
    return [os.write(file, bytes(60 << 20)) for file in files]


def locked_memory(target):
    """Ends: refused"""
    call(151, 1)


def a_stack_beyond_the_limit(target):
    """Ends: raised RuntimeError"""
    threading.stack_size(1 << 30)
    threading.Thread(target=print).start()


def recursion_without_end(target):
    """Python 3.11 forgets the MemoryError on its way and calls it a SystemError.

    Ends: out-of-memory or raised RecursionError or raised SystemError
    """
    sys.setrecursionlimit(10**9)

    def deeper(held):
        return deeper(bytes(5000)) + held

    return deeper(b"")


def sockets_full_of_data(target):
    """What lies in sockets counts for nobody; there may be few of them, and none may be sent away for good.

    Ends: refused
    """
    import socket

    kept = []
    while True:
        one, other = socket.socketpair()
        one.setblocking(False)
        kept += [one, other]
        try:
            while True:
                one.send(bytes(1 << 16))
        except BlockingIOError:
            pass


def a_segment_for_the_next_student(target):
    """Ends: refused"""
    call(29, 0x5EC12E7, 4096, 0o1666)


def a_queue_for_the_next_student(target):
    """Ends: refused"""
    call(68, 0x5EC12E7, 0o1666)


def a_semaphore_for_the_next_student(target):
    """Ends: refused"""
    call(64, 0x5EC12E7, 1, 0o1666)


def a_posix_queue_for_the_next_student(target):
    """Ends: refused"""
    call(240, b"attack", os.O_CREAT | os.O_RDWR, 0o666, None)


def a_key_for_the_next_student(target):
    """Ends: forbidden-action"""
    call(248, b"user", b"attack", b"secret", 6, -4)


def a_pattern_that_backtracks(target):
    """Ends: timed-out"""
    return bool(re.match(r"(a+)+$", "a" * 60 + "b"))


def a_number_without_end(target):
    """Ends: timed-out"""
    return 7 ** (7**12) > 0


def a_loop_in_every_thread(target):
    """Ends: timed-out"""

    def work():
        while True:
            np.ones(1000).sum()

    for _ in range(4):
        threading.Thread(target=work).start()
    work()
