"""The built site: whole, offline, without a secret, in step with the course's files; in a browser too."""

import io
import os
import re
import shutil
import zipfile
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from autograder.authoring.handouts import build
from autograder.authoring.leaks import scan
from autograder.authoring.leaks_secrets import secrets_of
from autograder.course import CourseError, load_course

ROOT = Path(__file__).parents[3]
OUTSIDE = re.compile(r"(?:[a-z]+:)?//", re.IGNORECASE)


class Document(HTMLParser):
    """Links, what a browser fetches, ids, text outside code and mathematics, and the tables of a page."""

    VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())

    def __init__(self, html):
        super().__init__()
        self.links, self.fetched, self.ids, self.text = [], [], set(), ""
        self.tables, self.language, self.formulas, self._open = [], None, 0, []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.add(found.get("id"))
        self.language = found.get("lang") if tag == "html" else self.language
        self.formulas += tag == "math"
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag != "form" and (
            address := found.get("src") or (found.get("href") if tag == "link" else None)
        ):
            self.fetched.append(address)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if {"td", "th"} & set(self._open):
            self.tables[-1][-1][-1] += data.strip()
        if not {"script", "style", "code", "pre", "math", "svg"} & set(self._open):
            self.text += data


@pytest.fixture(scope="session")
def documents(html_pages):
    return {name: Document(html) for name, html in html_pages.items()}


def test_every_link_leads_somewhere_within_the_site(site, documents):
    for name, document in documents.items():
        for link in document.links:
            assert not OUTSIDE.match(link), f"{name}: {link} leaves the site"
            address, fragment = urldefrag(unquote(link))
            target = os.path.normpath((Path(name).parent / address).as_posix()) if address else name
            assert (site / target).is_file(), f"{name}: {link}"
            if fragment and target in documents:
                assert fragment in documents[target].ids, f"{name}: {link}"


def test_each_page_leads_to_itself_in_the_other_language(page, documents):
    name = page.name.replace(".md", ".html")
    other = "en" if page.book.endswith("zh") else "zh"
    assert f"./../{other}/{name}" in documents[f"{page.book}/{name}"].links


def test_nothing_is_fetched_from_outside(site, documents):
    for name, document in documents.items():
        for address in document.fetched:
            if address.startswith("data:"):
                continue
            assert not OUTSIDE.match(address), f"{name}: {address}"
            file = re.split(r"[?#]", address)[0] or Path(name).name
            assert (site / Path(name).parent / file).is_file(), f"{name}: {address}"
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        for address in re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')]+)", text):
            assert not OUTSIDE.match(address), f"{style.name}: {address}"


def test_pages_say_their_language(documents):
    assert {name: one.language for name, one in documents.items() if one.language != "zh-CN"} == {
        name: "zh" if name == "index.html" else "en"
        for name in documents
        if name == "index.html" or "en/" in name
    }


def test_the_themes_words_are_in_the_pages_language(html_pages):
    for name, html in html_pages.items():
        if name != "index.html":
            ours, theirs = ("搜索", "回到顶部"), ("Search", "Back to top")
            expected, other = (ours, theirs) if "zh/" in name else (theirs, ours)
            assert all(f"<span>{word}</span>" in html or f'"{word}"' in html for word in expected), name
            assert not any(f"<span>{word}</span>" in html or f'"{word}"' in html for word in other), name


def test_all_formulas_are_there_and_no_mark_is_left_over(page, documents):
    document = documents[f"{page.book}/{page.name.replace('.md', '.html')}"]
    assert document.formulas >= sum(len(block.formulas) for block in page.blocks)
    for mark in ("$", "**", "{{", "](", "`"):
        assert mark not in document.text, document.text[document.text.find(mark) - 40 :][:80]
    assert not re.search(r"(?<!\w)\*\w|\w\*(?!\w)", document.text)


def test_students_books_say_nothing_of_the_instructors(site, documents):
    for name, document in documents.items():
        if not name.startswith("instructor/"):
            assert not [link for link in document.links if "instructor" in link]
    for book in ("zh", "en"):
        assert "errata" not in (site / book / "searchindex.js").read_text(encoding="utf-8").lower()


def as_zip(site):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in site.rglob("*"):
            if path.is_file() and "_static" not in path.parts:
                archive.write(path, path.relative_to(site))
    return buffer.getvalue()


def test_no_solution_and_no_hidden_test_is_in_any_book(site, course, fixed_key, tmp_path):
    secrets = secrets_of(course, fixed_key, datetime(2026, 11, 1, tzinfo=UTC))
    assert scan(as_zip(site), secrets) == []
    leaky = tmp_path / "leaky.html"
    leaky.write_text("node_to_grad[operand] = node_to_grad.get(operand, 0.0) + partial_adjoint")
    assert scan(as_zip(tmp_path), secrets)


@pytest.mark.parametrize(("language", "sum_"), [("zh", "求和"), ("en", "the sum")])
def test_the_demo_draws_sweeps_in_the_page_s_language_and_plots_with_words(
    documents, html_pages, language, sum_
):
    (steps,) = [
        table for table in documents[f"{language}/lab1.html"].tables if len(table) == 10 and "v₇" in table[1]
    ]
    assert f"{sum_}: v̄₁ = 5 + 0.5 = 5.5" in steps[-1][2]
    page = html_pages[f"{language}/lab1.html"]
    assert page.count("<div data-sweep>") == 2
    words = re.findall('<img class="plot" alt="([^"]+)" src="data:image/svg', page)
    assert [bool(re.search("[一-鿿]", alternative)) for alternative in words] == [language == "zh"] * 2


# --- In step with course.toml and lab.toml ------------------------------------------------------------------


@pytest.mark.parametrize("language", ["zh", "en"])
def test_blanks_minutes_points_and_limits_are_the_courses(documents, course, language):
    lab = course.lab("lab1")
    tables = documents[f"{language}/lab1.html"].tables
    (blanks,) = [table for table in tables if table[1][:2] == ["graph.py", "Node.__rsub__"]]
    minutes = {}
    for task in lab.tasks:
        for blank in task.blanks:
            minutes[blank.name] = minutes.get(blank.name, 0) + blank.minutes
    assert {row[1]: int(row[2]) for row in blanks[1:-1]} == minutes
    assert int(blanks[-1][2]) == sum(minutes.values())
    assert {row[1]: row[0] for row in blanks[1:-1]}["Lookup.partials"] == "graph.py"
    (tasks,) = [table for table in tables if len(table) > 1 and table[1][0] == lab.tasks[0].title[language]]
    assert [(row[0], row[1], row[3], row[4]) for row in tasks[1:-1]] == [
        (task.title[language], str(task.points), f"{task.limits.cpu_s:g} s", f"{task.limits.memory_mb} MB")
        for task in lab.tasks
    ]
    assert tasks[-1][1] == str(lab.max_points)


@pytest.mark.parametrize(
    "language, due, late",
    [("zh", "2026 年 11 月 24 日 23:59 (UTC+8)", "10%"), ("en", "24 November 2026, 23:59 (UTC+8)", "10 %")],
)
def test_dates_and_the_late_policy_are_the_courses(documents, language, due, late):
    text = documents[f"{language}/lab1.html"].text
    assert due in text and late in text


@pytest.fixture
def copy(tmp_path):
    """The course's files that the handouts need, to be spoiled."""
    for name in ("reference", "handouts"):
        shutil.copytree(ROOT / name, tmp_path / "course" / name)
    shutil.copy(ROOT / "course.toml", tmp_path / "course")
    return tmp_path / "course"


def test_other_dates_and_another_zone_reach_the_pages(copy, tmp_path):
    file = copy / "course.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace("due = 2026-11-24T23:59:00+08:00", "due = 2026-11-25T03:04:00+05:30"), encoding="utf-8"
    )
    build(load_course(copy), tmp_path / "site")
    assert "25 November 2026, 03:04 (UTC+5:30)" in (tmp_path / "site/en/lab1.html").read_text(
        encoding="utf-8"
    )


def test_a_second_build_gives_the_same_bytes(site, course, tmp_path):
    build(course, tmp_path / "site")
    files = {path.relative_to(site) for path in site.rglob("*") if path.is_file()}
    again = {path.relative_to(tmp_path / "site") for path in (tmp_path / "site").rglob("*") if path.is_file()}
    assert files == again
    assert [
        file for file in files if (site / file).read_bytes() != (tmp_path / "site" / file).read_bytes()
    ] == []


# --- Bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "added, told",
    [
        ("[here](nowhere.md)", "nowhere"),
        ("[here](lab1.md#nowhere)", "nowhere"),
        (r"$\sine x$", r"\sine is not known"),
        (r"$\frac{1}{2$", "braces are not balanced"),
        (r"$\left( 1$", "can't be read"),
        ("{{ lab1.dew }}", "dew"),
        ("{{ lab9.due }}", "lab9"),
        ("```{blanks} lab9\na | b | c | d | e\n```", "lab9"),
        ("```{tasks} lab1\na | b\n```", "5 heads and the word for the total"),
        ("```{graph} Upside down\nv1 | 2\nv2\n```", "must be lines above it"),
        ("```{graph} A word\nv1\nv2 | one\n```", "'one'"),
        ("```{graph} Too much\na | | | | e\n```", "more than label"),
        ("```{grahp} Misspelt\nv1\n```", "grahp"),
        (
            "```{demo} cat A caption\n```",
            "the demo draws no 'cat'; it draws forward, reverse, swell, u-curve",
        ),
    ],
)
def test_a_mistake_in_a_page_is_one_line_with_its_place(copy, tmp_path, added, told):
    index = copy / "handouts/zh/index.md"
    before = index.read_text(encoding="utf-8")
    index.write_text(f"{before}\n{added}\n", encoding="utf-8")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "old.html").write_text("as it was")
    with pytest.raises(CourseError) as error:
        build(load_course(copy), tmp_path / "site")
    line = str(error.value)
    assert re.match(r"handouts/zh/index\.md:\d+: ", line) and told in line and "\n" not in line, line
    assert [path.name for path in tmp_path.glob("site/*")] == ["old.html"]


def test_a_demo_that_fails_is_one_line_with_the_page_s_place(copy, tmp_path):
    (copy / "handouts/demo/swell.py").write_text("1 / 0")
    with pytest.raises(CourseError) as error:
        build(load_course(copy), tmp_path / "site")
    assert re.fullmatch(
        r"handouts/zh/lab1\.md:\d+: handouts/demo/handout\.py fails: ZeroDivisionError: .*", str(error.value)
    )


@pytest.mark.parametrize("name", ["zh/index.md", "instructor/en/index.md", "en/four-ways.md", "zh/lab1.md"])
def test_a_page_that_is_missing_is_named(copy, tmp_path, name):
    (copy / "handouts" / name).unlink()
    with pytest.raises(CourseError, match=rf"handouts/{name} is missing"):
        build(load_course(copy), tmp_path / "site")


def test_a_blank_that_no_module_has_is_told(copy, tmp_path):
    file = copy / "reference/lab1_scalars/lab.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('"jacobian", minutes', '"jacobean", minutes'))
    with pytest.raises(CourseError, match=r"handouts/zh/lab1\.md:\d+: no file has the blank 'jacobean'"):
        build(load_course(copy), tmp_path / "site")


def test_a_page_that_is_not_utf_8_is_named(copy, tmp_path):
    (copy / "handouts/zh/lab1.md").write_bytes("标量".encode("gbk"))
    with pytest.raises(CourseError, match=r"handouts/zh/lab1\.md") as error:
        build(load_course(copy), tmp_path / "site")
    assert "UTF-8" in str(error.value)


def test_a_file_where_the_site_goes_is_told(course, tmp_path):
    (tmp_path / "site").write_text("mine")
    with pytest.raises(CourseError, match="site can't be written"):
        build(course, tmp_path / "site")
    assert (tmp_path / "site").read_text() == "mine"


# --- In a browser -------------------------------------------------------------------------------------------


def test_pages_ask_for_files_only_and_fit_a_telephone(browser, site, documents):
    tab = browser.new_page(viewport={"width": 400, "height": 800})
    asked, faults = [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: faults.append(str(error)))
    for name in documents:
        tab.goto((site / name).as_uri())
        width = tab.evaluate("document.documentElement.scrollWidth")
        assert width == 400, f"{name} is {width} wide"
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}
    assert faults == []


@pytest.mark.parametrize("book, words", [("zh", "反向模式"), ("zh", "Griewank"), ("en", "adjoints")])
def test_search_finds_words_of_both_languages_without_a_network(browser, site, book, words):
    tab = browser.new_page()
    tab.goto((site / book / "search.html").as_uri() + f"?q={words}")
    found = tab.locator("#search-results li a")
    found.first.wait_for(timeout=5000)
    assert any("lab1.html" in one.get_attribute("href") for one in found.all())


def test_the_one_page_is_one_sheet_of_paper(browser, site):
    for language in ("zh", "en"):
        tab = browser.new_page()
        tab.goto((site / language / "four-ways.html").as_uri())
        assert len(re.findall(rb"/Type\s*/Page\b", tab.pdf(format="A4", prefer_css_page_size=True))) == 1
