"""The handouts as their sources say them, block by block, and as one site, built once."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from autograder.authoring.handouts import build
from autograder.course import Course, load_course

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Block:
    """A heading, paragraph, cell, formula or fenced block; `kind` is its path of tags, as in "ul>li>p"."""

    kind: str
    text: str = ""
    formulas: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    line: int = 0


def read_blocks(text: str) -> list[Block]:
    """All blocks of a page's source."""
    parser = create_md_parser(
        MdParserConfig(enable_extensions={"colon_fence", "dollarmath", "substitution"}), RendererHTML
    )
    path: list[str] = []
    blocks: list[Block] = []
    for token in parser.parse(text):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "inline":
            found: dict[str, list[str]] = {"text": [], "math_inline": [], "code_inline": []}
            for child in token.children or ():
                kind = {"softbreak": "text", "substitution_inline": "text"}.get(child.type, child.type)
                found.setdefault(kind, []).append(child.content or " ")
            words, formulas, code = "".join(found["text"]), found["math_inline"], found["code_inline"]
            blocks.append(Block(">".join(path), words, tuple(formulas), tuple(code), line))
        elif token.type == "math_block":
            blocks.append(Block("math", formulas=(token.content.strip(),), line=line))
        elif token.type == "fence":
            blocks.append(
                Block(f"fence {token.info.split()[0]}", token.info, code=(token.content,), line=line)
            )
        elif token.nesting == 1:
            path.append(token.tag)
        elif token.nesting == -1:
            path.pop()
    return blocks


@dataclass(frozen=True)
class Page:
    """A page of a book, "zh" or "instructor/en" for example."""

    book: str
    name: str

    @property
    def blocks(self) -> list[Block]:
        return read_blocks((ROOT / "handouts" / self.book / self.name).read_text(encoding="utf-8"))

    def table(self, head: str) -> list[list[str]]:
        """The cells of the table of which a head's formulas and words are `head`; formulas as $…$."""
        tables: list[list[str]] = []
        for block in self.blocks:
            if block.kind == "table>thead>tr>th":
                if not tables or tables[-1][-1].startswith("td"):
                    tables.append([])
                tables[-1].append("th" + cell(block))
            elif block.kind == "table>tbody>tr>td":
                tables[-1].append("td" + cell(block))
        for one in tables:
            heads = [text[2:] for text in one if text.startswith("th")]
            if head in heads:
                cells = [text[2:] for text in one if text.startswith("td")]
                return [cells[i : i + len(heads)] for i in range(0, len(cells), len(heads))]
        raise AssertionError(f"{self.book}/{self.name} has no table with the head {head!r}")


def cell(block: Block) -> str:
    """What a cell says, its formula first."""
    return "".join(f"${formula}$" for formula in block.formulas) + block.text


def pages(book: str) -> list[str]:
    return sorted(path.name for path in (ROOT / "handouts" / book).glob("*.md"))


PAGES = [Page(book, name) for book in ("zh", "en", "instructor/zh", "instructor/en") for name in pages(book)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`page` is each page in turn; `zh`, `en` each page in both languages."""
    if "page" in metafunc.fixturenames:
        metafunc.parametrize("page", PAGES, ids=lambda page: f"{page.book}/{page.name}")
    if "zh" in metafunc.fixturenames:
        pairs = [
            (page, Page(page.book.replace("zh", "en"), page.name))
            for page in PAGES
            if page.book.endswith("zh")
        ]
        metafunc.parametrize(("zh", "en"), pairs, ids=[f"{en.book}/{en.name}" for _, en in pairs])


@pytest.fixture(scope="session")
def page_named() -> Callable[[str, str], Page]:
    return Page


@pytest.fixture(scope="session")
def course() -> Course:
    return load_course(ROOT)


@pytest.fixture(scope="session")
def site(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """build/handouts, made anew."""
    out = tmp_path_factory.mktemp("handouts") / "site"
    build(course, out)
    return out


@pytest.fixture(scope="session")
def html_pages(site: Path) -> dict[str, str]:
    """The text of every page of the site, by its path."""
    found = {
        path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")
    }
    assert {re.sub(r"\.html$", ".md", name) for name in found} >= {
        f"{page.book}/{page.name}" for page in PAGES
    }
    return found
