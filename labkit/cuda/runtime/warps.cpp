// Shuffles, votes and __syncwarp: the lanes of a warp meet, and those that are named but do not come are reported.
#include "runtime.h"

enum { INDEX, UP, DOWN, XOR, VOTE, SYNC };

static int source_lane(int lane, const Fiber& fiber) {
    int width = fiber.width, first = lane / width * width, last = first + width - 1, shift = fiber.argument;
    int from = fiber.kind == INDEX  ? first + (shift & (width - 1))
               : fiber.kind == UP   ? lane - shift
               : fiber.kind == DOWN ? lane + shift
                                    : lane ^ shift;
    return from < first || from > last ? lane : from;
}

static void missing(const Fiber& asker, int lane) {
    running = const_cast<Fiber*>(&asker);
    Report made = report(WARP_MASK, IS_LINE + asker.line);
    made.number = lane, made.other_thread = asker.thread / WARP * WARP + lane, made.other_block = block;
    add(made);
    running = nullptr;
}

// Lets those lanes go on that wait in the same place as the first; false if none waits.
bool release_warp(int first) {
    Fiber* lanes[WARP] = {};
    const Fiber* leader = nullptr;
    unsigned killed = 0, present = 0, existing = 0, ballot = 0;
    for (int i = 0; i < WARP && first + i < threads; i++) {
        existing |= 1u << i;
        Fiber* fiber = fiber_of[first + i];
        if (fiber && fiber->state == KILLED) killed |= 1u << i;
        if (!fiber || fiber->state != IN_WARP) continue;
        if (!leader) leader = fiber;
        if (fiber->place != leader->place) continue;
        lanes[i] = fiber, present |= 1u << i;
        if (fiber->bits) ballot |= 1u << i;
    }
    if (!leader) return false;
    if (unsigned absent = leader->mask & existing & ~present & ~killed) missing(*leader, __builtin_ctz(absent));
    for (int i = 0; i < WARP; i++)
        if (lanes[i] && !(lanes[i]->mask >> i & 1)) missing(*lanes[i], i);  // it does not name itself
    uint64_t bits[WARP];
    for (int i = 0; i < WARP; i++) bits[i] = lanes[i] ? lanes[i]->bits : ~uint64_t(0);
    for (int i = 0; i < WARP; i++) {
        Fiber* fiber = lanes[i];
        if (!fiber) continue;
        if (fiber->kind == VOTE) fiber->bits = ballot & fiber->mask;
        if (fiber->kind < VOTE) {
            int from = source_lane(i, *fiber);
            if (!lanes[from] && !(killed >> from & 1)) missing(*fiber, from);
            fiber->bits = bits[from];
        }
        if (fiber->kind == SYNC) fiber->warp++;
        fiber->state = RUNNING;
    }
    return true;
}

extern "C" EXPORT uint64_t cu_warp(int line, int place, int kind, unsigned mask, uint64_t bits, int argument, int width) {
    Fiber* self = running;
    self->line = line, self->place = place, self->kind = kind, self->mask = mask;
    self->bits = bits, self->argument = argument, self->width = width < 1 ? 1 : width > WARP ? WARP : width;
    wait_as(IN_WARP);
    return self->bits;
}
