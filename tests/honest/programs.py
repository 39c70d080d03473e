"""What honest students write: each function is a program that must run in the sandbox as it would at home."""

import os
import sys
import time

import numpy as np


def the_digits_that_come_with_labkit():
    from labkit.data import digits

    images, labels = digits()
    assert images.shape == (1797, 8, 8) and set(labels) == set(range(10))


def linear_algebra():
    a = np.random.default_rng(0).normal(size=(120, 120))
    left, values, right = np.linalg.svd(a)
    assert np.allclose((left * values) @ right, a)
    assert np.allclose(np.linalg.inv(a) @ a, np.eye(120))
    assert np.all(np.linalg.eigvalsh(a @ a.T) > 0)
    assert np.allclose(np.fft.ifft2(np.fft.fft2(a)).real, a)
    assert np.allclose(np.einsum("ij,jk->ik", a, a), a @ a)


def numpy_s_other_rooms():
    import numpy.ma
    import numpy.polynomial
    import numpy.testing
    from numpy.lib.stride_tricks import sliding_window_view

    numpy.testing.assert_allclose(numpy.polynomial.Polynomial([1, 2])(2.0), 5)
    assert sliding_window_view(np.arange(5), 3).shape == (3, 3)
    assert numpy.ma.masked_array([1, 2], [True, False]).sum() == 2


def the_standard_library():
    import abc
    import array
    import bisect
    import collections
    import concurrent.futures
    import copy
    import csv
    import dataclasses
    import datetime
    import decimal
    import difflib
    import enum
    import fractions
    import functools
    import graphlib
    import hashlib
    import heapq
    import html
    import http.client
    import inspect
    import itertools
    import json
    import logging
    import math
    import multiprocessing
    import operator
    import pathlib
    import pickle
    import pprint
    import queue
    import random
    import re
    import shutil
    import sqlite3
    import statistics
    import string
    import struct
    import subprocess
    import tempfile
    import textwrap
    import threading
    import timeit
    import traceback
    import types
    import typing
    import unittest
    import urllib.request
    import uuid
    import warnings
    import weakref
    import xml.etree.ElementTree

    assert json.loads(json.dumps({"x": 1})) == {"x": 1}
    assert fractions.Fraction(1, 3) * 3 == 1 and decimal.Decimal("0.1") * 10 == 1
    assert copy.deepcopy([np.ones(2)])[0].sum() == 2
    assert pickle.loads(pickle.dumps((1, 2))) == (1, 2)
    assert [*graphlib.TopologicalSorter({"b": {"a"}}).static_order()] == ["a", "b"]
    assert len(hashlib.sha256(b"").hexdigest()) == 64
    used = abc, array, bisect, collections, concurrent, csv, dataclasses, datetime, difflib, enum, functools
    more = heapq, html, http, inspect, itertools, logging, math, multiprocessing, operator, pathlib, pprint
    rest = queue, random, re, shutil, sqlite3, statistics, string, struct, subprocess, tempfile, textwrap
    last = threading, timeit, traceback, types, typing, unittest, urllib, uuid, warnings, weakref, xml
    assert used and more and rest and last


def the_kit_itself():
    import labkit

    assert labkit


def saving_and_loading_arrays():
    """Writes."""
    np.save("/tmp/a.npy", np.ones(3))
    assert np.load("/tmp/a.npy").sum() == 3
    np.savez("/tmp/a.npz", x=np.ones(3))
    assert np.load("/tmp/a.npz")["x"].sum() == 3
    np.savetxt("/tmp/a.txt", np.eye(2))
    assert np.loadtxt("/tmp/a.txt").sum() == 2


def an_array_on_disk():
    """Writes."""
    np.save("/tmp/b.npy", np.ones(3))
    assert np.load("/tmp/b.npy", mmap_mode="r").sum() == 3
    mapped = np.memmap("/tmp/c", shape=(4,), mode="w+")
    mapped[:] = 1
    mapped.flush()


def temporary_files():
    """Writes."""
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x")
        file.flush()
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "inner"))
        os.rename(os.path.join(folder, "inner"), os.path.join(folder, "other"))


def a_log_file():
    """Writes."""
    import logging

    handler = logging.FileHandler("/tmp/log.txt")
    logging.getLogger("lab").addHandler(handler)
    logging.getLogger("lab").warning("loss %s", 0.5)
    handler.close()
    with open("/tmp/log.txt") as file:
        assert file.read() == "loss 0.5\n"


def threads():
    import threading

    found = []
    workers = [threading.Thread(target=found.append, args=(n,)) for n in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(found) == [*range(8)]


def a_pool_of_threads():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(abs, [-1, 2])] == [1, 2]


def asynchronous_code():
    import asyncio

    async def wait():
        await asyncio.gather(*(asyncio.sleep(0.001) for _ in range(3)))
        return 1

    assert asyncio.run(wait()) == 1


def printing_anything():
    print("héllo ∂f/∂x 梯度")
    sys.stderr.write("warning\n")
    print("done", file=sys.stderr, flush=True)


def printing_into_a_text():
    import contextlib
    import io

    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        print("x")
        np.show_config()
    assert text.getvalue().startswith("x\n")


def asking_for_input_in_vain():
    try:
        input()
    except EOFError:
        return
    raise AssertionError("nobody is there to answer")


def clocks():
    start = time.perf_counter()
    time.sleep(0.001)
    assert time.perf_counter() > start
    assert time.strftime("%Y") >= "2020"
    assert time.process_time() > 0


def the_machine_s_size():
    import platform

    assert os.cpu_count() >= 1
    assert platform.platform()
    assert platform.node() is not None


def randomness():
    import random
    import secrets
    import uuid

    random.seed()
    np.random.seed(0)
    assert np.random.rand() == 0.5488135039273248
    assert len(os.urandom(4)) == 4
    assert secrets.token_hex() != secrets.token_hex()
    assert uuid.uuid4() != uuid.uuid1()


def deep_recursion():
    sys.setrecursionlimit(20_000)

    def depth(n):
        return 0 if n == 0 else 1 + depth(n - 1)

    assert depth(5000) == 5000


def deep_recursion_in_a_thread_with_a_large_stack():
    import threading

    sys.setrecursionlimit(100_000)
    threading.stack_size(256 << 20)
    found = []

    def depth(n):
        return 0 if n == 0 else 1 + depth(n - 1)

    thread = threading.Thread(target=lambda: found.append(depth(50_000)))
    thread.start()
    thread.join()
    assert found == [50_000]


def a_module_of_its_own():
    import helper

    assert helper.square(2) == 4


def data_beside_its_module():
    with open(os.path.join(os.path.dirname(__file__), "data.txt")) as file:
        assert file.read() == "data"
    with open("data.txt") as file:
        assert file.read() == "data"


def its_own_source():
    import inspect

    assert "def its_own_source" in inspect.getsource(its_own_source)


def an_alarm():
    import signal

    rang = []
    signal.signal(signal.SIGALRM, lambda *arguments: rang.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    time.sleep(0.05)
    assert rang


def a_signal_to_itself():
    import signal

    caught = []
    signal.signal(signal.SIGUSR1, lambda *arguments: caught.append(1))
    os.kill(os.getpid(), signal.SIGUSR1)
    signal.raise_signal(signal.SIGUSR1)
    assert len(caught) == 2


def diagnostics():
    import faulthandler
    import gc
    import tracemalloc

    faulthandler.enable()
    tracemalloc.start()
    kept = [object()]
    assert gc.collect() >= 0 and kept
    assert tracemalloc.get_traced_memory()[1] > 0


def profiling():
    import cProfile
    import timeit

    profile = cProfile.Profile()
    profile.runcall(sum, range(100))
    assert timeit.timeit("1 + 1", number=10) > 0


def calling_c():
    import ctypes
    import ctypes.util

    assert ctypes.CDLL(None).abs(-3) == 3


def languages_and_time_zones():
    import datetime
    import locale
    import zoneinfo

    locale.setlocale(locale.LC_ALL, "")
    if zoneinfo.available_timezones():  # a small container may know none
        shanghai = datetime.datetime(2024, 1, 1, tzinfo=zoneinfo.ZoneInfo("Asia/Shanghai"))
        assert shanghai.utcoffset() == datetime.timedelta(hours=8)


def who_it_is():
    assert os.path.expanduser("~")
    assert os.getpid() > 0
    assert os.getppid() >= 0
    assert os.getcwd()


def what_it_used():
    import resource

    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime >= 0
    assert resource.getrlimit(resource.RLIMIT_AS)[0] > 0
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


def a_large_array():
    assert np.ones(150 << 17).sum() == 150 << 17


def a_database_in_memory():
    import sqlite3

    base = sqlite3.connect(":memory:")
    base.execute("create table t (x)")
    base.execute("insert into t values (1)")
    assert base.execute("select sum(x) from t").fetchone() == (1,)
    base.close()


def compressed_data():
    import bz2
    import gzip
    import lzma

    for module in (bz2, gzip, lzma):
        assert module.decompress(module.compress(b"abc")) == b"abc"


def tests_of_its_own():
    import io
    import unittest

    class Case(unittest.TestCase):
        def test_sum(self):
            self.assertEqual(1 + 1, 2)

    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Case)
    assert unittest.TextTestRunner(io.StringIO()).run(suite).wasSuccessful()


def warnings_and_floating_point_errors():
    import warnings

    with warnings.catch_warnings(record=True) as caught, np.errstate(divide="warn"):
        warnings.simplefilter("always")
        np.log(np.zeros(1))
    assert len(caught) == 1


def plots():
    import matplotlib.pyplot as plt
    from tqdm import tqdm

    _, axes = plt.subplots(2, 2)
    for step in tqdm(range(3)):
        axes[0, step % 2].plot([step])
    plt.savefig("loss.png")
    plt.show()


def a_class_hierarchy_with_slots_and_generics():
    import dataclasses
    import typing

    T = typing.TypeVar("T")

    @dataclasses.dataclass(slots=True)
    class Node(typing.Generic[T]):
        value: T
        inputs: tuple = ()

    assert Node(1.0, (Node(2.0),)).inputs[0].value == 2.0


def a_main_block_that_is_not_run():
    if __name__ == "__main__":
        raise AssertionError("a module under test is not the main program")


def a_process():
    """Refused: one process a student."""
    import subprocess

    subprocess.run(["true"])


def a_pool_of_processes():
    """Refused: one process a student."""
    import multiprocessing

    multiprocessing.Pool(2).map(abs, [1])


def copying_a_file_with_its_rights():
    """Refused: rights of files may not be changed, since Landlock doesn't watch over that."""
    import shutil

    shutil.copy("data.txt", "/tmp/data.txt")


def a_request():
    """Refused: no network."""
    import urllib.request

    urllib.request.urlopen("http://127.0.0.1/")
