"""The course as its files describe it: course.toml, and the lab.toml of every lab.

course = load_course(Path("."))
course.lab("lab1").task("reverse-mode").points
"""

import keyword
import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from autograder.toml_file import CourseError as CourseError
from autograder.toml_file import TomlFile

STUDENT_ID = re.compile(r"(?!\.)[\w.@-]{1,64}\Z")

Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Megabytes = Annotated[int, Meta(gt=0, le=1_048_576)]
Positive = Annotated[int, Meta(gt=0, le=100_000)]
Words = Annotated[str, Meta(min_length=1)]
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")]
Moment = Annotated[datetime, Meta(tz=True)]
Language = Literal["zh", "en"]
HintLevel = Literal["none", "topic", "mistake"]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one check may use in the worker."""

    cpu_s: Seconds = 5
    idle_s: Seconds = 3
    wall_s: Seconds = 60
    memory_mb: Megabytes = 1024
    output_kb: Megabytes = 256
    reply_mb: Megabytes = 64


class CompileLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What each process of the compiler may use."""

    cpu_s: Seconds = 20
    memory_mb: Megabytes = 2048


class Blank(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A region that a student fills, and the minutes it is meant to take."""

    name: Words
    minutes: Positive


class Late(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The late policy: days without a penalty, then the share of the points that each further day costs."""

    free_days: Annotated[int, Meta(ge=0, le=365)] = 0
    per_day: Annotated[float, Meta(ge=0, le=1)] = 0.0


class Task(msgspec.Struct, frozen=True):
    """What has points; `limits` are the lab's with the task's own put over them."""

    id: str
    points: int
    title: dict[str, str]
    files: tuple[str, ...]
    blanks: tuple[Blank, ...]
    needs: tuple[str, ...]
    limits: Limits


class Lab(msgspec.Struct, frozen=True):
    """One lab: its dates, what a student hands in, and its tasks. Paths are absolute."""

    id: str
    folder: str
    title: dict[str, str]
    released: datetime
    due: datetime
    solutions_after: datetime
    modules: tuple[str, ...]
    kernels: tuple[str, ...]
    notebook: str | None
    limits: Limits
    tasks: tuple[Task, ...]
    reference: Path
    skeleton: Path
    compile_limits: CompileLimits = CompileLimits()

    @property
    def grading(self) -> Path:
        """The folder of hidden tests and programs."""
        return self.reference / "grading"

    @property
    def texts(self) -> tuple[str, ...]:
        """The files that are read as text: modules, then kernels."""
        return (*self.modules, *self.kernels)

    @property
    def notebook_source(self) -> str:
        """The file in `reference` from which the notebook is built, "" without one."""
        return self.notebook.removesuffix(".ipynb") + ".py" if self.notebook else ""

    @property
    def graded_notebook(self) -> str:
        """The notebook, if a task is made of its cells, else ""."""
        return (
            self.notebook if self.notebook and any(self.notebook in task.files for task in self.tasks) else ""
        )

    def launched(self, task: Task) -> str:
        """The file of kernels that a task consists of, beside which no module runs; "" for other tasks."""
        return task.files[0] if task.files[0] in self.kernels and len(task.files) == 1 else ""

    @property
    def max_points(self) -> int:
        """The sum of the tasks' points."""
        return sum(task.points for task in self.tasks)

    def task(self, id: str) -> Task:
        """The task called `id`.

        Raises: CourseError, naming the tasks there are.
        """
        return _find(self.tasks, id, f"{self.id} has no task")


class Course(msgspec.Struct, frozen=True):
    """The whole course. Paths are absolute."""

    root: Path
    id: str
    name: dict[str, str]
    languages: tuple[str, ...]
    hint_level: HintLevel
    submitted: Path
    out: Path
    pip_mirror: str
    late: Late
    labs: tuple[Lab, ...]

    def lab(self, id: str) -> Lab:
        """The lab called `id`.

        Raises: CourseError, naming the labs there are.
        """
        return _find(self.labs, id, "course.toml lists no lab")


def valid_student_id(text: str) -> bool:
    """Whether `text` may be a student's id, and so the name of a folder."""
    return STUDENT_ID.match(text) is not None


def load_course(root: Path) -> Course:
    """Read `root`/course.toml and reference/FOLDER/lab.toml of every lab it lists.

    Raises: CourseError for the first defect found.
    """
    root = root.absolute()
    file = TomlFile(root, "course.toml", mend="Run this in the course's folder, or give the folder.")
    raw = file.convert(file.data, _CourseTable)
    file.refuse_duplicates("languages", raw.languages)
    file.refuse_duplicates("[[lab]] id", (lab.id for lab in raw.lab))
    file.refuse_duplicates("[[lab]] folder", (lab.folder for lab in raw.lab))
    submitted, out = root / raw.submitted, root / raw.out
    if submitted.resolve() == out.resolve() or root.resolve() in (submitted.resolve(), out.resolve()):
        file.fail(
            "submitted, out",
            "these must be two folders, neither the course's own",
            'Write for example submitted = "submitted" and out = "graded".',
        )
    return Course(
        root=root,
        id=raw.id,
        name=raw.name.by_language(),
        languages=raw.languages,
        hint_level=raw.hint_level,
        submitted=submitted,
        out=out,
        pip_mirror=raw.pip_mirror,
        late=raw.late,
        labs=tuple(_load_lab(root, file, lab) for lab in raw.lab),
    )


class _Titles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    zh: Words
    en: Words

    def by_language(self) -> dict[str, str]:
        return {"zh": self.zh, "en": self.en}


class _LabEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[[lab]]` of course.toml."""

    id: Name
    folder: Name
    title: _Titles
    released: Moment
    due: Moment
    solutions_after: Moment


class _CourseTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """course.toml."""

    id: Name
    name: _Titles
    lab: Annotated[tuple[_LabEntry, ...], Meta(min_length=1)]
    languages: Annotated[tuple[Language, ...], Meta(min_length=1)] = ("zh", "en")
    hint_level: HintLevel = "topic"
    submitted: Words = "submitted"
    out: Words = "graded"
    pip_mirror: str = ""
    late: Late = Late()


class _LabLimits(Limits, frozen=True, forbid_unknown_fields=True):
    """`[limits]` of lab.toml; those of the compiler stand in a table of their own."""

    compile: CompileLimits = CompileLimits()


class _TaskEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[[task]]` of lab.toml."""

    id: Name
    points: Positive
    title: _Titles
    file: Words | Annotated[tuple[Words, ...], Meta(min_length=1)]
    blanks: tuple[Blank, ...] = ()
    needs: tuple[str, ...] = ()
    limits: dict[str, Any] = {}

    @property
    def files(self) -> tuple[str, ...]:
        return (self.file,) if isinstance(self.file, str) else self.file


class _LabTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """lab.toml."""

    modules: Annotated[tuple[str, ...], Meta(min_length=1)]
    task: Annotated[tuple[_TaskEntry, ...], Meta(min_length=1)]
    kernels: tuple[str, ...] = ()
    notebook: str | None = None
    limits: _LabLimits = _LabLimits()


def _load_lab(root: Path, course_file: TomlFile, entry: _LabEntry) -> Lab:
    place = f'[[lab]] "{entry.id}"'
    if not entry.released < entry.due <= entry.solutions_after:
        course_file.fail(
            place, "the dates must come in the order released, due, solutions_after", "Mend the dates."
        )
    reference = root / "reference" / entry.folder
    if not reference.is_dir():
        course_file.fail(
            f"{place}, folder", f"there is no folder reference/{entry.folder}", "Add it, or mend the name."
        )
    file = TomlFile(root, f"reference/{entry.folder}/lab.toml", mend="Write it, or mend course.toml.")
    raw = file.convert(file.data, _LabTable)
    _check_file_names(file, raw)
    limits = Limits(**{name: getattr(raw.limits, name) for name in Limits.__struct_fields__})
    tasks: list[Task] = []
    file.refuse_duplicates("[[task]] id", (task.id for task in raw.task))
    for task in raw.task:
        _check_task(file, raw, task, [earlier.id for earlier in tasks])
        merged = {**msgspec.structs.asdict(limits), **task.limits}
        tasks.append(
            Task(
                id=task.id,
                points=task.points,
                title=task.title.by_language(),
                files=task.files,
                blanks=task.blanks,
                needs=task.needs,
                limits=file.convert(merged, Limits, f'[[task]] "{task.id}", limits'),
            )
        )
    return Lab(
        id=entry.id,
        folder=entry.folder,
        title=entry.title.by_language(),
        released=entry.released,
        due=entry.due,
        solutions_after=entry.solutions_after,
        modules=raw.modules,
        kernels=raw.kernels,
        notebook=raw.notebook,
        limits=limits,
        compile_limits=raw.limits.compile,
        tasks=tuple(tasks),
        reference=reference,
        skeleton=root / "labs" / entry.folder,
    )


def _check_file_names(file: TomlFile, raw: _LabTable) -> None:
    for key, suffix, names in (
        ("modules", ".py", raw.modules),
        ("kernels", ".cu", raw.kernels),
        ("notebook", ".ipynb", (raw.notebook,) if raw.notebook is not None else ()),
    ):
        file.refuse_duplicates(key, names)
        for name in names:
            stem = name.removesuffix(suffix)
            importable = stem.isascii() and stem.isidentifier() and not keyword.iskeyword(stem)
            if not name.endswith(suffix) or not importable:
                file.fail(
                    key,
                    f"{name!r} is no plain file name ending in {suffix}",
                    f'Write it like "graph{suffix}": letters, digits, underscores; no folder.',
                )


def _check_task(file: TomlFile, raw: _LabTable, task: _TaskEntry, earlier: list[str]) -> None:
    place = f'[[task]] "{task.id}"'
    known = [*raw.modules, *raw.kernels, *([raw.notebook] if raw.notebook is not None else [])]
    file.refuse_duplicates(f"{place}, file", task.files)
    file.refuse_duplicates(f"{place}, needs", task.needs)
    for name in task.files:
        if name not in known:
            file.fail(
                f"{place}, file",
                f"{name!r} is not among modules, kernels and notebook",
                f"Name one of: {', '.join(known)}.",
            )
    if len(task.files) > 1 and all(name in raw.kernels for name in task.files):
        file.fail(f"{place}, file", "a task of kernels has one file", "Make a task of each, or add a module.")
    if not task.blanks:
        file.fail(
            f"{place}, blanks",
            "a task names the blanks that its points are for: functions, kernels, or cells of the notebook",
            'Write for example blanks = [{ name = "topological_order", minutes = 30 }].',
        )
    for need in task.needs:
        if need not in earlier:
            file.fail(
                f"{place}, needs",
                f"{need!r} is not a task above this one",
                f"Name tasks above it ({', '.join(earlier) or 'there are none'}), or move it down.",
            )


_Named = TypeVar("_Named", Lab, Task)


def _find(among: tuple[_Named, ...], id: str, otherwise: str) -> _Named:
    for item in among:
        if item.id == id:
            return item
    raise CourseError(f"{otherwise} {id!r}. There are: {', '.join(item.id for item in among)}.")
