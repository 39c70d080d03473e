"""`autograder COMMAND`: arguments and exit codes; what the commands do stands in the rooms below.

Exit codes: 0 done, 2 wrong use or bad course files, 3 some result needs a person, 130 interrupted.
"""

import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from autograder.authoring import audit as auditing
from autograder.authoring import audit_report
from autograder.authoring import labs as authoring
from autograder.authoring import release as releasing
from autograder.authoring.audit_public import public_kills
from autograder.authoring.audit_runs import Runs
from autograder.batch import grade as batch
from autograder.batch import record
from autograder.course import Course, CourseError, Lab, load_course
from autograder.intake import find_submissions
from autograder.judging.verdicts import Result
from autograder.key import VARIANTS
from autograder.reporting import export, pages, table
from autograder.sandbox import doctor as sandbox_doctor
from autograder.sandbox import probes
from autograder.sandbox.client import Level

DONE, WRONG_USE, NEEDS_PERSON, INTERRUPTED = 0, 2, 3, 130
SAMPLE, SAMPLE_OUT = "examples/submitted", "build/sample"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Grade labs on automatic differentiation: numbers compared, in a sandbox, every point explained."""


@cli.command()
@click.option("--check", is_flag=True, help="Change nothing; print what differs and fail if anything does.")
def labs(check: bool) -> int:
    """Cut labs/ from reference/ (and build/solved/)."""
    course = load_course(Path.cwd())
    if not check:
        authoring.write_labs(course)
        return DONE
    difference = authoring.check_labs(course)
    click.echo(difference or "labs/ is in step with reference/.", nl=not difference)
    return WRONG_USE if difference else DONE


@cli.command()
@click.argument("lab")
@click.option("--language", metavar="LANGUAGE", help="Whose README stands at the top; default: the course's.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("build/release"), help="Where the zip goes."
)
def release(lab: str, language: str | None, out: Path) -> int:
    """Make LAB's zip for students, once it has proved itself."""
    course = load_course(Path.cwd())
    level = _level(False, Console(stderr=True))
    click.echo(releasing.told(releasing.release(course, lab, language, out, level, datetime.now(UTC))))
    return DONE


@cli.command()
def doctor() -> int:
    """What this machine can promise, found out by trying it."""
    level = sandbox_doctor.report(Console())
    return DONE if level in ("full", "portable") else NEEDS_PERSON


@cli.command()
@click.option("--lab", metavar="LAB", help="Only this lab; default: every lab with submissions.")
@click.option("--submitted", type=click.Path(path_type=Path), help="STUDENT/LAB folders and archives.")
@click.option("--out", type=click.Path(path_type=Path), help="Where results go.")
@click.option("--jobs", type=click.IntRange(1, 256), help="Grader processes; default: one per core.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, alone on stdout.")
@click.option("--unsafe-no-sandbox", is_flag=True, help="Grade although nothing holds student code back.")
def grade(
    lab: str | None,
    submitted: Path | None,
    out: Path | None,
    jobs: int | None,
    as_json: bool,
    unsafe_no_sandbox: bool,
) -> int:
    """Grade a class; without a class of your own, the sample class."""
    course = load_course(Path.cwd())
    sample = submitted is None and _is_empty(course.submitted)
    submitted = submitted or (course.root / SAMPLE if sample else course.submitted)
    out = out or (course.root / SAMPLE_OUT if sample else course.out)
    chosen = [course.lab(lab)] if lab else _labs_with_work(submitted, course)
    if as_json and len(chosen) > 1:
        raise CourseError(f"--json prints one lab. Add --lab with one of {', '.join(x.id for x in chosen)}.")
    notes = Console(stderr=True)
    level = _level(unsafe_no_sandbox, notes)
    complete = True
    for one in chosen:
        graded = _grade_one(course, one, submitted, out, level, jobs or len(os.sched_getaffinity(0)), notes)
        complete &= graded.complete
        if as_json:
            click.echo(json.dumps(export.summary(graded), ensure_ascii=False, indent=1))
        else:
            table.show(graded, _console())
            click.echo(f"Reports and grades.csv: {_short(out / one.id)}")
    if sample and not as_json:
        click.echo(
            f"This was the sample class ({SAMPLE}). Put yours into "
            f"{_short(course.submitted)}/STUDENT/{course.labs[0].id}/ and type `make grade` again."
        )
    return DONE if complete else NEEDS_PERSON


@cli.command()
@click.option("--lab", metavar="LAB", help="Only this lab; default: all.")
@click.option(
    "--variants",
    metavar="N|all",
    type=click.Choice([*map(str, range(1, VARIANTS + 1)), "all"]),
    default="1",
    help="On how many of the 16 variants each mutant runs; default: 1, others in turn.",
)
@click.option("--jobs", type=click.IntRange(1, 256), help="Grader processes; default: one per core.")
def audit(lab: str | None, variants: str, jobs: int | None) -> int:
    """Prove a lab sound: typical mistakes are caught where meant, other right solutions pass."""
    course = load_course(Path.cwd())
    notes = Console(stderr=True)
    level = _level(False, notes)
    jobs = jobs or len(os.sched_getaffinity(0))
    sound = True
    for one in [course.lab(lab)] if lab else course.labs:
        with _progress(notes) as progress:
            runs = Runs(one, level, jobs, *_bar(progress, f"{one.id} ({level})"))
            found = auditing.audit(one, runs, VARIANTS if variants == "all" else int(variants))
            mutants = [ruling.mutant for ruling in found.rulings]
            public = public_kills(course, one, mutants, jobs, *_bar(progress, f"{one.id} (public tests)"))
        file = course.root / "build/audit" / f"{one.id}.json"
        record.write(file, record.as_json(audit_report.as_data(found, public)))
        audit_report.show(found, public, _console())
        click.echo(f"Figures: {_short(file)}")
        sound &= found.sound
    return DONE if sound else WRONG_USE


def _is_empty(submitted: Path) -> bool:
    """Whether no class of one's own is there yet; one whose folders are misnamed is there."""
    if not submitted.exists():
        return True
    return submitted.is_dir() and not any(submitted.glob("[!.]*"))


def _labs_with_work(submitted: Path, course: Course) -> list[Lab]:
    found = []
    reasons = []
    for lab in course.labs:
        try:
            find_submissions(submitted, lab.id)
            found.append(lab)
        except CourseError as error:
            reasons.append(str(error))
    if not found:
        raise CourseError(reasons[0])
    return found


def _level(unsafe: bool, notes: Console) -> Level:
    """The highest level that holds on this machine, tried by attacks.

    Raises: CourseError when none does and `unsafe` is not set.
    """
    level, failed = probes.best_level()
    for tried, reasons in failed.items():
        if reasons:
            click.echo(f"Sandbox level {tried} does not hold here: {reasons[0]}", err=True)
    if level != "none":
        return level
    if not unsafe:
        raise CourseError(
            "No sandbox holds on this machine, so student code could do anything. Run `autograder doctor` "
            "for the mend, or grade in the container; --unsafe-no-sandbox grades all the same."
        )
    notes.print("Grading WITHOUT a sandbox: student code can read and change what you can.", style="red")
    return level


def _grade_one(
    course: Course, lab: Lab, submitted: Path, out: Path, level: Level, jobs: int, notes: Console
) -> batch.ClassResult:
    with _progress(notes) as progress:
        start, advance = _bar(progress, f"{lab.id} ({level})")

        def store(result: Result) -> None:
            pages.write_student(course, lab, out / lab.id / result.student)
            advance()

        graded = batch.grade(lab, submitted, out, level, jobs, start, store)
    record.write(out / lab.id / "grades.csv", export.grades_csv(graded).encode("utf-8-sig"))
    pages.write_class(course, lab, out / lab.id, graded.refused)
    return graded


def _progress(notes: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal)


def _bar(progress: Progress, words: str) -> tuple[Callable[[int], None], Callable[[], None]]:
    """A bar, and what sets its length and what moves it on."""
    bar = progress.add_task(words, total=None)

    def start(count: int) -> None:
        progress.update(bar, total=count, completed=0)

    return start, lambda: progress.advance(bar)


def _console() -> Console:
    """Where tables go: as wide as the terminal, wide enough in a file."""
    return Console(width=None if sys.stdout.isatty() else 160)


def _short(path: Path) -> str:
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def main() -> None:
    """The console script: run a command, turn every ending into a line and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # a gbk console lacks some signs
    sys.exit(_run(lambda: cli.main(standalone_mode=False)))


def _run(command: Callable[[], Any]) -> int:
    try:
        code = command()
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return WRONG_USE
    except CourseError as error:
        click.echo(f"autograder: {error}", err=True)
        return WRONG_USE
    except record.StorageError as error:
        click.echo(f"autograder: {error}", err=True)
        return NEEDS_PERSON
    except (KeyboardInterrupt, click.Abort):
        click.echo("autograder: interrupted; what is stored is whole. Run it again to go on.", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        return INTERRUPTED
    except Exception as error:
        return _own_fault(error)
    return code if isinstance(code, int) else DONE


def _own_fault(error: Exception) -> int:
    """A defect of ours: one line, and the details in a file for the course team."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="autograder-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        file.write("".join(traceback.format_exception(error)))
    click.echo(
        f"autograder: a defect of the grader itself ({type(error).__name__}: {error}). No grade was changed "
        f"by it; please send {file.name} to the course team.",
        err=True,
    )
    return NEEDS_PERSON


if __name__ == "__main__":
    main()
