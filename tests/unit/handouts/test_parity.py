"""Both languages say the same: headings, formulas, figures, code and numbers, block by block."""

import re
from collections import Counter

CHINESE = re.compile(r"[\u3400-\u9fff]")
NUMBER = re.compile(r"[+−-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
PROSE = re.compile(r"(h\d|p|(?:[uo]l>li>)+p)$")


def where(block):
    return f"line {block.line}: {block.text[:60] or block.formulas or block.code}"


def test_blocks_are_of_the_same_kinds_in_the_same_order(zh, en):
    for chinese, english in zip(zh.blocks, en.blocks, strict=True):
        assert chinese.kind == english.kind, f"zh {where(chinese)} / en {where(english)}"


def test_formulas_are_the_same(zh, en):
    for chinese, english in zip(zh.blocks, en.blocks, strict=True):
        assert set(chinese.formulas) == set(english.formulas), where(chinese)


def test_code_and_figures_are_the_same(zh, en):
    for chinese, english in zip(zh.blocks, en.blocks, strict=True):
        theirs = [code.replace(" --language en", "") for code in english.code]
        if chinese.kind in ("fence {blanks}", "fence {tasks}"):  # words, as many of them
            assert [code.count("|") for code in chinese.code] == [code.count("|") for code in theirs]
        else:
            assert Counter(chinese.code) == Counter(theirs), where(chinese)


def test_the_demo_s_drawings_are_the_same(zh, en):
    drawn = [
        [block.text.split()[1] for block in page.blocks if block.kind == "fence {demo}"] for page in (zh, en)
    ]
    assert (
        drawn[0] == drawn[1] == (["u-curve", "swell", "forward", "reverse"] if zh.name == "lab1.md" else [])
    )


def test_numbers_in_the_text_are_the_same(zh, en):
    for chinese, english in zip(zh.blocks, en.blocks, strict=True):
        ours, theirs = (Counter(NUMBER.findall(block.text)) for block in (chinese, english))
        assert ours == theirs, f"{where(chinese)}: {ours - theirs} here, {theirs - ours} in English"


def test_chinese_prose_is_chinese_and_no_copy_of_the_english(zh, en):
    for chinese, english in zip(zh.blocks, en.blocks, strict=True):
        words = re.findall(r"[A-Za-z]{2,}", chinese.text)
        if PROSE.match(chinese.kind) or len(words) > 2:
            assert CHINESE.search(chinese.text), where(chinese)
        if PROSE.match(chinese.kind):
            assert chinese.text != english.text, where(chinese)


def test_english_pages_hold_no_chinese(en, zh):
    for block in en.blocks:
        assert not CHINESE.search(block.text + "".join(block.code)), where(block)


def test_chinese_sentences_have_chinese_punctuation(zh, en):
    for block in zh.blocks:
        assert not re.search(r"[\u3400-\u9fff][,;:!?()]|[,;:!?(][\u3400-\u9fff]", block.text), where(block)


def test_a_caption_is_in_its_language(zh, en):
    for chinese, english in zip(zh.blocks, en.blocks, strict=True):
        if chinese.kind in ("fence {graph}", "fence {demo}"):
            assert CHINESE.search(chinese.text)
            assert NUMBER.findall(chinese.text) == NUMBER.findall(english.text)
