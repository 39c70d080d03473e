"""predictions.toml: hashes of the right answers to a notebook's predictions, for each of the 16 numbers.

The solved notebook's own cells give the answers, run in a child process on the solved modules.
"""

import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.authoring.notebooks.source import Cell
from autograder.course import CourseError, Lab
from labkit import predict

FILE = predict.FILE
CHILD_S = 120
# One namespace for each number, as grading has it: the setup cells, then the cells with answers.
CHILD = """
import contextlib, json, sys
import numpy as np
wanted = json.load(sys.stdin)
sys.path.insert(0, wanted["folder"])
found = []
with contextlib.redirect_stdout(sys.stderr):
    for number in range(wanted["numbers"]):
        names, answers = {"student": number}, {}
        for id, source, expected in wanted["cells"]:
            exec(compile(source, id, "exec"), names)
            answers[id] = {name: names[name] for name in expected}
        found.append(answers)
plain = lambda x: x.tolist() if hasattr(x, "tolist") else sorted(x)
json.dump(found, sys.stdout, default=plain)
"""


def of(cells: list[Cell], lab: Lab, modules: Mapping[str, bytes]) -> bytes:
    """The file's bytes.

    cells: of the solved notebook. modules: the solved modules, by file name.
    Raises: CourseError if a cell fails or leaves a name undefined.
    """
    asked = [cell for cell in cells if cell.role == "setup" or cell.answers]
    lines = ["# Made by `make labs`: hashes of the right answers, which say whether yours is one."]
    if any(cell.answers for cell in asked):
        sources = tuple((cell.grade_id, cell.source, tuple(cell.answers)) for cell in asked)
        found = json.loads(_run(sources, tuple(sorted(modules.items())), lab.folder))
        for cell in asked:
            for name, decimals in cell.answers.items():
                lines += _table(
                    lab, cell.grade_id, name, decimals, [one[cell.grade_id][name] for one in found]
                )
    return ("\n".join(lines) + "\n").encode()


def _table(lab: Lab, cell: str, name: str, decimals: int | None, answers: list[Any]) -> list[str]:
    hashes = [
        [
            predict.hashed(lab.id, f"{cell}.{name}", number, place, predict.written(entry, decimals))
            for place, entry in enumerate(predict.entries(answer))
        ]
        for number, answer in enumerate(answers)
    ]
    rounded = [f"decimals = {decimals}"] if decimals is not None else []
    rows = [f"    {json.dumps(row)}," for row in hashes]
    return ["", f"[{cell}.{name}]", *rounded, "hashes = [", *rows, "]"]


@functools.cache
def _run(
    cells: tuple[tuple[str, str, tuple[str, ...]], ...], modules: tuple[tuple[str, bytes], ...], folder: str
) -> str:
    with tempfile.TemporaryDirectory() as place:
        for name, content in modules:
            Path(place, name).write_bytes(content)
        wanted = {"folder": place, "numbers": predict.NUMBERS, "cells": cells}
        try:
            run = subprocess.run(
                [sys.executable, "-B", "-X", "utf8", "-c", CHILD],
                input=json.dumps(wanted),
                capture_output=True,
                encoding="utf-8",
                timeout=CHILD_S,
            )
        except subprocess.TimeoutExpired:
            raise CourseError(
                f"reference/{folder}: its notebook's predictions take over {CHILD_S} s."
            ) from None
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no message"])[-1]
        raise CourseError(
            f"reference/{folder}: a cell with answers fails: {last}. Run the notebook to see where."
        )
    return run.stdout
