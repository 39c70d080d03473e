"""`autograder formgrader` in a real browser, as a TA uses it."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from labkit.jupyter import PORT

from .conftest import QUESTION, SCHEME, BookCourse

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE_S = 60
SCRIPT = (
    "Well. <script>document.title = 'taken over'</script><img src=x onerror=\"document.title = 'taken'\">"
)


@pytest.fixture(scope="module")
def pushed(course: BookCourse) -> BookCourse:
    """Three students: ann wrote a script into her answer, bob's reverse mode is missing."""
    course.hand_in("ann", course.answered(why_reverse=SCRIPT, prediction="value = 3"))
    course.hand_in(
        "bob", course.answered(why_reverse="No idea. $x^2$"), engine=course.mini.skeleton["engine.py"]
    )
    course.hand_in("cai", course.answered(why_reverse="因为每次使用都先到。"))
    course.run("grade")
    course.run("gradebook")
    return course


@pytest.fixture(scope="module")
def said(pushed: BookCourse) -> Iterator[list[str]]:
    """What the command says until it has told both addresses; the usual port is taken."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    command = [sys.executable, "-m", "autograder", "formgrader"]
    with (
        _taken(),
        subprocess.Popen(
            command,
            cwd=pushed.root,
            env=environment | {"JUPYTER_CONFIG_DIR": str(pushed.root / ".jupyter")},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        try:
            assert process.stderr is not None
            yield [process.stderr.readline() for _ in range(3)]
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.communicate(timeout=PATIENCE_S)


@contextlib.contextmanager
def _taken() -> Iterator[None]:
    """Somebody holds JupyterLab's usual port, as far as nobody does anyway."""
    with socket.socket() as other:
        with contextlib.suppress(OSError):
            other.bind(("127.0.0.1", PORT))
        yield


def address_in(line: str) -> str:
    found = re.search(r"http://localhost:\d+/login\S+token=\S+", line)
    assert found, line
    return found[0]


@pytest.fixture(scope="module")
def asked() -> list[str]:
    """Addresses beyond this machine that a page wanted."""
    return []


@pytest.fixture(scope="module")
def browser(said: list[str], asked: list[str]) -> Iterator[Any]:
    """A page that is signed in, on a machine without a network."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium here, so nobody looks at formgrader")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        context = chromium.new_context(viewport={"width": 1280, "height": 1000})

        def without_network(route: Any) -> None:
            if "//localhost" in route.request.url:
                route.continue_()
            else:
                asked.append(route.request.url)
                route.abort()

        context.route("**/*", without_network)
        page = context.new_page()
        page.goto(address_in(said[1]))
        yield page
        chromium.close()


def base(page: Any) -> str:
    return str(re.match(r"http://localhost:\d+", page.url)[0])  # type: ignore[index]


def open_answer(page: Any, text: str) -> None:
    """Find the submission with this answer by the list of questions."""
    page.goto(f"{base(page)}/autograder/questions/lab0")
    assert SCHEME in page.locator("section[lang=zh]").inner_text()
    links = page.locator("section[lang=zh] a")
    for address in [links.nth(number).get_attribute("href") for number in range(links.count())]:
        page.goto(base(page) + address)
        page.wait_for_selector(f"input.score#{QUESTION}")
        if text in page.locator("body").inner_text():
            page.wait_for_function("$('input.score').first().attr('placeholder') !== undefined")
            return
    raise AssertionError(f"no submission says {text!r}")


def test_the_command_opens_the_list_of_submissions(browser: Any) -> None:
    browser.wait_for_selector('table tbody a[href*="submissions/"]')
    assert browser.url.endswith("/formgrader/gradebook/lab0/lab0")
    rows = browser.locator("table tbody tr")
    assert rows.count() == 3
    assert sorted(row.split("\t")[2].strip() for row in rows.all_inner_texts()) == [
        "10 / 14",
        "10 / 14",
        "5 / 14",
    ]


def test_both_addresses_are_told_once_the_server_answers_on_another_port_than_the_taken_one(
    said: list[str],
) -> None:
    assert said[0] == f"Port {PORT} is taken; another one is used.\n"
    assert said[2].startswith("Questions, to share them out among TAs: http://localhost:")
    for line in said[1:]:
        with urllib.request.urlopen(address_in(line), timeout=5) as page:
            assert page.status == 200
            assert f":{PORT}/" not in page.url


def test_a_question_s_link_leads_to_its_score_and_keys_to_the_same_of_the_next(browser: Any) -> None:
    browser.goto(f"{base(browser)}/autograder/questions/lab0")
    browser.locator("section[lang=zh] a").first.click()
    for _ in range(2):
        browser.wait_for_function(f"document.activeElement?.id === '{QUESTION}'")
        browser.wait_for_function("$('body, html').filter(':animated').length === 0")
        box = browser.locator(f"input.score#{QUESTION}").bounding_box()
        header = browser.locator("nav.navbar").bounding_box()
        assert header["height"] < box["y"] < 1000 - box["height"]
        first = browser.url
        browser.keyboard.press("Control+.")
        browser.wait_for_url(lambda url, before=first: url != before)  # type: ignore[misc]


def test_mark_schemes_are_markdown(browser: Any) -> None:
    browser.goto(f"{base(browser)}/autograder/questions/lab0")
    assert browser.locator("section[lang=zh] .scheme code").inner_text() == "use"


def test_a_script_in_a_student_s_answer_does_nothing(browser: Any) -> None:
    open_answer(browser, "Well.")
    browser.wait_for_timeout(300)
    assert browser.title() == "lab0"
    assert browser.locator("img").count() == 0


def test_the_page_shows_report_and_code_and_links_to_the_full_report(browser: Any) -> None:
    open_answer(browser, "No idea.")
    text = browser.locator("body").inner_text()
    assert "def reverse_mode" in text
    assert "0 / 5" in text
    assert browser.locator("input.score#reverse").get_attribute("placeholder") == "0"
    browser.locator('a[href="feedback.html"]').click()
    browser.wait_for_load_state()
    assert "bob" in browser.locator("h1").first.inner_text()


def test_a_score_and_a_comment_come_into_feedback_and_csv(pushed: BookCourse, browser: Any) -> None:
    open_answer(browser, "因为每次使用都先到。")
    browser.locator(f"input.score#{QUESTION}").fill("3.5")
    with browser.expect_response(lambda response: "/api/grade/" in response.url):
        browser.keyboard.press("Tab")
    browser.locator(f"textarea#{QUESTION}-comment").fill('好, but "why" = 3?')
    with browser.expect_response(lambda response: "/api/comment/" in response.url):
        browser.keyboard.press("Tab")
    pushed.type("feedback")
    assert pushed.scores()["cai"][QUESTION] == "3.5"
    assert pushed.scores()["cai"]["points"] == "13.5"
    assert pushed.scores()["cai"]["comments"] == f'{QUESTION}: 好, but "why" = 3?'
    feedback = (pushed.book / "feedback/cai/lab0/lab0.html").read_text(encoding="utf-8")
    assert "Score: 13.5 / 14.0" in feedback
    assert "好, but" in feedback


def test_scores_are_fresh_after_a_push_without_a_restart(pushed: BookCourse, browser: Any) -> None:
    open_answer(browser, "因为每次使用都先到。")
    assert browser.locator("input.score#reverse").get_attribute("placeholder") == "5"
    engine = pushed.mini.submitted / "cai/lab0/engine.py"
    engine.write_text(pushed.mini.skeleton["engine.py"], encoding="utf-8")
    pushed.run("grade")
    pushed.type("gradebook")
    browser.reload()
    browser.wait_for_function("$('input.score#reverse').attr('placeholder') === '0'")
    assert browser.locator(f"input.score#{QUESTION}").input_value() == "3.5"


def test_formulas_are_drawn_and_nothing_is_asked_of_the_web(browser: Any, asked: list[str]) -> None:
    open_answer(browser, "No idea.")
    assert browser.locator("math msup").first.bounding_box()["height"] > 5
    assert asked == []


def test_the_autograde_button_gives_a_wrong_submission_nothing(pushed: BookCourse, browser: Any) -> None:
    """The work was right when it was pushed; what is there now is graded first, in the sandbox."""
    trap = pushed.root / "trap"
    hostile = f"open({str(trap)!r}, 'w')\n"
    folder = pushed.mini.submitted / "ann/lab0"
    (folder / "engine.py").write_text(hostile)
    (folder / "lab0.ipynb").write_text(json.dumps(pushed.answered(prediction=hostile)))
    browser.goto(f"{base(browser)}/formgrader/manage_submissions/lab0")
    browser.locator("tr:has-text('ann') .autograde a").click()
    browser.wait_for_selector(".modal-body:has-text('Successfully autograded')")
    pushed.type("gradebook")
    assert [pushed.scores()["ann"][task] for task in ("square", "order", "reverse")] == ["2", "3", "0"]
    assert not trap.exists()
