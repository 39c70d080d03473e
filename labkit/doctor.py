"""`python -m labkit doctor`: whether this computer has what the labs need, each line with its mend."""

import importlib.metadata
import importlib.util
import locale
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from labkit.messages import Argument, Message
from labkit.width import columns, padded

PASSED, TO_DO = 0, 1
NEEDED = {"numpy": (2, 0), "pytest": (8, 0)}  # and the oldest version that will do
NOTEBOOKS = ("jupyterlab", "matplotlib")


@dataclass(frozen=True)
class Line:
    """One finding: "ok", "mend" (needed and not there) or "info" (good to know)."""

    sign: str
    message: Message


def report(folder: Path, language: str) -> int:
    """Print what was found; 0 if everything needed is there, else 1."""
    found = list(findings(folder))
    signs = {sign: Message(f"doctor.sign-{sign}").text(language) for sign in ("ok", "mend", "info")}
    width = max(map(columns, signs.values()))
    for line in found:
        print(f"{padded(signs[line.sign], width)}  {line.message.text(language)}")
    missing = sum(line.sign == "mend" for line in found)
    print((_said("missing", count=missing) if missing else _said("all-there")).text(language))
    return TO_DO if missing else PASSED


def findings(folder: Path) -> Iterator[Line]:
    """Everything looked at, in order; nothing is changed and nothing leaves the computer."""
    version = platform.python_version()
    yield Line("ok", _said("python", version=version, python=sys.executable, system=platform.platform()))
    for package, oldest in NEEDED.items():
        yield _needed(package, oldest)
    for package in NOTEBOOKS:
        if found := _version(package):
            yield Line("info", _said("package", package=package, version=found))
        else:
            yield Line("info", _said("no-notebook-package", package=package, python=sys.executable))
    encoding = locale.getencoding()
    name = "utf-8" if encoding.lower().replace("-", "").replace("_", "") == "utf8" else "other-encoding"
    yield Line("info", _said(name, encoding=encoding))
    yield _writable(folder)
    if _version("numpy"):  # labkit.cuda needs it
        yield from _kernels()


def _needed(package: str, oldest: tuple[int, int]) -> Line:
    found = _version(package)
    if not found:
        return Line("mend", _said("no-package", package=package, python=sys.executable))
    if tuple(int(part) for part in found.split(".")[:2]) < oldest:
        needed = ".".join(map(str, oldest))
        details = {"package": package, "version": found, "needed": needed, "python": sys.executable}
        return Line("mend", _said("old-package", **details))
    return Line("ok", _said("package", package=package, version=found))


def _version(package: str) -> str:
    """The installed version, "" for none; the package itself is not run."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _writable(folder: Path) -> Line:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return Line("ok", _said("writable", folder=str(folder)))
    except OSError as error:
        text = error.strerror or type(error).__name__
        return Line("mend", _said("unwritable", folder=str(folder), text=text))


def _kernels() -> Iterator[Line]:
    """Where CUDA kernels can run here and which compilers can read them; other labs need none of it."""
    from labkit.cuda import compile, devices, nvrtc

    if chosen := compile.compiler():
        yield Line("info", _said("compiler", command=chosen, version=compile.version(chosen)))
    else:
        yield Line("info", _said("no-compiler" if compile.works_here() else "no-cpu-kernels"))
    if version := nvrtc.version():
        yield Line("info", _said("nvrtc", version=version))
    else:
        yield Line("info", _said("no-nvrtc", python=sys.executable))
    if importlib.util.find_spec("cupy"):
        yield Line("info", _said("gpu" if devices.cupy() else "cupy-without-gpu"))
    elif shutil.which("nvidia-smi"):
        yield Line("info", _said("gpu-without-cupy", python=sys.executable))
    else:
        yield Line("info", _said("no-gpu"))


def _said(name: str, **arguments: Argument) -> Message:
    return Message(f"doctor.{name}", arguments)
