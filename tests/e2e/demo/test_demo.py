"""The demo as an instructor gets it: the page is built once, with a student's wrong engine, and looked at."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
WRONG = ROOT / "examples" / "submitted" / "adjoint-overwritten" / "lab1"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
COMMAND = [sys.executable, "-m", "autograder", "demo"]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course's own files, with a build folder for these tests alone."""
    root = tmp_path_factory.mktemp("course")
    for name in ("course.toml", "reference", "labs", "handouts", "examples"):
        (root / name).symlink_to(ROOT / name)
    return root


@pytest.fixture(scope="module")
def built(course: Path) -> "subprocess.CompletedProcess[str]":
    """`make demo-html ENGINE=…`, as its verb calls it."""
    return subprocess.run(
        [*COMMAND, "--html", "--engine", WRONG], cwd=course, capture_output=True, text=True, timeout=180
    )


@pytest.fixture(scope="module")
def page(course: Path, built: "subprocess.CompletedProcess[str]") -> str:
    assert built.returncode == 0, built.stderr
    return (course / "build" / "demo" / "four_ways.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium here, so nobody looks at the page")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def test_the_command_says_what_is_wrong_with_the_engine_and_where_the_page_is(
    course: Path, built: "subprocess.CompletedProcess[str]", page: str
) -> None:
    chinese, english, where = built.stdout.splitlines()
    assert built.stderr == ""
    assert "应为 5.5" in chinese
    said = "Your engine is wrong: y = ln x1 + x1 x2 - sin x2: derivative 1 is 5, but should be 5.5."
    assert english == said
    assert where == f"Written: {course}/build/demo/four_ways.html"
    assert chinese in page
    assert english in page


def test_the_page_has_the_lecture_s_numbers(page: str) -> None:
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    for v, value, adjoint in (
        (1, "2.000", "5.500"),
        (2, "5.000", "1.716"),
        (3, "0.693", "1.000"),
        (4, "10.000", "1.000"),
        (5, "-0.959", "-1.000"),
        (6, "10.693", "1.000"),
        (7, "11.652", "1.000"),
    ):
        assert f"v{v} = {value} dy/dv{v} = {adjoint}" in text
    assert "At n = 10: 82176 operations written out, 237 after sharing, 100 in" in text
    assert "float32 1.4062 1.2500 0.0000 0.0000 0.0000 0.0000 0.0000" in text
    assert "N = 10000: 20000 evaluations" in text


def test_the_page_s_pictures_show_the_student_s_curve(page: str) -> None:
    alternatives = re.findall(r'<img [^>]*alt="([^"]*)"', page)
    assert len(alternatives) >= 11
    assert all(alternatives)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_the_page_looks_right_and_asks_nothing_of_the_network(
    course: Path, page: str, chromium: Any, width: int, scheme: str
) -> None:
    shown = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    asked: list[str] = []
    wrong: list[str] = []
    shown.on("request", lambda request: asked.append(request.url))
    shown.on("console", lambda message: wrong.append(message.text))
    shown.on("pageerror", lambda error: wrong.append(str(error)))
    shown.goto((course / "build" / "demo" / "four_ways.html").as_uri())
    assert [url for url in asked[1:] if not url.startswith("data:")] == []
    assert wrong == []
    assert shown.evaluate("document.documentElement.scrollWidth") == width
    images = "[...document.images].map(one => [one.complete, one.naturalWidth > 0, one.clientWidth])"
    looks = shown.evaluate(images)
    assert all(complete and drawn for complete, drawn, _ in looks)
    assert min(clear for _, _, clear in looks) >= 320
    ink, paper = shown.evaluate("(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))")
    assert contrast(ink, paper) > 7
    assert (luminance(paper) < 0.1) == (scheme == "dark")
    letters = (
        "[...document.querySelectorAll('.highlight span:not(.w)')].map(one => getComputedStyle(one).color)"
    )
    card = shown.evaluate("getComputedStyle(document.querySelector('details.code')).backgroundColor")
    assert min(contrast(colour, card) for colour in set(shown.evaluate(letters))) > 4.5
    shown.close()


def test_both_sweeps_can_be_stepped_through(course: Path, page: str, chromium: Any) -> None:
    shown = chromium.new_page(viewport={"width": 1280, "height": 900})
    shown.goto((course / "build" / "demo" / "four_ways.html").as_uri())
    sweeps = shown.locator("[data-sweep]")
    assert sweeps.count() == 2
    for number in range(2):
        told = sweeps.nth(number).locator(".now")
        first = told.inner_text()
        sweeps.nth(number).locator("button[data-go=last]").click()
        assert told.inner_text() != first
    assert "5.5" in told.inner_text()  # both partial adjoints of x1 have arrived
    shown.close()


def luminance(colour: str) -> float:
    """The relative luminance of an rgb() colour, from 0 to 1. Source: WCAG 2.2."""
    channels = [int(number) / 255 for number in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_jupyterlab_opens_the_notebook_without_a_browser_and_beside_a_taken_port(course: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    environment.pop("BROWSER", None)
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):  # somebody else has taken it already
            taken.bind(("127.0.0.1", 8888))
            taken.listen()
        with subprocess.Popen(
            COMMAND, cwd=course, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            try:
                assert process.stderr is not None
                lines = [process.stderr.readline(), process.stderr.readline()]
                assert lines[0] == "Port 8888 is taken; another one is used.\n"
                assert lines[1].startswith(
                    "No browser or display here. Open this address yourself; Ctrl-C ends it: "
                )
                address = lines[1].split()[-1]
                assert "four_ways.ipynb" in contents(address)
            finally:
                os.killpg(process.pid, signal.SIGINT)
                _, rest = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, "")


def contents(address: str) -> str:
    """What JupyterLab at an address lists in its folder, once it answers."""
    found = re.fullmatch(
        r"(http://localhost:\d+)/lab/workspaces/\w+/tree/four_ways\.ipynb\?token=(.+)", address
    )
    assert found, address
    server, token = found.groups()
    for _ in range(150):
        try:
            with urllib.request.urlopen(f"{server}/api/contents?token={token}", timeout=5) as answer:
                return str(answer.read().decode())
        except OSError:
            time.sleep(0.2)
    return ""
