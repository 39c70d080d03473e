"""What of a course's sources no student may see yet, as `leaks` looks for it."""

import re
import tomllib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from autograder.authoring import cutter
from autograder.authoring.leaks import Secrets, Source, Tokens, phrases_of
from autograder.authoring.notebooks.source import MARK_SCHEME
from autograder.course import Course, CourseError, Lab

_BESIDE = ("lookalikes.toml", "equivalents.toml")  # they quote solutions


def secrets_of(course: Course, key: bytes, now: datetime) -> Secrets:
    """Hidden tests, mark schemes, mutants and the key always; solutions of a lab until its `solutions_after`.

    A solution's text may be shown if the lab, or one before it, gives the same text; a hidden test's if any
    skeleton or public test does.
    Raises: CourseError for bad marks.
    """
    secrets = Secrets(_team_paths(course), key)
    given = {lab.id: [_given(course, lab, path, text) for path, text in _sources(lab)] for lab in course.labs}
    public = phrases_of(
        [text for texts in given.values() for text in texts]
        + [text for lab in course.labs for _, text in _texts(lab.reference / "tests")]
    )
    for lab in course.labs:
        earlier = [text for one in course.labs if one.released <= lab.released for text in given[one.id]]
        if now < lab.solutions_after:
            _add_solutions(secrets, course, lab, phrases_of(earlier))
        for path, text in _sources(lab):
            for scheme in MARK_SCHEME.finditer(text):
                source = Source("a mark scheme", _shown(course, path), lines=True)
                secrets.add(scheme["scheme"], source, text.count("\n", 0, scheme.start("scheme")) + 1, public)
        for file, text in _texts(lab.grading):
            secrets.add(text, Source("text of the hidden tests", _shown(course, file)), 1, public)
        for name, line, text in _mutants(lab):
            secrets.add(text, Source(name, f"reference/{lab.folder}/mutants.toml"), line, public)
    return secrets


def _add_solutions(secrets: Secrets, course: Course, lab: Lab, allowed: set[Tokens]) -> None:
    until = lab.solutions_after.isoformat(sep=" ")
    name, mend = f"the solution of {lab.id}, closed until {until}", "Take it out, or release after that."
    for path, text in _sources(lab):
        source = Source(name, _shown(course, path), lines=True, mend=mend)
        for line, solution in cutter.solutions(text, source.file):
            secrets.add(solution, source, line, allowed)
    beside = [(lab.reference / file, _text(lab.reference / file)) for file in _BESIDE]
    for path, text in (*_texts(lab.reference / "alternates"), *beside):
        secrets.add(text, Source(name, _shown(course, path), mend=mend), 1, allowed)


def _given(course: Course, lab: Lab, path: Path, text: str) -> str:
    """What students get of a source."""
    skeleton = cutter.cut(text, _shown(course, path), notebook=path.name == lab.notebook_source)
    return MARK_SCHEME.sub("", skeleton)


def _sources(lab: Lab) -> list[tuple[Path, str]]:
    """The lab's solved files with marks, the notebook's source too."""
    return [
        (path, path.read_text(encoding="utf-8-sig", errors="replace"))
        for path in sorted(lab.reference.glob("*"))
        if path.suffix in cutter.MARKS
    ]


def _texts(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path, _text(path)


def _text(file: Path) -> str:
    """What a file says, "" where there is none."""
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def _mutants(lab: Lab) -> Iterator[tuple[str, int, str]]:
    """Name, line and text of what mutants.toml says itself; what a mutant replaces is the solution's."""
    file = lab.reference / "mutants.toml"
    if not file.is_file():
        return
    raw = file.read_text(encoding="utf-8", errors="replace")
    try:
        mutants = tomllib.loads(raw).get("mutant", [])
    except tomllib.TOMLDecodeError as error:
        what = f"reference/{lab.folder}/mutants.toml: this is not TOML: {error}. Mend the syntax there."
        raise CourseError(what) from None
    for mutant in mutants:
        name = f"text of the mutant {mutant['id']}"
        line = raw.count("\n", 0, raw.find(f'id = "{mutant["id"]}"')) + 1
        for edit in (mutant, *mutant.get("edits", [])):
            yield name, line, edit.get("replacement", "")
        for hint in mutant.get("hint", {}).values():
            yield name, line, hint


def _shown(course: Course, path: Path) -> str:
    return path.relative_to(course.root).as_posix()


def _team_paths(course: Course) -> re.Pattern[str]:
    """Names of the course team's own tree, with either slash."""
    folders = "|".join(re.escape(lab.folder) for lab in course.labs)
    names = [
        rf"\breference[/\\]+(?:{folders})",
        r"\bbuild[/\\]+solved\b",
        r"\bgrading[/\\]+\w+\.py",
        r"\balternates[/\\]",
        r"\b(?:mutants|lookalikes|equivalents)\.toml",
        r"\bADKIT_KEY_FILE\b",
        r"\.config[/\\]+adkit\b",
    ]
    if len(course.root.parts) > 2:  # "/" or "/srv" stand in many a text
        names.append(re.escape(str(course.root)) + r"\b")
    return re.compile("|".join(names))
