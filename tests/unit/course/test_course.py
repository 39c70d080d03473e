"""The course's files: what is read from them, and the one line for each defect."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from autograder.course import CourseError, load_course, valid_student_id

COURSE = """\
id = "ad2026"
name = { zh = "课", en = "Course" }
languages = ["zh", "en"]
hint_level = "topic"
submitted = "in"
out = "out"
[late]
free_days = 3
per_day = 0.1
[[lab]]
id = "lab1"
folder = "lab1_scalars"
title = { zh = "标量", en = "Scalars" }
released = 2026-10-24T00:00:00+08:00
due = 2026-11-24T23:59:00+08:00
solutions_after = 2026-12-01T00:00:00+08:00
"""
LAB = """\
modules = ["graph.py", "engine.py"]
kernels = ["kernels.cu"]
notebook = "lab1.ipynb"
[limits]
cpu_s = 7
memory_mb = 512
[limits.compile]
cpu_s = 20
[[task]]
id = "order"
points = 10
title = { zh = "顺序", en = "Order" }
file = "graph.py"
blanks = [{ name = "topological_order", minutes = 20 }]
[[task]]
id = "reverse"
points = 20
title = { zh = "反向", en = "Reverse" }
file = ["engine.py", "lab1.ipynb"]
blanks = [{ name = "predict-order", minutes = 5 }]
needs = ["order"]
[task.limits]
cpu_s = 9.5
"""


@pytest.fixture
def load(tmp_path):
    """Write the two files and load the course."""

    def load(course=COURSE, lab=LAB):
        folder = tmp_path / "reference" / "lab1_scalars"
        folder.mkdir(parents=True, exist_ok=True)
        (tmp_path / "course.toml").write_text(course, encoding="utf-8")
        (folder / "lab.toml").write_text(lab, encoding="utf-8")
        return load_course(tmp_path)

    return load


def refusal(load, **files):
    with pytest.raises(CourseError) as error:
        load(**files)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_course_is_read_with_absolute_paths_and_its_own_time_zone(load, tmp_path):
    course = load()
    lab = course.lab("lab1")
    assert (course.root, course.submitted, course.out) == (tmp_path, tmp_path / "in", tmp_path / "out")
    assert course.languages == ("zh", "en")
    assert course.name == {"zh": "课", "en": "Course"}
    assert lab.due == datetime(2026, 11, 24, 23, 59, tzinfo=timezone(timedelta(hours=8)))
    assert lab.reference == tmp_path / "reference/lab1_scalars"
    assert lab.grading == tmp_path / "reference/lab1_scalars/grading"
    assert lab.skeleton == tmp_path / "labs/lab1_scalars"
    assert (lab.modules, lab.kernels, lab.notebook) == (
        ("graph.py", "engine.py"),
        ("kernels.cu",),
        "lab1.ipynb",
    )
    assert lab.max_points == 30


def test_a_task_names_one_file_or_several(load):
    lab = load().lab("lab1")
    assert lab.task("order").files == ("graph.py",)
    assert lab.task("reverse").files == ("engine.py", "lab1.ipynb")
    assert lab.task("reverse").needs == ("order",)
    assert [(blank.name, blank.minutes) for blank in lab.task("order").blanks] == [("topological_order", 20)]


def test_a_tasks_limits_are_put_over_the_labs_and_those_over_the_defaults(load):
    lab = load().lab("lab1")
    assert (lab.task("order").limits.cpu_s, lab.task("reverse").limits.cpu_s) == (7, 9.5)
    assert (lab.task("reverse").limits.memory_mb, lab.task("reverse").limits.wall_s) == (512, 60)


def test_what_may_be_left_out_has_a_default(load):
    keep = ("id", "name", "[[lab]]", "folder", "title", "released", "due", "solutions_after")
    course = load(course="\n".join(line for line in COURSE.splitlines() if line.startswith(keep)))
    assert (course.languages, course.hint_level, course.late.free_days) == (("zh", "en"), "topic", 0)
    assert (course.submitted.name, course.out.name) == ("submitted", "graded")


def test_files_saved_on_windows_are_read(load, tmp_path):
    load()
    text = (tmp_path / "course.toml").read_text(encoding="utf-8")
    (tmp_path / "course.toml").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert load_course(tmp_path).id == "ad2026"


def test_unknown_labs_and_tasks_are_told_with_the_known_ones(load):
    course = load()
    with pytest.raises(CourseError, match=r"no lab 'lab9'.*lab1"):
        course.lab("lab9")
    with pytest.raises(CourseError, match=r"lab1 has no task 'x'.*order, reverse"):
        course.lab("lab1").task("x")


def test_a_missing_course_toml_is_told_with_its_path(tmp_path):
    with pytest.raises(CourseError) as error:
        load_course(tmp_path)
    assert str(tmp_path / "course.toml") in str(error.value)


def test_a_missing_lab_toml_is_told_with_its_path(load, tmp_path):
    load()
    (tmp_path / "reference/lab1_scalars/lab.toml").unlink()
    with pytest.raises(CourseError, match=r"reference/lab1_scalars/lab\.toml is missing"):
        load_course(tmp_path)


def test_a_course_toml_that_is_not_utf_8_or_a_folder_is_an_error(load, tmp_path):
    load()
    file = tmp_path / "course.toml"
    file.write_bytes("name = '课'".encode("gbk"))
    with pytest.raises(CourseError, match="not UTF-8"):
        load_course(tmp_path)
    file.unlink()
    file.mkdir()
    with pytest.raises(CourseError, match="can't be read"):
        load_course(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[late]", "[late", "line 7 not TOML"),
        ("[late]", "extra = 1\n[late]", "unknown field `extra`"),
        ('id = "ad2026"\n', "", "missing required field `id`"),
        ('"topic"', '"topics"', "hint_level 'topics'"),
        ('"zh", "en"]', '"zh", "fr"]', "languages 'fr'"),
        ('"zh", "en"]', '"zh", "zh"]', "languages 'zh' twice"),
        ('["zh", "en"]', "[]", "languages"),
        ('out = "out"', 'out = "./in"', "submitted, out two folders"),
        ('out = "out"', 'out = "."', "submitted, out two folders"),
        ("per_day = 0.1", "per_day = 10", "late, per_day"),
        ("per_day = 0.1", "per_day = nan", "late, per_day"),
        ('id = "lab1"', 'id = "../lab1"', '[[lab]] "../lab1", id'),
        ('id = "lab1"', 'id = "-lab1"', "id"),
        ('id = "lab1"', "id = 1", "[[lab]] number 1, id"),
        ('"lab1_scalars"', '"lab1_scalar"', "reference/lab1_scalar folder"),
        ('zh = "标量", ', "", '[[lab]] "lab1", title `zh`'),
        ('en = "Scalars"', 'en = ""', '[[lab]] "lab1", title, en'),
        ("23:59:00+08:00", "23:59:00", '[[lab]] "lab1", due offset'),
        ("2026-11-24T23:59:00+08:00", "2026-11-24", '[[lab]] "lab1", due'),
        ("due = 2026-11-24", "due = 2026-10-23", '[[lab]] "lab1" order'),
        ("after = 2026-12-01", "after = 2026-11-23", '[[lab]] "lab1" order'),
        ("[[lab]]", "[lab]", "lab"),
    ],
)
def test_a_defect_of_course_toml_is_one_line_with_its_place(load, old, new, words):
    assert old in COURSE
    message = refusal(load, course=COURSE.replace(old, new))
    assert message.startswith("course.toml: ")
    assert_holds(message, words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[limits]", "[limits", "line 4 not TOML"),
        ('notebook = "lab1.ipynb"', 'notebok = "lab1.ipynb"', "unknown field `notebok`"),
        ('"graph.py", ', "", "[[task]] \"order\", file 'graph.py'"),
        ('"graph.py", "engine.py"]', '"graph.py", "Graph.py"]', "modules twice"),
        ('"engine.py"]\nker', '"../engine.py"]\nker', "modules plain file name"),
        ('"engine.py"]\nker', '"engine.cu"]\nker', "modules ending in .py"),
        ('"engine.py"]\nker', '"class.py"]\nker', "modules 'class.py'"),
        ('"kernels.cu"', '"kernels.py"', "kernels ending in .cu"),
        ('notebook = "lab1.ipynb"', 'notebook = "lab1.py"', "notebook ending in .ipynb"),
        ('blanks = [{ name = "topological_order", minutes = 20 }]', "", "blanks names the blanks"),
        ('blanks = [{ name = "predict-order", minutes = 5 }]', "", "blanks names the blanks"),
        ("cpu_s = 7", "cpu_s = 0", "limits, cpu_s"),
        ("cpu_s = 7", "cpu_s = inf", "limits, cpu_s"),
        ("cpu_s = 7", 'cpu_s = "7"', "limits, cpu_s `str`"),
        ("memory_mb = 512", "memory_mb = -1", "limits, memory_mb"),
        ("memory_mb = 512", "memory_mb = true", "limits, memory_mb `bool`"),
        ("cpu_s = 20", "cpu_s = -20", "limits, compile, cpu_s"),
        ("cpu_s = 9.5", "cpu_s = -1", '[[task]] "reverse", limits, cpu_s'),
        ("cpu_s = 9.5", "seconds = 1", '[[task]] "reverse", limits unknown field `seconds`'),
        ("points = 10", "points = 0", '[[task]] "order", points'),
        ("points = 10", "points = 2.5", '[[task]] "order", points'),
        ('id = "reverse"', 'id = "order"', "[[task]] id 'order' twice"),
        ('zh = "反向", ', "", '[[task]] "reverse", title `zh`'),
        ('needs = ["order"]', 'needs = ["ordre"]', "[[task]] \"reverse\", needs 'ordre'"),
        ('needs = ["order"]', 'needs = ["reverse"]', '[[task]] "reverse", needs above'),
        ('file = "graph.py"', 'file = "graph.py"\nneeds = ["reverse"]', '[[task]] "order", needs above'),
        ('file = "graph.py"', "file = []", '[[task]] "order", file'),
        ('file = "graph.py"', 'file = ["graph.py", "graph.py"]', '[[task]] "order", file twice'),
        ("minutes = 20", "minutes = 0", "[[blanks]] number 1, minutes"),
    ],
)
def test_a_defect_of_lab_toml_is_one_line_with_its_place(load, old, new, words):
    assert old in LAB
    message = refusal(load, lab=LAB.replace(old, new))
    assert message.startswith("reference/lab1_scalars/lab.toml: ")
    assert_holds(message, words)


def assert_holds(message, words):
    """Each of `words` stands in the message."""
    for word in words.split():
        assert word in message, message


@pytest.mark.parametrize("key", ["id", "folder"])
def test_two_labs_of_one_name_are_refused_even_if_letters_differ_in_case(load, key):
    other = COURSE[COURSE.index("[[lab]]") :]
    other = other.replace('"lab1"', '"lab2"' if key == "folder" else '"LAB1"')
    other = other.replace('"lab1_scalars"', '"other"' if key == "id" else '"lab1_scalars"')
    assert f"[[lab]] {key}" in refusal(load, course=COURSE + other)


@pytest.mark.parametrize("id", ["s001", "a.b-c_d@uni.example", "学生1", "x" * 64, "@a"])
def test_student_ids_are_words_that_can_name_a_folder(id):
    assert valid_student_id(id)


@pytest.mark.parametrize(
    "id", ["", ".", "..", ".hidden", "a/b", "a\\b", "a b", "a\n", "x" * 65, "a:b", "a\0"]
)
def test_other_names_are_no_student_ids(id):
    assert not valid_student_id(id)


def test_the_courses_own_files_load():
    root = Path(__file__).parents[3]
    course = load_course(root)
    lab = course.lab("lab1")
    assert course.languages[0] == "zh"
    assert lab.max_points == 140
