"""`python -m labkit` as students have it: unpacked, only numpy and pytest, no network, a GBK console."""

import resource
import shutil
import signal
import subprocess
import time
import zipfile
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.intake import find_submissions, read_submission

ROOT = Path(__file__).parents[3]
HANDED_IN = ["graph.py", "engine.py", "cuda_ops.py", "kernels.cu"]


def test_the_solved_lab_passes_within_five_seconds_and_that_is_not_called_a_grade(kit):
    kit.solve().run("check", "lab1")  # compiles the kernels, once
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code, printed, errors = kit.run("check", "lab1")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Processor time: the machine of a test run is busy with others.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5
    assert (code, errors) == (0, "")
    last = printed.splitlines()[-1]
    assert "公开测试全部通过" in last and "隐藏测试" in last and "不是成绩" in last
    assert "hidden tests" in kit.run("check", "lab1", "--language", "en")[1]


def test_the_untouched_skeleton_names_every_blank_and_nothing_else(kit):
    code, printed, errors = kit.run("check", "lab1")
    assert (code, errors) == (1, "")
    lab = load_course(ROOT).lab("lab1")
    for task in (task for task in lab.tasks if lab.notebook not in task.files):
        assert all(blank.name in printed for blank in task.blanks), task.id
    assert "Traceback" not in printed and "NotImplementedError" not in printed and "不对" not in printed
    assert len(printed.splitlines()) <= 2 * 14 + 4
    code, printed, _ = kit.run("check", "lab1", "--language", "en")
    assert set(kit.states(printed).values()) == {"not written yet"}


def test_a_check_leaves_nothing_behind(kit):
    kit.solve()
    before = sorted(kit.lab.rglob("*"))
    kit.run("check", "lab1")
    assert sorted(kit.lab.rglob("*")) == before


def test_what_waits_for_another_blank_says_so(kit):
    kit.solve().edit("graph.py", "    order = []\n    seen = set()\n", "    raise NotImplementedError\n")
    _, printed, _ = kit.run("check", "lab1", "--language", "en")
    found = kit.states(printed)
    assert found["topological-order"] == "not written yet"
    assert found["reverse-mode"] == "waiting"
    assert found["central-difference"] == "passed"
    assert "first write topological_order (graph.py:" in printed


def test_a_lost_path_is_drawn_at_the_node_that_lost_it(kit):
    kit.solve().edit("engine.py", "node_to_grad.get(operand, 0.0) + partial_adjoint", "partial_adjoint")
    code, printed, _ = kit.run("check", "lab1", "--language", "en")
    assert code == 1
    assert kit.states(printed)["forward-mode"] == "passed"
    lines = [line.split() for line in printed.splitlines()]
    at = lines.index(["called", "reverse_mode(v7)[v2]"])
    assert lines[at + 1] == ["expected", "1.71633781"]
    assert lines[at + 2] == ["got", "-0.283662185"]
    assert "The adjoint of v2 is only what arrives from v5" in printed.splitlines()[at + 3]
    assert ["->", "v2", "=", "x2", "5", "-0.283662", "1.71634"] in lines[at:]


def test_a_wrong_local_derivative_is_named_with_its_operand(kit):
    kit.solve().edit("graph.py", "return (COS.compute(a),)", "return (-COS.compute(a),)")
    _, printed, _ = kit.run("check", "lab1")
    assert "v5 对 v2 的局部导数不对" in printed


def test_a_wrong_tangent_is_named_where_those_before_it_are_right(kit):
    old = "node_to_tangent.get(node, 0.0) + partial * node_to_tangent[operand]"
    kit.solve().edit("engine.py", old, "partial * node_to_tangent[operand]")
    _, printed, _ = kit.run("check", "lab1", "--language", "en")
    assert "The tangent of v6 is the first wrong one" in printed


def test_an_endless_loop_is_stopped_and_the_rest_is_checked(kit):
    kit.solve().edit(
        "engine.py",
        "    x = as_vector(x)\n    steps = step_sizes(x, h, exponent=1 / 3)",
        "    while True: pass",
    )
    code, printed, errors = kit.run("check", "lab1", "--language", "en")
    assert (code, errors) == (1, "")
    assert "was stopped after 3 s: an endless loop" in printed
    assert [task for task, state in kit.states(printed).items() if state != "passed"] == [
        "central-difference"
    ]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("import os; os._exit(0)", "(exit code 0)"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "(SIGSEGV)"),
    ],
)
def test_the_end_of_the_whole_process_is_told_and_the_rest_is_checked(kit, statement, words):
    kit.solve().edit("engine.py", "    matrix = np.zeros((len(outputs), len(inputs)))", f"    {statement}")
    code, printed, _ = kit.run("check", "lab1", "--language", "en")
    assert code == 1
    assert f"ended the whole Python process {words}" in printed
    assert [task for task, state in kit.states(printed).items() if state != "passed"] == ["jacobian"]


@pytest.mark.parametrize("statement", ["exit()", "raise SystemExit(0)", "raise KeyboardInterrupt"])
def test_leaving_by_an_exception_passes_for_no_success(kit, statement):
    kit.solve().edit("engine.py", "    matrix = np.zeros((len(outputs), len(inputs)))", f"    {statement}")
    code, printed, _ = kit.run("check", "lab1", "--language", "en")
    assert code == 1
    assert [task for task, state in kit.states(printed).items() if state != "passed"] == ["jacobian"]


def test_a_syntax_error_is_named_with_its_line_and_spares_the_other_module(kit):
    kit.solve().edit(
        "engine.py",
        "    x = as_vector(x)\n    steps = step_sizes(x, h, exponent=1 / 3)",
        "    x = (1,\n    y = 2",
    )
    text = (kit.lab / "engine.py").read_text(encoding="utf-8")
    line = text[: text.index("x = (1,")].count("\n") + 1
    code, printed, errors = kit.run("check", "lab1", "--language", "en")
    assert (code, errors) == (1, "")
    assert f"engine.py, line {line} is not valid Python: '(' was never closed (x = (1,)" in printed
    found = kit.states(printed)
    assert found["local-derivatives"] == found["topological-order"] == "passed"
    assert found["reverse-mode"] == "waiting"
    assert f"engine.py 第 {line} 行" in kit.run("check", "lab1")[1]


@pytest.mark.parametrize(
    ("first_line", "words"),
    [
        ("while True: pass", "importing engine.py was stopped after 3 s"),
        ("import os; os._exit(7)", "importing engine.py ended the whole Python process (exit code 7)"),
        ("exit()", "engine.py can't be imported: SystemExit"),
        ("import torch_that_is_not_there", "No module named 'torch_that_is_not_there'"),
    ],
)
def test_a_module_that_cannot_be_imported_is_told_once(kit, first_line, words):
    kit.solve()
    file = kit.lab / "engine.py"
    file.write_text(first_line + "\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    code, printed, errors = kit.run("check", "lab1", "--language", "en")
    assert (code, errors) == (1, "")
    assert printed.count(words) == 1
    assert kit.states(printed)["local-derivatives"] == "passed"
    assert "Traceback" not in printed


def test_a_file_in_another_encoding_is_told_with_the_mend(kit):
    file = kit.solve().lab / "engine.py"
    file.write_bytes(file.read_text(encoding="utf-8").encode("gbk", "replace"))
    code, printed, _ = kit.run("check", "lab1", "--language", "en")
    assert code == 1
    assert "the text isn't UTF-8 but probably GBK" in printed


def test_a_missing_module_is_told(kit):
    (kit.solve().lab / "engine.py").unlink()
    code, printed, _ = kit.run("check", "lab1")
    assert code == 1
    assert "缺少 engine.py" in printed


def test_an_exception_shows_the_students_lines_only_and_what_was_printed(kit):
    kit.solve().edit(
        "engine.py",
        "        adjoint = node_to_grad[node]",
        "        print('看', 1)\n        adjoint = {}[node]",
    )
    _, printed, _ = kit.run("check", "lab1", "--language", "en")
    assert "stopped with KeyError" in printed
    assert "reverse_mode: adjoint = {}[node]" in printed
    assert "| 看 1" in printed
    assert "test_" not in printed and "pytest" not in printed and str(kit.root) not in printed


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("breakpoint()", "A debugger was left in the code (breakpoint or set_trace; engine.py, line "),
        ("import pdb; pdb.set_trace()", "A debugger was left in the code"),
        ("matrix = input()", "The code asks for keyboard input (engine.py, line "),
    ],
)
def test_what_waits_for_a_person_is_told_as_the_grader_tells_it(kit, statement, words):
    kit.solve().edit("engine.py", "    matrix = np.zeros((len(outputs), len(inputs)))", f"    {statement}")
    code, printed, errors = kit.run("check", "lab1", "--language", "en")
    assert (code, errors) == (1, "")
    assert words in printed


def test_the_same_seed_gives_the_same_report_and_another_one_other_inputs(kit):
    kit.solve().edit("graph.py", "return (ieee_divide(1.0, a),)", "return (a,)")
    first = kit.run("check", "lab1", "--seed", "5")[1]
    assert kit.run("check", "lab1", "--seed", "5")[1] == first
    other = kit.run("check", "lab1", "--seed", "6")[1]
    assert other.replace("6", "") != first.replace("5", "")


def test_files_that_bear_names_of_libraries_do_no_harm(kit):
    kit.solve()
    for folder in (kit.root, kit.lab):
        for name in ("random.py", "pytest.py", "numpy.py", "json.py", "conftest.py", "pytest.ini"):
            (folder / name).write_text("raise RuntimeError('in the way')\n")
    for start in (kit.root, kit.lab.parent):
        if start != kit.root:
            shutil.copytree(kit.root / "labkit", start / "labkit")
        code, printed, errors = kit.run("check", "lab1", start=start)
        assert (code, errors) == (0, ""), printed


def test_ctrl_c_is_one_line(kit):
    kit.solve().edit(
        "engine.py",
        "    x = as_vector(x)\n    steps = step_sizes(x, h, exponent=1 / 3)",
        "    while True: pass",
    )
    command, options = kit.command("check", "lab1")
    process = subprocess.Popen(command, **options, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == 130
    assert errors.decode("gbk").splitlines() == ["labkit: 已中断。"]


def test_doctor_is_content_with_numpy_and_pytest(kit):
    code, printed, errors = kit.run("doctor")
    assert (code, errors) == (0, "")
    for word in ("numpy", "pytest", "GPU", "C++", "需要的都有了"):
        assert word in printed


def test_doctor_names_the_mend_for_what_is_missing(kit, python_without_numpy):
    python = python_without_numpy
    code, printed, errors = kit.run("doctor", "--language", "en", python=python)
    assert (code, errors) == (1, "")
    (line,) = [line for line in printed.splitlines() if line.startswith("MEND")]
    assert "numpy is not installed" in line and "-m pip install numpy" in line
    code, _, errors = kit.run("check", "lab1", python=python)
    assert (code, len(errors.splitlines())) == (2, 1)
    assert "pip install numpy" in errors


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "lab9"],
        ["open", "lab9"],
        ["pack", "lab9"],
        ["check", "lab1", "--seed", "-1"],
        ["check", "lab1", "lab2"],
        ["grade"],
        ["--language", "fr"],
        ["doctor", "--all"],
    ],
    ids=" ".join,
)
def test_wrong_use_is_one_line(kit, arguments):
    for language in ("zh", "en"):
        code, printed, errors = kit.run(
            *arguments, *([] if "--language" in arguments else ["--language", language])
        )
        assert (code, printed, len(errors.splitlines())) == (2, "", 1)
        assert errors.startswith("labkit: ")


def test_no_command_lists_the_commands(kit):
    for arguments in ([], ["--help"], ["-h"]):
        code, printed, _ = kit.run(*arguments)
        assert code == 0
        assert all(f"  {command}" in printed for command in ("check LAB", "doctor", "open LAB", "pack LAB"))
    assert "run the lab's public tests" in kit.run("--language", "en")[1]


def test_a_spoilt_test_folder_is_told_as_such(kit):
    kit.solve()
    (kit.lab / "tests" / "test_order.py").write_text("def test(:\n")
    code, _, errors = kit.run("check", "lab1", "--language", "en")
    assert (code, len(errors.splitlines())) == (2, 1)
    assert "tests/" in errors and "afresh" in errors


def test_what_is_packed_is_what_intake_takes(kit, tmp_path):
    kit.solve().edit("engine.py", "import numpy as np\n", "import numpy as np\nimport 帮手\n")
    (kit.lab / "帮手.py").write_text("x = 1\n", encoding="utf-8")
    (kit.lab / "scratch.py").write_text("x = 1\n", encoding="utf-8")
    code, printed, errors = kit.run("pack", "lab1")
    assert (code, errors) == (0, "")
    assert str(kit.root / "lab1.zip") in printed
    student = tmp_path / "submitted" / "2400012345"
    student.mkdir(parents=True)
    (kit.root / "lab1.zip").rename(student / "lab1.zip")
    (found,) = find_submissions(tmp_path / "submitted", "lab1").found
    submission = read_submission(found, HANDED_IN)
    assert (submission.error, submission.problems, submission.notes) == (None, {}, ())
    names = [*HANDED_IN, "帮手.py"]
    assert submission.files == {name: (kit.lab / name).read_text(encoding="utf-8") for name in names}


def test_all_that_pack_refuses_is_refused_by_intake_too(kit, tmp_path):
    kit.solve()
    (kit.lab / "engine.py").write_bytes("# 注释\n".encode("gbk"))
    assert kit.run("pack", "lab1")[0] == 1
    student = tmp_path / "submitted" / "s"
    shutil.copytree(kit.lab, student / "lab1")
    (found,) = find_submissions(tmp_path / "submitted", "lab1").found
    assert list(read_submission(found, ["graph.py", "engine.py"]).problems) == ["engine.py"]


def test_archives_hold_no_tests_and_no_leftovers(kit):
    kit.solve()
    (kit.lab / "__pycache__").mkdir()
    (kit.lab / "__pycache__" / "graph.pyc").write_bytes(b"\0")
    kit.run("pack", "lab1")
    assert zipfile.ZipFile(kit.root / "lab1.zip").namelist() == [*HANDED_IN, "lab1.ipynb"]
