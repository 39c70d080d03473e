// CUDA threads as fibers of one system thread. A kernel without barriers is a plain loop: a new fiber is begun
// only where the running one has to wait.
#include <cstring>
#include "runtime.h"

#pragma GCC visibility push(default)
extern "C" {
Index threadIdx, blockIdx, blockDim, gridDim;
Index cu_thread_index() { return threadIdx; }
Index cu_block_index() { return blockIdx; }
Index cu_block_size() { return blockDim; }
Index cu_grid_size() { return gridDim; }
// Saves the registers that a call must keep, changes the stack, restores them.
void cu_switch(void** from, void* to);
}
asm(R"(
.text
.globl cu_switch
.hidden cu_switch
cu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");

Fiber* running;
Fiber* fiber_of[THREADS];
int threads;
uint64_t block;
uint32_t block_serial, first_serial, serials;
char* stacks;

static Fiber fibers[THREADS];
static int begun, next_thread;
static uint16_t order[THREADS];
static Index indices[THREADS];
static void* scheduler;

void wait_as(State state) {
    settle_store();
    Fiber* self = running;
    self->state = state;
    cu_switch(&self->stack_pointer, scheduler);
    running = self;
    threadIdx = self->index;
}

void kill_thread() {
    wait_as(KILLED);
    __builtin_unreachable();
}

static void start_thread(Fiber* fiber, int thread) {
    fiber->thread = thread;
    fiber->index = indices[thread];
    fiber->barrier = 0, fiber->warp = 0;
    fiber->state = RUNNING;
    fiber_of[thread] = fiber;
    threadIdx = fiber->index;
}

static void fiber_main() {
    while (next_thread < threads) {
        start_thread(running, order[next_thread++]);
        launch->call(launch->arguments);
        fiber_of[running->thread] = nullptr;
    }
    wait_as(FREE);
}

static void resume(Fiber* fiber) {
    running = fiber;
    threadIdx = fiber->index;
    cu_switch(&scheduler, fiber->stack_pointer);
    settle_store();
    running = nullptr;
}

static void begin_fiber() {
    Fiber* fiber = &fibers[begun];
    fiber->stack = stacks + begun++ * STACK_BYTES;
    void** top = (void**)(fiber->stack + STACK_BYTES - 64);
    *--top = nullptr;
    *--top = (void*)fiber_main;
    for (int i = 0; i < 6; i++) *--top = nullptr;
    fiber->stack_pointer = top;
    fiber->state = RUNNING;
    fiber->thread = order[next_thread];
    resume(fiber);
}

void order_threads() {
    unsigned x = blockDim.x, y = blockDim.y;
    for (unsigned i = 0; i < unsigned(threads); i++) indices[i] = {i % x, i / x % y, i / x / y};
    for (int i = 0; i < threads; i++) order[i] = uint16_t(launch->order == 1 ? threads - 1 - i : i);
    uint32_t random = launch->seed * 2654435761u + 1;
    for (int i = threads - 1; launch->order == 2 && i > 0; i--) {
        random = random * 1664525u + 1013904223u;
        int other = (random >> 8) % (i + 1);
        uint16_t kept = order[i];
        order[i] = order[other], order[other] = kept;
    }
}

// All who are left wait at a barrier: say who does not, or who waits at another, and let them go on.
static void release_barrier(uint32_t passed) {
    Fiber* first = nullptr;
    int waiting = 0, killed = 0, sum = 0;
    for (int i = 0; i < begun; i++) {
        Fiber* fiber = &fibers[i];
        killed += fiber->state == KILLED;
        if (fiber->state != AT_BARRIER) continue;
        waiting++, sum += fiber->argument;
        if (!first) first = fiber;
        if (fiber->place == first->place) continue;
        running = first;
        Report made = report(BARRIER_DIVERGENT, IS_LINE + first->line);
        made.other_site = IS_LINE + fiber->line, made.other_thread = fiber->thread, made.other_block = block;
        add(made);
    }
    if (waiting && waiting < threads && !killed) {
        int ended = 0;
        while (fiber_of[ended]) ended++;
        running = first;
        Report made = report(BARRIER_MISSED, IS_LINE + first->line);
        made.other_thread = ended, made.other_block = block, made.number = waiting, made.of = threads;
        add(made);
    }
    running = nullptr;
    for (int i = 0; i < begun; i++) {
        Fiber* fiber = &fibers[i];
        if (fiber->state != AT_BARRIER) continue;
        fiber->state = RUNNING, fiber->barrier = passed;
        bool all = sum == waiting;
        fiber->argument = fiber->kind == 1 ? sum : fiber->kind == 2 ? sum > 0 : all;
    }
}

static bool all_ended() {
    for (int i = 0; i < begun; i++)
        if (fibers[i].state != FREE && fibers[i].state != KILLED) return false;
    return true;
}

static bool run_those_that_can() {
    bool any = false;
    for (int i = 0; i < begun; i++) {
        Fiber* fiber = &fibers[launch->order == 1 ? begun - 1 - i : i];
        if (fiber->state == RUNNING && !stopped) resume(fiber), any = true;
    }
    return any;
}

void run_block() {
    begun = next_thread = 0;
    while (next_thread < threads && !stopped) begin_fiber();
    for (uint32_t passed = 1; !stopped && !all_ended(); passed++) {
        for (bool any = true; any;) {
            any = run_those_that_can();
            for (int first = 0; !any && first < threads; first += WARP) any = release_warp(first);
        }
        release_barrier(passed);
    }
    for (int i = 0; i < begun; i++) fiber_of[fibers[i].thread] = nullptr;  // killed ones are still there
}

extern "C" EXPORT int cu_barrier(int line, int place, int kind, int predicate) {
    Fiber* self = running;
    self->line = line, self->place = place, self->kind = kind, self->argument = predicate;
    wait_as(AT_BARRIER);
    return self->argument;
}
