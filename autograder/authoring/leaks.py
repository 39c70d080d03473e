"""Look for what no student may see in a finished zip: texts, notebooks, names, comments, zips inside.

    secrets = Secrets(paths=re.compile("reference/lab1"), key=key)
    secrets.add(solution, Source("the solution", "reference/lab1/graph.py", lines=True), 120, allowed)
    for leak in scan(zip_bytes, secrets):
        print(leak.where, leak.what)

Texts are compared as tokens, so that other spaces, line ends, comment signs or quotes hide nothing: PHRASE
tokens in a row that only a secret has, or a shorter line of a solution with at least LINE tokens. The kit's
own code walks graphs and takes differences too, in the field's idioms: there it takes KIT_PHRASE in a row.
"""

import base64
import importlib.util
import io
import json
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

PHRASE = 12  # tokens in a row that are no coincidence
LINE = 6  # tokens of a line that is taken for a solution's
KIT_PHRASE = 24
_KIT = re.compile(r"[^/]+/(?:labkit|tests)/")

_TOKEN = re.compile(r"\d+\.\d*|\w+|[-+*/%&|^<>=!@:]=|\*\*|//|->|<<|>>|[^\w\s#]")
# What quotes or comments a line out, as `#`, `//`, `>` and the signs of a diff do.
_LEAD = re.compile(r"^[ \t>|+*#/-]+", re.MULTILINE)
_COMMENTS = (re.compile(r"#[^\n]*"), re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL))
_ESCAPE = re.compile(r"\\(?:[nrt]|(?=[\"'\\]))")
_MARK = re.compile(r"\b(?:BEGIN|END)[ \t_-]*SOLUTION")
_SCHEME = re.compile(r"\b(?:BEGIN|END)[ \t_-]*MARK[ \t_-]*SCHEME")
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd")

Tokens = tuple[str, ...]
Origin = tuple["Source", int]  # the secret text, and the line of its file

TAKE_OUT = "Take it out."


@dataclass(frozen=True)
class Leak:
    """A place in the bundle (file and line), what is there and where that comes from, and the mend."""

    where: str
    what: str
    mend: str = TAKE_OUT


@dataclass(frozen=True)
class Source:
    """A secret text's name and file, and the mend where it leaks. `lines`: single lines are secret too."""

    name: str
    file: str
    lines: bool = False
    mend: str = TAKE_OUT


@dataclass
class Secrets:
    """What may not be found. `paths` is a pattern of names that only the course team's tree has."""

    paths: re.Pattern[str]
    key: bytes
    phrases: dict[Tokens, Origin] = field(default_factory=dict)
    lines: dict[Tokens, Origin] = field(default_factory=dict)

    def add(self, text: str, source: Source, first_line: int, allowed: set[Tokens]) -> None:
        """Keep the phrases of `text`, which begins at `first_line` of its source, that are not `allowed`."""
        for view in _with_and_without_comments(text):
            tokens, rows = _tokens(view)
            for start, phrase in enumerate(_windows(tokens, PHRASE)):
                if phrase not in allowed:
                    self.phrases.setdefault(phrase, (source, first_line + rows[start]))
            for row, line in enumerate(view.split("\n") if source.lines else []):
                phrase = tuple(_tokens(line)[0])
                if LINE <= len(phrase) < PHRASE and phrase not in allowed:
                    self.lines.setdefault(phrase, (source, first_line + row))


def phrases_of(texts: Iterable[str]) -> set[Tokens]:
    """All that may be shown because these texts are public: every phrase and every shorter run of tokens."""
    found: set[Tokens] = set()
    for text in texts:
        for view in _with_and_without_comments(text):
            tokens, _ = _tokens(view)
            for length in range(LINE, PHRASE + 1):
                found.update(_windows(tokens, length))
    return found


def scan(archive: bytes, secrets: Secrets) -> list[Leak]:
    """Every leak of a zip, the first of each kind in each of its files."""
    return list(dict.fromkeys(_scan_zip(archive, secrets, "", inner=False)))


def _scan_zip(archive: bytes, secrets: Secrets, below: str, inner: bool) -> Iterator[Leak]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        yield from _scan_content(opened.comment, secrets, f"{below}the archive's comment")
        for entry in opened.infolist():
            where = f"{below}{entry.filename}"
            yield from _scan_text(entry.filename, secrets, f"the name {where}")
            yield from _scan_content(entry.comment, secrets, f"the comment of {where}")
            yield from _scan_content(entry.extra, secrets, f"the extra field of {where}")
            if stat.S_ISLNK(entry.external_attr >> 16):
                yield Leak(where, "a link")
            elif entry.flag_bits & 1:
                yield Leak(where, "encrypted content that can't be looked into")
            else:
                yield from _scan_file(opened.read(entry), secrets, where, inner)


def _scan_file(content: bytes, secrets: Secrets, where: str, inner: bool) -> Iterator[Leak]:
    yield from _scan_content(content, secrets, where)
    if where.endswith((".pyc", ".pyo")) or content.startswith(importlib.util.MAGIC_NUMBER):
        yield Leak(where, "bytecode")
    elif zipfile.is_zipfile(io.BytesIO(content)) and not inner:
        try:
            yield from _scan_zip(content, secrets, f"{where}!", inner=True)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError):
            yield Leak(where, "a damaged zip that can't be looked into")
    elif zipfile.is_zipfile(io.BytesIO(content)) or content.startswith(_PACKED) or _is_tar(content):
        yield Leak(where, "an archive that can't be looked into")
    if where.endswith(".ipynb"):
        yield from _scan_notebook(content, secrets, where)


def _is_tar(content: bytes) -> bool:
    return tarfile.is_tarfile(io.BytesIO(content)) if content[257:262] == b"ustar" else False


def _scan_notebook(content: bytes, secrets: Secrets, where: str) -> Iterator[Leak]:
    try:
        notebook = json.loads(content)
    except ValueError:
        yield Leak(where, "a notebook that can't be read")
        return
    for place, text in _strings(notebook, ""):
        yield from _scan_text(text, secrets, f"{where} {place}")


def _strings(node: object, place: str) -> Iterator[tuple[str, str]]:
    """Every string of a JSON value with its place; a list of strings is one text, as in a cell's source."""
    if isinstance(node, str):
        yield place, node
    elif isinstance(node, list):
        if all(isinstance(one, str) for one in node):
            yield place, "".join(node)
        else:
            for number, one in enumerate(node):
                yield from _strings(one, f"{place}[{number}]")
    elif isinstance(node, dict):
        for name, one in node.items():
            yield place, name
            yield from _strings(one, f"{place}.{name}" if place else name)


def _scan_content(content: bytes, secrets: Secrets, where: str) -> Iterator[Leak]:
    if _holds_key(content, secrets.key):
        lines = content.split(b"\n")
        row = next((row for row, line in enumerate(lines) if _holds_key(line, secrets.key)), 0)
        yield Leak(_line(where, row), "the course's secret key")
    # NULs go, so that most of UTF-16 is read too.
    yield from _scan_text(content.decode("utf-8", "replace").replace("\0", ""), secrets, where)


def _holds_key(content: bytes, key: bytes) -> bool:
    packed = b"".join(content.split())
    standard = packed.translate(bytes.maketrans(b"-_", b"+/"))
    digits = key.hex().encode()
    cores = [core for raw in (key, digits, digits.upper()) for core in _base64_cores(raw)]
    return key in content or digits in packed.lower() or any(core in standard for core in cores)


def _base64_cores(raw: bytes) -> list[bytes]:
    """How `raw` looks in base64 at each of the three places it can begin, without the ends that vary."""
    return [base64.b64encode(b"\0" * shift + raw)[4 if shift else 0 : -4] for shift in range(3)]


def _scan_text(text: str, secrets: Secrets, where: str) -> Iterator[Leak]:
    for pattern, what in (
        (_MARK, "the mark of a solution"),
        (_SCHEME, "the mark of a mark scheme"),
        (secrets.paths, "a path of the course team"),
    ):
        if match := pattern.search(text):
            yield Leak(_line(where, text.count("\n", 0, match.start())), f"{what} ({match[0]})")
    views = [*_with_and_without_comments(text), _ESCAPE.sub(" ", text)]
    for view in dict.fromkeys(views):
        yield from _scan_view(view, secrets, where)


def _scan_view(view: str, secrets: Secrets, where: str) -> Iterator[Leak]:
    tokens, rows = _tokens(view)
    needed = KIT_PHRASE if _KIT.match(where) else PHRASE
    found: dict[str, tuple[int, Origin]] = {}  # the first of each source, by its name
    run = 0
    for start, phrase in enumerate(_windows(tokens, PHRASE)):
        origin = secrets.phrases.get(phrase)
        run = run + 1 if origin else 0
        if origin and run + PHRASE - 1 >= needed:
            found.setdefault(origin[0].name, (start, origin))
    if needed == PHRASE:
        for length in {len(line) for line in secrets.lines}:
            for start, phrase in enumerate(_windows(tokens, length)):
                if origin := secrets.lines.get(phrase):
                    found.setdefault(origin[0].name, (start, origin))
    for start, (source, line) in found.values():
        yield Leak(_line(where, rows[start]), f"{source.name} ({source.file}:{line})", source.mend)


def _line(where: str, row: int) -> str:
    return where if where.startswith("the ") else f"{where}:{row + 1}"  # a name or a comment has no lines


def _with_and_without_comments(text: str) -> list[str]:
    # As many lines are left, so that a place can be named.
    bare = [comment.sub(lambda one: "\n" * one[0].count("\n"), text) for comment in _COMMENTS]
    return list(dict.fromkeys([text, *bare]))


def _tokens(text: str) -> tuple[list[str], list[int]]:
    """The tokens, and the row (from 0) of each."""
    tokens: list[str] = []
    rows: list[int] = []
    for row, line in enumerate(_LEAD.sub("", text).split("\n")):
        found = _TOKEN.findall(line)
        tokens += found
        rows += [row] * len(found)
    return tokens, rows


def _windows(tokens: list[str], length: int) -> Iterator[Tokens]:
    return zip(*(tokens[start:] for start in range(length)), strict=False)
