"""Where a student's modules and the public tests run; every step is told as a line of JSON on stdout."""

import contextlib
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np  # noqa: F401  # before a student's folder comes first on sys.path
import pytest

from labkit.check.kernels import Kernels, compiled
from labkit.check.plugin import Plugin, failure


def main() -> None:
    """Run what the parent asks for on stdin: {folder, modules, kernels, seed, skip, broken}."""
    wanted = json.loads(sys.stdin.buffer.read())
    channel = _private_stdout()

    def tell(event: dict[str, Any]) -> None:
        channel.write(json.dumps(event).encode() + b"\n")
        channel.flush()

    folder = Path(wanted["folder"])
    sys.path.insert(0, str(folder))
    broken = set(wanted["broken"])
    uncompiled = set()
    for names, prepare in ((wanted["modules"], _imported), (wanted["kernels"], compiled)):
        for name in names:
            if name not in broken:
                tell({"event": "importing", "module": name})
                result = prepare(name, folder)
                tell({"event": "imported", "module": name, **result})
                if result["outcome"] == "no-compiler":
                    uncompiled.add(name)
                elif result["outcome"] != "passed":
                    broken.add(name)
    kernels = [Kernels(folder / name, broken, uncompiled) for name in wanted["kernels"]]
    _run(Plugin(folder, wanted["seed"], set(wanted["skip"]), broken, kernels, tell), folder)
    tell({"event": "end"})
    os._exit(0)  # whatever threads a student has left behind


def _private_stdout() -> Any:
    """Standard output for ourselves; what students' code prints beyond pytest's reach goes nowhere."""
    channel = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    return channel


def _imported(module: str, folder: Path) -> dict[str, Any]:
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
            importlib.import_module(module.removesuffix(".py"))
    except BaseException as error:  # exit() among them
        return failure(error, folder)
    return {"outcome": "passed"}


def _run(plugin: Plugin, folder: Path) -> None:
    arguments = [
        str(folder / "tests"),
        # An empty configuration: nothing beside or above the tests is read.
        *("-c", os.devnull, "--rootdir", str(folder), "--confcutdir", str(folder / "tests")),
        *("--import-mode=importlib", "--assert=plain", "--capture=sys"),
        *("-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:warnings"),
    ]
    pytest.main(arguments, plugins=[plugin])


if __name__ == "__main__":
    main()
