"""A lab's zip is put in place only after it has proved itself; whatever keeps it back is one line."""

import io
import os
import shutil
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from autograder.authoring import release_proof
from autograder.authoring.labs import write_labs
from autograder.authoring.leaks import scan
from autograder.authoring.leaks_secrets import secrets_of
from autograder.authoring.release import release, told
from autograder.authoring.release_bundle import files_of, name_of, packed
from autograder.cli import main
from autograder.course import CourseError, load_course

ROOT = Path(__file__).parents[3]
BEFORE, AFTER = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 2, tzinfo=UTC)
LIBRARY = {
    "labkit/__init__.py": "",
    "labkit/messages/words.toml": 'zh = "节点"\n',
    "environment.yml": "name: adkit\n",
}
FILES = [
    "README.md",
    "en/README.md",
    "engine.py",
    "environment.yml",
    "graph.py",
    "labkit/__init__.py",
    "labkit/messages/words.toml",
    "manifest.toml",
]


def equip(course):
    """The mini course with what of the kit goes into a bundle."""
    for name, text in LIBRARY.items():
        (course.root / name).parent.mkdir(parents=True, exist_ok=True)
        (course.root / name).write_text(text, encoding="utf-8")
    return course


@pytest.fixture
def kit(mini):
    return equip(mini)


@pytest.fixture
def bundled(kit):
    """The zip of the mini lab, unproved."""
    course = load_course(kit.root)
    files = files_of(course, kit.lab, "zh")
    return packed(name_of(kit.lab, files), files)


def refused(kit, level="none", now=BEFORE, lab="lab0"):
    """The line that a release is refused with; nothing may be left behind."""
    out = kit.root / "build/release"
    before = sorted(out.glob("*"))
    with pytest.raises(CourseError) as refusal:
        release(load_course(kit.root), lab, None, out, level, now)
    assert sorted(out.glob("*")) == before
    line = str(refusal.value)
    assert "\n" not in line
    return line


@pytest.fixture(scope="module")
def released(mini_course, tmp_path_factory, level):
    kit = equip(mini_course(tmp_path_factory.mktemp("release") / "course"))
    return kit, release(load_course(kit.root), "lab0", None, kit.root / "out", level, BEFORE)


def test_a_sound_lab_is_released(released):
    kit, one = released
    assert one.path.parent == kit.root / "out" and one.fresh
    assert [path.name for path in one.path.parent.iterdir()] == [one.path.name]
    content = one.path.read_bytes()
    assert one.size == len(content) and one.files == len(FILES)
    with zipfile.ZipFile(one.path) as archive:
        assert archive.namelist() == [f"{one.path.stem}/{name}" for name in FILES]
        for name in ("graph.py", "engine.py"):
            assert archive.read(f"{one.path.stem}/{name}").decode() == kit.skeleton[name]


def test_what_was_proved_is_told_in_three_lines(released, level):
    _, one = released
    first, second, third = told(one).splitlines()
    assert first == str(one.path)
    assert second == f"{-(-one.size // 1024)} KB, {len(FILES)} files, sha256 {one.sha256}"
    assert f"level {level}" in third and "0 of 10 points" in third and "earns 10" in third
    assert "solution of lab0" in third


def test_the_same_release_again_says_that_it_is_there_and_touches_nothing(released, level):
    kit, one = released
    before = one.path.stat().st_mtime_ns
    again = release(load_course(kit.root), "lab0", None, kit.root / "out", level, AFTER)
    assert (again.path, again.sha256, again.fresh) == (one.path, one.sha256, False)
    assert one.path.stat().st_mtime_ns == before
    assert "there already" in told(again)
    assert "solution" not in told(again)  # they may be seen by now


def test_another_file_in_its_place_is_never_overwritten(kit, bundled):
    out = kit.root / "build/release"
    out.mkdir(parents=True)
    with zipfile.ZipFile(io.BytesIO(bundled)) as archive:
        name = archive.namelist()[0].partition("/")[0] + ".zip"
    (out / name).write_bytes(b"a TA's own")
    assert f"{out / name} holds something else. Move it away" in refused(kit)
    assert (out / name).read_bytes() == b"a TA's own"


def test_a_later_release_has_another_name_and_so_spares_a_student_s_folder(kit, bundled, tmp_path):
    folder = tmp_path / "student"
    with zipfile.ZipFile(io.BytesIO(bundled)) as archive:
        archive.extractall(folder)
    (top,) = folder.iterdir()
    (top / "graph.py").write_text("my work")
    kit.edit("reference/lab0_chains/graph.py", "A leaf.", "A leaf of the graph.")
    course = load_course(kit.root)
    write_labs(course)
    files = files_of(course, kit.lab, "zh")
    with zipfile.ZipFile(io.BytesIO(packed(name_of(kit.lab, files), files))) as archive:
        archive.extractall(folder)
    assert len(list(folder.iterdir())) == 2
    assert (top / "graph.py").read_text() == "my work"


def test_the_bytes_depend_on_the_content_alone(kit, bundled, tmp_path):
    os.utime(kit.root / "environment.yml", (1, 1))
    (kit.root / "labkit/__init__.py").chmod(0o777)
    (kit.root / "labkit/__pycache__").mkdir()
    (kit.root / "labkit/__pycache__/left.pyc").write_bytes(b"left")
    shutil.copytree(kit.root, tmp_path / "elsewhere")
    course = load_course(tmp_path / "elsewhere")
    files = files_of(course, course.lab("lab0"), "zh")
    assert packed(name_of(course.lab("lab0"), dict(reversed(files.items()))), files) == bundled


def test_every_entry_unpacks_anywhere(kit):
    (kit.root / "labkit/说明.md").write_text("节点", encoding="utf-8")
    files = files_of(load_course(kit.root), kit.lab, "zh")
    with zipfile.ZipFile(io.BytesIO(packed("lab0-1", files))) as archive:
        assert archive.testzip() is None and archive.comment == b""
        for entry in archive.infolist():
            assert entry.external_attr >> 16 == 0o100644 and entry.create_system == 3
            assert not entry.is_dir() and entry.extra == entry.comment == b""
            assert entry.filename.isascii() or entry.flag_bits & 0x800  # the flag for UTF-8
            assert entry.compress_type == zipfile.ZIP_STORED


@pytest.mark.parametrize(
    ("language", "top", "beside", "words"),
    [
        ("zh", "# 链", "en/README.md", "编号"),
        ("en", "# Chains", "zh/README.md", "release number"),
    ],
)
def test_the_chosen_language_s_readme_stands_at_the_top_and_tells_how_to_update(
    kit, language, top, beside, words
):
    files = files_of(load_course(kit.root), kit.lab, language)
    assert files["README.md"].decode().startswith(top)
    assert f"]({beside})" in files["README.md"].decode() and beside in files
    assert words in files["README.md"].decode() and "graph.py, engine.py" in files["README.md"].decode()


def test_a_language_that_the_course_lacks_is_refused(kit):
    with pytest.raises(CourseError, match=r"no language 'fr'\. There are: zh, en"):
        release(load_course(kit.root), "lab0", "fr", kit.root / "out", "none", BEFORE)


def test_labs_out_of_step_are_refused(kit):
    kit.edit("labs/lab0_chains/graph.py", "A leaf.", "A leave.")
    assert refused(kit) == (
        "labs/ is not what reference/ gives: labs/lab0_chains/graph.py differs. Run: make labs"
    )


def test_links_are_refused_by_name_and_never_followed(kit, tmp_path):
    (tmp_path / "precious.py").write_text("precious")
    link = kit.root / "labs/lab0_chains/graph.py"
    link.unlink()
    link.symlink_to(tmp_path / "precious.py")
    assert "labs/lab0_chains/graph.py is not a plain file. Run: make labs" in refused(kit)
    write_labs(load_course(kit.root))
    for path in ("environment.yml", "labkit/__init__.py", "labkit/messages"):
        kept = tmp_path / "kept"
        (kit.root / path).rename(kept)
        (kit.root / path).symlink_to(kept)
        assert refused(kit).startswith(f"{path} is a link")
        (kit.root / path).unlink()
        kept.rename(kit.root / path)
    (kit.root / "labkit/more.py").hardlink_to(tmp_path / "precious.py")
    assert refused(kit).startswith("labkit/more.py is a link")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("labkit/.graph.py.swp", "hidden or a backup"),
        ("labkit/graph.py~", "hidden or a backup"),
        ("labkit/aux.py", "can't be unpacked on Windows"),
        ("labkit/what?.md", "can't be unpacked on Windows"),
        ("labkit/two\nlines.md", "can't be unpacked on Windows"),
        (os.fsdecode(b"labkit/\xff.md"), "can't be unpacked on Windows"),
        ("labkit/Messages/x.md", None),
        ("labkit/__INIT__.py", "are one file on Windows"),
    ],
)
def test_names_that_some_system_cannot_hold_are_refused(kit, name, words):
    (kit.root / name).parent.mkdir(exist_ok=True)
    (kit.root / name).write_text("x")
    course = load_course(kit.root)
    if words is None:
        assert name in files_of(course, kit.lab, "zh")
    else:
        line = refused(kit)
        assert words in line and (name in line or repr(name) in line)


def test_a_kit_that_is_incomplete_is_refused(kit):
    (kit.root / "environment.yml").unlink()
    assert refused(kit).startswith("environment.yml can't be read: No such file or directory.")
    shutil.rmtree(kit.root / "labkit")
    assert refused(kit).startswith("labkit can't be read")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "labkit/messages/words.toml",
            "x = 1\n# reference/lab0_chains\n",
            "labkit/messages/words.toml:2 holds a path",
        ),
        (
            "environment.yml",
            "\n\nnode_to_grad={output:seed}\n",
            "environment.yml:3 holds the solution of lab0",
        ),
        ("labkit/x.md", bytes(range(32)).hex(), "labkit/x.md:1 holds the course's secret key"),
        ("labkit/x.pyc", "x", "labkit/x.pyc holds bytecode"),
    ],
)
def test_a_leak_is_refused_with_file_line_source_and_mend(kit, name, text, words):
    (kit.root / name).write_text(text)
    line = refused(kit)
    assert line.startswith("In the bundle, lab0-") and f"/{words}" in line and "Take it out" in line


ORDER_INSTEAD = 'graph.py"\nblanks = [{ name = "topological_order"'  # another blank for what is given solved


def test_a_solved_base_is_refused_while_its_own_lab_is_open(kit):
    """Lab 2 gives what lab 1 asks for: it waits for lab 1's solutions, and the line says how long."""
    shutil.copytree(kit.lab.reference, kit.root / "reference/lab2_more")
    marked = kit.root / "reference/lab2_more/engine.py"
    lines = marked.read_text(encoding="utf-8").splitlines(keepends=True)
    marked.write_text("".join(line for line in lines if "SOLUTION" not in line), encoding="utf-8")
    kit.edit("reference/lab2_more/lab.toml", 'engine.py"\nblanks = [{ name = "reverse_mode"', ORDER_INSTEAD)
    entry = (kit.root / "course.toml").read_text(encoding="utf-8").partition("[[lab]]")[2]
    later = entry.replace("lab0_chains", "lab2_more").replace("lab0", "lab2").replace("2026-10", "2026-11")
    with (kit.root / "course.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n[[lab]]{later.replace('2026-12-01', '2027-01-31')}")
    course = load_course(kit.root)
    write_labs(course)
    line = refused(kit, lab="lab2")
    assert "engine.py:7 holds the solution of lab0, closed until 2026-12-01 00:00:00+08:00" in line
    assert "release after that" in line
    files = files_of(course, course.lab("lab2"), "zh")
    moment = course.lab("lab0").solutions_after
    for now, closed in ((moment - timedelta(seconds=1), True), (moment, False)):
        leaks = scan(packed("lab2-1", files), secrets_of(course, bytes(32), now))
        assert any("engine.py" in leak.where for leak in leaks) == closed
        assert all("lab0" in leak.what for leak in leaks)
    # What lab 2 gives solved may not hide it in lab 1 either.
    (kit.root / "labkit/notes.md").write_text(marked.read_text(encoding="utf-8"), encoding="utf-8")
    assert "notes.md" in refused(kit)


def test_lab_2_waits_for_the_solutions_of_lab_1_and_shows_none_of_its_own():
    course = load_course(ROOT)
    archive = packed("lab2-1", files_of(course, course.lab("lab2"), "zh"))
    moment = course.lab("lab1").solutions_after
    assert moment <= course.lab("lab2").released
    early, late = (
        scan(archive, secrets_of(course, bytes(32), now)) for now in (moment - timedelta(seconds=1), moment)
    )
    assert early
    assert all("the solution of lab1, closed until" in leak.what for leak in early)
    assert late == []


def test_a_skeleton_that_earns_points_is_refused(kit, level):
    kit.edit(
        "reference/lab0_chains/graph.py",
        "    ### BEGIN SOLUTION\n    return Node(a.value",
        "    return Node(a.value",
    )
    kit.edit("reference/lab0_chains/graph.py", "(2 * a.value,))\n    ### END SOLUTION", "(2 * a.value,))")
    kit.edit("reference/lab0_chains/lab.toml", 'graph.py"\nblanks = [{ name = "square"', ORDER_INSTEAD)
    write_labs(load_course(kit.root))
    line = refused(kit, level)
    assert line.startswith("lab0: the untouched skeleton gets 'passed', 2 points, for the task square")


@pytest.mark.parametrize(
    ("name", "call"), [("graph.py", "square(variable(2.0))"), ("engine.py", "topological_order(None)")]
)
def test_a_skeleton_that_cannot_be_imported_is_refused(kit, level, name, call):
    kit.edit(
        "reference/lab0_chains/graph.py", "for one in node.inputs]", "for one in getattr(node, 'inputs', ())]"
    )
    with (kit.lab.reference / name).open("a", encoding="utf-8") as file:
        file.write(f"\n\nRESULT = {call}\n")
    write_labs(load_course(kit.root))
    line = refused(kit, level)
    assert line.startswith(f"lab0: the untouched skeleton can't be imported: import {name} "), line


def test_a_check_that_the_reference_fails_is_refused(kit, level):
    kit.add_checks(
        "import pytest\n\n@pytest.mark.task('square')\n@pytest.mark.points(0)\n"
        "def test_fails_by_itself(compare):\n    '''Fails.\n    失败。'''\n    1 / 0\n"
    )
    assert "the reference itself fails the check" in refused(kit, level)


def test_a_solved_lab_that_loses_points_is_refused(kit, level, monkeypatch):
    wrong = kit.solved["graph.py"].replace("2 * a.value", "3 * a.value")
    solved = {**{name: text.encode() for name, text in kit.solved.items()}, "graph.py": wrong.encode()}
    monkeypatch.setattr(release_proof, "solved_files", lambda course, lab: solved)
    line = refused(kit, level)
    assert line.startswith(
        "lab0: the solved lab gets 'wrong' for the task square (test_graph.py::test_square: "
    )


def run(folder, monkeypatch, *arguments):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["autograder", "release", *arguments])
    with pytest.raises(SystemExit) as ending:
        main()
    return ending.value.code


def test_the_command_prints_where_the_zip_is(kit, monkeypatch, capsys):
    assert run(kit.root, monkeypatch, "lab0", "--language", "en") == 0
    out, _ = capsys.readouterr()
    assert out.startswith("build/release/lab0-")
    with zipfile.ZipFile(kit.root / out.splitlines()[0]) as archive:
        top = archive.namelist()[0].partition("/")[0]
        assert archive.read(f"{top}/README.md").startswith(b"# Chains")


@pytest.mark.parametrize(
    ("arguments", "words"), [((), "LAB"), (("lab7",), "no lab 'lab7'. There are: lab0.")]
)
def test_wrong_use_is_exit_code_2(kit, monkeypatch, capsys, arguments, words):
    assert run(kit.root, monkeypatch, *arguments) == 2
    assert words in capsys.readouterr().err


def test_lab_1_is_fit_for_release_while_its_solutions_are_closed(level, tmp_path):
    course = load_course(ROOT)
    one = release(course, "lab1", None, tmp_path, level, course.lab("lab1").due)
    assert one.fresh and one.closed == ("lab1", "lab2")
    with zipfile.ZipFile(one.path) as archive:
        names = [name.partition("/")[2] for name in archive.namelist()]
        archive.extractall(tmp_path)
    assert {
        "graph.py",
        "engine.py",
        "README.md",
        "en/README.md",
        "environment.yml",
        "labkit/__init__.py",
    } <= {*names}
    command = [sys.executable, "-c", "import engine, graph, labkit; print(labkit.__file__)"]
    folder = tmp_path / one.path.stem
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == folder / "labkit/__init__.py"
