"""The table at the end of `grade`: a line a student, a column a task."""

from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size
from rich.console import Console
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
REMARK = 20  # characters of a remark that still say something
STYLES = {"passed": "green", "not-attempted": "dim", "blocked": "dim"}


def show(graded: ClassResult, console: Console) -> None:
    """Print a graded class: points, an outcome per task, the level, what needs a person."""
    lab = graded.lab
    console.print(*_lines(graded, console.width), sep="\n", crop=False, no_wrap=True, overflow="ignore")
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


def _lines(graded: ClassResult, width: int) -> Iterator[Text]:
    """The table; what to look at first takes what the tasks leave of `width`, and no task is left out."""
    lab = graded.lab
    yield Text(f"{lab.id} · {lab.title['en']} · {lab.title['zh']}", "italic")
    numbers = [str(number) for number in range(1, len(lab.tasks) + 1)]
    student = max(cell_len(name) for name in ("student", *(result.student for result in graded.results)))
    for gap in (GAP, 1):
        left = student + GAP + len("points") + GAP + sum(len(number) + gap for number in numbers)
        if (room := width - left) >= REMARK:
            break
    space = " " * gap
    head = f"{set_cell_size('student', student)}  points  {space.join(numbers)}"
    yield Text(head + (f"{space}first thing to look at" if room >= REMARK else ""), "bold")
    for result in graded.results:
        points = "?" if result.points is None else str(result.points)
        line = Text(f"{set_cell_size(result.student, student)}  {points:>6}  ")
        for number, task in zip(numbers, result.tasks, strict=True):
            line.append(SIGNS[task.outcome].center(len(number)), STYLES.get(task.outcome, "yellow"))
            line.append(space)
        remark = printable(first_remark(result))
        if room >= REMARK:
            line.append(set_cell_size(remark, room - 1) + "~" if cell_len(remark) > room else remark)
        line.rstrip()
        yield line


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
