"""A level is claimed only where its probes hold: as root and as a user, with and without what it rests on.

Poorer machines are made from this one: user namespaces for another user, a setting that forbids them,
and a seccomp filter that answers as a kernel (or Docker's default profile) without these calls would.
"""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from autograder.sandbox import doctor, probes
from autograder.sandbox.client import Level

ROOT = Path(__file__).parents[3]
AS_USER = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
NO_NAMESPACES = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
WITHOUT_NAMESPACES = ["unshare", "--user", "--map-root-user", "sh", "-c", NO_NAMESPACES, "sh"]

ENOSYS, EPERM, EACCES = 38, 1, 13
LANDLOCK = (444, 445, 446)
MOUNT, PRCTL = (165,), (157,)
NAMESPACES = (272, 165, 155)  # unshare, mount, pivot_root


def here(body: str, prefix: list[str] | None = None, root: Path = ROOT) -> Any:
    """What `body` assigns to `found`, in a process of its own, started through a prefix."""
    program = f"import json, sys\nsys.path.insert(0, {str(root)!r})\n{body}\nprint(json.dumps(found))"
    command = [*(prefix or []), sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and ("unshare: " in done.stderr or "max_user_namespaces" in done.stderr):
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refusing(calls: tuple[int, ...], error: int) -> str:
    """Code after which this process and its children get `error` from these system calls."""
    return f"""
import struct
from autograder.sandbox import kernel
rules = [struct.pack("HBBI", 0x20, 0, 0, 0)]
for call in {calls!r}:
    rules += [struct.pack("HBBI", 0x15, 0, 1, call), struct.pack("HBBI", 0x06, 0, 0, 0x50000 | {error})]
rules += [struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000)]
kernel.no_new_privileges()
kernel.seccomp(b"".join(rules))
"""


def assert_holds(failed: list[str]) -> None:
    """Every attack failed, or the level cannot be had here."""
    if failed and failed[0].startswith(("level ", "no sandbox ")):
        pytest.skip(failed[0])
    assert failed == []


PROBE = "from autograder.sandbox import probes; found = probes.probe({!r})"
BEST = "from autograder.sandbox import probes; found = probes.best_level()"


@pytest.mark.parametrize("level", ["full", "portable"])
def test_the_level_holds_for_whoever_runs_the_tests(level: Level) -> None:
    assert_holds(probes.probe(level))


@pytest.mark.parametrize("level", ["full", "portable"])
def test_the_level_holds_for_an_ordinary_user(level: Level) -> None:
    if os.geteuid() != 0:
        pytest.skip("the tests run as an ordinary user already")
    assert_holds(here(PROBE.format(level), AS_USER))


def test_full_holds_in_a_container_without_other_users() -> None:
    assert_holds(here(PROBE.format("full"), ["unshare", "--user", "--map-root-user"]))


def test_a_clone_below_tmp_has_the_same_level() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        for name in ("autograder", "labkit"):
            shutil.copytree(ROOT / name, Path(folder, name))
        assert here(PROBE.format("full"), root=Path(folder)) == probes.probe("full")


def test_every_attack_gets_through_where_nothing_holds_it_back() -> None:
    through = {line.partition(":")[0] for line in probes.probe("none")}
    held_all_the_same = {
        "work",
        "look_at_its_environment",
        "import_what_is_not_offered",
        "take_all_memory",
        "end_at_once",
        "crash",
        "answer_with_a_pickle",
    }
    assert set(probes.EXPECTED) - through == held_all_the_same
    assert {"the grader's file was changed", "a process of the grader's was killed"} <= through


def test_where_user_namespaces_are_forbidden_the_level_is_portable_and_says_why() -> None:
    level, tried = here(BEST, WITHOUT_NAMESPACES)
    assert level == "portable"
    assert tried["portable"] == []
    assert "unshare: No space left on device" in tried["full"][0]


@pytest.mark.parametrize(
    ("calls", "error", "why"),
    [(NAMESPACES, EPERM, "unshare: Operation not permitted"), (MOUNT, EACCES, "mount /: Permission denied")],
    ids=["as in Docker", "as under AppArmor"],
)
def test_where_its_calls_are_refused_the_level_is_portable_and_says_why(
    calls: tuple[int, ...], error: int, why: str
) -> None:
    level, tried = here(refusing(calls, error) + BEST)
    assert (level, tried["portable"]) == ("portable", [])
    assert why in tried["full"][0]


@pytest.mark.parametrize("prefix", [[], AS_USER], ids=["root", "user"])
def test_full_holds_by_its_mounts_where_the_kernel_has_no_landlock(prefix: list[str]) -> None:
    assert_holds(here(refusing(LANDLOCK, ENOSYS) + PROBE.format("full"), prefix))


def test_without_landlock_and_namespaces_no_level_holds_and_both_say_why() -> None:
    level, tried = here(refusing((*LANDLOCK, *NAMESPACES), ENOSYS) + BEST)
    assert level == "none"
    assert "unshare: Function not implemented" in tried["full"][0]
    assert "Landlock 3 (Linux 6.2) is needed; here it is 0" in tried["portable"][0]


def test_without_seccomp_no_level_holds() -> None:
    level, tried = here(refusing(PRCTL, EPERM) + BEST)
    assert level == "none"
    assert all(tried[name] for name in ("full", "portable"))


@pytest.fixture(scope="module")
def examination() -> doctor.Examination:
    return doctor.examine()


def test_the_doctor_promises_the_level_that_holds(examination: doctor.Examination) -> None:
    found = {finding.name: finding for finding in examination.findings}
    assert examination.promised_level == probes.best_level()[0]
    assert found[f"level {examination.promised_level}"].good
    assert found["threads of NumPy in a worker"].found == "1"


def test_the_doctor_names_the_mend_where_a_setting_forbids_namespaces() -> None:
    program = """
import io
from rich.console import Console
from autograder.sandbox import doctor
text = io.StringIO()
found = [doctor.report(Console(file=text)), text.getvalue()]
"""
    level, text = here(program, WITHOUT_NAMESPACES)
    assert level == "portable"
    assert "NO  user namespace" in text
    assert "mend: sysctl -w user.max_user_namespaces=" in text
    assert text.endswith("This machine can promise level portable.\n")


@pytest.mark.parametrize("encoding", ["ascii", "gbk", "utf-8"])
def test_what_the_doctor_found_can_be_shown_on_any_console(
    encoding: str, tmp_path: Path, examination: doctor.Examination
) -> None:
    path = tmp_path / "report"
    more = dataclasses.replace(
        examination, findings=(*examination.findings, doctor.Finding("报告", "∂", False, "再试"))
    )
    with path.open("w", encoding=encoding) as file:
        doctor.show(more, Console(file=file))
    lines = path.read_text(encoding=encoding).splitlines()
    assert lines[-1] == f"This machine can promise level {examination.promised_level}."
    assert all(line.startswith(("ok  ", "NO  ", "--  ", "    ", "This ")) for line in lines)
