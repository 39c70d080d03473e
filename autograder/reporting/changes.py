"""What a regrade would change, for the TA: whose points, by which checks, and why. English, plain lines."""

from collections.abc import Iterator, Mapping

from autograder.batch.regrade import Pair, Preview
from autograder.judging.verdicts import CheckResult, Result

from .table import printable

_PARTS = {
    "reference": "the reference",
    "grading": "grading tests or programs",
    "skeleton": "the skeleton in labs/",
    "lab": "lab.toml",
    "cuda": "what runs kernels, or the compiler",
    "notebook": "the notebook's questions",
    "grader": "the grader itself",
}


def lines(preview: Preview) -> Iterator[str]:
    """The whole preview."""
    lab, pairs = preview.plan.lab, preview.pairs
    if not pairs:
        yield f"{lab.id}: nothing that the {preview.untouched} stored results depend on has changed."
    else:
        gains = sum(_gain(pair) > 0 for pair in pairs)
        losses = sum(_gain(pair) < 0 for pair in pairs)
        open_ = sum(pair.before.result.points != pair.after.result.points for pair in pairs) - gains - losses
        changed = ", ".join(_PARTS[part] for part in _PARTS if _differs(pairs, preview.plan.depends, part))
        yield f"{lab.id}: changed since these grades: {changed or 'nothing, but some were undecided'}."
        yield (
            f"{losses} would lose points, {gains} would gain"
            + (f", {open_} became or remain undecided" if open_ else "")
            + f"; {len(pairs) - losses - gains - open_ + preview.untouched} keep their points."
        )
        for pair in sorted(pairs, key=lambda pair: (_gain(pair) >= 0, _gain(pair) == 0, pair.student)):
            yield from _of_student(pair)
    if preview.others:
        yield f"{preview.others} with new, changed or unreadable work are left to `autograder grade`."


def _differs(pairs: list[Pair], depends: Mapping[str, str], part: str) -> bool:
    return any(pair.before.record.hashes.get(part) != depends.get(part) for pair in pairs)


def _gain(pair: Pair) -> int:
    before, after = pair.before.result.points, pair.after.result.points
    return 0 if before is None or after is None else after - before


def _of_student(pair: Pair) -> Iterator[str]:
    """Nothing for a student whose checks all end as before."""
    before, after = _checks(pair.before.result), _checks(pair.after.result)
    changed = [
        (place, before.get(place), after.get(place))
        for place in dict.fromkeys([*before, *after])
        if _ending(before.get(place)) != _ending(after.get(place))
    ]
    if not changed and pair.before.result.points == pair.after.result.points:
        return
    was, is_ = (_shown(stored.result.points) for stored in (pair.before, pair.after))
    yield f"{pair.student}  {was} -> {is_} of {pair.after.result.max}"
    for (task, id), old, new in changed:
        yield f"  {task}  {id}  {_ending(old)} -> {_ending(new)}"
        for word, check in (("before", old), ("now", new)):
            if check and check.message:
                yield f"    {word}: {printable(check.message.text('en'))}"


def _checks(result: Result) -> dict[tuple[str, str], CheckResult]:
    return {(task.id, check.id): check for task in result.tasks for check in task.checks}


def _ending(check: CheckResult | None) -> str:
    return "no such check" if check is None else f"{check.outcome} {_shown(check.points)}/{check.max}"


def _shown(points: int | None) -> str:
    return "?" if points is None else str(points)
