"""Cells of a notebook beside the student's modules: our setup cells first, then the one cell asked for."""

import os
from types import SimpleNamespace
from typing import Any

from . import standins


class MissingCell(Exception):
    """The notebook that was handed in has no cell of this id."""


def file_of(notebook: str, id: str) -> str:
    """The name under which a cell's text lies in a submission's folder, and which its lines go by."""
    return f"{notebook} [{id}]"


class Cells:
    """The cells of one notebook, `name`; `setup`: the texts of our own that run before each."""

    def __init__(self, folder: str, name: str, setup: list[str]) -> None:
        self._folder, self._name, self._setup = folder, name, setup

    def run(self, id: str, number: int) -> SimpleNamespace:
        """The names that a cell defines, run in a namespace of its own for a student of this number.

        Raises: MissingCell; whatever the cell raises; what broke a setup cell, if the cell needs its names.
        """
        place = os.path.join(self._folder, file_of(self._name, id))
        try:
            with open(place, encoding="utf-8") as file:
                code = compile(file.read(), place, "exec", dont_inherit=True)
        except FileNotFoundError:
            raise MissingCell(id) from None
        space, broken = self._prepared(number)
        before = dict(space)
        try:
            exec(code, space)
        except NameError:
            if broken:
                raise broken from None
            raise
        return SimpleNamespace(
            **{
                name: value
                for name, value in space.items()
                if name not in before or value is not before[name]
            }
        )

    def _prepared(self, number: int) -> tuple[dict[str, Any], Exception | None]:
        """What our setup cells define, and the first exception that kept one from its end."""
        space: dict[str, Any] = {"__name__": "__main__", "student": number, **standins.names()}
        broken = None
        for text in self._setup:
            try:
                exec(compile(text, "<setup>", "exec", dont_inherit=True), space)
            except Exception as error:
                broken = broken or error
        return space, broken
