"""The table at the end of `grade`: a line a student, a column a task."""

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.batch.grade import ClassResult
from autograder.judging.explain import in_full
from autograder.judging.verdicts import Result
from labkit.messages import Message

# ASCII, so that every terminal can show them and a screen reader can read them.
SIGNS = {
    "passed": "+",
    "wrong": "x",
    "not-attempted": ".",
    "blocked": "b",
    "crashed": "!",
    "timed-out": "T",
    "out-of-memory": "M",
    "exited-early": "E",
    "malformed-reply": "?",
    "forbidden-action": "F",
    "grader-fault": "G",
    "not-run": "-",
}
LISTED = 20  # names in a line
GAP = 2  # spaces between columns
STYLES = {"passed": "green", "not-attempted": "dim", "blocked": "dim"}


def show(graded: ClassResult, console: Console) -> None:
    """Print a graded class: points, an outcome per task, the level, what needs a person."""
    lab = graded.lab
    table = Table(
        title=f"{lab.id} · {lab.title['en']} · {lab.title['zh']}",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    table.add_column("student", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    for number in range(1, len(lab.tasks) + 1):
        table.add_column(str(number), justify="center", no_wrap=True)
    table.add_column("first thing to look at", no_wrap=True)
    for result, remark in zip(graded.results, _remarks(graded, console.width), strict=True):
        points = "?" if result.points is None else str(result.points)
        signs = [Text(SIGNS[task.outcome], STYLES.get(task.outcome, "yellow")) for task in result.tasks]
        table.add_row(Text(result.student), points, *signs, Text(remark))
    console.print(table)
    tasks = "  ".join(f"{n} {task.id} ({task.points})" for n, task in enumerate(lab.tasks, 1))
    console.print(Text(f"tasks: {tasks}"))
    seen = {task.outcome for result in graded.results for task in result.tasks}
    legend = "  ".join(f"{sign} {outcome}" for outcome, sign in SIGNS.items() if outcome in seen)
    console.print(Text(f"signs: {legend}"))
    console.print(Text(f"{len(graded.results)} graded at level {graded.level}{_before(graded)}."))
    if graded.absent:
        listed = ", ".join(graded.absent[:LISTED]) + (" …" if len(graded.absent) > LISTED else "")
        console.print(Text(f"Kept but not listed, as no work of theirs is there any more: {listed}."))
    for message in graded.refused:
        console.print(Text(printable(message.text("en")), "red"))
    for check, message in graded.faults.items():
        words = printable(in_full(message))
        console.print(Text(f"The reference fails its own check {check}: {words} Mend the test.", "red"))


def _before(graded: ClassResult) -> str:
    """How many results stood from before, if any did."""
    if not graded.stood:
        return ""
    return f"; {graded.stood} of them before, and nothing they depend on has changed since"


def _remarks(graded: ClassResult, width: int) -> list[str]:
    """What to look at first, cut to what the other columns leave of a line of `width`."""
    student = max((cell_len(result.student) for result in graded.results), default=0)
    others = [max(student, len("student")), len("points")]
    others += [len(str(number)) for number in range(1, len(graded.lab.tasks) + 1)]
    room = max(20, width - sum(others) - GAP * (len(others) + 1))
    remarks = [printable(first_remark(result)) for result in graded.results]
    return [set_cell_size(text, room - 1) + "~" if cell_len(text) > room else text for text in remarks]


def printable(text: str) -> str:
    """Text that moves no cursor and turns no line around, whatever a student wrote."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def first_remark(result: Result) -> str:
    """The first sentence that tells why a result is not full; English, for the TA."""
    if result.error:
        return result.error.text("en")
    for outcome_is_blocked in (False, True):
        for task in result.tasks:
            for check in task.checks:
                failed = check.outcome != "passed" and (check.outcome == "blocked") == outcome_is_blocked
                if failed and check.message:
                    return in_full(_brief(check.message))
    return next((note.text("en") for note in result.notes), "")


def _brief(message: Message) -> Message:
    """The message without the inputs of its call, which would push what went wrong out of the line."""
    program = str(message.arguments.get("call", "")).partition("(")[0]
    return Message(message.id, {**message.arguments, "call": f"{program}(..)"})
