"""What a worker may see of this machine, and how that becomes its root.

A worker needs the standard library, the C libraries below it, and a folder `site` that holds numpy,
msgspec and labkit and nothing else. Other packages that happen to be installed stay hidden.
"""

import importlib.util
import os
import sys
from typing import Any

from . import kernel

LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache")
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
PACKAGES = ("numpy", "msgspec", "labkit")
PYTEST = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")  # of public tests
SITE = "/site"  # where the packages stand in a root of our own


def describe(packages: tuple[str, ...] = PACKAGES) -> dict[str, Any]:
    """The world as plain data, computed by the grader before any right is dropped.

    `visible`: folders and files to read; `masked`: folders below them that stay hidden; `site`: name ->
    folder of each package; `own`: the worker's code, seen by the fork server alone; `path`: the
    standard library's entries of sys.path.
    """
    library = os.path.dirname(os.path.realpath(os.__file__))
    wanted = [*LIBRARIES, os.path.dirname(library)]
    visible = [path for path in dict.fromkeys(wanted) if os.path.exists(path)]
    masked = [os.path.join(library, name) for name in ("site-packages", "dist-packages", "test")]
    masked += ["/usr/lib/python3"]
    dynamic = os.path.join(library, "lib-dynload")
    return {
        "visible": [path for path in visible if not is_inside(path, visible)],
        "masked": [path for path in masked if os.path.isdir(path)],
        "site": _packages(packages),
        "own": [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "worker")],
        "path": [library, dynamic],
    }


def is_inside(path: str, others: list[str]) -> bool:
    """Whether `path`, no link, lies below another of these."""
    real = os.path.realpath(path)
    return not os.path.islink(path) and any(
        real.startswith(os.path.realpath(other) + "/") for other in others if other != path
    )


def _packages(packages: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for name in packages:
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.origin:
            raise OSError(f"package {name} is not installed")
        if spec.submodule_search_locations:
            found[name] = os.path.realpath(spec.submodule_search_locations[0])
        else:
            found[os.path.basename(spec.origin)] = os.path.realpath(spec.origin)
    libraries = found["numpy"] + ".libs"  # wheels keep their own C libraries beside the package
    if os.path.isdir(libraries):
        found["numpy.libs"] = libraries
    return found


def without(path: str, masked: list[str]) -> list[str]:
    """The fewest paths that cover what lies below `path` except the masked folders."""
    if path in masked:
        return []
    if not any(mask.startswith(path + "/") for mask in masked):
        return [path]
    below = [os.path.join(path, name) for name in sorted(os.listdir(path))]
    return [kept for entry in below if os.path.exists(entry) for kept in without(entry, masked)]


def new_root(binds: dict[str, str], masked: list[str], size_mb: int, read_only: bool) -> None:
    """Replace the root of this mount namespace by an empty one that shows only `binds` (inside -> outside).

    Symbolic links are copied as links. A tmpfs of `size_mb` holds the rest. Raises: OSError.
    """
    kernel.mount(None, "/", None, kernel.RECURSIVE | kernel.PRIVATE)
    options = f"size={size_mb}m,nr_inodes=8192,mode=755"
    kernel.mount("adkit", "/tmp", "tmpfs", kernel.NO_SUID | kernel.NO_DEV, options)
    os.chdir("/tmp")
    os.mkdir("old")
    kernel.pivot_root(".", "old")
    os.chdir("/")
    for inside, outside in binds.items():
        source = "/old" + outside
        if os.path.islink(source):
            os.symlink(os.readlink(source), inside)
            continue
        kernel.bind(source, inside)
        if read_only and not inside.startswith(("/dev/", "/proc")):
            kernel.make_read_only(inside)
    for path in masked:
        kernel.mount("adkit", path, "tmpfs", kernel.READ_ONLY | kernel.NO_SUID | kernel.NO_DEV, "size=4k")
    kernel.unmount("/old")
    os.rmdir("/old")


def build_server_root(world: dict[str, Any]) -> None:
    """The fork server's root: all that workers will see, its own code, and /proc to map users with."""
    visible = {path: path for path in [*world["visible"], *world["own"], *DEVICES, "/proc"]}
    packages = {f"{SITE}/{name}": folder for name, folder in world["site"].items()}
    new_root(visible | packages, world["masked"], 1, read_only=True)
    os.makedirs("/tmp", exist_ok=True)  # it is there where this repository lies below it
    kernel.make_read_only("/")


def build_worker_root(world: dict[str, Any], size_mb: int) -> None:
    """A submission's root, cut from the server's: what workers may see, and a /tmp of their own."""
    new_root({path: path for path in [*world["visible"], SITE, *DEVICES]}, [], size_mb, read_only=False)
    os.mkdir("/tmp")
    os.chmod("/tmp", 0o777)


def close_worker_root() -> None:
    """From now on only /tmp can be written, which holds also where the kernel has no Landlock."""
    kernel.bind("/tmp", "/tmp")
    kernel.make_read_only("/")


def readable(world: dict[str, Any], site: str) -> list[str]:
    """For Landlock: all that is visible; where no mount hides the masked folders, their neighbours."""
    if site == SITE:
        return [*world["visible"], SITE, "/dev/urandom"]
    paths = [kept for path in world["visible"] for kept in without(path, world["masked"])]
    return [*paths, site, *world["site"].values(), "/dev/urandom"]


def import_path(world: dict[str, Any], site: str) -> None:
    """From now on this process imports from the standard library and `site` alone."""
    sys.path[:] = [*world["path"], site]
    sys.path_importer_cache.clear()
