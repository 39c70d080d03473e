"""A trusted process of ours at the other end of a channel, which ends when told or when this one ends."""

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any

PATIENCE_S = 5  # for a process to end by itself
LAST_S = 1  # for one that is told to end at once


class Process:
    """Runs `target(channel, *arguments)`, forked from a process that has loaded what graders need.

    Make it in `uninterrupted`, and Ctrl-C is kept from it.
    """

    def __init__(self, target: Callable[..., None], *arguments: Any) -> None:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # graders are parallel already; idle threads spin
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["autograder.judging.grader"])
        self.channel: Connection[Any, Any]
        self.channel, theirs = context.Pipe()
        self._process = context.Process(target=target, args=(theirs, *arguments), daemon=True)
        with _nameless_main():
            self._process.start()
        theirs.close()

    def hurry(self) -> None:
        """Tell it to end at once."""
        self._process.terminate()

    def stop(self, patience_s: float = PATIENCE_S) -> None:
        """Let it end, and end it if it does not."""
        self.channel.close()
        self._process.join(patience_s)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


@contextlib.contextmanager
def _nameless_main() -> Iterator[None]:
    """A grader needs nothing of the command that started it; multiprocessing would run its file again."""
    main = sys.modules["__main__"]
    file = vars(main).pop("__file__", None)
    try:
        yield
    finally:
        if file is not None:
            main.__file__ = file


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits for the end of the block; processes started in it inherit the mask and never see it.

    The mask alone would not do: another thread may take the signal.
    """
    resource_tracker.ensure_running()  # starting it later would lift the mask
    came: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if came:
        raise KeyboardInterrupt
