"""What the audit found out: a table of mutants by tasks, what must be mended, and build/audit/LAB.json."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.authoring import audit_tolerances
from autograder.authoring.audit import Audit
from autograder.authoring.audit_diagnosis import Diagnosed
from autograder.authoring.audit_machine import Hunt
from autograder.authoring.audit_mutants import KILLED, SURVIVED, Ruling, outcome_on_all
from autograder.authoring.mutants import changed_lines
from autograder.course import Task
from autograder.reporting.table import SIGNS, STYLES, first_remark, printable

PUBLIC = 0.9  # of the mutants; what they miss, students learn from their grade
VARIES = "~"  # passed on some variants only


@dataclass(frozen=True)
class Findings:
    """All that is known of a lab. depends: what it rests on, as the audit found it (batch/audited.py).

    public: which mutants the public tests see, None for a lab without any. hunt, told: None where changes by
    machine, or the mistakes that feedback names, were not asked for.
    """

    depends: dict[str, str]
    audit: Audit
    public: dict[str, bool] | None
    hunt: Hunt | None = None
    told: Diagnosed | None = None

    @property
    def sound(self) -> bool:
        """Whether everything is as it must be."""
        return not any(defects(self))


def as_data(found: Findings) -> dict[str, Any]:
    """What build/audit/LAB.json holds."""
    audit, public, hunt = found.audit, found.public, found.hunt
    killed = [ruling.verdict == KILLED for ruling in audit.rulings]
    reference, *alternates = audit.right
    return {
        "key": audit.key,
        "depends": found.depends,
        "variants": audit.variants,
        "sound": found.sound,
        "mutants": {
            "killed": sum(killed),
            "total": len(killed),
            "survivors": [ruling.mutant.id for ruling in audit.rulings if ruling.verdict == SURVIVED],
        },
        "thoughtless": {
            "tried": sum(audit.answers.tried.values()),
            "lost": audit.answers.lost,
            "survivors": [str(one) for one in audit.answers.survivors],
        },
        "machine": None if hunt is None else _of_machine(hunt),
        "alternates": _share(not one.failed for one in alternates),
        "reference_variants": _share(result not in reference.failed for result in reference.results),
        "public": None if public is None else {"killed": sum(public.values()), "total": len(public)},
        "tolerances": {
            "checked": len(audit.gaps),
            "without_gap": len(list(audit_tolerances.defects(audit.gaps))),
        },
        "alone": {"passed": len(audit.lab.tasks) - len(audit.alone), "total": len(audit.lab.tasks)},
        "slowest": {"check": audit.budget.slowest, "share": round(audit.budget.share, 3)},
        "diagnosis": found.told and found.told.as_data(),
    }


def _of_machine(hunt: Hunt) -> dict[str, Any]:
    return {
        "killed": hunt.killed,
        "equivalent": len(hunt.equivalent),
        "programs": hunt.programs,
        "total": hunt.total,
        "survivors": [str(change) for change in hunt.survivors],
    }


def show(found: Findings, console: Console) -> None:
    """Print the table, the figures, and all that is not as it must be."""
    audit = found.audit
    console.print(_table(audit))
    tasks = "  ".join(f"{number} {task.id}" for number, task in enumerate(audit.lab.tasks, 1))
    console.print(Text(f"tasks: {tasks}"), soft_wrap=True)
    console.print(Text(f"signs: {'  '.join(_legend(audit))}"))
    for words, figure, more in figures(found):
        console.print(Text(f"{words}: {figure}{'; ' if more else ''}{more}"), soft_wrap=True)
    for line, diff in defects(found):
        console.print(Text(f"{line}\n{diff}".strip(), "red"), soft_wrap=True)
    words = "everything is as it must be" if found.sound else "NOT as it must be; what to mend stands above"
    console.print(Text(f"{audit.lab.id}: {words}."))


def _table(audit: Audit) -> Table:
    table = Table(title=f"{audit.lab.id} · typical mistakes", title_justify="left", box=None, pad_edge=False)
    for name in ("mutant", "family"):
        table.add_column(name, no_wrap=True)
    for number in range(1, len(audit.lab.tasks) + 1):
        table.add_column(str(number), justify="center", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for ruling in audit.rulings:
        signs = _signs(ruling, audit.lab.tasks)
        verdict = Text(ruling.verdict, "green" if ruling.verdict == KILLED else "red")
        table.add_row(ruling.mutant.id, ruling.mutant.family, *signs, verdict)
    return table


def _signs(ruling: Ruling, tasks: Iterable[Task]) -> Iterable[Text]:
    """A sign a task, of all variants on which it ran."""
    for task in tasks:
        outcome = outcome_on_all(ruling, task.id)
        yield Text(SIGNS[outcome] if outcome else VARIES, STYLES.get(outcome, "yellow"))


def _legend(audit: Audit) -> Iterable[str]:
    seen = [{sign.plain for sign in _signs(ruling, audit.lab.tasks)} for ruling in audit.rulings]
    signs = {sign: outcome for outcome, sign in SIGNS.items()} | {VARIES: "passed on some variants only"}
    return (f"{sign} {words}" for sign, words in signs.items() if any(sign in row for row in seen))


def figures(found: Findings) -> Iterable[tuple[str, str, str]]:
    """What was counted: words, a figure, and what there is to add."""
    data, audit, public, hunt = as_data(found), found.audit, found.public, found.hunt
    mutants, tolerances = data["mutants"], data["tolerances"]
    families = len({ruling.mutant.family for ruling in audit.rulings})
    yield "mutants killed where meant", _of(mutants["killed"], mutants["total"]), f"{families} families"
    if hunt:
        equivalent = f"{len(hunt.equivalent)} change nothing"
        if hunt.equivalent:
            equivalent += f", each in at least {hunt.programs} programs of its tasks"
        yield "changes by machine that a hidden test sees", _of(hunt.killed, hunt.total), equivalent
    thoughtless = data["thoughtless"]
    yield "checks that answers of no thought lose", _of(thoughtless["lost"], thoughtless["tried"]), ""
    for words, part in (
        ("alternates with full marks on every variant", "alternates"),
        ("variants on which the reference has full marks", "reference_variants"),
        ("tasks with full points alone", "alone"),
    ):
        yield words, _of(data[part]["passed"], data[part]["total"]), ""
    room = tolerances["checked"] - tolerances["without_gap"]
    one_sided = sum(gap.least is None for gap in audit.gaps)
    words = f"{one_sided} measured on the right side alone" if one_sided else ""
    yield "tolerances with room on both sides", _of(room, tolerances["checked"]), words
    yield "most of a CPU limit that the reference takes", f"{audit.budget.share:.0%}", audit.budget.slowest
    if public is None:
        yield "mutants that the public tests see", "none", "there are no public tests yet"
    else:
        unseen = ", ".join(id for id, seen in public.items() if not seen)
        counted = _of(sum(public.values()), len(public))
        yield "mutants that the public tests see", counted, f"not seen: {unseen}" if unseen else ""
    yield from found.told.figures() if found.told else ()


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}"


def defects(found: Findings) -> Iterable[tuple[str, str]]:
    """What must be mended, each in one line; and the changed lines of a mutant that survived, or ""."""
    audit = found.audit
    for ruling in audit.rulings:
        if ruling.verdict != KILLED:
            line = printable(f"{ruling.mutant.id}: {ruling.verdict}: {ruling.why}")
            survived = ruling.verdict == SURVIVED
            yield line, changed_lines(audit.solved, ruling.mutant.modules) if survived else ""
    for line in _other_defects(found):
        yield printable(line), ""


def _other_defects(found: Findings) -> Iterable[str]:
    audit, hunt = found.audit, found.hunt
    for one, other in audit.alike:
        yield f"{one} and {other}: every check says the same of both; keep one, or add a check."
    for right in audit.right:
        if failed := right.failed:
            remark = f"first on {failed[0].variant}: {first_remark(failed[0])}"
            yield f"{right.name} fails on {len(failed)} variants, {remark} If it is right, mend the check."
    for check, why in audit.unfit.items():
        yield f"{check}: {why}"
    yield from _blind(found.public)
    for answer in audit.answers.survivors:
        yield f"{answer}. Choose inputs that tell it apart, or list it in equivalents.toml with the reason."
    yield from audit.answers.defects
    yield from audit.alone
    yield from audit_tolerances.defects(audit.gaps)
    yield from audit.budget.defects
    if hunt:
        for change in hunt.survivors:
            yield f"no hidden test sees {change}. Add a check, or a reason to equivalents.toml."
        yield from hunt.defects
    yield from found.told.defects() if found.told else ()


def _blind(public: dict[str, bool] | None) -> Iterable[str]:
    """Whether the public tests, of which students hear first, see too few mistakes; one may be left."""
    if public and sum(public.values()) < min(PUBLIC * len(public), len(public) - 1):
        seen = f"{sum(public.values())} of {len(public)} mutants"
        yield f"the public tests see {seen}, fewer than {PUBLIC:.0%}. Add tests for those that are not seen."


def _share(passed: Iterable[bool]) -> dict[str, int]:
    found = list(passed)
    return {"passed": sum(found), "total": len(found)}
