"""Students who write the answer themselves, or something else into its place."""

import contextlib
import ctypes
import gc
import json
import os
import pickle
import signal
import socket
import struct

from autograder.worker import codec


def frame(body):
    return struct.pack("<I", len(body)) + body


def send(data):
    data = memoryview(data)
    while data:
        data = data[os.write(3, data) :]


def a_pickle(target):
    """Ends: malformed-reply"""
    send(frame(pickle.dumps(Bomb(target["file"]))))
    signal.pause()


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.remove, (self.path,)


def a_pickle_without_a_length(target):
    """Ends: malformed-reply"""
    send(pickle.dumps(Bomb(target["file"]), protocol=0))
    signal.pause()


def an_array_file(target):
    """Ends: malformed-reply"""
    send(frame(b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,)}\n"))
    signal.pause()


def the_status_of_a_process(target):
    """Ends: malformed-reply"""
    facts = json.dumps({"status": 0, "killed": False, "cpu_s": 0, "memory_mb": 0, "wall_s": 0, "printed": 0})
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(descriptor, facts.encode())
    signal.pause()


def four_gigabytes(target):
    """Ends: malformed-reply"""
    send(struct.pack("<I", 0xFFFFFFFF) + bytes(1 << 20))
    signal.pause()


def more_than_it_said(target):
    """Ends: malformed-reply"""
    send(struct.pack("<I", 4) + bytes(1 << 20))
    signal.pause()


def less_than_it_said(target):
    """Ends: timed-out"""
    send(struct.pack("<I", 1000) + bytes(10))
    signal.pause()


def less_than_it_said_and_gone(target):
    """Ends: exited-early"""
    send(struct.pack("<I", 1000) + bytes(10))
    os._exit(0)


def a_byte_now_and_then(target):
    """Ends: timed-out"""
    import time

    send(struct.pack("<I", 1_000_000))
    while True:
        send(b"\0")
        time.sleep(0.05)


def two_answers(target):
    """Ends: malformed-reply"""
    answer = frame(codec.encode(codec.Reply("attack", {})))
    send(answer + answer)
    signal.pause()


def an_answer_to_another_call(target):
    """Ends: malformed-reply"""
    send(frame(codec.encode(codec.Reply("work", {}))))
    signal.pause()


def nothing(target):
    """Ends: malformed-reply"""
    send(frame(b""))
    signal.pause()


def an_answer_and_gone(target):
    """Forged, read, and worth what its numbers are worth.

    Ends: wrong
    """
    send(frame(codec.encode(codec.Reply("attack", {"reached": 1.0}))))
    os._exit(0)


def lists_in_lists_without_end(target):
    """Ends: malformed-reply"""
    send(frame(b"\x82\xa4name\xa6attack\xa6result\x81\xa1x" + b"\x91" * 1_000_000))
    signal.pause()


def millions_of_empty_lists(target):
    """Each takes one byte to send and 64 to keep.

    Ends: malformed-reply
    """
    count = 2 << 20
    head = b"\x82\xa4name\xa6attack\xa6result\x81\xa7reached\xdd" + struct.pack(">I", count)
    send(frame(head + b"\x90" * count))
    signal.pause()


def an_array_of_another_size(target):
    """Ends: malformed-reply"""
    send(frame(_array(b"\xa2f8", b"\x91\xcf\x00\x00\x01\x00\x00\x00\x00\x00", bytes(8))))
    signal.pause()


def an_array_of_objects(target):
    """Ends: malformed-reply"""
    send(frame(_array(b"\xa1O", b"\x91\x01", bytes(8))))
    signal.pause()


def an_empty_array_of_absurd_shape(target):
    """Ends: malformed-reply"""
    large = b"\xcf\x00\x00\x01\x00\x00\x00\x00\x00"
    send(frame(_array(b"\xa2f8", b"\x93\x00" + large + large, b"")))
    signal.pause()


def a_shape_of_millions_of_sides(target):
    """Ends: malformed-reply"""
    send(frame(_array(b"\xa2f8", b"\xdd" + struct.pack(">I", 1 << 20) + b"\x01" * (1 << 20), bytes(8))))
    signal.pause()


def _array(dtype, shape, data):
    body = b"\x93" + dtype + shape + b"\xc6" + struct.pack(">I", len(data)) + data
    value = b"\xc9" + struct.pack(">I", len(body)) + b"\x01" + body
    return b"\x82\xa4name\xa6attack\xa6result\x81\xa7reached" + value


def a_failure_of_a_million_words(target):
    """Ends: malformed-reply"""
    failure = codec.Failure("E" * 10**6, "Exception", "word " * 10**6, [])
    send(frame(codec.encode(codec.Reply("attack", failure=failure))))
    signal.pause()


def descriptors(target):
    """Ends: malformed-reply"""
    for _ in range(8):
        socket.send_fds(_channel(), [b"here"], [0, 1, 2])
    signal.pause()


def a_byte_out_of_band(target):
    """Ends: timed-out or malformed-reply"""
    _channel().send(b"x", socket.MSG_OOB)
    signal.pause()


def _channel():
    return next(thing for thing in gc.get_objects() if isinstance(thing, socket.socket))


def into_another_channel(target):
    """Ends: exited-early"""
    os.dup2(1, 3)
    return True


def after_hanging_up(target):
    """Ends: exited-early"""
    ctypes.CDLL(None).shutdown(3, 2)
    return True


def by_closing_the_channel(target):
    """Ends: exited-early"""
    os.closerange(0, 64)


def with_a_flood_of_prints(target):
    """Ends: ok"""
    for _ in range(1000):
        os.write(1, b"\x1b[2J\0\xff" * 5000)


def with_exit_code_0(target):
    """Ends: exited-early"""
    os._exit(0)


def by_a_signal_of_its_own(target):
    """Ends: crashed"""
    os.kill(os.getpid(), signal.SIGTERM)
