"""The cutter: a skeleton holds all that is given, and nothing of a solution."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from autograder.authoring.cutter import cut, unmarked, without_marks
from autograder.course import CourseError

PYTHON = '''\
def log(x):
    """The natural logarithm."""
    ### BEGIN SOLUTION
    secret = x
    return secret
    ### END SOLUTION


def given(x):
    return x
'''
CUDA = """\
__global__ void scale(float *a, int n) {
    // BEGIN SOLUTION
    if (n > 0) {
        a[0] = 2;
    }
    // END SOLUTION
}
"""


def refusal(text, name="graph.py", how=cut):
    with pytest.raises(CourseError) as error:
        how(text, name)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_python_solution_becomes_a_comment_and_a_raise():
    assert cut(PYTHON, "graph.py") == (
        'def log(x):\n    """The natural logarithm."""\n'
        "    # YOUR CODE HERE\n    raise NotImplementedError\n\n\n"
        "def given(x):\n    return x\n"
    )


def test_a_cuda_solution_becomes_a_comment():
    assert cut(CUDA, "kernels.cu") == ("__global__ void scale(float *a, int n) {\n    // YOUR CODE HERE\n}\n")


def test_what_a_student_would_hand_in_is_the_source_without_its_marks():
    for text, name in ((PYTHON, "graph.py"), (CUDA, "kernels.cu")):
        handed_in = without_marks(text, name)
        assert handed_in.splitlines() == [line for line in text.splitlines() if "SOLUTION" not in line]


@pytest.mark.parametrize("how", [cut, without_marks])
def test_bom_tabs_and_any_line_ends_come_out_as_lf(how):
    text = PYTHON.replace("    ", "\t")
    for changed in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text):
        assert how(changed, "graph.py") == how(text, "graph.py")
    assert "\traise NotImplementedError\n" in cut(text, "graph.py")


def test_a_last_line_without_an_end_gets_one():
    assert cut("x = 1", "graph.py") == "x = 1\n"
    assert cut("", "graph.py") == ""


def test_trailing_blanks_behind_a_mark_do_no_harm():
    assert cut(PYTHON.replace("BEGIN SOLUTION", "BEGIN SOLUTION \t"), "graph.py") == cut(PYTHON, "graph.py")


def test_several_solutions_in_one_file_and_one_function_are_all_cut():
    text = (
        "class Sine:\n    def partials(self, x):\n        if x:\n            ### BEGIN SOLUTION\n"
        "            return 1\n            ### END SOLUTION\n        ### BEGIN SOLUTION\n"
        "        for i in x:\n            if i:\n                return 2\n        ### END SOLUTION\n"
    )
    skeleton = cut(text, "graph.py")
    assert skeleton.count("raise NotImplementedError") == 2
    assert "return" not in skeleton


def test_lines_of_a_string_inside_a_solution_may_stand_further_left():
    text = PYTHON.replace("return secret", 'return """\nleft\n"""')
    assert cut(text, "graph.py") == cut(PYTHON, "graph.py")


BEGIN, END = "    ### BEGIN SOLUTION\n", "    ### END SOLUTION\n"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (PYTHON.replace(END, ""), 3, "never ends"),
        (PYTHON.replace(BEGIN, ""), 5, "none began"),
        (PYTHON.replace(BEGIN, BEGIN * 2), 4, "inside the one of line 3"),
        (PYTHON.replace(END, END * 2), 7, "none began"),
        (PYTHON.replace(BEGIN, "@").replace(END, BEGIN).replace("@", END), 3, "none began"),
        (PYTHON + PYTHON.replace(END, ""), 13, "never ends"),
        ("def f():\n" + BEGIN + END + "    return 1\n", 2, "holds no statement"),
        ("def f():\n" + BEGIN + "    # words\n\n" + END + "    return 1\n", 2, "holds no statement"),
        (PYTHON.replace(BEGIN, BEGIN[4:]), 6, "indented otherwise"),
        (PYTHON.replace(BEGIN, BEGIN[4:]).replace(END, END[4:]), 4, "indented otherwise"),
        (PYTHON.replace(BEGIN, BEGIN[2:]).replace(END, END[2:]), 4, "indented otherwise"),
        (PYTHON.replace(END, "").replace("return x\n", "return x\n" + END), 8, "indented otherwise"),
        ("### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n", 1, "outside a function"),
        ("class A:\n" + BEGIN + "    x = 1\n" + END, 2, "outside a function"),
        ("def f():\n    x = [\n" + BEGIN + "    1\n" + END + "    ]\n", 3, "holds no statement"),
        (PYTHON.replace("secret = x", "secret = = x"), 4, "not Python"),
        (PYTHON.replace("def given(x):", "def given(x)"), 9, "not Python"),
        (PYTHON.replace('"""', "'''", 1), 2, "not Python"),
    ],
)
def test_marks_in_the_wrong_place_are_told_with_their_line(text, line, what):
    message = refusal(text)
    assert message.startswith(f"graph.py:{line}: "), message
    assert what in message


def test_a_cut_that_leaves_no_python_is_told_with_the_line_of_the_source():
    text = PYTHON.replace("secret = x", "try:\n        secret = x")
    text = text.replace("    return secret\n" + END, END + "    finally:\n        pass\n")
    message = refusal(text)
    assert message.startswith("graph.py:7: ")
    assert "cut out this is not Python" in message


ALMOST = [
    "### BEGIN SOLUTIONS",
    "### BEGIN-SOLUTION",
    "### BEGIN_SOLUTION",
    "### BEGINSOLUTION",
    "### BEGIN  SOLUTION",
    "###  BEGIN SOLUTION",
    "###BEGIN SOLUTION",
    "## BEGIN SOLUTION",
    "#### BEGIN SOLUTION",
    "# BEGIN SOLUTION",
    "### # BEGIN SOLUTION",
    "### begin solution",
    "### Begin Solution",
    "### BEGIN SOLUTION ###",
    "### BEGIN SOLUTION: the rule",
    "### BEGIN SOLUTION.",
    "### BEGIN OF SOLUTION",
    "### SOLUTION BEGIN",
    "### Solution begin",
    "### START SOLUTION",
    "### BEGIN SOLUTON",
    "### BEGN SOLUTION",
    "### Begin solutoin",
    "### BEGIN\u3000SOLUTION",
    "### BEGIN\xa0SOLUTION",
    "\uff03\uff03\uff03 begin solution",
    "### \uff22\uff25\uff27\uff29\uff2e SOLUTION",
    "// BEGIN SOLUTION",
    "pass  ### BEGIN SOLUTION",
    "pass  # begin solution",
]


@pytest.mark.parametrize("mark", ALMOST)
@pytest.mark.parametrize("word", ["BEGIN", "END"])
@pytest.mark.parametrize("how", [cut, without_marks])
def test_whatever_looks_like_a_mark_and_is_none_is_told_with_its_line(mark, word, how):
    mark = mark.replace("BEGIN", word).replace("begin", word.lower()).replace("Begin", word.title())
    line = {"BEGIN": 3, "END": 6}[word]
    text = PYTHON.replace(f"### {word} SOLUTION", mark)
    assert text != PYTHON
    message = refusal(text, how=how)
    # A mark that is not even a comment is no Python either.
    assert message.startswith(f"graph.py:{line}: "), message
    assert "looks like a mark" in message or "not Python" in message


@pytest.mark.parametrize(
    "mark", ["### BEGIN SOLUTION", "// begin solution", "/* BEGIN SOLUTION */", "//BEGIN SOLUTION"]
)
def test_marks_of_python_and_almost_marks_are_refused_in_cuda(mark):
    message = refusal(CUDA.replace("// BEGIN SOLUTION", mark), "kernels.cu")
    assert message.startswith("kernels.cu:2: ")
    assert "'// BEGIN SOLUTION'" in message


def test_an_almost_mark_inside_a_solution_or_far_from_any_is_refused_too():
    assert refusal(PYTHON.replace("secret = x", "secret = x  # end solution")).startswith("graph.py:4: ")
    assert refusal(PYTHON + "# SOLUTION\n").startswith("graph.py:11: ")


@pytest.mark.parametrize("prefix", ["", "f", "r", "b"])
def test_a_mark_inside_a_python_string_is_refused(prefix):
    text = f'def f():\n    x = {prefix}"""\n{BEGIN}    a\n{END}    """\n    return x\n'
    message = refusal(text)
    assert message.startswith("graph.py:3: ")
    assert "inside a string" in message


def test_a_solution_that_ends_inside_a_string_is_refused():
    text = f'def f():\n{BEGIN}    x = """\n{END}    """\n    return x\n'
    assert refusal(text).startswith("graph.py:4: ")


@pytest.mark.parametrize("around", ["/*\n@*/\n", 'const char *s = R"x(\n@)x";\n', "// a \\\n@"])
def test_a_mark_inside_a_longer_comment_or_string_of_cuda_is_refused(around):
    message = refusal(around.replace("@", "// BEGIN SOLUTION\n1\n// END SOLUTION\n") + CUDA, "kernels.cu")
    assert message.startswith("kernels.cu:2: ")
    assert "marks nothing" in message


def test_slashes_in_cuda_strings_and_quotes_in_comments_hide_no_mark():
    text = CUDA.replace("a[0] = 2;", 'puts("//\\""); char c = \'"\'; // it\'s a "\n        /* { */')
    text = 'const char *s = "/*"; // don\'t "\n' + text
    assert "puts" not in cut(text, "kernels.cu")


def test_a_cuda_solution_without_code_or_with_half_a_block_is_refused():
    empty = CUDA.replace("if (n > 0) {\n        a[0] = 2;\n    }", "// words")
    assert "holds no code" in refusal(empty, "kernels.cu")
    half = CUDA.replace("    }\n    // END SOLUTION", "    // END SOLUTION\n    }")
    assert refusal(half, "kernels.cu").startswith("kernels.cu:2: ")


@pytest.mark.parametrize(
    "words",
    [
        "# The solution of the equation.",
        "# Solutions are compared in the end.",
        "x = 7 // 2  # resolution",
        '"""In the end, solutions differ."""',
    ],
)
def test_prose_about_solutions_is_no_mark(words):
    assert cut(words + "\n", "graph.py") == words + "\n"


def test_a_file_given_whole_may_not_hold_a_mark():
    assert unmarked("\ufeff# Lab\r\n", "README.md") == "# Lab\n"
    assert refusal("# Lab\n\n## begin solution\n", "README.md", unmarked).startswith("README.md:3: ")


GIVEN = st.sampled_from(
    [
        "a = 1",
        "# a comment",
        "",
        "b = 'text'",
        "if a:\n        b = 2",
        'c = """\n   odd\n"""',
        "d = [\n  1,\n]",
    ]
)
SOLVED = st.sampled_from(
    [
        "SECRET = 1",
        "for SECRET in x:\n        SECRET += 1",
        'SECRET = """\nSECRET\n"""',
        "# SECRET\n    SECRET = 2",
        "return SECRET",
    ]
)
BLOCKS = st.lists(st.tuples(st.booleans(), GIVEN, st.lists(SOLVED, min_size=1, max_size=3)), max_size=6)


@given(BLOCKS, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["    ", "\t"]))
def test_cutting_keeps_exactly_the_given_lines_and_nothing_of_a_solution(blocks, line_end, indent):
    source, skeleton, handed_in = (["def f(x):"] for _ in range(3))
    for marked, given_code, solved in blocks:
        if marked:
            source += ["    ### BEGIN SOLUTION", *(f"    {code}" for code in solved), "    ### END SOLUTION"]
            skeleton += ["    # YOUR CODE HERE", "    raise NotImplementedError"]
            handed_in += [f"    {code}" for code in solved]
        else:
            for lines in (source, skeleton, handed_in):
                lines.append(f"    {given_code}")
    for lines in (source, skeleton, handed_in):
        lines.append("    return x\n")
    texts = ["\n".join(lines).replace("    ", indent) for lines in (source, skeleton, handed_in)]
    assert cut(texts[0].replace("\n", line_end), "graph.py") == texts[1]
    assert without_marks(texts[0].replace("\n", line_end), "graph.py") == texts[2]
    assert "SECRET" not in texts[1]


@given(st.data())
def test_no_misplaced_or_misspelt_mark_ever_leaks_a_solution(data):
    lines = PYTHON.splitlines()
    for _ in range(data.draw(st.integers(1, 2))):
        row = data.draw(st.integers(0, len(lines) - 1))
        change = data.draw(st.sampled_from(["remove", "double", "swap", "letter", "case"]))
        if change == "remove" and len(lines) > 1:
            del lines[row]
        elif change == "double":
            lines.insert(row, lines[row])
        elif change == "swap":
            other = data.draw(st.integers(0, len(lines) - 1))
            lines[row], lines[other] = lines[other], lines[row]
        elif change == "letter" and lines[row]:
            column = data.draw(st.integers(0, len(lines[row]) - 1))
            letter = data.draw(st.sampled_from(["", " ", "_", "#", "x"]))
            lines[row] = lines[row][:column] + letter + lines[row][column + 1 :]
        else:
            lines[row] = lines[row].swapcase()
    text = "\n".join(lines) + "\n"
    assume(any("SOLUTION" in line.upper() for line in lines))
    try:
        skeleton = cut(text, "graph.py")
    except CourseError:
        return
    # Counted with far less care for the marks: only what stands outside them may be left.
    outside, inside = 0, False
    for line in lines:
        inside = "BEGIN" in line or (inside and "END" not in line)
        outside += "secret" in line and not inside
    assert skeleton.count("# YOUR CODE HERE") == text.count("### BEGIN SOLUTION")
    assert sum("secret" in line for line in skeleton.splitlines()) == outside
    assert "SOLUTION" not in skeleton
