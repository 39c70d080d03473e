"""Inert stand-ins for modules that labs import but grading never needs: plots, progress bars, IPython."""

import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any

NAMES = frozenset({"matplotlib", "mpl_toolkits", "tqdm", "IPython", "turtle", "tkinter"})


class _Inert:
    """Takes every call, attribute and item, and does nothing; iterating over it ends at once."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key: Any) -> Any:
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        return None

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None


class _Bar(_Inert):
    """A progress bar: iterates over what it was given and shows nothing."""

    write = staticmethod(print)

    def __init__(self, iterable: Iterable[Any] = (), *arguments: Any, **options: Any) -> None:
        self._iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterable)

    def __len__(self) -> int:
        return len(self._iterable)  # type: ignore[arg-type]  # a TypeError is right where there is none


class _InertModule(types.ModuleType):
    __version__ = "0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__.partition(".")[0] == "tqdm":
            return (lambda *bounds, **options: _Bar(range(*bounds))) if name.endswith("range") else _Bar
        if name == "subplots":
            return lambda *arguments, **options: (_Inert(), _Inert())
        return _Inert()


class _Finder(MetaPathFinder, Loader):
    """Finds the stand-ins and whatever is imported below them."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in NAMES else None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return _InertModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__path__ = []


def install() -> None:
    """From now on `import matplotlib`, `tqdm` and `IPython` succeed and do nothing."""
    sys.meta_path.insert(0, _Finder())


def names() -> dict[str, Any]:
    """What a notebook has without an import, and what its first cell, which isn't run, takes from labkit."""
    given = ("begin", "break_it", "check", "cuda", "draw", "expose", "reveal", "whose_numbers")
    inert = {name: _Inert() for name in ("display", *given)}
    return {"get_ipython": lambda: _Inert(), **inert}
