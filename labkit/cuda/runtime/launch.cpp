// A launch: places the arguments, runs block after block, and outlives a kernel that crashes or never ends.
#include <csignal>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include "runtime.h"

const Launch* launch;
volatile bool overtime, stopped;
void order_threads();
extern "C" EXPORT Index blockIdx, blockDim, gridDim;

static pthread_t launching;
static constexpr int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF};

static Site interrupted_site(void* context) {
    char* code = (char*)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
    return code >= launch->base && code < launch->end ? Site(code + 1 - launch->base) : last_site;
}

// Whether a kernel was interrupted, and not the runtime between two threads of it.
static bool in_kernel(void* context) {
    if (!launch || !running || !pthread_equal(pthread_self(), launching)) return false;
    char* top = (char*)((ucontext_t*)context)->uc_mcontext.gregs[REG_RSP];
    return size_t(top - running->stack) < STACK_BYTES;
}

static void on_signal(int number, siginfo_t* information, void* context) {
    if (!in_kernel(context)) {
        if (number != SIGPROF) signal(number, SIG_DFL);  // not the kernel's: end as usual
        else if (launch && !pthread_equal(pthread_self(), launching)) pthread_kill(launching, SIGPROF);
        return;
    }
    char* address = (char*)information->si_addr;
    Report made = report(OUT_OF_BOUNDS, interrupted_site(context));
    size_t in_stack = address - running->stack;
    if (number == SIGPROF) {
        bool first = !overtime;
        overtime = true;
        if (first && launch->check) return;  // the next accesses will tell which loop it is
        made.kind = TIMEOUT, stopped = true;
    } else if (number == SIGFPE) made.kind = DIVISION_BY_ZERO;
    else if (in_stack < PAGE) made.kind = STACK_OVERFLOW;
    else if (uintptr_t(address) < 65536) made.kind = NULL_POINTER;
    else if (Memory* memory = memory_at(address)) name_array(made, *memory, address, memory->unit ? memory->unit : 4);
    else strcpy(made.array, "@nowhere");
    add(made);
    kill_thread();  // the others go on; this signal's frame is left behind on its stack
}

static bool make_stacks() {
    if (stacks) return true;
    void* got = mmap(nullptr, THREADS * STACK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) return false;
    stacks = (char*)got;
    for (int i = 0; i < THREADS; i++) mprotect(stacks + i * STACK_BYTES, PAGE, PROT_NONE);
    return true;
}

static void run_grid() {
    uint64_t blocks = uint64_t(gridDim.x) * gridDim.y * gridDim.z;
    static uint32_t next_serial = 1;
    if (blocks > UINT32_MAX - next_serial) {  // serial numbers begin again: nothing may be remembered
        for (Memory& slot : slots) forget_cells(slot);
        next_serial = 1;
        place_buffers();
    }
    first_serial = next_serial;
    serials = uint32_t(blocks);
    next_serial += serials;
    for (uint64_t i = 0; i < blocks && !stopped; i++) {
        block = launch->order == 1 ? blocks - 1 - i : i;
        block_serial = first_serial + uint32_t(block);
        blockIdx = {unsigned(block % gridDim.x), unsigned(block / gridDim.x % gridDim.y),
                    unsigned(block / gridDim.x / gridDim.y)};
        poison_shared();
        run_block();
    }
}

// Returns 0, or 1 where the system gives no memory.
extern "C" EXPORT int host_launch(const Launch* what) {
    clear_reports();
    if (!make_stacks()) return 1;
    launch = what;
    gridDim = {what->grid[0], what->grid[1], what->grid[2]};
    blockDim = {what->block[0], what->block[1], what->block[2]};
    threads = int(what->block[0] * what->block[1] * what->block[2]);
    last_site = 0, overtime = stopped = false;
    place_buffers();
    order_threads();

    static char handler_stack[65536];
    stack_t ours{}, before{};
    ours.ss_sp = handler_stack, ours.ss_size = sizeof handler_stack;
    sigaltstack(&ours, &before);
    struct sigaction action{}, actions[5];
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    for (int i = 0; i < 5; i++) sigaction(SIGNALS[i], &action, &actions[i]);
    launching = pthread_self();
    itimerval timer{}, timer_before{};
    timer.it_value.tv_sec = long(what->seconds);
    timer.it_interval.tv_sec = 1;  // again, for a loop that accesses nothing; others have told their line by then
    timer.it_value.tv_usec = long((what->seconds - double(timer.it_value.tv_sec)) * 1e6);
    setitimer(ITIMER_PROF, &timer, &timer_before);

    run_grid();

    setitimer(ITIMER_PROF, &timer_before, nullptr);
    for (int i = 0; i < 5; i++) sigaction(SIGNALS[i], &actions[i], nullptr);
    sigaltstack(&before, nullptr);
    running = nullptr;
    finish_accesses();
    copy_back();
    launch = nullptr;
    return 0;
}
