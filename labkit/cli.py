"""`python -m labkit COMMAND`: arguments and exit codes; what the commands do stands in the modules beside.

Exit codes: 0 all passed, 1 something to do, 2 wrong use, 130 interrupted.
"""

import argparse
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from labkit.lab import WrongUse, find_lab
from labkit.messages import Message

PASSED, TO_DO, WRONG_USE, INTERRUPTED = 0, 1, 2, 130
LANGUAGES = ("zh", "en")


def main(arguments: Sequence[str]) -> int:
    """Run a command; every ending is a line and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # a gbk console lacks some signs
    language = _language_asked_for(arguments) or "zh"
    try:
        return _run(_parse(arguments), language)
    except WrongUse as error:
        message, code = error.message, WRONG_USE
    except KeyboardInterrupt:
        message, code = Message("student.interrupted"), INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing more to say to nobody at exit
        return INTERRUPTED
    except Exception as error:
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        message, code = Message("student.own-fault", {"text": text}), WRONG_USE
    print("labkit:", message.text(language), file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise WrongUse("student.bad-arguments", text=message)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    language = _Parser(add_help=False)
    language.add_argument("--language", choices=LANGUAGES)
    parser = _Parser(add_help=False, allow_abbrev=False, parents=[language])
    parser.add_argument("-h", "--help", action="store_true")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(dest="command")

    def command(name: str) -> argparse.ArgumentParser:
        # SUPPRESS: without the option here, one before the command stays.
        sub = commands.add_parser(name, add_help=False, allow_abbrev=False)
        sub.add_argument("--language", choices=LANGUAGES, default=argparse.SUPPRESS)
        return sub

    check = command("check")
    check.add_argument("lab", metavar="LAB", nargs="?")
    check.add_argument("--seed", type=_seed, default=1)
    command("doctor")
    for name in ("open", "pack"):
        command(name).add_argument("lab", metavar="LAB", nargs="?")
    return parser.parse_args(arguments)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(text)


def _language_asked_for(arguments: Sequence[str]) -> str | None:
    """The language of messages about arguments that can't be parsed, too."""
    for option, value in zip(arguments, [*arguments, ""][1:], strict=True):
        if option == "--language" and value in LANGUAGES:
            return value
        if option in ("--language=zh", "--language=en"):
            return option[-2:]
    return None


def _run(options: argparse.Namespace, language: str) -> int:
    if options.command is None:
        for name in ("usage", "usage-check", "usage-doctor", "usage-open", "usage-pack", "usage-lab"):
            indent = "" if name in ("usage", "usage-lab") else "  "
            print(indent + Message(f"student.{name}").text(language))
        return PASSED
    # Imported here, so that one command works where another's packages are missing.
    if options.command == "doctor":
        from labkit import doctor

        return doctor.report(Path.cwd(), language)
    if options.lab is None:
        raise WrongUse("student.which-lab", command=options.command)
    lab = find_lab(options.lab, Path.cwd())
    language = options.language or lab.language
    if options.command == "pack":
        from labkit import pack

        return pack.report(lab, Path.cwd(), language)
    if options.command == "open":
        from labkit import jupyter

        jupyter.open_notebook(jupyter.notebook_of(lab, language), lab.folder, language)
        return PASSED
    for package in ("numpy", "pytest"):
        if importlib.util.find_spec(package) is None:
            raise WrongUse("student.no-package", package=package, python=sys.executable)
    from labkit.check import gate, report, run

    found = run.run_tests(lab, options.seed)
    return report.show(lab, options.seed, found, language, gate.look(lab))
