"""`python -m labkit`; an older Python, which cannot import the rest, is told so."""

import os
import re
import sys


def too_old() -> int:
    """Say which Python is needed, in both languages, without tomllib: that is what an old one lacks."""
    file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "messages", "student.toml")
    with open(file, encoding="utf-8") as messages:
        found = re.search(r'\[old-python\]\nen = "(.*)"\nzh = "(.*)"\n', messages.read())
    sys.stderr.reconfigure(errors="replace")  # type: ignore[union-attr]
    for text in found.groups() if found else ():
        print(text.format(version=sys.version.split()[0], python=sys.executable), file=sys.stderr)
    return 2


if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036
        sys.exit(too_old())
    # A student's random.py in this folder must not stand in the place of Python's own.
    sys.path[:] = [place for place in sys.path if place not in ("", os.getcwd())]
    from labkit.cli import main

    sys.exit(main(sys.argv[1:]))
