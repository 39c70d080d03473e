"""`python -m labkit`."""

import os
import sys

# A student's random.py in this folder must not stand in the place of Python's own.
sys.path[:] = [place for place in sys.path if place not in ("", os.getcwd())]

from labkit.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
