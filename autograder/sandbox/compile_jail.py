"""One command of a compiler in a jail: run by `compiling` as a program, told what to do on stdin.

It answers on stdout: four bytes of length, a JSON object on how the command ended, and the file it made.
In level full this process, and below it an init of its own namespaces, never run what was handed in.
"""

import base64
import json
import math
import os
import resource
import stat
import struct
import sys
from typing import Any, NoReturn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from autograder.sandbox import jail, kernel, seccomp
from autograder.sandbox import world as worlds

SPACE_MB = 64  # its folder, and the largest file in it
SAID = "said"
SAID_BYTES = 65536
PROCESSES = 4096  # of the user, all together; in level full of this jail alone


def main() -> None:
    """Build the jail, run the command, tell what it made."""
    request = json.loads(sys.stdin.buffer.read())
    kernel.die_with_parent()
    try:
        if request["level"] == "full":
            world = request["world"]
            shown = [*world["visible"], *request["headers"], "/dev/null"]
            enter({path: path for path in shown} | world["programs"], world["masked"])
        folder = furnish(request["folder"] or "/tmp", request["files"])
        _restrict(request, folder)
        head, content = _work(request)
    except Exception as error:
        head, content = {"fault": f"{type(error).__name__}: {error}"}, b""
    text = json.dumps(head).encode()
    sys.stdout.buffer.write(struct.pack("<I", len(text)) + text + content)
    sys.stdout.buffer.flush()
    os._exit(0)


def enter(binds: dict[str, str], masked: list[str]) -> None:
    """Into namespaces and a root that shows these paths alone; whoever started as root becomes nobody.

    The process that returns is the init of its namespaces; the caller waits and ends as it does.
    """
    user, group = os.geteuid(), os.getegid()
    apart = kernel.NEW_MOUNTS | kernel.NEW_PIDS | kernel.NEW_IPC | kernel.NEW_UTS | kernel.NEW_NET
    if user == 0:
        kernel.unshare(apart)
    else:
        kernel.unshare(kernel.NEW_USER | apart)
        kernel.map_user(user, group)
    if inner := os.fork():
        os._exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]))
    kernel.die_with_parent()
    worlds.new_root(binds, masked, SPACE_MB, read_only=True)
    os.makedirs("/tmp", exist_ok=True)
    os.chmod("/tmp", 0o777)
    worlds.close_worker_root()
    if user == 0:
        kernel.become_nobody()
        kernel.die_with_parent()  # a change of user forgets it


def furnish(folder: str, files: dict[str, str]) -> str:
    """Put files, base64 by their names, into the folder, which becomes the current one."""
    os.chdir(folder)
    for name, data in files.items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "wb") as file:
            file.write(base64.b64decode(data))
    return folder


def _restrict(request: dict[str, Any], folder: str) -> None:
    if request["level"] == "none":
        return
    world = request["world"]
    readable = [kept for path in world["visible"] for kept in worlds.without(path, world["masked"])]
    if request["level"] == "full":
        readable = world["visible"]
    paths = [*readable, *request["headers"], *world["programs"], *world["programs"].values()]
    jail.restrict(request["level"], list(dict.fromkeys(filter(os.path.exists, paths))), [folder, "/dev/null"])


def _work(request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Run the command; how it ended, and what it made."""
    said = os.open(SAID, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    child = os.fork()
    if child == 0:
        _become_the_command(request, said)
    _, status, usage = os.wait4(child, 0)
    words = os.pread(said, SAID_BYTES, 0).decode(errors="replace")
    content, too_large = _made(request["made"], request["largest"])
    return {
        "status": os.waitstatus_to_exitcode(status),
        "said": words,
        "too_large": too_large,
        "cpu_s": usage.ru_utime + usage.ru_stime,
    }, content


def _made(name: str, largest: int) -> tuple[bytes, bool]:
    """The file that was made, b"" without one; whether it is too large to be taken."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b"", False
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > largest:
            return b"", status.st_size > largest
        return file.read(largest), False


def _become_the_command(request: dict[str, Any], said: int) -> NoReturn:
    try:
        null = os.open("/dev/null", os.O_RDWR)
        for stream, source in enumerate((null, said, said)):
            os.dup2(source, stream)
        os.closerange(3, jail.PIPE)
        kernel.die_with_parent()
        _limit(request)
        if request["level"] != "none":
            seccomp.restrict(compiler=True)
        command = request["command"]
        places = sorted({os.path.dirname(path) for path in request["world"]["programs"]})
        os.execve(command[0], command, {"PATH": ":".join(places), "LC_ALL": "C.UTF-8", "TMPDIR": os.getcwd()})
    finally:
        os._exit(98)


def _limit(request: dict[str, Any]) -> None:
    whole, memory = math.ceil(request["cpu_s"]), request["memory_mb"] << 20
    jail.lower(
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, whole, whole + 1),
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_FSIZE, SPACE_MB << 20, SPACE_MB << 20),
        (resource.RLIMIT_NOFILE, jail.OPEN_FILES, jail.OPEN_FILES),
        (resource.RLIMIT_NPROC, PROCESSES, PROCESSES),
        (resource.RLIMIT_MEMLOCK, 0, 0),
    )


if __name__ == "__main__":
    main()
