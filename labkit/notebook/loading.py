"""The student's modules in a notebook: loaded, loaded again after each save, and told with their times."""

import importlib
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from labkit.check.frames import blank_of, frames_of
from labkit.notebook.session import Session

BLANK = "raise NotImplementedError"


class Modules:
    """What is known of each module: when its file was saved and when it was loaded (seconds)."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._loaded: dict[str, tuple[float, float]] = {}

    def load(self) -> None:
        """Import every module of the lab, and say so in a line for each."""
        for name in self._session.lab.modules:
            saved = _saved(self._session.lab.folder / name)
            try:
                importlib.import_module(name.removesuffix(".py"))
            except Exception as error:
                self._tell_failure(name, saved, error)
            else:
                self._loaded[name] = (saved, time.time())
                self._tell("loaded", name)

    def tell_changes(self, shell: Any) -> None:
        """Before a cell runs, and after autoreload: say which modules are newer than what was told last."""
        failed = _failed_of(shell)
        for name in self._session.lab.modules:
            file = self._session.lab.folder / name
            saved = _saved(file)
            if not saved or saved == self._loaded.get(name, (0.0, 0.0))[0]:
                continue
            if name.removesuffix(".py") not in sys.modules or str(file) in failed:
                self._tell_failure(name, saved, _syntax_error(file))
                if name in self._loaded:
                    self._loaded[name] = (saved, self._loaded[name][1])
            else:
                self._loaded[name] = (saved, time.time())
                self._tell("reloaded", name)

    def _tell(self, what: str, name: str) -> None:
        saved, loaded = self._loaded[name]
        print(self._session.text(what, module=name, saved=_clock(saved), loaded=_clock(loaded)))

    def _tell_failure(self, name: str, saved: float, error: Exception | None) -> None:
        text = ""
        if isinstance(error, SyntaxError):
            text = f"{error.msg} ({name}:{error.lineno})"
        elif error is not None:
            text = f"{type(error).__name__}: {error}"
        print(self._session.text("not-loaded", module=name, saved=_clock(saved), error=text))


def start(session: Session) -> None:
    """Load the modules; in IPython, also reload them before a cell runs and show blanks in a line."""
    modules = Modules(session)
    modules.load()
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return
    shell.run_line_magic("load_ext", "autoreload")
    shell.run_line_magic("autoreload", "2 --hide-errors")

    def tell(*_: Any) -> None:
        modules.tell_changes(shell)

    for known in list(shell.events.callbacks["pre_run_cell"]):
        if getattr(known, "__qualname__", "") == tell.__qualname__:  # the first cell was run again
            shell.events.unregister("pre_run_cell", known)
    shell.events.register("pre_run_cell", tell)

    def show_blank(
        shell: Any, kind: type, error: BaseException, trace: Any, tb_offset: Any = None
    ) -> list[str]:
        line = blank_line(session, error)
        print(line)
        return [line]

    shell.set_custom_exc((NotImplementedError,), show_blank)


def blank_line(session: Session, error: BaseException) -> str:
    """Where the blank is that a cell came upon: in a module, or in the notebook."""
    frames = frames_of(error, session.lab.folder)
    if blank := blank_of(error, session.lab.folder):
        return session.text("blank", blank=blank, module=frames[-1]["file"], line=frames[-1]["line"])
    last = traceback.extract_tb(error.__traceback__)[-1]
    return session.text("cell-blank" if last.line == BLANK else "not-there", text=str(error))


def _saved(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _clock(seconds: float) -> str:
    return time.strftime("%m-%d %H:%M:%S", time.localtime(seconds)) if seconds else "-"


def _failed_of(shell: Any) -> set[str]:
    """The files that autoreload could not load in their present state."""
    magics = shell.magics_manager.registry.get("AutoreloadMagics")
    return set(getattr(getattr(magics, "_reloader", None), "failed", ()))


def _syntax_error(file: Path) -> SyntaxError | None:
    try:
        compile(file.read_bytes(), str(file), "exec")
    except SyntaxError as error:
        return error
    except (OSError, ValueError):
        pass
    return None
