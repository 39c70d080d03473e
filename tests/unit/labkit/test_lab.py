"""A lab is found by its id from the places where students stand, or by its path."""

import pytest

from labkit.lab import WrongUse, find_lab

MANIFEST = """\
id = "lab1"
title = { zh = "一", en = "One" }
language = "zh"
modules = ["graph.py"]
kernels = []
[[task]]
id = "log"
title = { zh = "对数", en = "Logarithm" }
points = 1
file = ["graph.py"]
blanks = [{ name = "Log.partials", minutes = 4 }]
"""


@pytest.fixture
def unpacked(tmp_path):
    folder = tmp_path / "实验 一" / "labs" / "lab1_scalars"
    folder.mkdir(parents=True)
    (folder / "manifest.toml").write_text(MANIFEST, encoding="utf-8")
    return folder


def test_a_lab_is_found_from_the_kit_from_labs_and_from_its_own_folder(unpacked):
    for start in (unpacked.parents[1], unpacked.parent, unpacked):
        lab = find_lab("lab1", start)
        assert (lab.folder, lab.modules, lab.tasks[0].blanks) == (unpacked, ("graph.py",), ("Log.partials",))


def test_a_lab_is_found_by_its_path(unpacked, tmp_path):
    assert find_lab("实验 一/labs/lab1_scalars", tmp_path).folder == unpacked
    assert find_lab(str(unpacked), tmp_path / "elsewhere").folder == unpacked
    assert find_lab(".", unpacked).folder == unpacked


@pytest.mark.parametrize("name", ["lab2", "lab1_scalars", "", "../lab1", "实验"])
def test_a_lab_that_is_not_there_is_one_line_that_says_where_to_go(unpacked, name):
    with pytest.raises(WrongUse) as error:
        find_lab(name, unpacked.parents[1])
    for language in ("zh", "en"):
        text = error.value.message.text(language)
        assert str(unpacked.parents[1]) in text and "\n" not in text and "cd" in text


@pytest.mark.parametrize(
    "text",
    [
        "id = ",
        'id = "lab1"',
        MANIFEST.replace('["graph.py"]', "7", 1),
        "\udcff",
        MANIFEST.replace("[[", "[", 1),
    ],
)
def test_a_spoilt_manifest_is_one_line_that_names_it(unpacked, text):
    file = unpacked / "manifest.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape").replace(b"[task]]", b"[task]"))
    with pytest.raises(WrongUse) as error:
        find_lab(str(unpacked), unpacked)
    assert str(file) in error.value.message.text("en")
    assert "\n" not in error.value.message.text("en")
