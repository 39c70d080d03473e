"""Shows afresh what READMEs show: `make grade` on the sample class, and pictures of the pages made here.

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
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "README.zh-CN.md")
SAMPLE = ROOT / "build/sample"
COLUMNS = 110
KEY = bytes(range(32))  # the tests' own: the same inputs each time
TRANSCRIPT = re.compile(r"(?<=^```console\n\$ make grade\n).*?(?=^```$)", re.M | re.S)
WRONG = "examples/submitted/adjoint-overwritten/lab1"  # whose engine the demo tries


class Shot(NamedTuple):
    """A picture of a page: its colours, width and height; `prepare` may give the place of what is shown."""

    page: str
    width: int
    colours: str = "light"
    height: int = 800
    prepare: Callable[[Page], dict[str, float] | None] = lambda view: None


def in_language(language: str) -> Callable[[Page], None]:
    """A page in two languages, in one of them."""
    return lambda view: view.locator(f'label[for="show-{language}"]').click()


def section(number: int) -> Callable[[Page], dict[str, float]]:
    """A section of the demo, its code closed; 0 is what stands above the first."""

    def place(view: Page) -> dict[str, float]:
        view.evaluate("document.querySelectorAll('details.code').forEach(one => one.open = false)")
        headings = "[...document.querySelectorAll('h2')].map(one => one.getBoundingClientRect().y)"
        tops = [0, *view.evaluate(headings), view.evaluate("document.documentElement.scrollHeight")]
        width = view.viewport_size["width"]
        return {"x": 0, "y": tops[number], "width": width, "height": tops[number + 1] - tops[number]}

    return place


def sweep(number: int, steps: int) -> Callable[[Page], dict[str, float] | None]:
    """A sweep of the demo, some steps on."""

    def place(view: Page) -> dict[str, float] | None:
        player = view.locator(".labkit-draw").filter(has=view.locator("[data-sweep]")).nth(number)
        for _ in range(steps):
            player.locator("[data-go=next]").click()
        view.evaluate("scrollTo(0, 0)")
        return player.bounding_box()

    return place


DEMO = "build/demo/four_ways.html"
PICTURES = {
    "feedback-zh": Shot(
        "build/sample/lab1/adjoint-overwritten/feedback.html", 900, "light", 1900, in_language("zh")
    ),
    "feedback-en-dark": Shot(
        "build/sample/lab1/reflected-minus/feedback.html", 900, "dark", 1750, in_language("en")
    ),
    "class-en": Shot("build/sample/lab1/class.html", 1000, "light", 1950, in_language("en")),
    "handout-zh": Shot("build/handouts/zh/lab1.html", 1280, "light", 1900),
    "four-ways-en-phone-dark": Shot("build/handouts/en/four-ways.html", 400, "dark", 1800),
    **{f"demo-{number}": Shot(DEMO, 1000, prepare=section(number)) for number in range(1, 7)},
    "demo-wrong-engine": Shot(DEMO, 1000, prepare=section(0)),
    "demo-phone-dark": Shot(DEMO, 400, "dark", prepare=section(1)),
    "demo-forward": Shot(DEMO, 700, prepare=sweep(0, 3)),
    "demo-reverse": Shot(DEMO, 700, "dark", prepare=sweep(1, 7)),
    "drawings": Shot("build/drawings.html", 1280, height=2700),
    "drawings-phone-dark": Shot("build/drawings.html", 400, "dark", 4700),
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


def shortened(shown: str) -> str:
    """Of each table the rows that show a sign for the first time, and the first that is right throughout."""
    kept = []
    seen: set[str] | None = None  # None outside tables
    for line in shown.splitlines(keepends=True):
        words = line.split()
        if words[:2] == ["student", "points"]:
            tasks, seen, left_out = sum(word.isdigit() for word in words), set(), 0
        elif words[:1] == ["tasks:"]:
            kept.append(f"… {left_out} more\n")
            seen = None
        elif seen is not None:
            signs = set(words[2 : 2 + tasks])
            shows = signs if len(signs) > 1 else {"all " + signs.pop()}
            if shows <= seen:
                left_out += 1
                continue
            seen |= shows
        kept.append(line)
    return "".join(kept)


def write_transcripts(shown: str) -> None:
    """Put the transcript into both READMEs."""
    for name in READMES:
        file = ROOT / name
        text, count = TRANSCRIPT.subn(lambda _: shown, file.read_text(encoding="utf-8"))
        if count != 1:
            sys.exit(f"{name} has {count} transcripts of `make grade`; there must be one.")
        file.write_text(text, encoding="utf-8")


def make_pages() -> None:
    """Make the pages to be photographed, but those that `make grade` has made."""
    subprocess.run(["make", "demo-html", f"ENGINE={WRONG}"], cwd=ROOT, check=True)
    subprocess.run(["make", "handouts"], cwd=ROOT, check=True)
    with (ROOT / "build/drawings.html").open("wb") as page:
        subprocess.run([sys.executable, ROOT / "docs/drawings.py"], stdout=page, check=True)


def take_pictures() -> None:
    """Photograph the pages as a browser shows them."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--force-color-profile=srgb"]
        )
        for name, shot in PICTURES.items():
            size = {"width": shot.width, "height": shot.height}
            context = browser.new_context(viewport=size, color_scheme=shot.colours)
            view = context.new_page()
            view.goto((ROOT / shot.page).as_uri())
            place = shot.prepare(view)
            view.mouse.move(0, 0)
            picture = view.screenshot(clip=place, full_page=place is not None)
            save(picture, ROOT / f"docs/pictures/{name}.png")
            context.close()
        browser.close()


def save(picture: bytes, path: Path) -> None:
    """Write a PNG with 256 colours, which takes half the room and looks the same."""
    small = (
        Image.open(BytesIO(picture))
        .convert("RGB")
        .quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    )
    small.save(path, optimize=True)


if __name__ == "__main__":
    write_transcripts(shortened(graded()))
    make_pages()
    take_pictures()
