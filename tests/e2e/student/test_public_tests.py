"""The public tests themselves: what they catch, what they let pass, and that they hold no solution."""

import io
import shutil
import tokenize
import tomllib
from pathlib import Path

import pytest

from autograder.intake import find_submissions, read_submission
from labkit.check.run import run_tests
from labkit.lab import read_lab

ROOT = Path(__file__).parents[3]
HANDED_IN = ["graph.py", "engine.py", "cuda_ops.py", "kernels.cu"]
REFERENCES = {"lab1": ROOT / "reference" / "lab1_scalars", "lab2": ROOT / "reference" / "lab2_tensors"}
MUTANTS = {
    lab: {one["id"]: one for one in tomllib.loads((folder / "mutants.toml").read_text("utf-8"))["mutant"]}
    for lab, folder in REFERENCES.items()
}
# One of each family; all of them are the audit's work.
SAMPLED = (
    "child-before-parent",
    "recursion-with-raised-limit",
    "power-zero-exponent-at-zero",
    "reflected-minus-cut",
    "lookup-assigns-instead-of-adding",
    "step-much-too-small",
    "record-keeps-the-totals",
    "jacobian-unused-input",
    "given-derivative-changed",
    "launch-rounded-to-nearest",
    "product-adjoint-without-stride",
    "log-guard-within-the-block",
)


@pytest.mark.parametrize("name", SAMPLED)
def test_a_typical_mistake_is_caught_in_its_task(kit, name):
    kit.solve()
    mutant = MUTANTS["lab1"][name]
    for edit in mutant.get("edits", [mutant]):
        kit.edit(edit["file"], edit["text"], edit["replacement"])
    code, printed, _ = kit.run("check", "lab1", "--language", "en")
    assert code == 1
    wrong = {task for task, state in kit.states(printed).items() if state == "wrong"}
    assert wrong & set(mutant["tasks"])


@pytest.mark.parametrize("student", ["right-kahn", "right-partial-lists", "helper-file"])
def test_other_right_work_passes(kit, student, tmp_path):
    (found,) = [
        one for one in find_submissions(ROOT / "examples/submitted", "lab1").found if one.student == student
    ]
    for name, text in read_submission(found, HANDED_IN).files.items():
        (kit.lab / name).write_text(text, encoding="utf-8")
    for seed in ("1", "2"):
        code, printed, _ = kit.run("check", "lab1", "--seed", seed)
        assert code == 0, printed


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("broadcast-first-copy-only", "BroadcastTo.vjp(adjoint, node), node = broadcast_to(shape=(2, 3)"),
        ("sum-total-to-everybody", "Sum.vjp(adjoint, node), node = sum("),
        ("position-looked-up", "by v1"),
        ("jvp-one-stand-in-for-all", "jvp([y, b, y * a, y], [a, b], directions)"),
        ("relu-first-order-only", "relu"),
    ],
)
def test_a_mistake_in_lab_2_is_told_with_the_rule_and_the_node(made, tmp_path, name, words):
    mutant, folder = MUTANTS["lab2"][name], tmp_path / "lab2"
    shutil.copytree(made / "build" / "solved" / "lab2", folder)
    module = folder / mutant["file"]
    text = module.read_text(encoding="utf-8")
    assert text.count(mutant["text"]) == 1
    module.write_text(text.replace(mutant["text"], mutant["replacement"]), encoding="utf-8")
    run = run_tests(read_lab(folder), seed=1)
    told = {
        run.tests[test].task: outcome.details.get("call", "")
        for test, outcome in reversed(run.outcomes.items())
        if outcome.kind != "passed"
    }
    assert set(told) & set(mutant["tasks"])
    assert any(words in call for call in told.values()), told


@pytest.mark.parametrize("lab_id", REFERENCES)
def test_every_public_test_belongs_to_a_task_and_states_its_law_in_both_languages(made, lab_id):
    lab = read_lab(made / "build" / "solved" / lab_id)
    run = run_tests(lab, seed=1)
    assert {outcome.kind for outcome in run.outcomes.values()} == {"passed"}
    assert {test.task for test in run.tests.values()} == {task.id for task in lab.tested}
    for test in run.tests.values():
        assert test.law["en"].isascii() and test.law["en"].endswith("."), test.name
        assert test.law["zh"].endswith("。"), test.name


def tokens(text):
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return [
        one.string for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type not in skipped
    ]


def runs(words, length=12):
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}


@pytest.mark.parametrize("reference", REFERENCES.values(), ids=list(REFERENCES))
def test_no_public_test_holds_a_piece_of_a_solution(reference):
    public = set()
    for path in (reference / "tests").glob("*.py"):
        public |= runs(tokens(path.read_text(encoding="utf-8")))
    for name in ("graph.py", "engine.py", "cuda_ops.py"):
        if not (reference / name).exists():
            continue
        text = (reference / name).read_text(encoding="utf-8")
        regions = [part.partition("### END SOLUTION")[0] for part in text.split("### BEGIN SOLUTION\n")[1:]]
        assert regions
        for region in regions:
            body = "def f():\n" + region
            assert not runs(tokens(body)) & public, region
