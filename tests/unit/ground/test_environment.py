"""The files that say what is installed agree: pyproject.toml, environment.yml and the lock files."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOCKS = {
    "requirements.lock": PROJECT["dependencies"] + PYPROJECT["build-system"]["requires"],
    "requirements-dev.lock": PROJECT["dependencies"] + PYPROJECT["build-system"]["requires"] + EXTRAS["dev"],
    "requirements-bench.lock": EXTRAS["bench"],
}


def bounds(requirements: list[str]) -> dict[str, tuple[str, str]]:
    """Name -> (version bounds, marker), in one spelling."""
    parsed = [Requirement(text) for text in requirements]
    return {canonicalize_name(each.name): (str(each.specifier), str(each.marker)) for each in parsed}


def entries(lock: str) -> list[str]:
    """The entries of a lock file, each on one line with its hashes."""
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def pins(lock: str) -> dict[str, Requirement]:
    parsed = [Requirement(entry.split("--hash=")[0]) for entry in entries(lock)]
    return {canonicalize_name(each.name): each for each in parsed}


def version(pin: Requirement) -> str:
    (clause,) = pin.specifier
    assert clause.operator == "==", f"{pin} is not pinned"
    return clause.version


def environment() -> tuple[list[str], list[str]]:
    """What environment.yml asks of conda and of pip."""
    listed = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    (from_pip,) = [each["pip"] for each in listed if isinstance(each, dict)]
    return [each for each in listed if isinstance(each, str)], from_pip


def test_environment_yml_asks_conda_for_what_pyproject_asks_for():
    asked = bounds(environment()[0])
    assert asked.pop("python")[0] == PROJECT["requires-python"]
    assert asked.pop("pip") == ("", "None")
    asked["igraph"] = asked.pop("python-igraph")  # conda's igraph is the library in C
    assert asked == bounds(PROJECT["dependencies"])


def test_environment_yml_asks_pip_for_cupy_alone_and_not_on_macos():
    assert bounds(environment()[1]) == bounds(EXTRAS["gpu"])
    (cupy,) = map(Requirement, environment()[1])
    assert cupy.marker is not None
    assert cupy.marker.evaluate({"sys_platform": "linux"})
    assert not cupy.marker.evaluate({"sys_platform": "darwin"})


def test_environment_yml_names_no_builds():
    assert not [each for each in environment()[0] if re.search(r"[^<>=!]=[^=]", each)]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_holds_a_fitting_version_of_everything_asked_for(lock):
    pinned = pins(lock)
    for asked in map(Requirement, LOCKS[lock]):
        assert version(pinned[canonicalize_name(asked.name)]) in asked.specifier, asked


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_pins_every_package_once(lock):
    assert len(pins(lock)) == len(entries(lock))
    assert all(version(pin) for pin in pins(lock).values())


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_every_entry_of_a_lock_file_has_hashes(lock):
    assert not [entry for entry in entries(lock) if not re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry)]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_names_no_index_and_no_build_of_one_machine(lock):
    for entry in entries(lock):
        name_and_version, *hashes = entry.split("--hash=")
        assert not re.search(r"[/@+]|^-", name_and_version), entry
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}\s*", each) for each in hashes), entry


def test_both_lock_files_hold_the_same_versions():
    used, developed = pins("requirements.lock"), pins("requirements-dev.lock")
    assert used == {name: developed[name] for name in used}
