"""The Makefile lists its verbs and names the mend where Python will not do."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    # A make that runs these tests must not pass its own settings on.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True)


def test_make_alone_lists_every_verb_with_a_line_of_its_own():
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    listed = make().stdout.splitlines()
    assert {line.split()[1] for line in listed} == set(phony.split()) - {"help"}
    assert all(len(line.split()) > 3 for line in listed)


def test_options_reach_the_grader():
    printed = make("-n", "grade", "LAB=lab1", "SUBMITTED=my class", "OUT=g", "JOBS=2").stdout
    assert '--lab "lab1" --submitted "my class" --out "g" --jobs "2"' in printed


def test_a_lab_reaches_the_students_check_as_one_word():
    assert make("-n", "check", "LAB=build/my lab").stdout.endswith('-m labkit check "build/my lab"\n')


@pytest.mark.parametrize("verb", ["check", "open", "release"])
def test_a_verb_that_needs_a_lab_says_how_to_name_one(verb):
    result = make("-n", verb)
    assert result.returncode != 0
    assert f"Say which lab, as in: make {verb} LAB=lab1" in result.stderr


def fake_python(folder: Path, lines: str) -> str:
    script = folder / "python-under-test"
    script.write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
    script.chmod(0o755)
    return str(script)


@pytest.fixture
def bare(tmp_path):
    """The files that set-up needs, without a .venv, in a folder whose name is awkward."""
    folder = tmp_path / "课程 kit"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "requirements-dev.lock"):
        shutil.copy(ROOT / name, folder)
    return folder


def test_a_missing_python_is_one_line_with_the_mend(bare):
    result = make("setup", "PYTHON=no-such-python", folder=bare)
    assert result.returncode != 0
    assert "No no-such-python here. Mend: apt-get install -y python3 python3-venv" in result.stderr
    assert not (bare / ".venv").exists()


def test_an_old_python_is_one_line_with_the_mend(bare, tmp_path):
    old = fake_python(tmp_path, "exit 1")
    result = make("setup", f"PYTHON={old}", folder=bare)
    assert result.returncode != 0
    assert "Python 3.11 or newer is needed" in result.stderr
    assert not (bare / ".venv").exists()


def test_a_python_without_venv_is_one_line_with_the_mend(bare, tmp_path):
    stripped = fake_python(tmp_path, f'case "$2" in *ensurepip*) exit 1;; esac; exec "{sys.executable}" "$@"')
    result = make("setup", f"PYTHON={stripped}", folder=bare)
    assert result.returncode != 0
    assert "cannot make virtual environments. Mend: apt-get install -y python3-venv" in result.stderr
    assert not (bare / ".venv").exists()


def test_both_readmes_give_the_apt_lines_that_ci_runs():
    apt = r"^(?:sudo )?apt-get .*$"
    english, chinese = (
        re.findall(apt, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        for name in ("README.md", "README.zh-CN.md")
    )
    assert english == chinese
    ground, browser = english
    for package in ("make", "g++", "python3", "python3-venv"):
        assert package in ground.split()
    assert browser.endswith(" chromium")
