"""Students who look for what they should not see."""

import ctypes
import gc
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True


def read(path):
    with open(path, "rb") as file:
        return bool(file.read())


def the_canary_file(target):
    """Ends: refused"""
    return read(target["file"])


def the_canary_file_by_walking_up(target):
    """Ends: refused"""
    return read("../" * 20 + target["file"][1:])


def the_canary_file_from_a_handle_of_the_root(target):
    """Ends: refused"""
    root = os.open("/", os.O_PATH)
    return os.open(target["file"][1:], os.O_RDONLY, dir_fd=root) >= 0


def the_canary_file_by_a_symbolic_link(target):
    """Ends: refused"""
    os.symlink(target["file"], "/tmp/adkit-attack-link")
    return read("/tmp/adkit-attack-link")


def the_canary_file_by_a_hard_link(target):
    """Ends: refused"""
    os.link(target["file"], "/tmp/adkit-attack-link")
    return read("/tmp/adkit-attack-link")


def the_canary_file_by_its_handle(target):
    """Ends: refused"""
    handle = ctypes.create_string_buffer(b"\x80\0\0\0", 136)
    return call(303, -100, target["file"].encode(), handle, ctypes.byref(ctypes.c_int()), 0)


def whether_the_canary_file_exists(target):
    """Landlock hides contents and lists, not that a path exists.

    Ends: full refused, portable reached
    """
    return os.stat(target["file"]).st_size > 0


def another_submission(target):
    """Ends: refused"""
    return read(target["other"])


def the_folder_of_submissions(target):
    """Ends: full ok, portable refused"""
    return any(name.startswith("adkit-sub") for name in os.listdir("/tmp"))


def the_packages_of_the_grader(target):
    """Ends: refused"""
    return bool(os.listdir(target["packages"]))


def the_code_of_the_grader(target):
    """Ends: refused"""
    import autograder.judging

    return bool(autograder.judging)


def the_users_of_the_machine(target):
    """Ends: refused"""
    return read("/etc/passwd")


def the_environment_of_the_grader(target):
    """Ends: refused"""
    return read(f"/proc/{target['grader']}/environ")


def the_command_line_of_the_grader(target):
    """Ends: refused"""
    return read(f"/proc/{target['grader']}/cmdline")


def the_memory_of_its_parent(target):
    """Ends: refused"""
    return read(f"/proc/{os.getppid()}/maps")


def the_memory_of_its_parent_by_a_system_call(target):
    """Ends: forbidden-action"""
    return call(310, os.getppid(), None, 0, None, 0, 0)


def its_own_environment(target):
    """Ends: ok"""
    return len(os.environ) > 0 or os.getenv("HOME") is not None


def descriptors_it_inherited(target):
    """Ends: ok"""
    found = []
    for descriptor in range(4, 1024):
        try:
            os.fstat(descriptor)
            found.append(descriptor)
        except OSError:
            pass
    return len(found) > 0


def the_secret_in_all_objects_of_its_process(target):
    """Ends: ok"""
    secret = "".join(target["secret"])
    texts = (x for thing in gc.get_objects() for x in gc.get_referents(thing) if isinstance(x, (str, bytes)))
    others = (text for text in texts if text is not secret)
    return any(secret in (text if isinstance(text, str) else text.decode("latin-1")) for text in others)


def the_grader_in_its_callers(target):
    """Ends: ok"""
    frame = sys._getframe()
    names = set()
    while frame:
        names |= {*frame.f_locals, *frame.f_globals}
        frame = frame.f_back
    return bool(names & {"reference", "expected", "tolerance", "judge", "key", "Judge", "Reference"})


def the_grader_among_its_modules(target):
    """Ends: ok"""
    rooms = ("judging", "batch", "reporting", "intake", "authoring", "key", "course")
    return any(name.startswith(tuple(f"autograder.{room}" for room in rooms)) for name in sys.modules)


def the_log_of_the_kernel(target):
    """Ends: refused"""
    return call(103, 3, ctypes.create_string_buffer(100), 100)


def devices_of_the_machine(target):
    """Ends: refused"""
    return any(read(path) for path in ("/dev/mem", "/dev/tty", "/dev/sda", "/dev/vda"))
