"""JupyterLab on a folder: a free port, and a browser where there is one, or else an address to open."""

import importlib.util
import os
import secrets
import socket
import subprocess
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from autograder.course import CourseError

PORT = 8888
PATIENCE_S = 5


def open_lab(folder: Path, page: str, mend: str, tell: Callable[[str], None]) -> None:
    """Run JupyterLab in `folder`, and as that configures it, until Ctrl-C.

    `page`: the first to be seen; `mend`: what helps if it can't be run.
    Raises: CourseError when it can't be run.
    """
    if importlib.util.find_spec("jupyterlab") is None:
        raise CourseError(f"JupyterLab is missing. Run: make setup{mend and f'; or {mend}'}.")
    port = _free_port(tell)
    token = secrets.token_urlsafe(16)
    # By way of /login the browser keeps the token, which pages other than JupyterLab's do not hand on.
    address = f"http://localhost:{port}/login?{urlencode({'next': page, 'token': token})}"
    browser = _has_browser()
    if browser:
        tell(f"JupyterLab opens in the browser; Ctrl-C ends it. Its address: {address}")
    else:
        tell(f"No browser or display here. Open this address yourself; Ctrl-C ends it: {address}")
    command = [sys.executable, "-m", "jupyterlab"]
    command += [f"--port={port}", "--port-retries=0", "--ServerApp.answer_yes=True"]
    command += [f"--LabApp.default_url={page}"] if browser else ["--no-browser"]
    command += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    paths = [str(folder), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    environment = os.environ | {
        "JUPYTER_CONFIG_PATH": os.pathsep.join(paths),
        "JUPYTER_TOKEN": token,  # not as an argument, which others could read
    }
    log = folder / "jupyterlab.log"
    with (
        log.open("wb") as file,
        subprocess.Popen(
            command, cwd=folder, env=environment, stdout=file, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            code = process.wait()
        except KeyboardInterrupt:  # JupyterLab has got it as well, and takes its leave
            _end(process)
            return
    if code:
        raise CourseError(f"JupyterLab ended with code {code}: see {log}.{mend and f' Or {mend}.'}")


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
    raise CourseError("No port is free on this machine. Close a program that serves pages.")


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
