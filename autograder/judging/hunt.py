"""Whether any check sees a mistake: a grader that stops at the first that does, and explains nothing."""

from collections.abc import Sequence

from .bench import Bench
from .details import Detail
from .grader import Grader
from .verdicts import UNDECIDED, Verdict


class Hunter(Grader):
    """A grader for changes that a machine made, of which there are hundreds."""

    def has_seen_enough(self, verdicts: Sequence[Verdict]) -> bool:
        """Whether a check has seen it."""
        return any(verdict.outcome not in ("passed", *UNDECIDED) for verdict in verdicts)

    def _look_closer(self, bench: Bench, verdicts: list[Verdict]) -> list[Detail]:
        return []
