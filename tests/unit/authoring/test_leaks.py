"""Every kind of secret is found in every kind of place, and nothing else is."""

import base64
import gzip
import importlib.util
import io
import json
import stat
import tarfile
import zipfile
from datetime import UTC, datetime

import pytest

from autograder.authoring.leaks import scan
from autograder.authoring.leaks_secrets import secrets_of
from autograder.course import CourseError, load_course

KEY = bytes(range(32))
BEFORE, AFTER = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 2, tzinfo=UTC)

SOLUTION = "node_to_grad[one] = node_to_grad.get(one, 0.0) + partial * node_to_grad[node]"
LINE = "node_to_grad = {output: seed}"  # seven tokens, a line of the solution by itself
COMMENT = "# the square rule says that both factors contribute, so the value counts twice here"
PROGRAM = 'return {"value": y.value, "gradient": lab.engine.reverse_mode(y, seed)[leaf]}'
HIDDEN_TEST = 'assert twice == pytest.approx(2 * once, rel=1e-12), "twice the seed gives twice the gradient"'
MUTANT = "node_to_grad[one] = node_to_grad.get(one, 1.0) - partial * node_to_grad[node]"
HINT = "Where a node has several users, ask what becomes of the adjoints that arrive along each edge."
ALTERNATE = (
    "order = [node for rank, node in sorted(ranked.items(), key=lambda pair: (pair[0], pair[1].name))]"
)
LOOKALIKE = "ahead = {output: 1.0 for output in reversed(order) if output not in seen and output.inputs}"
REASON = "Which of both comes first changes nothing here: they are leaves, and no user of either is left."


@pytest.fixture(scope="module")
def course(mini_course, tmp_path_factory):
    mini = mini_course(tmp_path_factory.mktemp("leaks") / "course")
    solved = "    return Node(a.value * a.value, (a,), (2 * a.value,))"
    mini.edit("reference/lab0_chains/graph.py", solved, f"    {COMMENT}\n{solved}")
    (mini.lab.reference / "mutants.toml").write_text(
        f'[[mutant]]\nid = "starts-at-one"\nfile = "engine.py"\ntext = "0.0"\nreplacement = "{MUTANT}"\n'
        f'hint.en = "{HINT}"\nhint.zh = "提示"\n',
        encoding="utf-8",
    )
    beside = {"lookalikes": f'[[lookalike]]\nbody = "{LOOKALIKE}"', "equivalents": f'reason = "{REASON}"'}
    for name, text in beside.items():
        (mini.lab.reference / f"{name}.toml").write_text(text, encoding="utf-8")
    (mini.lab.reference / "alternates/ranks").mkdir(parents=True)
    (mini.lab.reference / "alternates/ranks/graph.py").write_text(ALTERNATE + "\n", encoding="utf-8")
    return mini


@pytest.fixture(scope="module")
def secrets(course):
    return secrets_of(load_course(course.root), KEY, BEFORE)


def bundle(content="", name="lab0/README.md", **attributes):
    """A zip of one file; attributes of its entry."""
    entry = zipfile.ZipInfo(name)
    for attribute, value in attributes.items():
        setattr(entry, attribute, value)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(entry, content)
    return buffer.getvalue()


def tar():
    with tarfile.open(fileobj=(buffer := io.BytesIO()), mode="w") as archive:
        archive.addfile(tarfile.TarInfo("x"))
    return buffer.getvalue()


def found(archive, secrets):
    return [f"{leak.where} {leak.what} {leak.mend}" for leak in scan(archive, secrets)]


@pytest.mark.parametrize(
    ("secret", "words"),
    [
        (
            SOLUTION,
            "the solution of lab0, closed until 2026-12-01 00:00:00+08:00 "
            "(reference/lab0_chains/engine.py:12) Take it out, or release after that.",
        ),
        (LINE, "(reference/lab0_chains/engine.py:9)"),
        (COMMENT, "the solution of lab0"),
        (ALTERNATE, "(reference/lab0_chains/alternates/ranks/graph.py:1)"),
        (LOOKALIKE, "the solution of lab0, closed until 2026-12-01 00:00:00+08:00 "),
        (LOOKALIKE, "(reference/lab0_chains/lookalikes.toml:2)"),
        (REASON, "(reference/lab0_chains/equivalents.toml:1)"),
        ("see lookalikes.toml", "a path of the course team (lookalikes.toml)"),
        (PROGRAM, "text of the hidden tests (reference/lab0_chains/grading/programs.py:29)"),
        (HIDDEN_TEST, "text of the hidden tests (reference/lab0_chains/grading/test_engine.py:31)"),
        (MUTANT, "text of the mutant starts-at-one (reference/lab0_chains/mutants.toml:2)"),
        (HINT, "text of the mutant starts-at-one"),
        ("    ### BEGIN SOLUTION", "the mark of a solution"),
        ("    // END SOLUTION", "the mark of a solution"),
        ("see reference/lab0_chains/graph.py", "a path of the course team (reference/lab0_chains)"),
        ("see reference\\lab0_chains\\graph.py", "a path of the course team"),
        ("in build/solved/lab0", "a path of the course team"),
        ("grading/programs.py", "a path of the course team"),
        (KEY.hex(), "the course's secret key"),
        (KEY.hex(" ").upper(), "the course's secret key"),
        (base64.b64encode(KEY).decode(), "the course's secret key"),
        (base64.urlsafe_b64encode(b"x" + KEY).decode(), "the course's secret key"),
        (base64.encodebytes(KEY.hex().encode() + b"\n").decode(), "the course's secret key"),
    ],
)
def test_each_kind_of_secret_is_found_and_its_source_named(secrets, secret, words):
    archive = bundle(f"# Chains\n\nSome words.\n{secret}\nMore words.\n")
    assert any(words in line for line in found(archive, secrets)), found(archive, secrets)
    assert words.startswith("the course's") or found(archive, secrets)[0].startswith("lab0/README.md:4 ")


def test_the_key_s_own_bytes_are_found_in_any_file(secrets):
    assert "the course's secret key" in found(bundle(b"\x00\xff" + KEY + b"\xff"), secrets)[0]


@pytest.mark.parametrize("secret", [SOLUTION, LINE, PROGRAM, MUTANT])
@pytest.mark.parametrize(
    "disguise",
    [
        lambda text: text.replace(" ", "").replace("return", "return "),
        lambda text: text.replace(" ", "   "),
        lambda text: text.replace(" ", "\t\\\n    ").replace("\\", ""),
        lambda text: text.replace(" = ", " =  # a remark\n  "),
        lambda text: f"    # {text}",
        lambda text: f"> {text}\r\n",
        lambda text: f"+    {text}",
        lambda text: f'TEXT = "def f():\\n\\t{text}\\n"'.replace('"value"', '\\"value\\"'),
        lambda text: f"x = 1; {text}; y = 2",
    ],
)
def test_other_spaces_comment_signs_and_quotes_hide_nothing(secrets, secret, disguise):
    assert found(bundle(disguise(secret), "lab0/more.py"), secrets)


def notebook(**cell):
    blank = {"cell_type": "code", "source": [], "metadata": {}, "outputs": []}
    return json.dumps({"cells": [blank, {**blank, **cell}], "metadata": {}, "nbformat": 4}, indent=1)


@pytest.mark.parametrize(
    ("cell", "place"),
    [
        ({"source": ["first = 1\n", f"{SOLUTION}\n"]}, "cells[1].source:2"),
        ({"outputs": [{"output_type": "stream", "text": SOLUTION}]}, "cells[1].outputs[0].text:1"),
        ({"metadata": {"note": SOLUTION}}, "cells[1].metadata.note:1"),
        ({"metadata": {SOLUTION: True}}, "cells[1].metadata:1"),
        # Cut in the middle of tokens, as no text search would see it.
        ({"source": [SOLUTION[:40], SOLUTION[40:]]}, "cells[1].source:1"),
    ],
)
def test_all_of_a_notebook_is_read(secrets, cell, place):
    lines = found(bundle(notebook(**cell), "lab0/lab0.ipynb"), secrets)
    assert any(line.startswith(f"lab0/lab0.ipynb {place} the solution") for line in lines), lines


def test_a_clean_notebook_is_clean_and_a_broken_one_is_told(secrets):
    assert found(bundle(notebook(source=["x = 1\n"]), "lab0/lab0.ipynb"), secrets) == []
    assert "can't be read" in found(bundle("{", "lab0/lab0.ipynb"), secrets)[0]


def test_names_comments_and_extra_fields_are_read(secrets):
    packed_line = SOLUTION.encode()
    places = {
        "the name ": bundle(name=f"lab0/{SOLUTION}"),
        "the name lab0/reference": bundle(name="lab0/reference/lab0_chains/notes.txt"),
        "the comment of lab0/README.md": bundle(comment=packed_line),
        "the extra field of lab0/README.md": bundle(
            extra=b"\x99\x99" + len(packed_line).to_bytes(2, "little") + packed_line
        ),
    }
    buffer = io.BytesIO(bundle())
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = packed_line
    places["the archive's comment"] = buffer.getvalue()
    for place, archive_bytes in places.items():
        assert found(archive_bytes, secrets)[0].startswith(place), place


def test_a_zip_inside_is_read_one_level_deep_and_deeper_ones_are_refused(secrets):
    with zipfile.ZipFile(buffer := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("inside/notes.txt", f"one\n{SOLUTION}\n")
    inner = buffer.getvalue()
    (line,) = found(bundle(inner, "lab0/data.npz"), secrets)
    assert line.startswith("lab0/data.npz!inside/notes.txt:2 the solution of lab0")
    deeper = found(bundle(bundle(bundle("x"), "b.zip"), "lab0/a.zip"), secrets)
    assert deeper == ["lab0/a.zip!b.zip an archive that can't be looked into Take it out."]
    damaged = inner[:40] + bytes(byte ^ 255 for byte in inner[40:90]) + inner[90:]
    assert "can't be looked into" in found(bundle(damaged, "lab0/a.zip"), secrets)[0]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("lab0/graph.pyc", b"x", "bytecode"),
        ("lab0/data.gz", gzip.compress(b"x"), "an archive that can't be looked into"),
        ("lab0/data.tar", tar(), "an archive that can't be looked into"),
        ("lab0/utf16.txt", SOLUTION.encode("utf-16"), "the solution of lab0"),
    ],
)
def test_what_hides_text_is_refused_or_read(secrets, name, content, words):
    assert any(words in line for line in found(bundle(content, name), secrets))


def test_bytecode_under_another_name_is_refused(secrets):
    assert "bytecode" in found(bundle(importlib.util.MAGIC_NUMBER + b"\0" * 12, "lab0/x.dat"), secrets)[0]


def test_a_link_in_the_zip_is_refused(secrets):
    link = bundle("../../key", "lab0/x", create_system=3, external_attr=(stat.S_IFLNK | 0o777) << 16)
    assert found(link, secrets) == ["lab0/x a link Take it out."]


def test_given_code_readmes_and_words_of_the_field_are_no_leak(course, secrets):
    for name in ("graph.py", "engine.py", "README.md", "en/README.md"):
        text = (course.lab.skeleton / name).read_text(encoding="utf-8")
        assert found(bundle(text, f"lab0/{name}"), secrets) == []
    assert (
        found(
            bundle("In the end solutions differ: return node_to_grad[x]. reference/ is the team's.\n"),
            secrets,
        )
        == []
    )


def test_solutions_may_be_shown_once_their_date_has_come_hidden_tests_never(course):
    later = secrets_of(load_course(course.root), KEY, AFTER)
    assert found(bundle(f"{SOLUTION}\n{LINE}\n{ALTERNATE}"), later) == []
    assert found(bundle(PROGRAM), later) and found(bundle(MUTANT), later)
    assert found(bundle(KEY.hex()), later)


def test_text_that_a_public_test_shows_is_no_hidden_text(mini):
    (mini.lab.reference / "tests").mkdir()
    (mini.lab.reference / "tests/test_public.py").write_text(HIDDEN_TEST + "\n", encoding="utf-8")
    secrets = secrets_of(load_course(mini.root), KEY, BEFORE)
    assert found(bundle(HIDDEN_TEST), secrets) == []
    assert found(bundle(PROGRAM), secrets)


@pytest.mark.parametrize("folder", ["labkit", "tests"])
def test_the_kit_s_own_code_may_share_an_idiom_but_no_passage(secrets, folder):
    name = f"lab0/{folder}/walk.py"
    idiom = "for node in reversed(topological_order(output)):\n    for one, partial in zip(a, b):\n"
    passage = f"{idiom.replace('(a, b)', '(node.inputs, node.partials, strict=True)')}        {SOLUTION}\n"
    assert found(bundle(idiom, "lab0/notes.py"), secrets)
    assert found(bundle(idiom, name), secrets) == []
    assert found(bundle(passage, name), secrets)


def test_mutants_that_are_no_toml_are_one_line(mini):
    (mini.lab.reference / "mutants.toml").write_text("[[mutant\n")
    with pytest.raises(CourseError, match=r"reference/lab0_chains/mutants\.toml: this is not TOML"):
        secrets_of(load_course(mini.root), KEY, BEFORE)
