"""Students who change the process they share with the worker, or hand it objects that lie."""

import builtins
import gc
import linecache
import os
import socket
import struct
import sys
import types

import msgspec
import numpy as np


class Equal:
    """Equal to everything, close to everything, any number you like."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __float__(self):
        return 1.0

    def __array__(self, dtype=None, copy=None):
        return np.ones(1)

    def __reduce__(self):
        return os._exit, (0,)

    def __bool__(self):
        return True

    __lt__ = __le__ = __gt__ = __ge__ = __eq__


class Matrix(np.ndarray):
    """An array that is equal to every other."""

    def __eq__(self, other):
        return np.ones(self.shape, bool)

    __hash__ = None


def an_object_equal_to_everything(target):
    """Ends: raised ValueError"""
    return Equal()


def an_object_that_says_it_is_a_number(target):
    """Ends: raised ValueError or raised TypeError"""

    class Pretender(Equal):
        __class__ = np.float64

    return Pretender()


def an_array_equal_to_everything(target):
    """Ends: raised ValueError"""
    return np.ones(3).view(Matrix)


def an_array_of_objects(target):
    """Ends: raised ValueError"""
    return np.array([Equal()], object)


def a_dictionary_that_lies(target):
    """Ends: raised ValueError"""

    class Lying(dict):
        def items(self):
            return [("reached", True)]

    return Lying()


def a_float_that_lies(target):
    """Ends: raised ValueError"""

    class Lying(float):
        __eq__ = Equal.__eq__
        __hash__ = None

    return Lying(1.0)


def a_text_that_lies(target):
    """Ends: raised ValueError"""

    class Lying(str):
        __eq__ = Equal.__eq__
        __hash__ = None

    return [Lying("x")]


def a_list_that_holds_itself(target):
    """Ends: raised ValueError"""
    loop = []
    loop.append(loop)
    return loop


def a_text_that_is_no_unicode(target):
    """Ends: raised ValueError"""
    return "\ud800"


def an_integer_without_end(target):
    """Ends: raised ValueError"""
    return 1 << 100_000


def a_generator_without_end(target):
    """Ends: raised ValueError"""
    return iter(int, 1)


def numpy_that_finds_everything_close(target):
    """Ends: wrong"""
    np.allclose = np.array_equal = np.testing.assert_allclose = lambda *a, **k: True
    np.isfinite = np.ones_like
    return float(np.allclose(1, 2))


def a_codec_that_lies(target):
    """Ends: wrong"""
    from autograder.worker import codec

    codec.to_wire = lambda values: {"reached": 1.0}
    return False


def a_codec_of_its_own(target):
    """Ends: ok"""
    sys.modules["autograder.worker.codec"] = types.ModuleType("codec")
    sys.modules["autograder.worker.runner"] = types.ModuleType("runner")
    return False


def a_socket_that_sends_something_else(target):
    """Ends: malformed-reply or wrong or exited-early"""
    _runner()["struct"] = types.SimpleNamespace(pack=lambda form, size: b"\4\0\0\0junk", unpack=struct.unpack)


def _runner():
    """The names of the loop that called us, found as a student would."""
    frame = sys._getframe()
    while frame.f_code.co_name != "serve":
        frame = frame.f_back
    return frame.f_globals


def a_runner_without_a_codec(target):
    """Ends: exited-early"""
    _runner()["codec"] = None


def a_message_library_that_lies(target):
    """Ends: exited-early"""
    msgspec.msgpack = types.SimpleNamespace(encode=lambda value: b"", Ext=object)
    socket.socket.sendall = None
    struct.pack = None
    socket.socket = object
    return False


def an_isinstance_that_says_yes(target):
    """Ends: ok or exited-early or raised ValueError"""
    builtins.isinstance = lambda *arguments: True
    return False


def an_import_of_its_own(target):
    """Ends: ok"""
    builtins.__import__ = builtins.compile = builtins.exec = builtins.open = None
    return False


def a_profiler_of_every_call(target):
    """Ends: ok or wrong"""

    def look(frame, event, value):
        if frame.f_code.co_name == "to_wire":
            frame.f_locals["values"]["reached"] = 1.0

    sys.setprofile(look)
    return False


def a_library_that_says_its_lines(target):
    """Ends: raised Exception"""
    linecache.getline = lambda *arguments: Equal()
    raise RuntimeError("where?")


class Unspeakable(Exception):
    def __str__(self):
        raise self

    __repr__ = __str__


def an_exception_that_cannot_be_told(target):
    """Ends: raised Exception"""
    raise Unspeakable


def an_exception_told_without_end(target):
    """Ends: timed-out"""

    class Endless(Exception):
        def __str__(self):
            while True:
                pass

    raise Endless


def an_exception_that_exits_when_told(target):
    """Ends: exited-early"""

    class Leaving(Exception):
        def __str__(self):
            os._exit(0)

    raise Leaving


def an_exception_told_by_something_else(target):
    """Ends: raised Exception"""

    class Text(str):
        def __getitem__(self, key):
            return Equal()

    class Strange(Exception):
        def __str__(self):
            return Text("x")

    raise Strange


def an_exception_of_a_lying_class(target):
    """Ends: raised Exception"""

    class Meta(type):
        __mro__ = property(lambda cls: ())
        __name__ = property(lambda cls: Equal())

    class Lying(Exception, metaclass=Meta):
        pass

    raise Lying


def an_exception_that_says_it_is_not_implemented(target):
    """It may: "not attempted" has no points either.

    Ends: raised NotImplementedError
    """
    kind = type("NotImplementedError", (Exception,), {"__module__": "builtins"})
    raise kind("blank")


def an_exception_of_a_hundred_megabytes(target):
    """Ends: raised Exception"""
    raise Exception("∂" * 30_000_000)


def an_exception_that_is_no_unicode(target):
    """Ends: raised Exception"""
    raise Exception("\ud800\udfff\0\x1b[2J")


def an_exception_from_a_file_that_is_no_unicode(target):
    """Ends: raised Exception"""
    here = os.path.dirname(__file__)
    exec(compile("def f(): raise Exception('x')\nf()", f"{here}/\udc80.py", "exec"), {})


def an_exception_with_a_hundred_thousand_frames(target):
    """Ends: raised Exception"""
    sys.setrecursionlimit(10**6)

    def deeper(n):
        if n == 0:
            raise Exception("deep")
        deeper(n - 1)

    deeper(100_000)


def an_exception_with_endless_causes(target):
    """Ends: raised Exception or crashed"""
    error = None
    for _ in range(200_000):
        later = Exception()
        later.__context__ = error
        error = later
    raise error


def a_syntax_error_of_an_odd_place(target):
    """Ends: raised Exception or raised SyntaxError"""
    raise SyntaxError("odd", (Equal(), Equal(), None, None))


def a_syntax_error_without_a_line(target):
    """Ends: raised SyntaxError"""
    raise SyntaxError("no line", (__file__, None, None, None))


def an_exception_group(target):
    """Ends: raised ExceptionGroup"""
    raise ExceptionGroup("many", [ValueError(n) for n in range(1000)])


def an_exit_disguised(target):
    """Ends: exited-early"""
    raise SystemExit("reached")


def an_end_of_a_generator(target):
    """Ends: raised GeneratorExit"""
    raise GeneratorExit


def a_finaliser_that_exits(target):
    """Ends: exited-early or ok"""

    class Leaving:
        def __del__(self):
            os._exit(0)

    sys.modules["leaving"] = Leaving()
    return False


def an_output_that_answers(target):
    """Ends: ok"""

    class Output:
        def flush(self):
            os._exit(0)

    sys.stdout = sys.stderr = Output()
    return False


def memory_full_of_things_that_stay(target):
    """Ends: out-of-memory"""
    gc.disable()
    sys.modules["kept"] = kept = []
    while True:
        kept.append([kept])
