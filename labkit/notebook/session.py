"""The lab that a notebook belongs to, the language it speaks, and how it says that something is missing."""

import sys
from dataclasses import dataclass
from pathlib import Path

from labkit.lab import MANIFEST, Lab, WrongUse, read_lab
from labkit.messages import Argument, Message


class NotYet(Exception):
    """Something is not right yet; a notebook shows the words alone."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class Session:
    """One running notebook."""

    lab: Lab
    language: str

    def text(self, id: str, /, **arguments: Argument) -> str:
        """A sentence of notebook.toml."""
        return Message(f"notebook.{id}", arguments).text(self.language)


_sessions: list[Session] = []


def begin(language: str | None = None) -> None:
    """Find the lab of this notebook, load its modules, keep them up to date, and say which are loaded.

    Raises: NotYet where there is no lab around.
    """
    here = Path.cwd()
    found = next((folder for folder in (here, *here.parents[:2]) if (folder / MANIFEST).is_file()), None)
    if found is None:
        raise NotYet(Message("notebook.no-manifest", {"folder": str(here)}).text(language or "zh"))
    try:
        lab = read_lab(found)
    except WrongUse as error:
        raise NotYet(error.message.text(language or "zh")) from None
    _sessions[:] = [Session(lab, language or lab.language)]
    if str(lab.folder) not in sys.path:
        sys.path.insert(0, str(lab.folder))
    from labkit.notebook import loading  # it needs a session

    loading.start(current())


def current() -> Session:
    """The session of this notebook.

    Raises: NotYet before `begin`.
    """
    if not _sessions:
        raise NotYet("Run the first cell. / 请先运行第一个单元格。")
    return _sessions[0]
