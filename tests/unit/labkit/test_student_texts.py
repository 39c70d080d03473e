"""Every sentence that a student's command says is in the catalogue, and none is there for nothing."""

import ast
import re
import sys
from pathlib import Path

import labkit
from labkit import __main__ as entry
from labkit.messages import catalogue

SOURCES = list(Path(labkit.__file__).parent.rglob("*.py"))
SPEAKERS = {"self", "words", "_said", "say"}  # called with a message's name; the room is the module's own


def room_of(path):
    folder = path.parent.name
    return "doctor" if path.name == "doctor.py" else folder if folder in ("draw", "notebook") else "student"


def names_said():
    """(room, name) of every message that is named in full; names built from parts as patterns."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id), args=[ast.Constant(str() as name), *_]) if id in SPEAKERS:
                    yield room_of(path), re.escape(name)
                case ast.Call(func=ast.Name("Message" | "WrongUse"), args=[ast.Constant(str() as name), *_]):
                    yield tuple(re.escape(part) for part in name.split(".", 1))
                case ast.JoinedStr(values=[ast.Constant(str() as head), *_]) if re.fullmatch(
                    r"[a-z.]+-", head
                ):
                    yield room_of(path), re.escape(head.rpartition(".")[2]) + ".+"
                case ast.Constant(str() as name) if re.fullmatch(r"[a-z]+\.[a-z0-9-]+", name):
                    yield tuple(re.escape(part) for part in name.split(".", 1))
                case ast.Constant(str() as name) if re.fullmatch(r"[a-z0-9-]+", name):
                    yield room_of(path), re.escape(name)


def test_every_sentence_of_the_students_rooms_is_said_somewhere():
    said = set(names_said())
    for id in catalogue():
        room, name = id.split(".", 1)
        if room in ("student", "doctor", "draw", "notebook") and name != "old-python":
            assert any(room == where and re.fullmatch(pattern, name) for where, pattern in said), id


def test_every_sentence_said_by_name_is_in_the_catalogue():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id), args=[ast.Constant(str() as name), *_]) if id in SPEAKERS:
                    assert f"{room_of(path)}.{name}" in catalogue(), f"{path.name}:{node.lineno}"
                case ast.Call(func=ast.Name("WrongUse"), args=[ast.Constant(str() as name), *_]):
                    assert name in catalogue(), f"{path.name}:{node.lineno}"


def test_an_older_python_is_told_in_both_languages(capsys):
    assert entry.too_old() == 2
    english, chinese = capsys.readouterr().err.splitlines()
    assert english.startswith("Python 3.11 or newer is needed; this is 3.")
    assert chinese.startswith("需要 Python 3.11")


def test_the_entry_itself_holds_no_syntax_of_a_newer_python():
    source = (Path(labkit.__file__).parent / "__main__.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 7))


def test_labkit_needs_numpy_and_pytest_only_and_igraph_where_it_draws():
    for path in SOURCES:
        allowed = {"labkit", "numpy", "pytest"} | ({"igraph"} if path.name == "layers.py" else set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            else:
                continue
            for name in names:
                top = name.partition(".")[0]
                assert top in allowed or top in sys.stdlib_module_names, f"{path.name}: {name}"
