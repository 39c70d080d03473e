"""How a sample class is put together: given code from reference/, what a student writes from here.

Each right blank has several right bodies, the course's first, and every student draws a mixture of them, so
that no two files are alike.
"""

import gzip
import io
import re
import tarfile
import textwrap
import zipfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REGION = re.compile(r"^( *)(?:###|//) BEGIN SOLUTION\n(.*?)^ *(?:###|//) END SOLUTION\n", re.S | re.M)


class SampleLab:
    """The hand-ins of one lab: `students` holds for each the files by name.

    blanks: for each module names for its solved regions, in their order. archives: who hands in one file, and
    which; behind it the folder inside.
    """

    def __init__(
        self, id: str, folder: str, blanks: dict[str, list[str]], archives: dict[str, str]
    ) -> None:
        self.id, self._blanks, self._archives = id, blanks, archives
        self._reference = {name: (ROOT / "reference" / folder / name).read_text() for name in blanks}
        self.skeleton = {name: (ROOT / "labs" / folder / name).read_text() for name in blanks}
        self.right: dict[str, list[str]] = {
            blank: [textwrap.dedent(match[2])]
            for name, text in self._reference.items()
            for blank, match in zip(blanks[name], REGION.finditer(text), strict=True)
        }
        self.students: dict[str, dict[str, str | bytes]] = {}

    def add_right(self, blank: str, body: str) -> None:
        """Another right body of a blank."""
        self.right[blank].append(textwrap.dedent(body).strip("\n") + "\n")

    def hand_in(self, student: str, **bodies: str | int | None) -> dict[str, str | bytes]:
        """All modules of a student: `bodies` are his own (a number: that right one; None: left blank)."""
        files: dict[str, str | bytes] = {}
        for name, text in self._reference.items():
            blanks = iter(self._blanks[name])
            blank_body = "// YOUR CODE HERE\n" if name.endswith(".cu") else "# YOUR CODE HERE\nraise NotImplementedError\n"

            def put(match: re.Match[str], blanks=blanks, blank_body=blank_body) -> str:
                blank = next(blanks)
                right = self.right[blank]
                body = bodies.get(blank, zlib.crc32(f"{student}/{blank}".encode()) % len(right))
                if body is None:
                    body = blank_body
                elif isinstance(body, int):
                    body = right[body]
                return textwrap.indent(textwrap.dedent(body).strip("\n") + "\n", match[1])

            files[name] = REGION.sub(put, text)
        self.students[student] = files
        return files

    def write(self, out: Path) -> None:
        """Everybody's folder or archive below out/STUDENT."""
        for student, files in sorted(self.students.items()):
            data = {name: text if isinstance(text, bytes) else text.encode() for name, text in files.items()}
            base = out / student
            base.mkdir(parents=True, exist_ok=True)
            archive, _, inside = self._archives.get(student, "").partition("/")
            if archive.endswith(".zip"):
                _write_zip(base / archive, inside and f"{inside}/", data)
            elif archive:
                _write_tar(base / archive, data)
            else:
                (base / self.id).mkdir()
                for name, content in data.items():
                    (base / self.id / name).write_bytes(content)


def replaced(text: str, old: str, new: str) -> str:
    """A text with something in it replaced that stands there once."""
    assert text.count(old) == 1, old
    return text.replace(old, new)


def _write_zip(path: Path, folder: str, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(f"{folder}{name}", (2026, 11, 20, 12, 0, 0)), data, zipfile.ZIP_DEFLATED)


def _write_tar(path: Path, files: dict[str, bytes]) -> None:
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for name, data in sorted(files.items()):
                member = tarfile.TarInfo(name)
                member.size, member.mtime = len(data), 1795000000
                archive.addfile(member, io.BytesIO(data))
