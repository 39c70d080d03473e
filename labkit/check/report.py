"""The report of a check, task by task, in the student's language."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from labkit.check.run import FINE, Outcome, Run, Test
from labkit.encoding import encoding_problem
from labkit.lab import Lab, Task
from labkit.messages import Argument, Message
from labkit.width import columns, padded

INDENT = "      "
PASSED, TO_DO = 0, 1
FAILED = ("wrong", "reported", "crashed", "stopped", "died")


def show(lab: Lab, seed: int, run: Run, language: str, facts: Sequence[Message] = ()) -> int:
    """Print the report; the exit code is 0 if every test passed, else 1."""
    for line in lines(lab, seed, run, language, facts):
        print(line)
    return PASSED if run.fine() else TO_DO


def lines(lab: Lab, seed: int, run: Run, language: str, facts: Sequence[Message] = ()) -> Iterator[str]:
    """The lines of the report. facts: what is worth knowing and decides nothing."""
    words = _Words(language)
    yield words("check-title", title=lab.title[language], lab=lab.id, seed=seed)
    yield ""
    broken = [words.of_import(name, one, lab) for name, one in run.imports.items() if one.kind != "passed"]
    for import_lines in broken:
        yield from import_lines
    if broken:
        yield ""
    states = {task.id: _state(task, run) for task in lab.tested}
    width = max(
        columns(words(f"task-{state}")) for state in ("passed", "unwritten", "wrong", "waiting", "unchecked")
    )
    for task in lab.tested:
        yield f"  {padded(words(f'task-{states[task.id]}'), width)}  {task.title[language]}  {task.id}"
        yield from _details(task, run, words)
    yield ""
    if facts:
        yield from (*(fact.text(language) for fact in facts), "")
    kinds = {outcome.kind for outcome in run.all_outcomes()}
    if kinds <= set(FINE):
        yield words("check-all-passed" if kinds == {"passed"} else "check-all-passed-here", next=seed + 1)
    else:
        passed = sum(state == "passed" for state in states.values())
        yield words("check-to-do", passed=passed, total=len(states), seed=seed)


def of_task(lab: Lab, task: Task, run: Run, language: str) -> tuple[str, list[str]]:
    """One task alone: its state, and what is to be said of it, imports that failed first."""
    words = _Words(language)
    imports = [
        line
        for name, one in run.imports.items()
        if name in task.files and one.kind != "passed"
        for line in words.of_import(name, one, lab)
    ]
    return _state(task, run), [*imports, *_details(task, run, words)]


def _of(task: Task, run: Run) -> list[tuple[Test, Outcome]]:
    return [(test, run.outcomes[name]) for name, test in run.tests.items() if test.task == task.id]


def _state(task: Task, run: Run) -> str:
    """passed, wrong, unchecked, unwritten (blanks of its own) or waiting (for another's, or a module)."""
    found = [outcome for _, outcome in _of(task, run) if outcome.kind != "skipped"]
    outcomes = [outcome for outcome in found if outcome.kind not in FINE]
    if not outcomes:
        return "unchecked" if found and all(outcome.kind == "no-compiler" for outcome in found) else "passed"
    if any(outcome.kind not in ("unwritten", "broken") for outcome in outcomes):
        return "wrong"
    own = any(outcome.details.get("blank") in task.blanks for outcome in outcomes)
    return "unwritten" if own else "waiting"


def _details(task: Task, run: Run, words: "_Words") -> Iterator[str]:
    """What is to be said under a task: blanks in one line, then the first failure in full."""
    found = _of(task, run)
    blanks = {outcome.details["blank"]: outcome for _, outcome in found if outcome.kind == "unwritten"}
    own = [words.place(name, one) for name, one in blanks.items() if name in task.blanks]
    others = [words.place(name, one) for name, one in blanks.items() if name not in task.blanks]
    if own:
        yield INDENT + words("unwritten", blanks=", ".join(own))
    elif others:
        yield INDENT + words("waits", blanks=", ".join(others))
    for module in sorted({one.details["module"] for _, one in found if one.kind == "broken"}):
        yield INDENT + words("broken-module", module=module)
    failed = [(test, one) for test, one in found if one.kind in FAILED]
    if failed:
        yield from (INDENT + line for line in words.of_failure(*failed[0]))
        if len(failed) > 1:
            yield INDENT + words("check-more", count=len(failed) - 1)


class _Words:
    """Outcomes in words of one language."""

    def __init__(self, language: str) -> None:
        self._language = language

    def __call__(self, name: str, **arguments: Argument) -> str:
        return Message(f"student.{name}", arguments).text(self._language)

    def elsewhere(self, id: str, frame: dict[str, Any]) -> str:
        """A sentence that the grader says too, about a line of the student's."""
        return Message(id, {"file": frame["file"], "line": frame["line"]}).text(self._language)

    def place(self, blank: str, outcome: Outcome) -> str:
        """A blank with its file and line."""
        frame = outcome.details["frames"][-1]
        return f"{blank} ({frame['file']}:{frame['line']})"

    def of_failure(self, test: Test, outcome: Outcome) -> Iterator[str]:
        """What went wrong in a test: its law, what was called, expected and got, and where."""
        details = outcome.details
        yield test.law[self._language]
        if outcome.kind == "wrong":
            yield self("called", call=details["call"])
            local = details["finding"] and details["finding"]["kind"] in ("partials", "shape")
            if details["expected"] and not local:
                yield self("expected", expected=details["expected"])
            if not local:
                yield self("got", got=details["got"])
            if details["finding"]:
                yield from self._of_finding(details["finding"])
        elif outcome.kind == "reported":
            yield self("called", call=details["call"])
            yield details["text"][self._language]
            yield from self._of_frames(details["frames"])
        elif outcome.kind == "stopped":
            yield self("stopped", seconds=f"{details['seconds']:g}")
        elif outcome.kind == "died":
            yield self("died", text=details["text"])
        else:
            yield from self._of_crash(details)
        if details.get("printed"):
            yield self("printed")
            yield from (f"  | {line}" for line in details["printed"].splitlines()[:8])

    def of_import(self, module: str, outcome: Outcome, lab: Lab) -> list[str]:
        """Why a module can't be imported."""
        details = outcome.details
        if outcome.kind == "stopped":
            return [self("import-stopped", module=module, seconds=f"{details['seconds']:g}")]
        if outcome.kind == "died":
            return [self("import-died", module=module, text=details["text"])]
        try:
            problem = encoding_problem((lab.folder / module).read_bytes(), module)
        except OSError:
            return [self("import-missing", module=module, folder=str(lab.folder))]
        if problem is not None:
            return [problem.text(self._language)]
        if outcome.kind == "no-compiler":
            return [self("no-compiler", file=module)]
        if outcome.kind == "uncompiled":
            return [str(details["text"][self._language])]
        error, frames = details.get("error", "NotImplementedError"), details["frames"]
        if error in ("SyntaxError", "IndentationError", "TabError") and frames:
            where = {"module": frames[-1]["file"], "line": frames[-1]["line"], "code": frames[-1]["code"]}
            return [self("import-syntax", text=details["text"], **where)]
        head = self("import-crashed", module=module, error=error, text=details.get("text", ""))
        return [head, *(INDENT + line for line in self._of_frames(frames))]

    def _of_crash(self, details: dict[str, Any]) -> Iterator[str]:
        code = details["frames"][-1]["code"] if details["frames"] else ""
        if re.search(r"\b(breakpoint|set_trace)\(", code):
            yield self.elsewhere("judging.debugger", details["frames"][-1])
        elif details["error"] == "OSError" and re.search(r"\binput\(", code):
            yield self.elsewhere("judging.input", details["frames"][-1])
        elif details["error"] == "RecursionError":
            yield self("recursion")
        else:
            id = "crashed" if details["frames"] else "crashed-outside"
            yield self(id, error=details["error"], text=details["text"])
        yield from self._of_frames(details["frames"])

    def _of_frames(self, frames: list[dict[str, Any]]) -> Iterator[str]:
        for frame in frames:
            yield self("at", **frame)

    def _of_finding(self, finding: dict[str, Any]) -> Iterator[str]:
        arguments = {name: finding[name] for name in ("place", "by", "got", "expected")}
        yield self(f"where-{finding['kind']}", **arguments)
        titles = ("value", finding["quantity"], "expected")
        head = ["", "", *(self(f"column-{name}") for name in titles)]
        rows = [head]
        for line in finding["lines"]:
            formula = f"{line['name']} = {line['formula']}" if line["formula"] else line["name"]
            mark = "->" if line["name"] == finding["place"] else ("x" if line["wrong"] else "")
            rows.append([mark, formula, line["value"], line["got"], line["expected"]])
        widths = [max(columns(row[i]) for row in rows) for i in range(5)]
        for row in rows:
            yield "  ".join(padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
