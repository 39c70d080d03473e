"""TOML files of the course read into structs; whatever is wrong in one is told in one line."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

_Struct = TypeVar("_Struct", bound=msgspec.Struct)


class CourseError(Exception):
    """Wrong use or a bad course file: one line that says what, where and how to mend it (exit code 2)."""


def read_toml(root: Path, name: str, kind: type[_Struct], mend: str) -> _Struct:
    """The file `name` below the course's folder as a `kind`; `mend` says what to do if there is none.

    Raises: CourseError.
    """
    file = TomlFile(root, name, mend)
    return file.convert(file.data, kind)


class TomlFile:
    """A TOML file of the course, and errors that name it."""

    def __init__(self, root: Path, name: str, mend: str) -> None:
        self.name = name
        path = root / name
        try:
            # Editors on Windows put a BOM first, which TOML does not know.
            self.data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except FileNotFoundError:
            raise CourseError(f"{path} is missing. {mend}") from None
        except OSError as error:
            raise CourseError(f"{path} can't be read: {error.strerror}. Mend its permissions.") from None
        except UnicodeDecodeError as error:
            self.fail(f"byte {error.start}", "this is not UTF-8", "Save the file as UTF-8.")
        except tomllib.TOMLDecodeError as error:
            what, _, place = str(error).removesuffix(")").rpartition(" (at ")
            self.fail(place, f"this is not TOML: {what}", "Mend the syntax there.")

    def fail(self, place: str, what: str, mend: str) -> NoReturn:
        """Raises: CourseError, one line."""
        line = f"{self.name}: {place}: {what}. {mend}" if place else f"{self.name}: {what}. {mend}"
        raise CourseError(" ".join(line.split()))

    def refuse_duplicates(self, place: str, values: Iterable[str]) -> None:
        """Raises: CourseError for a name that stands there twice."""
        # Folders on macOS and Windows don't tell lab1 from Lab1.
        seen: set[str] = set()
        for value in values:
            if value.casefold() in seen:
                self.fail(place, f"{value!r} stands there twice", "Keep one, or give the other another name.")
            seen.add(value.casefold())

    def convert(self, data: Any, kind: type[_Struct], inside: str = "") -> _Struct:
        """`data` as a `kind`, or an error that says where in the file it doesn't fit."""
        try:
            return msgspec.convert(data, kind)
        except msgspec.ValidationError as error:
            what, _, path = str(error).partition(" - at ")
            place = ", ".join(part for part in (inside, self._place(data, path.strip("`"))) if part)
            self.fail(place, what, _mend(what))

    def _place(self, data: Any, path: str) -> str:
        """msgspec's `$.task[2].points` as `[[task]] "corners", points`."""
        words = []
        for name, index in re.findall(r"\.([^.\[]+)(?:\[(\d+)\])?", path):
            data = data.get(name) if isinstance(data, dict) else None
            if index and isinstance(data, list):
                data = data[int(index)]
                named = isinstance(data, dict) and isinstance(data.get("id"), str)
                word = f'"{data["id"]}"' if named else f"number {int(index) + 1}"
                words.append(f"[[{name}]] {word}" if isinstance(data, dict) else f"{name} {word}")
            else:
                words.append(name)
        return ", ".join(words)


def _mend(what: str) -> str:
    if "unknown field" in what:
        return "Mend its spelling, or remove it."
    if "missing required" in what:
        return "Add it."
    if "timezone" in what:
        return "Write the offset too, as in 2026-11-24T23:59:00+08:00."
    return "Mend the value."
