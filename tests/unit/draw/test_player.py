"""The step buttons of a sweep in a real Chromium."""

import subprocess
import sys
from pathlib import Path

import pytest

from labkit import draw

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def html(lab1):
    x1, x2 = lab1.graph.variable(2.0, "x1"), lab1.graph.variable(5.0, "x2")
    return draw.sweep(lab1.graph.log(x1) + x1 * x2 - lab1.graph.sin(x2), "reverse", language="en").html


@pytest.fixture
def page(browser, html):
    """Two players on a page; errors of scripts fail the test."""
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(f"<!doctype html><meta charset=utf-8><body>{html}{html}")
    yield page
    page.close()
    assert errors == []


def seen(player):
    """The numbers that stand in the boxes."""
    return [one.text_content() for one in player.locator(".moving:visible").all()]


def test_the_buttons_go_step_by_step_and_leave_the_other_player_alone(page):
    one, other = page.locator("[data-sweep]").all()
    assert seen(one) == seen(other) == ["v̄₇ = 1"]
    one.get_by_role("button", name="next").click()
    assert sorted(seen(one)) == ["v̄₆ = 1", "v̄₇ = 1"]
    assert one.locator(".now").text_content() == "v̄₆ += ∂v₇/∂v₆ · v̄₇ = 1 × 1 = 1"
    assert one.locator(".now").get_attribute("aria-live") == "polite"
    assert one.locator(".counter").text_content() == "step 2 of 9"
    assert one.locator(".on").count() == 2  # the node and the edge
    one.get_by_role("button", name="last").click()
    assert {"v̄₁ = 5.5", "v̄₂ = 1.7163"} <= set(seen(one))
    assert one.get_by_role("button", name="next").is_disabled()
    one.get_by_role("button", name="back").click()
    assert "v̄₁ = 5 + …" in seen(one)
    one.get_by_role("button", name="first").click()
    assert seen(one) == seen(other) == ["v̄₇ = 1"]


def test_the_keyboard_reaches_every_step(page):
    player = page.locator("[data-sweep]").first
    player.get_by_role("button", name="next").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    assert player.locator(".counter").text_content() == "step 3 of 9"
    page.keyboard.press("End")
    assert player.locator(".counter").text_content() == "step 9 of 9"
    page.keyboard.press("ArrowLeft")
    assert player.locator(".counter").text_content() == "step 8 of 9"


def test_play_goes_on_by_itself_and_stops(page):
    page.clock.install()
    player = page.locator("[data-sweep]").first
    play = player.locator("[data-go=play]")
    play.click()
    assert "stop" in play.text_content()
    page.clock.run_for(3300)
    assert player.locator(".counter").text_content() == "step 3 of 9"
    play.click()
    page.clock.run_for(3300)
    assert player.locator(".counter").text_content() == "step 3 of 9"
    play.click()
    page.clock.run_for(20_000)
    assert player.locator(".counter").text_content() == "step 9 of 9"
    assert "play" in play.text_content()


def test_print_shows_the_last_step_and_all_steps(page):
    player = page.locator("[data-sweep]").first
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert "v̄₁ = 5.5" in seen(player)
    assert player.locator("table").is_visible()
    assert not player.locator(".controls").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert seen(player) == ["v̄₇ = 1"]


def test_without_a_script_all_is_there_but_the_buttons(browser, html):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_content(f"<!doctype html><body>{html}")
    assert page.locator("tbody tr").count() == 9
    assert page.locator("table").is_visible()
    assert not page.locator("button").first.is_visible()
    assert page.get_by_text("v̄₁ = 5.5", exact=True).first.is_visible()
    context.close()


@pytest.mark.parametrize(
    ("scheme", "theme", "dark"),
    [("light", None, False), ("dark", None, True), ("dark", "true", False), ("light", "false", True)],
)
def test_colours_follow_the_system_and_before_it_jupyterlab(browser, html, scheme, theme, dark):
    page = browser.new_page(color_scheme=scheme)
    body = f'<body data-jp-theme-light="{theme}">' if theme else "<body>"
    page.set_content(f"<!doctype html>{body}{html}")
    colour = page.evaluate("getComputedStyle(document.querySelector('.labkit-draw')).backgroundColor")
    assert colour == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")
    page.close()


def test_the_buttons_stay_in_sight_and_what_is_computed_comes_into_it(browser, lab1):
    l = lab1.graph.variable(0.3, "l")
    for _ in range(9):
        l = 4 * l * (1 - l)
    wide = [lab1.graph.exp(lab1.graph.variable(float(place))) for place in range(9)]
    l = l + wide[0]  # the output stands to the right of what it is made of
    for one in wide:
        l = l * one
    page = browser.new_page(viewport={"width": 400, "height": 700})
    tall = draw.sweep(l, "reverse", language="en").html
    page.set_content(f"<!doctype html><body><p>Text</p>{tall}<p style='height:2000px'>Text</p>")
    assert page.evaluate("scrollY") == 0
    node, pane = page.locator("g.on:not(.edge)").bounding_box(), page.locator(".scroll").first.bounding_box()
    assert pane["x"] <= node["x"] <= node["x"] + node["width"] <= pane["x"] + pane["width"]
    before = -1
    for key, steps in (("ArrowRight", 40), ("End", 1), ("Home", 1)):
        page.get_by_role("button", name="next").focus()
        for _ in range(steps):
            page.keyboard.press(key)
        node = page.locator("g.on:not(.edge)").bounding_box()
        buttons = page.locator(".controls").bounding_box()
        assert 0 <= node["y"] < node["y"] + node["height"] <= buttons["y"] < 700
        assert page.evaluate("scrollY") != before
        before = page.evaluate("scrollY")
    page.close()


OUTSIDE = """[...document.querySelectorAll('svg.graph g:not(.edge)')].filter(node => {
  const box = node.querySelector('rect, path').getBoundingClientRect();
  return [...node.querySelectorAll('text')].map(text => text.getBoundingClientRect()).some(words =>
    words.left < box.left || words.right > box.right || words.top < box.top || words.bottom > box.bottom);
}).map(node => node.textContent)"""


@pytest.mark.parametrize("width", [1280, 400])
def test_in_ten_drawings_no_words_leave_their_box_and_no_name_runs(browser, width):
    command = [sys.executable, "-B", ROOT / "docs" / "drawings.py"]
    html = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.set_content(html)
    assert page.title() == "Ten drawings"  # a name that is a script would have changed it
    assert page.locator("svg.graph").count() == 10
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()
