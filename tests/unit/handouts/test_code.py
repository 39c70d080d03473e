"""What students copy from the handouts works: programs on the solved lab, commands on the skeleton."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.messages import Message

ROOT = Path(__file__).parents[3]
OUTCOMES = (
    "passed wrong not-attempted blocked crashed timed-out out-of-memory exited-early malformed-reply "
    "forbidden-action grader-fault not-run"
)


def run(folder, *command):
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, encoding="utf-8"
    )


def test_programs_run_on_the_solved_lab_and_print_what_they_say(page_named):
    programs = [block.code[0] for block in page_named("en", "lab1.md").blocks if block.kind == "fence python"]
    assert len(programs) == 2
    for program in programs:
        result = run(ROOT / "reference/lab1_scalars", "-c", program)
        assert result.returncode == 0, result.stderr
        assert result.stdout.splitlines() == re.findall(r"\)  # (.*)", program)


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory):
    """A lab as a student has it, beside labkit."""
    folder = tmp_path_factory.mktemp("student")
    shutil.copytree(ROOT / "labs/lab1_scalars", folder / "lab1")
    shutil.copytree(ROOT / "labkit", folder / "labkit", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.parametrize("language", ["zh", "en"])
def test_commands_do_what_the_handout_says(page_named, handed_out, language):
    (console,) = [block for block in page_named(language, "lab1.md").blocks if block.kind == "fence console"]
    commands = [line.removeprefix("$ python ").split() for line in console.code[0].splitlines()]
    assert [command[2] for command in commands] == ["doctor", "check", "pack"]
    if language == "zh":  # the same commands, in the default language: one of them is proof enough
        commands = commands[:1]
    for command in commands:
        result = run(handed_out, *command)
        # The skeleton's blanks are something to do; no command may be unknown.
        assert result.returncode == (1 if command[2] == "check" else 0), result.stdout + result.stderr
        assert "Traceback" not in result.stderr
    if language == "en":
        assert (handed_out / "lab1.zip").is_file()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_outcome_is_explained_under_its_name(page_named, language):
    rows = page_named(language, "lab1.md").table({"zh": "结果", "en": "outcome"}[language])
    assert [row[0] for row in rows] == [
        Message(f"report.outcome-{name}").text(language) for name in OUTCOMES.split()
    ]
