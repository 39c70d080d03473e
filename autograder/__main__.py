"""The command `autograder`, also as `python -m autograder`: ready for Ctrl-C before anything is imported."""

import os
import signal
from types import FrameType


def main() -> None:
    """Import the command, which takes a moment, and run it."""
    # Where SIGINT is ignored, as in a shell's background jobs, it stays ignored.
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual:
        signal.signal(signal.SIGINT, _interrupted)
    from autograder import cli

    if usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


def _interrupted(number: int, frame: FrameType | None) -> None:
    os.write(2, b"autograder: interrupted; nothing has been started.\n")
    os._exit(130)


if __name__ == "__main__":
    main()
