"""The process that graders are forked from: tests collected, sandbox up, the reference tested, once for all.

Run by `batch.process` as `python -P -m autograder.judging.nursery FD`.
"""

import contextlib
import os
import signal
import socket
import sys

from autograder.sandbox import kernel

from . import examine, grader, replay
from .line import Line
from .protocol import Setup

KINDS = {"grade": grader.Grader, "replay": replay.Replayer, "examine": examine.Examiner}


def main() -> None:
    """Serve until the parent hangs up or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides, and says so by SIGTERM
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):  # meant for somebody's own tests; -k would drop checks
        os.environ.pop(name, None)
    line = Line(socket.socket(fileno=int(sys.argv[1])))
    with contextlib.suppress(KeyboardInterrupt, EOFError):
        try:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            kernel.die_with_parent(signal.SIGTERM)
            setup: Setup = line.receive()
            if os.getppid() == setup.parent:  # or it has gone already
                KINDS[setup.kind](line, setup).start()
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)


if __name__ == "__main__":
    main()
