"""Students who change what others will read, or leave something behind."""

import contextlib
import os
import sys

import numpy as np

HERE = os.path.dirname(__file__)


def change_its_own_source(target):
    """Ends: refused"""
    with open(__file__, "a") as file:
        file.write("\n")


def empty_its_own_source(target):
    """Ends: refused"""
    os.close(os.open(__file__, os.O_RDONLY | os.O_TRUNC))


def remove_its_own_source(target):
    """Ends: refused"""
    os.remove(__file__)


def put_a_module_into_its_folder(target):
    """Ends: refused"""
    with open(os.path.join(HERE, "helper.py"), "w") as file:
        file.write("answer = 42")


def poison_its_bytecode(target):
    """Ends: refused"""
    with open(__cached__, "r+b") as file:
        file.write(b"\0" * 16)


def put_bytecode_beside_its_own(target):
    """Ends: refused"""
    with open(os.path.join(HERE, "__pycache__", "helper.pyc"), "wb") as file:
        file.write(b"\0" * 16)


def rename_its_folder(target):
    """Ends: refused"""
    os.rename(os.path.join(HERE, "__pycache__"), os.path.join(HERE, "other"))


def open_its_folder_to_all(target):
    """Ends: refused"""
    os.chmod(HERE, 0o777)


def change_the_time_of_its_source(target):
    """Ends: refused"""
    os.utime(__file__, (0, 0))


def mark_its_source(target):
    """Ends: refused"""
    os.setxattr(__file__, "user.attack", b"1")


def give_its_source_away(target):
    """Ends: refused"""
    os.chown(__file__, 65534, 65534)


def change_numpy(target):
    """Ends: refused"""
    with open(np.__file__, "a") as file:
        file.write("\n")


def put_a_package_beside_numpy(target):
    """Ends: refused"""
    with open(os.path.join(os.path.dirname(os.path.dirname(np.__file__)), "attack.py"), "w") as file:
        file.write("answer = 42")


def change_the_standard_library(target):
    """Ends: refused"""
    with open(os.__file__, "a") as file:
        file.write("\n")


def put_a_start_file_into_the_python(target):
    """Ends: refused"""
    with open(os.path.join(os.path.dirname(os.__file__), "sitecustomize.py"), "w") as file:
        file.write("answer = 42")


def write_into_the_canary_file(target):
    """Ends: refused"""
    with open(target["file"], "w") as file:
        file.write("changed")


def remove_the_canary_file(target):
    """Ends: refused"""
    os.remove(target["file"])


def close_the_canary_file_to_its_owner(target):
    """Ends: refused"""
    os.chmod(target["file"], 0)


def leave_a_file_in_shared_memory(target):
    """Ends: refused"""
    with open("/dev/shm/adkit-attack", "w") as file:
        file.write("answer")


def leave_a_file_in_var_tmp(target):
    """Ends: refused"""
    with open("/var/tmp/adkit-attack", "w") as file:
        file.write("answer")


def leave_a_file_in_the_folder_of_the_grader(target):
    """Ends: refused"""
    with open(os.path.join(os.path.dirname(target["file"]), "adkit-attack"), "w") as file:
        file.write("answer")


def leave_a_file_in_its_tmp(target):
    """A folder of its own, gone with its sandbox; level portable gives none.

    Ends: full ok, portable refused
    """
    with open("/tmp/adkit-attack", "w") as file:
        file.write("answer")


def dig_deep(target):
    """Ends: full ok, portable refused"""
    os.chdir("/tmp")
    for _ in range(1000):
        os.mkdir("adkit-attack-deep")
        os.chdir("adkit-attack-deep")


def fill_the_disk(target):
    """Ends: refused"""
    for number in range(100):
        with open(f"/tmp/adkit-attack-{number}", "wb") as file:
            file.write(bytes(16 << 20))


def make_a_file_of_20_gb(target):
    """Ends: refused"""
    with open("/tmp/adkit-attack", "wb") as file:
        file.truncate(20 << 30)


def use_up_the_files(target):
    """Ends: refused"""
    for number in range(20_000):
        os.close(os.open(f"/tmp/adkit-attack-{number}", os.O_CREAT | os.O_WRONLY))


def make_a_pipe_with_a_name(target):
    """Ends: refused"""
    os.mkfifo("/tmp/adkit-attack")


def make_a_device(target):
    """Ends: refused"""
    os.mknod("/tmp/adkit-attack", 0o20666, os.makedev(1, 1))


def hold_a_lock(target):
    """Ends: refused"""
    import fcntl

    with open(os.__file__) as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def spare_itself_when_memory_ends(target):
    """Ends: refused"""
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")


def change_a_setting_of_the_kernel(target):
    """Ends: refused"""
    with open("/proc/sys/kernel/core_pattern", "w") as file:
        file.write("|/tmp/attack")


def join_another_control_group(target):
    """Ends: refused"""
    with open("/sys/fs/cgroup/cgroup.procs", "w") as file:
        file.write(str(os.getpid()))


def write_to_everything_it_can_see(target):
    """Ends: ok"""
    return any(map(_opens, _paths(sys.path[1], os.path.dirname(np.__file__), HERE)))


def _paths(*folders):
    for folder in folders:
        with contextlib.suppress(PermissionError):
            yield from (os.path.join(folder, name) for name in os.listdir(folder))


def _opens(path):
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        return False
    return True
