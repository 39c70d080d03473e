"""What this machine can promise, found out by trying it: `autograder doctor`.

Everything is plain data (`examine`), and plain ASCII when printed (`report`), so that any console shows it.
"""

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from autograder.course import CompileLimits, Limits
from labkit.cuda import compile as cuda

from . import compiling, probes, seccomp
from .client import ForkServer, Level, SandboxError

PACKAGES = ("numpy", "msgspec", "pytest", "hypothesis")
MULTIPLY = (
    "def multiply(lab):\n    import numpy\n    return {'it': (numpy.ones((512, 512)) @ numpy.ones(512))[:1]}"
)

Mend = str


@dataclass(frozen=True)
class Finding:
    """What was looked at, what was found, whether that is good (None: for information), the mend."""

    name: str
    found: str
    good: bool | None = None
    mend: Mend = ""


@dataclass(frozen=True)
class Examination:
    """All findings, and the level that holds."""

    findings: tuple[Finding, ...]
    promised_level: Level


def examine() -> Examination:
    """Try everything; about two seconds."""
    if platform.system() != "Linux":
        system = Finding("system", platform.system(), False, "grade on Linux, or in a Linux container or VM")
        return Examination((*_machine(), system), "none")
    promised, tried = probes.best_level()
    for level in ("full", "portable"):
        if level not in tried:
            tried[level] = probes.probe(level)
    levels = [_level(level, failed) for level, failed in tried.items()]
    findings = (
        *_machine(),
        *_python(),
        *_rights(),
        _threads(promised),
        _compiler(promised),
        *_for_information(),
        *levels,
    )
    return Examination(findings, promised)


def report(console: Console) -> Level:
    """Print what `examine` finds; the level this machine can promise."""
    examination = examine()
    show(examination, console)
    return examination.promised_level


def show(examination: Examination, console: Console) -> None:
    """Print findings, one a line, with the mend below what is amiss."""
    for finding in examination.findings:
        mark = {True: "ok", False: "NO", None: "--"}[finding.good]
        _print(console, f"{mark}  {finding.name:<30} {finding.found}")
        if finding.good is False and finding.mend:
            _print(console, f"    {'':<30} mend: {finding.mend}")
    promise = examination.promised_level
    _print(console, f"This machine can promise level {promise}.")
    if promise == "none":
        _print(console, "Don't grade here: student code could do whatever you can.")


def _print(console: Console, text: str) -> None:
    console.print(
        text.encode("ascii", "backslashreplace").decode(), markup=False, highlight=False, soft_wrap=True
    )


def _machine() -> list[Finding]:
    known = seccomp.supported()
    user = "root (the fork server becomes nobody)" if os.geteuid() == 0 else f"user {os.geteuid()}"
    disk = shutil.disk_usage(tempfile.gettempdir()).free >> 20
    return [
        Finding(
            "processor", platform.machine(), known, "grade on x86_64: only its system calls are in the table"
        ),
        Finding("kernel", platform.release()),
        Finding("user", user),
        Finding("cores", str(len(os.sched_getaffinity(0)))),
        Finding(
            "free memory", f"{_free_memory_mb()} MB", _free_memory_mb() > 1024, "a check may use 1024 MB"
        ),
        Finding(
            f"free disk in {tempfile.gettempdir()}", f"{disk} MB", disk > 256, "make room, or set TMPDIR"
        ),
    ]


def _free_memory_mb() -> int:
    fields = dict(line.split(":", 1) for line in _read("/proc/meminfo").splitlines())
    return int(fields.get("MemAvailable", "0 kB").split()[0]) >> 10


def _python() -> list[Finding]:
    found = [
        Finding("Python", f"{platform.python_version()} at {sys.executable}", sys.version_info >= (3, 11))
    ]
    for package in PACKAGES:
        try:
            found.append(Finding(package, importlib.metadata.version(package), True))
        except importlib.metadata.PackageNotFoundError:
            found.append(Finding(package, "not installed", False, "make setup"))
    return found


def _rights() -> list[Finding]:
    """What the kernel grants, tried in processes of their own by `trials`."""
    program = Path(__file__).with_name("trials.py")
    command = [sys.executable, "-P", "-s", "-S", "-B", str(program)]
    tried = subprocess.run(command, capture_output=True, text=True, check=False, env={}, cwd="/")
    results: dict[str, tuple[bool, str]] = json.loads(tried.stdout or "{}")
    namespaces = _namespaces_mend()
    wanted = (
        ("user_namespace", "user namespace", namespaces),
        ("mounts", "mounts and a root of its own", namespaces),
        ("network", "network namespace", namespaces),
        ("landlock", "Landlock", "Linux 6.2 or newer, with landlock among the lsm= of the boot line"),
        ("seccomp", "seccomp", "a kernel with CONFIG_SECCOMP_FILTER, on x86_64"),
        ("watch_a_process", "process handles and clocks", "Linux 5.4 or newer"),
        ("memory_limit", "limit of memory", "a real Linux kernel: emulated ones ignore RLIMIT_AS"),
    )
    found = []
    for key, name, mend in wanted:
        granted, words = results.get(key, (False, "not tried: " + tried.stderr[-200:]))
        found.append(Finding(name, words, granted, mend))
    return found


def _namespaces_mend() -> Mend:
    """The way to user namespaces; level portable does without them."""
    for setting, refusing, mend in (
        ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile with `userns,`",
        ),
    ):
        if _read(f"/proc/sys/{setting}") == refusing:
            return f"{mend} (as root); level portable does without"
    return (
        "in Docker, whose default seccomp profile forbids them: --security-opt seccomp=unconfined "
        "--security-opt systempaths=unconfined, or Podman; level portable does without"
    )


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return "absent"


def _threads(level: Level) -> Finding:
    """BLAS in a worker must keep to one thread: more would take memory, and time that no clock counts."""
    name, mend = "threads of NumPy in a worker", "tell the makers of the kit which BLAS this NumPy uses"
    try:
        with ForkServer(level) as server, server.session({}, MULTIPLY, []) as session:
            worker = session.worker(Limits())
            answer = worker.run("multiply", {})
            threads = _most_threads_below(os.getpid())
            worker.end()
    except SandboxError as error:
        return Finding(name, str(error), False, mend)
    return Finding(name, str(threads), answer.outcome == "ok" and threads == 1, mend)


def _compiler(level: Level) -> Finding:
    """Labs with kernels need a compiler, and a jail in which it can read nothing of the grader's."""
    name, chosen = "C++ compiler for kernels", cuda.compiler()
    if chosen is None:
        return Finding(name, "none (labs with kernels are refused; mend: apt-get install g++)")
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder, "secret.h")
        secret.write_text("int secret;\n")
        texts = ("int x;", f'#include "{secret}"\n')
        command = [compiling.found(chosen), "-c", "-pipe", "k.cpp", "-o", compiling.MADE]
        try:
            made = [
                compiling.compile_safely(level, command, {"k.cpp": text.encode()}, [], CompileLimits())
                for text in texts
            ]
        except SandboxError as error:
            return Finding(name, str(error), False, "see the level's lines below")
    works, leaks = (one.succeeded for one in made)
    found = f"{chosen} {cuda.version(chosen)}, {'in its jail' if works and not leaks else 'its jail fails'}"
    return Finding(name, found, works and not leaks, made[0].said or "tell the makers of the kit")


def _most_threads_below(ancestor: int) -> int:
    parent, threads = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (text := _read(f"{entry}/status")) != "absent":
            fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
            parent[int(entry.name)] = int(fields["PPid"])
            threads[int(entry.name)] = int(fields["Threads"])

    def below(pid: int) -> bool:
        return pid in parent and (parent[pid] == ancestor or below(parent[pid]))

    return max((threads[pid] for pid in parent if below(pid)), default=0)


def _for_information() -> list[Finding]:
    place = next((line[3:] for line in _read("/proc/self/cgroup").splitlines() if line.startswith("0::")), "")
    delegated = os.access(f"/sys/fs/cgroup{place}/cgroup.subtree_control", os.W_OK)
    return [
        Finding("cgroup delegated (not needed)", "yes" if delegated else "no"),
        Finding("Yama ptrace_scope (not needed)", _read("/proc/sys/kernel/yama/ptrace_scope")),
    ]


def _level(level: Level, failed: list[str]) -> Finding:
    more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    found = f"{failed[0]}{more}" if failed else f"holds against all {len(probes.EXPECTED)} probes"
    return Finding(f"level {level}", found, not failed, "see the lines marked NO above")
