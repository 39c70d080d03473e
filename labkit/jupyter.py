"""A notebook in JupyterLab: a free port, and a browser where there is one, or else an address to open."""

import hashlib
import importlib.util
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path

from labkit.lab import Lab, WrongUse
from labkit.messages import Argument, Message

PORT = 8888
PATIENCE_S = 5


def notebook_of(lab: Lab, language: str) -> Path:
    """Where a lab's notebook lies in a language: of the course's own at the top, else in a folder of its own.

    Raises: WrongUse where the lab has none.
    """
    if lab.notebook is None:
        raise WrongUse("student.no-notebook", lab=lab.id)
    translated = lab.folder / language / lab.notebook
    notebook = translated if translated.is_file() else lab.folder / lab.notebook
    if not notebook.is_file():
        raise WrongUse("student.import-missing", module=lab.notebook, folder=str(lab.folder))
    return notebook


def open_notebook(notebook: Path, root: Path, language: str) -> None:
    """Run JupyterLab in the folder `root` on a notebook below it, until Ctrl-C.

    Raises: WrongUse when it can't be run.
    """
    # A workspace of its own: JupyterLab opens again what was open in it, in whatever folder that was.
    workspace = hashlib.sha256(str(root).encode()).hexdigest()[:8]
    place = urllib.parse.quote(notebook.relative_to(root).as_posix())
    open_page(f"/lab/workspaces/{workspace}/tree/{place}", root, language)


def open_page(
    page: str,
    root: Path,
    language: str,
    configuration: Path | None = None,
    further: Mapping[str, str] | None = None,
) -> None:
    """Run JupyterLab in the folder `root` on a page of its own, until Ctrl-C.

    `configuration`: a folder with more of Jupyter's configuration; `further`: by a message's id, pages that
    are told with it once the server answers.
    Raises: WrongUse when it can't be run.
    """
    if importlib.util.find_spec("jupyterlab") is None:
        raise WrongUse("student.no-jupyterlab", python=sys.executable)

    def tell(id: str, **arguments: Argument) -> None:
        print(Message(id, arguments).text(language), file=sys.stderr, flush=True)

    port, taken = _free_port()
    if taken:
        tell("student.port-taken", port=PORT)
    token = secrets.token_urlsafe(16)

    def address(page: str) -> str:
        return f"http://localhost:{port}{page}{'&' if '?' in page else '?'}token={token}"

    browser = _has_browser()

    def when_ready() -> None:
        tell("student.opening" if browser else "student.open-yourself", address=address(page))
        for id, another in (further or {}).items():
            tell(id, address=address(another))

    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url={page}",
    ]
    command += [f"--port={port}", "--port-retries=0", "--ServerApp.answer_yes=True"]
    command += [] if browser else ["--no-browser"]
    command += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    environment = os.environ | {"JUPYTER_TOKEN": token}  # not as an argument, which others could read
    if configuration:
        paths = [str(configuration), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
        environment["JUPYTER_CONFIG_PATH"] = os.pathsep.join(paths)
    with tempfile.NamedTemporaryFile(prefix="jupyterlab-", suffix=".log", delete=False) as log:
        process = subprocess.Popen(command, cwd=root, env=environment, stdout=log, stderr=subprocess.STDOUT)
        code = _wait(process, port, when_ready)
    if code:
        raise WrongUse("student.jupyterlab-ended", code=code, file=log.name)
    os.unlink(log.name)


def _wait(process: "subprocess.Popen[bytes]", port: int, when_ready: Callable[[], None]) -> int:
    """JupyterLab's exit code; 0 after Ctrl-C, which it has got as well."""
    with process:
        try:
            while process.poll() is None and not _answers(port):
                time.sleep(0.1)
            if process.returncode is None:
                when_ready()
            return process.wait()
        except KeyboardInterrupt:
            for say_again in (process.terminate, process.kill):  # it may have swallowed it
                try:
                    process.wait(PATIENCE_S)
                    break
                except subprocess.TimeoutExpired:
                    say_again()
            return 0


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> tuple[int, bool]:
    """The usual port, or one that the system chooses; whether the usual one is taken."""
    for port in (PORT, 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1]), port != PORT
    raise WrongUse("student.no-port")


def _has_browser() -> bool:
    """Whether a window with a browser can be opened here."""
    if sys.platform.startswith("linux") and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    ):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True
