"""NVRTC on a student's text, in a jail: run by `gate` as a program, told what to do on stdin.

NVIDIA's compiler is a library: it is loaded and warmed up first, then the process shuts itself in, and only
then sees the text. It answers on stdout with a JSON list of errors, or null where NVRTC is not installed.
"""

import json
import os
import resource
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from autograder.sandbox import compile_jail, jail, kernel, seccomp
from labkit.cuda import compile as cuda
from labkit.cuda import nvrtc

CPU_S, MEMORY_MB = 4, 2048
ERRORS, LETTERS = 8, 300  # lines that are told, letters of each


def main() -> None:
    """Load, shut in, look, tell."""
    request = json.loads(sys.stdin.buffer.read())
    kernel.die_with_parent()
    told = None
    if nvrtc.check("") is not None:  # what it loads late is loaded now
        libraries = [path for path in cuda_libraries() if os.path.exists(path)]
        if request["level"] == "full":
            visible = [*request["visible"], *libraries, str(cuda.RUNTIME), "/dev/null"]
            compile_jail.enter({path: path for path in dict.fromkeys(visible)}, request["masked"])
        if request["level"] != "none":
            jail.restrict(
                request["level"], [*request["visible"], *libraries, str(cuda.RUNTIME)], ["/dev/null"]
            )
        jail.lower(
            (resource.RLIMIT_CORE, 0, 0),
            (resource.RLIMIT_CPU, CPU_S, CPU_S + 1),
            (resource.RLIMIT_AS, MEMORY_MB << 20, MEMORY_MB << 20),
        )
        if request["level"] != "none":
            seccomp.restrict()
        said = nvrtc.check(request["text"], request["file"]) or []
        told = [line[:LETTERS] for line in said[:ERRORS]]
    os.write(1, json.dumps(told).encode())
    os._exit(0)


def cuda_libraries() -> set[str]:
    """The folders that NVRTC's own files were loaded from."""
    with open("/proc/self/maps") as maps:
        paths = [line.split()[-1] for line in maps if "nvrtc" in line]
    return {os.path.dirname(path) for path in paths}


if __name__ == "__main__":
    main()
