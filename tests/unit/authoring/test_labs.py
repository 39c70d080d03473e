"""labs/ and build/solved/, generated from a small course and from the real one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring.labs import check_labs, write_labs
from autograder.course import CourseError, load_course

ROOT = Path(__file__).parents[3]
COURSE = """\
id = "c"
name = { zh = "课", en = "Course" }
[[lab]]
id = "one"
folder = "one_scalars"
title = { zh = "标量", en = "Scalars" }
released = 2026-10-24T00:00:00Z
due = 2026-11-24T00:00:00Z
solutions_after = 2026-12-01T00:00:00Z
"""
LAB = """\
modules = ["graph.py"]
kernels = ["kernels.cu"]
[[task]]
id = "log"
points = 10
title = { zh = "对数", en = "Logarithm" }
file = "graph.py"
blanks = [{ name = "log", minutes = 5 }]
[[task]]
id = "f"
points = 5
title = { zh = "核函数", en = "Kernel" }
file = "kernels.cu"
blanks = [{ name = "f", minutes = 5 }]
"""
SOURCES = {
    "lab.toml": LAB,
    "graph.py": "def log(x):\n    ### BEGIN SOLUTION\n    return 'secret'\n    ### END SOLUTION\n",
    "kernels.cu": "__global__ void f() {\n  // BEGIN SOLUTION\n  secret();\n  // END SOLUTION\n}\n",
    "README.md": "# Lab [中文](README.zh-CN.md) [graph](graph.py) [web](https://example.org) [below](#lab)\n",
    "README.zh-CN.md": "# 实验 [English](README.md) [graph](graph.py)\r\n",
    "mutants.toml": "secret",
    "grading/programs.py": "secret = 1\n",
    "tests/test_log.py": "def test_log():\r\n    pass\r\n",
    "alternates/other/graph.py": "secret = 1\n",
}
MANIFEST = """\
# Made by `make labs` from course.toml and lab.toml.
id = "one"
title = { zh = "标量", en = "Scalars" }
language = "zh"
modules = ["graph.py"]
kernels = ["kernels.cu"]

[[task]]
id = "log"
title = { zh = "对数", en = "Logarithm" }
points = 10
file = ["graph.py"]
blanks = [{ name = "log", minutes = 5 }]

[[task]]
id = "f"
title = { zh = "核函数", en = "Kernel" }
points = 5
file = ["kernels.cu"]
blanks = [{ name = "f", minutes = 5 }]
"""
BESIDE = {"manifest.toml": MANIFEST, "tests/test_log.py": "def test_log():\n    pass\n"}
SKELETON = {
    "one_scalars/graph.py": "def log(x):\n    # YOUR CODE HERE\n    raise NotImplementedError\n",
    "one_scalars/kernels.cu": "__global__ void f() {\n  // YOUR CODE HERE\n}\n",
    "one_scalars/README.md": "# 实验 [English](en/README.md) [graph](graph.py)\n",
    "one_scalars/en/README.md": "# Lab [中文](../README.md) [graph](../graph.py) "
    "[web](https://example.org) [below](#lab)\n",
} | {f"one_scalars/{name}": text for name, text in BESIDE.items()}
SOLVED = {
    "one/graph.py": "def log(x):\n    return 'secret'\n",
    "one/kernels.cu": "__global__ void f() {\n  secret();\n}\n",
} | {f"one/{name}": text for name, text in BESIDE.items()}


@pytest.fixture
def course(tmp_path):
    (tmp_path / "course.toml").write_text(COURSE, encoding="utf-8")
    for name, text in SOURCES.items():
        file = tmp_path / "reference/one_scalars" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return load_course(tmp_path)


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().decode()
        for path in sorted(folder.rglob("*"))
        if not path.is_dir()
    }


def test_labs_hold_what_is_named_and_nothing_that_is_hidden(course):
    write_labs(course)
    assert tree(course.root / "labs") == SKELETON


def test_the_solved_lab_is_what_a_student_would_hand_in(course):
    write_labs(course)
    assert tree(course.root / "build/solved") == SOLVED


def test_the_courses_first_language_stands_at_the_top(course):
    file = course.root / "course.toml"
    file.write_text('languages = ["en", "zh"]\n' + COURSE, encoding="utf-8")
    write_labs(load_course(course.root))
    labs = tree(course.root / "labs/one_scalars")
    assert labs["README.md"].startswith("# Lab [中文](zh/README.md)")
    assert labs["zh/README.md"].startswith("# 实验 [English](../README.md)")


def test_writing_twice_changes_no_byte_and_touches_no_file(course):
    write_labs(course)
    before = {path: path.stat().st_mtime_ns for path in (course.root / "labs").rglob("*")}
    write_labs(course)
    assert {path: path.stat().st_mtime_ns for path in (course.root / "labs").rglob("*")} == before


def test_whatever_else_lies_in_labs_is_removed_except_what_running_leaves(course):
    labs = course.root / "labs"
    for name in ("stray.py", "old_lab/graph.py", "one_scalars/grading/test_lab.py", "one_scalars/.hidden"):
        (labs / name).parent.mkdir(parents=True, exist_ok=True)
        (labs / name).write_text("stray")
    (labs / "one_scalars/__pycache__").mkdir()
    (labs / "one_scalars/__pycache__/graph.pyc").write_text("left")
    write_labs(course)
    assert tree(labs) == SKELETON | {"one_scalars/__pycache__/graph.pyc": "left"}
    assert check_labs(course) == ""


def test_links_in_labs_are_removed_and_never_followed(course, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "precious.py").write_text("precious")
    lab = course.root / "labs/one_scalars"
    lab.mkdir(parents=True)
    (lab / "stray").symlink_to(outside)
    (lab / "en").symlink_to(outside)
    (lab / "graph.py").symlink_to(outside / "precious.py")
    assert "labs/one_scalars/graph.py is not a plain file" in check_labs(course)
    write_labs(course)
    assert tree(course.root / "labs") == SKELETON
    assert tree(outside) == {"precious.py": "precious"}
    assert not any(path.is_symlink() for path in lab.rglob("*"))


def test_labs_that_are_a_link_themselves_are_refused(course, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "precious").write_text("precious")
    (course.root / "labs").symlink_to(outside)
    for act in (write_labs, check_labs):
        with pytest.raises(CourseError, match="labs is not a plain folder"):
            act(course)
    assert tree(outside) == {"precious": "precious"}


def test_a_file_in_the_place_of_a_folder_and_the_other_way_round_are_put_right(course):
    lab = course.root / "labs/one_scalars"
    (lab / "graph.py/inner").mkdir(parents=True)
    (lab / "en").write_text("a file")
    assert check_labs(course) != ""
    write_labs(course)
    assert tree(course.root / "labs") == SKELETON


def test_labs_in_step_give_no_difference(course):
    write_labs(course)
    assert check_labs(course) == ""


def test_a_drift_is_shown_as_a_diff_that_names_the_mend(course):
    write_labs(course)
    skeleton = course.root / "labs/one_scalars/graph.py"
    skeleton.write_text(skeleton.read_text().replace("raise NotImplementedError", "return 1"))
    before = tree(course.root / "labs")
    shown = check_labs(course).splitlines()
    assert shown[0].startswith("--- labs/one_scalars/graph.py")
    assert "-    return 1" in shown
    assert "+    raise NotImplementedError" in shown
    assert shown[-1].endswith("make labs")
    assert tree(course.root / "labs") == before


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("one_scalars/graph.py", None, "+def log(x):"),
        ("one_scalars/extra.py", b"", "labs/one_scalars/extra.py comes from nothing"),
        ("two/graph.py", b"x", "labs/two/graph.py comes from nothing"),
        ("one_scalars/en/README.md", b"\xff\xfe\n", "-\\xff\\xfe"),
        (
            "one_scalars/kernels.cu",
            SKELETON["one_scalars/kernels.cu"].replace("\n", "\r\n").encode(),
            "-}\\r",
        ),
        ("one_scalars/kernels.cu", SKELETON["one_scalars/kernels.cu"].rstrip().encode(), "no newline"),
    ],
)
def test_missing_stray_and_unreadable_files_are_a_drift(course, name, content, words):
    write_labs(course)
    file = course.root / "labs" / name
    if content is None:
        file.unlink()
    else:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    assert words in check_labs(course)


def test_before_the_first_writing_everything_is_missing(course):
    assert check_labs(course).count("--- /dev/null") == len(SKELETON)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("kernels.cu", b"// BEGIN SOLUTION\n", "reference/one_scalars/kernels.cu:1: "),
        ("kernels.cu", None, "reference/one_scalars/kernels.cu is missing"),
        ("kernels.cu", "// 核".encode("gbk"), "reference/one_scalars/kernels.cu: byte"),
        ("README.zh-CN.md", None, "reference/one_scalars/README.zh-CN.md is missing"),
        ("README.md", b"\n### BEGIN SOLUTION\n", "reference/one_scalars/README.md:2: "),
        ("tests/test_log.py", b"\n### END SOLUTION\n", "reference/one_scalars/tests/test_log.py:2: "),
        (
            "README.md",
            b"\n[x](grading/programs.py)\n",
            "reference/one_scalars/README.md:2: 'grading/programs.py'",
        ),
        (
            "lab.toml",
            LAB.replace('name = "log"', 'name = "logs"').encode(),
            """reference/one_scalars/lab.toml: [[task]] "log", blanks: graph.py has no blank 'logs'. """
            "Name one of: log.",
        ),
        (
            "lab.toml",
            LAB.replace('name = "f"', 'name = "log"').encode(),
            """reference/one_scalars/lab.toml: [[task]] "f", blanks: kernels.cu has no blank 'log'. """
            "Name one of: f.",
        ),
        (
            "graph.py",
            SOURCES["graph.py"]
            .replace("def log", "class A:\n  def log")
            .replace("    #", "      #")
            .replace("    ret", "      ret")
            .encode()
            + SOURCES["graph.py"].encode(),
            "reference/one_scalars/lab.toml: no task names the blank 'A.log' of graph.py. Add it",
        ),
        (
            "graph.py",
            b"def log(x):\n    return 1\n",
            "reference/one_scalars/lab.toml: [[task]] \"log\", blanks: graph.py has no blank 'log'. "
            "Name one of: none is there; mark the solution.",
        ),
    ],
)
def test_a_defect_in_any_source_leaves_everything_as_it_was(course, name, content, words):
    write_labs(course)
    graph = course.lab("one").reference / "graph.py"
    graph.write_text(graph.read_text() + "x = 1\n")
    file = course.lab("one").reference / name
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(CourseError) as error:
        write_labs(load_course(course.root))
    assert str(error.value).startswith(words)
    assert "\n" not in str(error.value)
    assert tree(course.root / "labs") == SKELETON
    assert tree(course.root / "build/solved") == SOLVED


def test_a_place_that_cannot_be_written_is_one_clear_line(course):
    (course.root / "build").write_text("a file where a folder is due")
    with pytest.raises(CourseError, match="can't be written"):
        write_labs(course)


@pytest.fixture(scope="module")
def real_course():
    return load_course(ROOT)


def test_the_real_labs_are_in_step_with_their_sources(real_course):
    assert check_labs(real_course) == ""


def test_the_real_skeletons_import_and_hold_no_solution(real_course):
    for lab in real_course.labs:
        assert not any("SOLUTION" in text for text in tree(lab.skeleton).values())
        imports = "; ".join(f"import {module.removesuffix('.py')}" for module in lab.modules)
        environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([sys.executable, "-c", imports], cwd=lab.skeleton, env=environment, check=True)
