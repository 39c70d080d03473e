"""The demo in JupyterLab: a free port, and a browser where there is one, or else an address to open."""

import importlib.util
import os
import secrets
import socket
import subprocess
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path

from autograder.course import CourseError

PORT = 8888
PATIENCE_S = 5


def open_lab(notebook: Path, tell: Callable[[str], None]) -> None:
    """Run JupyterLab on a notebook until Ctrl-C.

    Raises: CourseError when it can't be run.
    """
    if importlib.util.find_spec("jupyterlab") is None:
        raise CourseError("JupyterLab is missing. Run: make setup; or make demo-html, which needs none.")
    port = _free_port(tell)
    token = secrets.token_urlsafe(16)
    address = f"http://localhost:{port}/lab/tree/{notebook.name}?token={token}"
    browser = _has_browser()
    if browser:
        tell(f"JupyterLab opens in the browser; Ctrl-C ends it. Its address: {address}")
    else:
        tell(f"No browser or display here. Open this address yourself; Ctrl-C ends it: {address}")
    command = [sys.executable, "-m", "jupyterlab", notebook.name]
    command += [f"--port={port}", "--port-retries=0", "--ServerApp.answer_yes=True"]
    command += [] if browser else ["--no-browser"]
    command += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    environment = os.environ | {"JUPYTER_TOKEN": token}  # not as an argument, which others could read
    log = notebook.with_name("jupyterlab.log")
    with (
        log.open("wb") as file,
        subprocess.Popen(
            command, cwd=notebook.parent, env=environment, stdout=file, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            code = process.wait()
        except KeyboardInterrupt:  # JupyterLab has got it as well, and takes its leave
            _end(process)
            return
    if code:
        raise CourseError(f"JupyterLab ended with code {code}: see {log}. make demo-html needs none.")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait for JupyterLab; an interrupt that it has swallowed is said again, louder each time."""
    for say_again in (process.terminate, process.kill):
        try:
            process.wait(PATIENCE_S)
            return
        except subprocess.TimeoutExpired:
            say_again()


def _free_port(tell: Callable[[str], None]) -> int:
    """The usual port, or one that the system chooses."""
    for port in (PORT, 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                tell(f"Port {PORT} is taken; another one is used.")
                continue
            return int(probe.getsockname()[1])
    raise CourseError("No port is free on this machine. Run: make demo-html, which needs none.")


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
