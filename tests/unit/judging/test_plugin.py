"""Grading tests that are bad themselves: each is told in a line, and none takes points from anybody."""

import pytest

from autograder import key
from autograder.course import CourseError
from autograder.judging.explain import in_full
from labkit.messages import Message

SQUARE = "test_graph.py::test_square"
HEAD = "import pytest\n\npytestmark = [pytest.mark.task('square'), pytest.mark.points(0)]\n"
# Every check here is the grader's own fault; the last one fails for some students only.
FAULTY = (
    HEAD
    + '''
@pytest.fixture
def unready():
    raise OSError("the fixture fails")

def test_law_without_compare(submission):
    """A law.
    定律。
    """
    assert submission("square", x=2.0)["value"] == 4.0 or True

@pytest.mark.skip(reason="later")
def test_marked_as_skipped(compare):
    """Skipped.
    跳过。
    """

def test_skips_itself(compare):
    """Skipped.
    跳过。
    """
    pytest.skip("no GPU here")

@pytest.mark.xfail
def test_expected_to_fail(compare):
    """Fails.
    失败。
    """
    raise ValueError("known")

def test_raises(compare):
    """Raises.
    抛出异常。
    """
    {}["lost"]

def test_fixture_raises(unready):
    """Raises.
    抛出异常。
    """

def test_unknown_program(compare):
    """Unknown.
    未知。
    """
    compare("cube", x=2.0)

def test_inputs_that_do_not_fit_the_program(compare):
    """Misfit.
    不合。
    """
    compare("square", y=2.0)

def test_inputs_that_cannot_cross_the_wire(compare):
    """Misfit.
    不合。
    """
    compare("square", x=object())

def test_law_that_compares_with_other_inputs(compare, submission):
    """A law.
    定律。
    """
    submission("square", x=2.0)
    compare("square", x=3.0)

@pytest.mark.parametrize("compares", [True, False])
def test_law_that_compares_in_another_case(compare, submission, compares):
    """A law.
    定律。
    """
    submission("square", x=2.0)
    if compares:
        compare("square", x=2.0)

def test_program_without_quantities(compare):
    """Nothing.
    没有。
    """
    compare("nothing", x=2.0)

def test_prints_and_exits(compare):
    """Exits.
    退出。
    """
    print("{}")
    raise SystemExit(0)

def test_raises_for_wrong_numbers_only(compare, submission):
    """Raises for some.
    对某些人抛出异常。
    """
    value = submission("square", x=3.0)["value"]
    assert {9.0: True}[value]
    compare("square", x=3.0)
'''
)
*NAMES, SOME = [
    line.split("(")[0].removeprefix("def ") for line in FAULTY.splitlines() if line.startswith("def test")
]


@pytest.fixture(scope="module")
def variants():
    """Students' names: two of one variant, and a third of another."""
    secret = key.load_key()
    by_variant = {}
    for number in range(40):
        by_variant.setdefault(key.variant_of(secret, f"s{number}"), []).append(f"s{number}")
    shared, other = sorted(by_variant.values(), key=len)[-1], sorted(by_variant.values(), key=len)[-2]
    return shared[0], shared[1], other[0]


@pytest.fixture(scope="module")
def course(mini_course, tmp_path_factory, variants):
    mini = mini_course(tmp_path_factory.mktemp("plugin") / "course")
    mini.hand_in("right")
    for student in variants:  # 1 too many, so that messages show the inputs
        mini.hand_in(
            student, graph=mini.solved["graph.py"].replace("Node(a.value * a.value", "Node(1 + a.value**2")
        )
    return mini


@pytest.fixture(scope="module")
def graded(course):
    """Without the faulty checks."""
    return course.grade()


@pytest.fixture(scope="module")
def faulty(course, graded):
    """With them, in another order, and told by the environment to leave most of them out."""
    (course.lab.grading / "test_faulty.py").write_text(FAULTY, encoding="utf-8")
    with (course.lab.grading / "programs.py").open("a", encoding="utf-8") as programs:
        programs.write("\n\ndef nothing(lab, x):\n    return {'scale': lab.graph.variable(x).value}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", "-k nothing --maxfail=1")
        return course.grade(out=course.root / "faulty")


def outcome(graded, student, name):
    checks = {check.id: check for check in graded.results[student].tasks[0].checks}
    return checks[f"test_faulty.py::{name}"]


@pytest.mark.parametrize("name", [*NAMES, SOME])
def test_a_grading_test_that_fails_by_itself_is_a_grader_fault(faulty, variants, name):
    check = outcome(faulty, variants[0], name)
    assert (check.outcome, check.points) == ("grader-fault", None)
    assert check.message.id == "judging.grader-fault"


def test_students_read_nothing_of_what_failed_or_how_the_reference_fails(faulty):
    read = {
        check.message.text(language)
        for result in faulty.results.values()
        for task in result.tasks
        for check in task.checks
        if check.outcome == "grader-fault"
        for language in ("en", "zh")
    }
    assert len(read) == 2
    assert not [text for text in read if "test" in text or "Error" in text or "reference" in text]
    for student in faulty.results:
        assert "lost" not in repr(faulty.file(student))  # what the reference raises


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("test_law_without_compare", "never compares what `submission` ran"),
        ("test_marked_as_skipped", "later"),
        ("test_skips_itself", "no GPU here"),
        ("test_raises", "KeyError: 'lost'"),
        ("test_fixture_raises", "the fixture fails"),
        ("test_unknown_program", "'cube'"),
        ("test_inputs_that_do_not_fit_the_program", "unexpected keyword argument 'y'"),
        ("test_law_that_compares_with_other_inputs", "never compares what `submission` ran: square"),
        ("test_law_that_compares_in_another_case", "[False] never compares what `submission` ran: square"),
        ("test_program_without_quantities", "nothing gives nothing to compare"),
    ],
)
def test_the_course_team_reads_the_fault_in_words_that_help_to_mend_it(faulty, name, words):
    line = in_full(faulty.class_.faults[f"test_faulty.py::{name}"])
    assert words in line
    assert line.isprintable()


def test_a_fault_of_one_student_s_check_is_told_in_the_facts_and_the_table(faulty, variants):
    words = "the grading test itself failed with KeyError: 10.0"
    assert words in in_full(outcome(faulty, variants[0], SOME).message)
    told = {one["check"]: one.get("fault", "") for one in faulty.file(variants[0], "facts.json")["checks"]}
    assert words in told[f"test_faulty.py::{SOME}"]
    assert set(told.values()) == {"", told[f"test_faulty.py::{SOME}"]}


def test_a_fault_leaves_the_task_open_and_the_other_tasks_graded(faulty, variants):
    assert faulty.points("right") == [None, None, 3, 5]
    assert faulty.outcomes(variants[0]) == ["grader-fault", "passed", "passed"]
    assert not faulty.class_.complete


def test_the_canary_finds_the_faults_that_concern_everybody(faulty):
    assert set(faulty.class_.faults) == {f"test_faulty.py::{name}" for name in NAMES}


def test_a_fault_that_depends_on_the_work_is_that_student_s_alone(faulty, variants):
    assert outcome(faulty, "right", SOME).outcome == "passed"
    assert outcome(faulty, variants[0], SOME).outcome == "grader-fault"


def test_students_of_a_variant_get_the_same_inputs_and_others_do_not(graded, variants):
    first, second, third = (graded.message(student, SQUARE).split(":")[0] for student in variants)
    assert first.startswith("square(x=")
    assert first == second != third


def test_inputs_depend_neither_on_other_checks_nor_on_a_selection_of_them(graded, faulty, variants):
    for student in variants:
        assert graded.message(student, SQUARE) == faulty.message(student, SQUARE)


def test_a_check_s_title_is_its_docstring_in_both_languages(graded):
    check = graded.results["right"].tasks[0].checks[0]
    assert check.title == {"en": "The square and its derivative.", "zh": "平方及其导数。"}


@pytest.fixture(scope="module")
def refusal(course, faulty):
    """What is said to a file with a mistake of every kind that collecting finds."""
    (course.lab.grading / "test_faulty.py").unlink()

    def refused(text):
        file = course.lab.grading / "test_bad.py"
        file.write_text(text, encoding="utf-8")
        try:
            with pytest.raises(CourseError) as error:
                course.grade(out=course.root / "refused")
        finally:
            file.unlink()
        line = str(error.value)
        assert line.startswith("lab0: ") and "\n" not in line
        return line

    return refused


def test_checks_without_task_points_or_title_are_refused_by_name(refusal):
    body = '(compare):\n    """A title.\n    标题。\n    """\n\n'
    task, points = "@pytest.mark.task('square')\n", "@pytest.mark.points(0)\n"
    line = refusal(
        f"import pytest\n\n{task}def test_one{body}{points}def test_two{body}"
        f"{task}@pytest.mark.points()\ndef test_three{body}"
        f"{task}@pytest.mark.points(0.5)\ndef test_four{body}"
        f"{task}@pytest.mark.points(-1)\ndef test_five{body}"
        f"{task}{points}def test_six(compare):\n    '''Only English.'''\n\n"
        f"{task}{points}def test_seven(compare):\n    pass\n\n"
        f"@pytest.mark.task('cube')\n{points}def test_eight{body}"
        f"{task}{points}class TestNine:\n    def test_nine(self, compare):\n        '''A.\n        甲。'''\n"
    )
    for number in ("one", "two", "three"):
        assert f"test_bad.py::test_{number}: give it @pytest.mark.task(id) and @pytest.mark.points(n)" in line
    assert "test_four: points are whole numbers from 0, not 0.5" in line
    assert "test_five: points are whole numbers from 0, not -1" in line
    for number in ("six", "seven"):
        assert f"test_{number}: its docstring needs an English line and a Chinese line" in line
    assert "test_eight: lab.toml has no task 'cube'" in line
    assert "test_nine: write it as a function" in line


def test_points_that_do_not_add_up_are_refused_with_both_sums(refusal):
    head = HEAD.replace("points(0)", "points(4)")
    line = refusal(head + 'def test_one(compare):\n    """A title.\n    标题。\n    """\n')
    assert "task square: its checks have 6 points, lab.toml says 2" in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n\nx = = 1\n", "test_bad.py, line 3: SyntaxError: invalid syntax"),
        ("def f():\n    raise ValueError('a\\nb')\n\nf()\n", "test_bad.py, line 2: ValueError: a"),
    ],
)
def test_a_file_of_grading_tests_that_cannot_be_imported_is_named_with_the_line(refusal, text, words):
    assert words in refusal(text)


LAW = '''
def test_law(compare, submission):
    """A law.
    定律。
    """
    compare("square", x=1.0)
    assert submission("square", x=1.0)["value"] < submission("square", x=2.0)["value"]
'''


def test_a_law_without_words_tells_nothing_of_the_hidden_test(mini):
    mini.edit("reference/lab0_chains/lab.toml", "points = 2", "points = 3")
    mini.add_checks(HEAD.replace("points(0)", "points(1)") + LAW)
    mini.hand_in("one", graph=mini.solved["graph.py"].replace("Node(a.value * a.value", "Node(1.0"))
    graded = mini.grade()
    assert graded.outcomes("one") == ["wrong", "passed", "passed"]
    assert graded.message("one", "test_more.py::test_law") == Message("judging.law-untold").text("en")
