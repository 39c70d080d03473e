"""Shows afresh what READMEs show: `make grade` on the sample class, and pictures of the pages it writes.

    .venv/bin/python docs/make.py

Needs playwright (requirements-dev.lock) and Debian's chromium. Run it after a change of the sample class, of
its grades, or of the pages; a test holds the transcripts to examples/expected.toml.
"""

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "README.zh-CN.md")
SAMPLE = ROOT / "build/sample"
COLUMNS = 110
KEY = bytes(range(32))  # the tests' own: the same inputs each time
TRANSCRIPT = re.compile(r"(?<=^```console\n\$ make grade\n).*?(?=^```$)", re.M | re.S)
# picture -> page, its language, the browser's colours, width and height in pixels
PICTURES = {
    "feedback-zh": ("adjoint-overwritten/feedback.html", "zh", "light", 900, 1900),
    "feedback-en-dark": ("reflected-minus/feedback.html", "en", "dark", 900, 1750),
    "class-en": ("class.html", "en", "light", 1000, 1950),
}


def graded() -> str:
    """What a terminal shows of `make grade` in a fresh clone."""
    if (ROOT / "submitted").exists():
        sys.exit("docs/make.py shows the sample class. Move submitted/ away first.")
    shutil.rmtree(SAMPLE, ignore_errors=True)
    ours, theirs = pty.openpty()
    with tempfile.NamedTemporaryFile("w") as key:
        key.write(KEY.hex())
        key.flush()
        shape = {"TERM": "dumb", "COLUMNS": str(COLUMNS), "LINES": "60", "ADKIT_KEY_FILE": key.name}
        process = subprocess.Popen(["make", "grade"], cwd=ROOT, stdout=theirs, env={**os.environ, **shape})
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:  # how a terminal ends
            pass
        os.close(ours)
        if process.wait():
            sys.exit("make grade failed.")
    return "".join(f"{line.rstrip()}\n" for line in shown.decode().splitlines())


def write_transcripts(shown: str) -> None:
    """Put the transcript into both READMEs."""
    for name in READMES:
        file = ROOT / name
        text, count = TRANSCRIPT.subn(lambda _: shown, file.read_text(encoding="utf-8"))
        if count != 1:
            sys.exit(f"{name} has {count} transcripts of `make grade`; there must be one.")
        file.write_text(text, encoding="utf-8")


def take_pictures() -> None:
    """Photograph the pages as a browser shows them."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--force-color-profile=srgb"]
        )
        for name, (page, language, colours, width, height) in PICTURES.items():
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=colours)
            view = context.new_page()
            view.goto((SAMPLE / "lab1" / page).as_uri())
            view.locator(f'label[for="show-{language}"]').click()
            view.mouse.move(0, 0)
            view.screenshot(path=ROOT / f"docs/pictures/{name}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    write_transcripts(graded())
    take_pictures()
