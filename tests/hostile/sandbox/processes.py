"""Students who reach for other processes, or for rights they have not."""

import ctypes
import fcntl
import mmap
import multiprocessing
import os
import resource
import signal
import socket
import subprocess
import threading

libc = ctypes.CDLL(None, use_errno=True)


def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True


def kill_the_canary(target):
    """Ends: refused"""
    os.kill(target["canary"], signal.SIGKILL)


def kill_the_parent(target):
    """Ends: refused"""
    os.kill(os.getppid(), signal.SIGKILL)


def kill_everybody(target):
    """Ends: refused"""
    os.kill(-1, signal.SIGKILL)


def kill_its_group(target):
    """Ends: refused"""
    os.killpg(0, signal.SIGKILL)


def kill_a_thread_of_another(target):
    """Ends: refused"""
    call(234, target["canary"], target["canary"], signal.SIGKILL)


def queue_a_signal(target):
    """Ends: refused"""
    call(129, target["canary"], signal.SIGTERM, ctypes.create_string_buffer(128))


def signal_through_a_descriptor(target):
    """Ends: refused"""
    one, other = socket.socketpair()
    fcntl.fcntl(one, fcntl.F_SETOWN, target["canary"])
    fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC)
    other.send(b"x")


def kill_itself_as_the_machine_would(target):
    """A SIGKILL from nowhere would be the grader's fault, and nobody's zero.

    Ends: refused
    """
    os.kill(os.getpid(), signal.SIGKILL)


def kill_its_thread_as_the_machine_would(target):
    """Ends: refused"""
    signal.pthread_kill(threading.get_ident(), signal.SIGKILL)


def lower_its_time_to_be_killed(target):
    """Ends: raised ValueError"""
    resource.setrlimit(resource.RLIMIT_CPU, (0, 0))


def raise_its_memory_limit(target):
    """Ends: raised ValueError"""
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def change_the_limits_of_the_canary(target):
    """Ends: refused"""
    resource.prlimit(target["canary"], resource.RLIMIT_CPU, (0, 0))


def slow_the_canary_down(target):
    """Ends: refused"""
    os.setpriority(os.PRIO_PROCESS, target["canary"], 19)


def run_before_all_others(target):
    """Ends: refused"""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def leave_its_session(target):
    """Ends: refused"""
    os.setsid()


def fork_without_end(target):
    """Ends: refused"""
    while True:
        os.fork()


def fork_by_number(target):
    """Ends: refused"""
    call(56, signal.SIGCHLD, 0, 0, 0, 0)


def fork_by_the_newest_number(target):
    """Ends: refused"""
    arguments = ctypes.create_string_buffer(88)
    call(435, arguments, 88)


def fork_sharing_memory(target):
    """Ends: refused"""
    call(58)


def leave_a_daemon(target):
    """Ends: refused"""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.pause()
        os._exit(0)


def run_a_shell(target):
    """Ends: refused"""
    subprocess.run("id", shell=True, check=True)


def become_another_program(target):
    """Ends: refused"""
    os.execv("/bin/true", ["true"])


def use_a_pool_of_processes(target):
    """Ends: refused"""
    with multiprocessing.Pool(2) as pool:
        pool.map(abs, [1])


def start_threads_without_end(target):
    """Ends: raised RuntimeError or out-of-memory"""
    gate = threading.Event()
    while True:
        threading.Thread(target=gate.wait, daemon=True).start()


def become_root(target):
    """Ends: refused"""
    os.setresuid(0, 0, 1)


def change_its_root(target):
    """Ends: refused"""
    os.chroot("/tmp")


def become_dumpable(target):
    """Ends: refused"""
    if libc.prctl(4, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def outlive_its_parent(target):
    """Ends: refused"""
    if libc.prctl(1, 0, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def load_a_filter_of_its_own(target):
    """Ends: refused"""
    call(317, 1, 8, None)


def handle_a_process(target):
    """Ends: refused"""
    call(434, target["canary"], 0)


def take_a_descriptor_of_another(target):
    """Ends: forbidden-action"""
    call(438, 0, 0, 0)


def trace_the_canary(target):
    """Ends: forbidden-action"""
    libc.ptrace(0x4206, target["canary"], 0, 0)


def make_a_user_namespace(target):
    """Ends: forbidden-action"""
    libc.unshare(0x10000000)


def enter_a_namespace(target):
    """Ends: forbidden-action"""
    libc.setns(0, 0)


def mount_something(target):
    """Ends: forbidden-action"""
    libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)


def make_a_thread_in_a_new_namespace(target):
    """Ends: refused"""
    call(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)


def queue_calls_in_the_kernel(target):
    """Ends: forbidden-action"""
    libc.syscall(425, 1, ctypes.create_string_buffer(120))


def load_a_program_into_the_kernel(target):
    """Ends: forbidden-action"""
    libc.syscall(321, 0, None, 0)


def handle_page_faults(target):
    """Ends: forbidden-action"""
    libc.syscall(323, 0)


def count_events_of_the_machine(target):
    """Ends: forbidden-action"""
    libc.syscall(298, None, 0, -1, -1, 0)


def call_as_32_bit(target):
    """Ends: forbidden-action or crashed"""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("b802000000cd80c3"))  # mov eax, fork; int 0x80; ret
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


def call_as_x32(target):
    """Ends: forbidden-action"""
    libc.syscall(0x40000000 | 57)


def stop_the_machine(target):
    """Ends: refused"""
    call(169, 0, 0, 0, 0)


def rename_the_machine(target):
    """Ends: refused"""
    socket.sethostname("attack")


def ignore_every_signal_and_loop(target):
    """Ends: timed-out"""
    for number in range(1, 32):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_IGN)
    while True:
        pass
