// Every load and store of checked mode comes here: bounds, values that nobody stored, races.
//
// Two accesses are ordered if one thread does both, or a barrier of their block or __syncwarp of their warp lies
// between. Blocks are never ordered. That is decided from what each cell remembers, whatever order threads ran in.
#include <cstring>
#include "runtime.h"

Site last_site;

static bool live(const Access& a, bool shared) {
    return shared ? a.block == block_serial : a.block - first_serial < serials;
}

static bool ordered(const Access& a, const Access& b) {
    if (a.block != b.block) return false;
    if (a.number() == b.number() || a.barrier != b.barrier) return true;
    return a.number() / WARP == b.number() / WARP && a.warp != b.warp;
}

static void remember(Access pair[2], const Access& now, bool shared) {
    Access last = pair[0];
    pair[0] = now;
    if (!live(last, shared)) {
        pair[1].block = 0;
        return;
    }
    if (last.number() == now.number() && last.block == now.block && last.barrier == now.barrier && last.how() < ATOMIC)
        pair[0].thread = last.thread;  // a plain store stays one when an atomic follows it
    if (live(pair[1], shared) && pair[1].block != now.block) return;
    if (!ordered(last, now))
        pair[1] = last;
    else if (live(pair[1], shared) && ordered(pair[1], now))
        pair[1].block = 0;
}

// A store beside another: whether they store the same is known when it has been done.
static struct {
    bool waits;
    char* address;
    size_t size;
    char before[16];
    Report report;
} store;

void settle_store() {
    if (!store.waits) return;
    store.waits = false;
    if (!memcmp(store.before, store.address, store.size)) store.report.severity = WARNING;
    add(store.report);
}

// A read beside another thread's CAS: no race if it is the first step of the reader's own CAS loop.
static constexpr int READS = 4096;
static struct {
    const char* address;
    int thread;
    uint32_t block;
    Report report;
} reads[READS];
static int read_count;

// After the time of the launch: of the next accesses, which are those of an endless loop, the first in the code.
static Site loop;
static int loop_accesses;

static void end_loop(Site site) {
    if (!loop_accesses++ || site < loop) loop = site;
    if (loop_accesses < 100000) return;
    stopped = true;
    add(report(TIMEOUT, loop));
    kill_thread();
}

void finish_accesses() {
    settle_store();
    for (int i = 0; i < read_count; i++) add(reads[i].report);
    read_count = loop_accesses = 0;
}

static void own_loop(const Memory& memory, const char* address, size_t size) {
    for (int i = 0; i < read_count;)
        if (reads[i].thread == running->thread && reads[i].block == block_serial && reads[i].address >= address &&
            reads[i].address < address + size)
            reads[i] = reads[--read_count];
        else
            i++;
    for (size_t i = (address - memory.start) / memory.grain; memory.start + i * memory.grain < address + size; i++)
        for (Access& read : memory.cells[i].read)
            if (read.block == block_serial && read.number() == running->thread && read.barrier == running->barrier)
                read.block = 0;
}

static void race(const Memory& memory, char* address, size_t size, How how, const Access& now, const Access& then) {
    Report made = report(RACE, now.site);
    name_array(made, memory, address, size);
    made.other_site = then.site;
    made.other_thread = then.number();
    made.other_block = block - (block_serial - then.block);
    bool cas = how == CAS || then.how() == CAS;
    made.number = cas;  // which of the two warnings it is
    if (how == READ && cas) {
        made.severity = WARNING;
        if (read_count < READS) reads[read_count++] = {address, now.number(), block_serial, made};
    } else if (how == CAS && then.how() == READ) {
        made.severity = WARNING;
        add(made);
    } else if (how == WRITE && then.how() == WRITE && size <= sizeof store.before) {
        store.waits = true, store.address = address, store.size = size, store.report = made;
        memcpy(store.before, address, size);
    } else
        add(made);
}

static void look(Memory& memory, char* address, size_t size, How how, const Access& now) {
    size_t first = (address - memory.start) / memory.grain, last = (address + size - 1 - memory.start) / memory.grain;
    bool found = false;
    for (size_t i = first; i <= last; i++) {
        Cell& cell = memory.cells[i];
        for (int k = 0; k < 2 && !found; k++) {
            const Access& write = cell.write[k];
            bool both_atomic = how >= ATOMIC && write.how() >= ATOMIC;
            if (live(write, memory.shared) && !both_atomic && !ordered(write, now)) {
                race(memory, address, size, how, now, write);
                found = true;
            }
        }
        for (int k = 0; k < 2 && !found && how != READ; k++)
            if (live(cell.read[k], memory.shared) && !ordered(cell.read[k], now)) {
                race(memory, address, size, how, now, cell.read[k]);
                found = true;
            }
        remember(how == READ ? cell.read : cell.write, now, memory.shared);
    }
}

static void values(Memory& memory, char* address, size_t size, How how, Site site) {
    uint32_t unit = memory.shared ? 4 : memory.unit;
    size_t first = (address - memory.start) / unit, last = (address + size - 1 - memory.start) / unit;
    for (size_t i = first; i <= last; i++) {
        if (how != WRITE && !memory.written[i]) {
            Report made = report(UNINITIALISED_READ, site);
            name_array(made, memory, address, size);
            add(made);
        }
        if (how != READ || !memory.written[i]) memory.written[i] = how == READ ? 2 : 1;  // 2: already reported
    }
}

static void outside(Site site, Kind kind, const char* what) {
    Report made = report(kind, site);
    strncpy(made.array, what, sizeof made.array - 1);
    add(made);
    kill_thread();
}

static void access(char* address, size_t size, How how, Site site) {
    if (!running || !launch->check) return;
    if (store.waits) settle_store();
    if (overtime) end_loop(site);
    last_site = site;
    if (size_t(address - running->stack) < STACK_BYTES) return;
    Memory* memory = memory_at(address);
    if (!memory) {
        if (uintptr_t(address) < 65536) outside(site, NULL_POINTER, "");
        if (size_t(address - stacks) < THREADS * STACK_BYTES) outside(site, OUT_OF_BOUNDS, "@local");
        if (size_t(address - arena) < SLOTS * SLOT_BYTES) outside(site, OUT_OF_BOUNDS, "@nowhere");
        return;
    }
    if (address < memory->start || address + size > memory->start + memory->bytes) {
        Report made = report(OUT_OF_BOUNDS, site);
        name_array(made, *memory, address, size);
        add(made);
        kill_thread();
    }
    if (!memory->unit) memory->unit = uint32_t(size);
    uint32_t together = uint32_t((address - memory->start) | size), grain = together & -together;
    if (grain < memory->grain) refine(*memory, grain);
    if (how != READ && memory->constant) {
        Report made = report(WRITE_TO_CONST, site);
        name_array(made, *memory, address, size);
        add(made);
    }
    if (memory->written) values(*memory, address, size, how, site);
    if (how == CAS) own_loop(*memory, address, size);
    uint16_t thread = uint16_t(running->thread | how << 10);
    look(*memory, address, size, how, {site, block_serial, running->barrier, thread, running->warp});
}

static Site site_of(void* code) {
    size_t offset = (char*)code - launch->base;
    return (char*)code >= launch->base && (char*)code < launch->end ? Site(offset) : 0;
}

// What the compiler's -fsanitize=thread calls before each load and store; we are linked in its library's place.
#define HERE site_of(__builtin_return_address(0))
#define HOOKS(N)                                                                            \
    void __tsan_read##N(char* a) { if (launch) access(a, N, READ, HERE); }                  \
    void __tsan_write##N(char* a) { if (launch) access(a, N, WRITE, HERE); }                \
    void __tsan_unaligned_read##N(char* a) { if (launch) access(a, N, READ, HERE); }        \
    void __tsan_unaligned_write##N(char* a) { if (launch) access(a, N, WRITE, HERE); }      \
    void __tsan_volatile_read##N(char* a) { if (launch) access(a, N, READ, HERE); }         \
    void __tsan_volatile_write##N(char* a) { if (launch) access(a, N, WRITE, HERE); }       \
    void __tsan_unaligned_volatile_read##N(char* a) { if (launch) access(a, N, READ, HERE); }   \
    void __tsan_unaligned_volatile_write##N(char* a) { if (launch) access(a, N, WRITE, HERE); } \
    void __tsan_read_write##N(char* a) {                                                    \
        if (!launch) return;                                                                \
        access(a, N, READ, HERE);                                                           \
        access(a, N, WRITE, HERE);                                                          \
    }                                                                                       \
    void __tsan_unaligned_read_write##N(char* a) {                                          \
        if (!launch) return;                                                                \
        access(a, N, READ, HERE);                                                           \
        access(a, N, WRITE, HERE);                                                          \
    }
static void range(char* address, long bytes, How how, Site site) {
    for (long i = 0; launch && i < bytes;) {
        long step = 8;
        while (step > bytes - i || uintptr_t(address + i) % step) step /= 2;
        access(address + i, step, how, site);
        i += step;
    }
}
#pragma GCC visibility push(default)
extern "C" {
HOOKS(1) HOOKS(2) HOOKS(4) HOOKS(8) HOOKS(16)
void __tsan_read_range(char* address, long bytes) { range(address, bytes, READ, HERE); }
void __tsan_write_range(char* address, long bytes) { range(address, bytes, WRITE, HERE); }
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
// The linker sends a kernel's memcpy and its like here (--wrap).
void* __wrap_memcpy(char* to, const char* from, size_t bytes) {
    range((char*)from, long(bytes), READ, HERE);
    range(to, long(bytes), WRITE, HERE);
    return memcpy(to, from, bytes);
}
void* __wrap_memmove(char* to, const char* from, size_t bytes) {
    range((char*)from, long(bytes), READ, HERE);
    range(to, long(bytes), WRITE, HERE);
    return memmove(to, from, bytes);
}
void* __wrap_memset(char* to, int value, size_t bytes) {
    range(to, long(bytes), WRITE, HERE);
    return memset(to, value, bytes);
}
uint64_t cu_atomic_load(const void* address, int size, int kind, int line) {
    access((char*)address, size, How(kind), IS_LINE + line);
    uint64_t bits = 0;
    memcpy(&bits, address, size);
    return bits;
}
void cu_atomic_store(void* address, int size, uint64_t bits) { memcpy(address, &bits, size); }

// And -fsanitize=bounds,alignment,null,integer-divide-by-zero: what is wrong with the types.
struct Place {
    const char* file;
    uint32_t line, column;
};
struct Type {
    uint16_t kind, details;
    char name[1];
};
struct Bounds {
    Place place;
    const Type *array, *index;
};
struct Mismatch {
    Place place;
    const Type* type;
    unsigned char alignment, how;
};
void __ubsan_handle_out_of_bounds(Bounds* wrong, uintptr_t index) {
    if (!running) return;
    settle_store();
    Report made = report(OUT_OF_BOUNDS, IS_LINE + wrong->place.line);
    strncpy(made.array, wrong->array->name, sizeof made.array - 1);
    bool is_signed = wrong->index->details & 1;
    int width = 1 << (wrong->index->details >> 1);
    made.element = width == 32 ? (is_signed ? int64_t(int32_t(index)) : int64_t(uint32_t(index))) : int64_t(index);
    const char* size = strchr(made.array, '[');
    while (size && *++size >= '0' && *size <= '9') made.size = made.size * 10 + *size - '0';
    add(made);
    kill_thread();
}
void __ubsan_handle_type_mismatch_v1(Mismatch* wrong, uintptr_t address) {
    if (!running) return;
    settle_store();
    uintptr_t alignment = uintptr_t(1) << wrong->alignment;
    Report made = report(address & (alignment - 1) ? MISALIGNED : NULL_POINTER, IS_LINE + wrong->place.line);
    if (made.kind == MISALIGNED) {
        strncpy(made.array, wrong->type->name, sizeof made.array - 1);
        made.of = alignment;
    }
    add(made);
    kill_thread();
}
void __ubsan_handle_divrem_overflow(Bounds* wrong, uintptr_t, uintptr_t divisor) {
    if (!running || divisor) return;  // INT_MIN / -1 is another matter
    settle_store();
    add(report(DIVISION_BY_ZERO, IS_LINE + wrong->place.line));
    kill_thread();
}
}
