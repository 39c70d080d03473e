"""`autograder COMMAND`: arguments and exit codes; what the commands do stands in the rooms below.

Exit codes: 0 done, 2 wrong use or bad course files, 3 some result needs a person, 130 interrupted.
"""

import functools
import sys
import tempfile
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.batch.record import StorageError
from autograder.course import CourseError, load_course
from autograder.key import VARIANTS

if TYPE_CHECKING:  # each command loads what it needs, so that none waits for the others
    from autograder.reporting.desk import Desk
    from autograder.reporting.gradebook.desk import BookDesk

DONE, WRONG_USE, NEEDS_PERSON, INTERRUPTED = 0, 2, 3, 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Grade labs on automatic differentiation: numbers compared, in a sandbox, every point explained."""


@cli.command()
@click.option("--check", is_flag=True, help="Change nothing; print what differs and fail if anything does.")
def labs(check: bool) -> int:
    """Cut labs/ from reference/ (and build/solved/)."""
    from autograder.authoring import labs as authoring

    course = load_course(Path.cwd())
    if not check:
        authoring.write_labs(course)
        click.echo("labs/ and build/solved/ are what reference/ gives.")
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
    from autograder.authoring import release as releasing
    from autograder.reporting.console import FindLevel

    course = load_course(Path.cwd())
    made = releasing.release(course, lab, language, out, FindLevel()(), datetime.now(UTC))
    click.echo(releasing.told(made))
    return DONE


@cli.command()
@click.option("--lab", metavar="LAB", help="Only this lab; default: all.")
@click.option(
    "--variants",
    metavar="N|all",
    type=click.Choice([*map(str, range(1, VARIANTS + 1)), "all"]),
    default="2",
    help="On how many of the 16 variants each mutant runs; default: 2, others in turn.",
)
@click.option(
    "--machine", is_flag=True, help="Also every small change that a machine makes in the solutions."
)
@click.option("--jobs", type=click.IntRange(1, 256), help="Grader processes; default: one per core.")
def audit(lab: str | None, variants: str, machine: bool, jobs: int | None) -> int:
    """Prove a lab sound: typical mistakes are caught where meant, other right solutions pass."""
    from autograder.authoring.audit_desk import audit_labs

    course = load_course(Path.cwd())
    labs = [course.lab(lab)] if lab else course.labs
    sound = audit_labs(course, labs, VARIANTS if variants == "all" else int(variants), jobs, machine)
    return DONE if sound else WRONG_USE


@cli.command()
def handouts() -> int:
    """Build the handouts into build/handouts: one static site that needs no network."""
    from autograder.authoring.handouts import build

    build(load_course(Path.cwd()), Path("build/handouts").absolute())
    click.echo("Open build/handouts/index.html")
    return DONE


@cli.command()
@click.option("--html", is_flag=True, help="Execute it into build/demo/four_ways.html instead.")
@click.option("--engine", type=click.Path(path_type=Path), help="A student's, beside the course's.")
def demo(html: bool, engine: Path | None) -> int:
    """Open the lecture's demo, four ways to differentiate, in JupyterLab."""
    from autograder.authoring import demo as authoring
    from labkit.jupyter import open_notebook
    from labkit.lab import WrongUse

    course = load_course(Path.cwd())
    engine = engine and engine.expanduser().absolute()
    if html:
        page, verdict = authoring.write_page(course, engine)
        click.echo(f"{verdict}\nWritten: {page}" if engine else f"Written: {page}")
    else:
        notebook = authoring.write_notebook(course, engine)
        try:
            open_notebook(notebook, notebook.parent, "en")
        except WrongUse as error:
            raise CourseError(f"{error} make demo-html needs no JupyterLab.") from None
    return DONE


@cli.command()
def doctor() -> int:
    """What this machine can promise, found out by trying it."""
    from autograder.reporting.console import console
    from autograder.sandbox import doctor as sandbox_doctor

    level = sandbox_doctor.report(console())
    return DONE if level in ("full", "portable") else NEEDS_PERSON


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda command: functools.reduce(lambda made, option: option(made), reversed(options), command)


_folders = _options(
    click.option("--submitted", type=click.Path(path_type=Path), help="STUDENT/LAB folders and archives."),
    click.option("--out", type=click.Path(path_type=Path), help="Where results go."),
    click.option(
        "--unsafe-no-sandbox", "unsafe", is_flag=True, help="Although nothing holds student code back."
    ),
)
_class = _options(
    click.option("--lab", metavar="LAB", help="Only this lab; default: every lab with submissions."),
    _folders,
    click.option("--jobs", type=click.IntRange(1, 256), help="Grader processes; default: one per core."),
)


def _desk(wishes: dict[str, Any]) -> "Desk":
    from autograder.reporting.desk import Desk, Wishes

    return Desk(load_course(Path.cwd()), Wishes(**wishes))


@cli.command()
@_class
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, alone on stdout.")
def grade(as_json: bool, **wishes: Any) -> int:
    """Grade what is new or depends on a change; without a class of your own, the sample class."""
    complete = _desk(wishes).grade(as_json)
    return DONE if complete else NEEDS_PERSON


@cli.command()
@_class
@click.option("--yes", is_flag=True, help="Write without asking.")
def regrade(yes: bool, **wishes: Any) -> int:
    """After a change of tests or reference: show whose points it changes and why, then write if told to."""
    complete = _desk(wishes).regrade(yes)
    return DONE if complete else NEEDS_PERSON


@cli.command()
@click.argument("lab")
@click.argument("student")
@click.argument("check")
@_folders
def replay(student: str, check: str, **wishes: Any) -> int:
    """Run one CHECK of one student again and show its calls, numbers and output; nothing is written.

    CHECK is FILE::FUNCTION as in record.json, or a part of it that no other check has.
    """
    _desk(wishes).replay(student, check)
    return DONE


@cli.command()
@click.argument("submitted", type=click.Path(path_type=Path))
@click.option("--lab", metavar="LAB", help="Only this lab; default: every lab with submissions.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("prechecked"), help="Where pages go.")
@click.option("--jobs", type=click.IntRange(1, 256), help="Processes; default: one per core.")
def precheck(**wishes: Any) -> int:
    """Run everybody's public tests of SUBMITTED here: a page for each, no hidden test, no points."""
    _desk(wishes).precheck()
    return DONE


_book = _options(
    click.option("--lab", metavar="LAB", help="Only this lab; default: every lab with submissions."),
    click.option("--submitted", type=click.Path(path_type=Path), help="STUDENT/LAB folders and archives."),
    click.option("--out", type=click.Path(path_type=Path), help="Where `grade` left its results."),
    click.option(
        "--gradebook", type=click.Path(path_type=Path), help="nbgrader's folder; default: gradebook."
    ),
)


def _book_desk(wishes: dict[str, Any]) -> "BookDesk":
    from autograder.reporting.gradebook.desk import BookDesk

    return BookDesk(load_course(Path.cwd()), **wishes)


@cli.command()
@_book
def gradebook(**wishes: Any) -> int:
    """Put what `grade` found into nbgrader's gradebook; what TAs entered there stays."""
    _book_desk(wishes).push()
    return DONE


@cli.command()
@_book
def formgrader(**wishes: Any) -> int:
    """Open nbgrader's formgrader, to grade by hand and to comment."""
    _book_desk(wishes).formgrader()
    return DONE


@cli.command()
@_book
def feedback(**wishes: Any) -> int:
    """Write nbgrader's feedback pages, beside ours, and scores as CSV, with what TAs entered."""
    _book_desk(wishes).feedback()
    return DONE


def main() -> None:
    """Run a command, turn every ending into a line and an exit code."""
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
    except StorageError as error:
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
        f"autograder: a defect of the grader itself ({type(error).__name__}: {error}). Results stored before "
        f"it are whole and stay; please send {file.name} to the course team.",
        err=True,
    )
    return NEEDS_PERSON
