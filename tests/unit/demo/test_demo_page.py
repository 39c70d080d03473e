"""The demo as a notebook and as a page: mathematics without a script, nothing asked of the network."""

import re
from pathlib import Path
from typing import Any

import jupytext
import pytest
from nbformat import v4

from autograder.authoring import demo
from autograder.authoring.demo_page import as_page, with_mathml
from autograder.course import Course, CourseError, load_course

ROOT = Path(__file__).parents[3]
DEMO = ROOT / "handouts" / "demo"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """The course's own files, with a build folder for the test alone."""
    for name in ("course.toml", "reference", "labs", "handouts"):
        (tmp_path / name).symlink_to(ROOT / name)
    return load_course(tmp_path)


def page_of(*cells: Any) -> str:
    return as_page(v4.new_notebook(cells=list(cells)), DEMO)


def test_mathematics_becomes_mathml_and_money_stays() -> None:
    assert with_mathml("$x$").startswith("<math")
    assert 'display="block"' in with_mathml("a\n\n$$\nx_1^*\n$$\n")
    assert with_mathml("5 $ and \\$6") == "5 $ and \\$6"
    assert not re.search(r"[*_`]", with_mathml(r"$x_1^* \text{a_b}$"))
    assert with_mathml("$f''$").count("msup") == 0


def test_bars_and_strokes_stand_close_and_a_raised_star_is_raised_once() -> None:
    assert with_mathml("$|f| / h$").count('space="0.06em"') == 6
    assert "<mo>&#x02217;</mo></msup>" in with_mathml("$h^*$")


def test_a_formula_that_cannot_be_drawn_is_named() -> None:
    with pytest.raises(CourseError, match=r"The demo's formula \\fraction\{1\}: .*Mend it"):
        with_mathml(r"$\fraction{1}$")


def test_a_page_asks_the_network_for_nothing_and_leaves_sliders_out() -> None:
    sliders = v4.new_code_cell("slide()", metadata={"tags": ["live"]})
    page = page_of(v4.new_markdown_cell("# A $x$"), v4.new_code_cell("1 + 1"), sliders)
    assert "<math" in page
    assert "slide" not in page
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", page))
    assert addresses == {"http://www.w3.org/1998/Math/MathML"}
    assert "<script" not in page


def test_code_is_coloured_for_light_and_dark_pages() -> None:
    page = page_of(v4.new_code_cell("def f(): pass"))
    assert '<span class="k">def</span>' in page
    assert len(re.findall(r"^\.highlight \.k \{", page, re.MULTILINE)) == 2


def test_the_notebook_is_built_from_its_source_with_the_engine_s_path(course: Course) -> None:
    path = demo.write_notebook(course, Path("/it's/mine"))
    first = path.read_bytes()
    notebook = jupytext.read(path)
    assert notebook.cells[1].source == 'ENGINE = "/it\'s/mine"'
    assert not any(cell.get("outputs") for cell in notebook.cells)
    assert demo.write_notebook(course, Path("/it's/mine")).read_bytes() == first


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "the cell “1 / 0” fails: ZeroDivisionError: division by zero"),
        ("import os; os._exit(1)", "the cell “import os; os._exit(1)” ends Python itself. Mend it there"),
    ],
)
def test_a_cell_that_fails_is_named(course: Course, tmp_path: Path, code: str, said: str) -> None:
    (tmp_path / "handouts").unlink()
    (tmp_path / "handouts" / "demo").mkdir(parents=True)
    (tmp_path / "handouts" / "demo" / "four_ways.py").write_text(f"# %%\n1\n\n# %%\n{code}\n")
    with pytest.raises(CourseError) as raised:
        demo.write_page(course, None)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "build" / "demo" / "four_ways.html").exists()


def test_a_missing_source_or_package_is_said(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    (course.root / "handouts").unlink()
    with pytest.raises(CourseError, match=r"four_ways\.py can't be read: .* Restore it from git"):
        demo.write_notebook(course, None)
    monkeypatch.setattr(demo, "NEEDED", ("no_such_package",))
    with pytest.raises(CourseError, match=r"The demo needs no_such_package, .* Run: make setup"):
        demo.write_notebook(course, None)


def test_every_section_has_a_conclusion_in_both_languages() -> None:
    cells = [cell for cell in jupytext.read(DEMO / "four_ways.py").cells if cell.cell_type == "markdown"]
    text = "\n".join(cell.source for cell in cells)
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert [section[0] for section in sections] == list("1234567")
    for section in sections[:6]:
        assert section.count("**结论**：") == section.count("**So**: ") >= 1
    for cell in cells:  # Chinese first, then English
        assert re.search("[一-鿿]", cell.source)
        assert re.search("[a-z]{3}", cell.source)
