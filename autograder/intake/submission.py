"""What this room hands on: who handed in what, and the text of it."""

from dataclasses import dataclass, field
from pathlib import Path

from labkit.messages import Message


@dataclass(frozen=True)
class Found:
    """One student's work on one lab; more than one path means that it isn't clear which counts."""

    student: str
    paths: tuple[Path, ...]


@dataclass(frozen=True)
class ClassFolder:
    """The work found for one lab, by student id, and what was passed over and why."""

    found: tuple[Found, ...]
    refused: tuple[Message, ...]


_FOR_A_PERSON = ("intake.two-submissions", "intake.unreadable")


@dataclass(frozen=True)
class Submission:
    """What was taken of one student's work.

    `files`: name -> text, the manifest's modules and the student's own helper modules.
    `problems`: a manifest file -> why it can't be used; such a file is not in `files`.
    `notes`: what else the student and the TA should know.
    `error`: why nothing could be read; `files` and `problems` are empty then.
    `cells`: id -> text of the notebook's cells, code and Markdown.
    `digest`: SHA-256 of names, bytes, cells, problems and error, the same for a folder and an archive of it.
    """

    student: str
    files: dict[str, str]
    problems: dict[str, Message]
    notes: tuple[Message, ...]
    error: Message | None
    digest: str
    cells: dict[str, str] = field(default_factory=dict)

    @property
    def undecided(self) -> bool:
        """Whether a person must say what counts, or mend a disk: `error` is not the student's."""
        return self.error is not None and self.error.id in _FOR_A_PERSON
