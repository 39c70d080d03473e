"""What the class page quotes of handouts: its families are those of mutants.toml, in both languages."""

import re
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.judging.mistakes import read_entries, read_titles
from autograder.reporting.handout import quoted

ROOT = Path(__file__).parents[3]
COURSE = load_course(ROOT)
LABS = pytest.mark.parametrize("lab", COURSE.labs, ids=lambda lab: lab.id)


def families(lab):
    return {entry.family for entry in read_entries(lab)}


@LABS
def test_every_family_of_mistakes_has_a_short_title_and_nothing_else_has(lab):
    titles = read_titles(lab)
    assert titles.keys() == families(lab)
    for title in titles.values():
        assert len(title.zh) <= 20 and len(title.en) <= 50
        assert re.search("[\u4e00-\u9fff]", title.zh) and title.en.isascii()


@LABS
def test_rows_of_the_handout_name_families_of_the_lab_the_same_ones_in_both_languages(lab):
    zh, en = (quoted(ROOT, lab.id, language) for language in ("zh", "en"))
    assert zh.keys() <= families(lab) and len(zh) >= len(families(lab)) / 3
    assert {family: len(rows) for family, rows in zh.items()} == {
        family: len(rows) for family, rows in en.items()
    }


@LABS
@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_marked_row_is_quoted_without_any_mark_left_over(lab, language):
    text = (ROOT / "handouts" / language / f"{lab.id}.md").read_text(encoding="utf-8")
    rows = {row for rows in quoted(ROOT, lab.id, language).values() for row in rows}
    assert len(rows) == text.count("<!--")
    for row in rows:
        assert row.heading and row.thought[0] and row.fact[0]
        for shown in (row.thought[1], row.fact[1]):
            words = re.sub(r"<(math|code).*?</\1>", "", shown)
            assert shown and not re.search(r"[$*`\\\[]|<!--", words)
