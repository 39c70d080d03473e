"""How the demo's pictures and sentences look: self-contained, escaped, in both languages."""

import ast
import builtins
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import figures
import plots
import says
import sliders
from labkit.messages import catalogue
from swell import Size

DEMO = Path(__file__).parents[3] / "handouts" / "demo"


def picture() -> plots.Picture:
    return figures.sizes([Size(1, 2, 2, 10), Size(2, 21, 12, 20)])


def test_the_same_numbers_give_the_same_bytes() -> None:
    assert picture().svg == picture().svg


def test_a_picture_has_no_letter_that_a_machine_may_lack() -> None:
    assert "<text" not in picture().svg  # letters are outlines
    assert not re.search(r"[⺀-鿿]", (DEMO / "figures.py").read_text(encoding="utf-8"))


def test_a_picture_has_words_for_those_who_can_t_see_it() -> None:
    shown = plots.finished(plots.canvas()[0], 'a "quoted" <word>')._repr_html_()
    assert 'alt="a &quot;quoted&quot; &lt;word&gt;"' in shown
    assert "http" not in re.sub(r"base64,[^\"]*", "", shown)


def test_pictures_stand_in_a_row_that_wraps() -> None:
    shown = plots.side_by_side(picture(), picture())._repr_html_()
    assert shown.count("<img") == 2
    assert "flex-wrap:wrap" in shown


def test_a_curve_of_zeros_is_drawn_without_a_warning() -> None:
    from differences import EXPONENTIAL, SHIFTED

    steps = np.array([1.0, 0.1, 0.01])
    found = {("central", "float32"): np.array([0.02, 0.11, 0.0])}
    for example in (EXPONENTIAL, SHIFTED):
        assert figures.u_curves(example, steps, found).svg.endswith("</svg>\n")


def test_every_sentence_of_the_demo_is_in_the_catalogue_and_used() -> None:
    used = set()
    for path in DEMO.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name("Message" | "said"), args=[ast.Constant(str() as id), *_]):
                    used.add(id)
    assert used == {id for id in catalogue() if id.startswith("demo.")}


def test_a_sentence_is_shown_in_both_languages_and_escaped() -> None:
    said = says.said("demo.engine-raises", where="<b>", error="&")
    assert said._repr_html_().count("&lt;b&gt;") == 2
    assert re.findall('lang="(..)"', said._repr_html_()) == ["zh", "en"]
    assert len(repr(said).splitlines()) == 2


@pytest.mark.parametrize(("number", "text"), [(8.7e-6, "8.7·10⁻⁶"), (1.0, "1.0·10⁰"), (4e12, "4.0·10¹²")])
def test_numbers_are_written_as_people_do(number: float, text: str) -> None:
    assert says.power(number) == text


def test_a_slider_shows_what_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(sliders, "display", shown.append)
    sliders.slide(lambda h, dtype: (h, dtype), h=[("a", 1.0), ("b", 0.1)], dtype=["float32", "float64"])
    box = shown.pop()
    assert shown.pop() == (1.0, "float32")
    box.children[0].value = 0.1
    box.children[1].value = "float64"
    assert shown == [(0.1, "float32"), (0.1, "float64")]


def test_a_slider_that_prints_shows_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(sliders, "display", shown.append)
    sliders.slide(lambda n: None, n=[1, 2])
    assert [type(one).__name__ for one in shown] == ["VBox"]


def test_without_ipywidgets_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(sliders, "display", shown.append)
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "ipywidgets":
            raise ImportError
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    sliders.slide(print, h=[1])
    assert "ipywidgets is missing" in repr(shown[0])
