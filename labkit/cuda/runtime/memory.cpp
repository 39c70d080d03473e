// The arena: one slot an array, each ending in the middle of its slot, before pages that nobody may touch.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include "runtime.h"

char* arena;
Memory slots[SLOTS];
static size_t mapped[SLOTS];
static constexpr int POISON = 0xFF;  // as float: NaN

static char* end_of(int slot) { return arena + slot * SLOT_BYTES + SLOT_BYTES / 2; }

extern "C" EXPORT int host_reserve() {
    if (arena) return 1;
    void* got = mmap(nullptr, SLOTS * SLOT_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    arena = got == MAP_FAILED ? nullptr : (char*)got;
    return arena != nullptr;
}

// Where an array of so many bytes will lie: as near to the forbidden page as float4 allows.
extern "C" EXPORT char* host_address(int slot, size_t bytes) {
    return (char*)(uintptr_t(end_of(slot) - bytes) & ~uintptr_t(15));
}

static void open_slot(int slot, size_t bytes) {
    size_t pages = (bytes + 15 + PAGE) / PAGE * PAGE;
    char* end = end_of(slot);
    if (mapped[slot] != pages) {
        if (mapped[slot] > pages) {
            madvise(end - mapped[slot], mapped[slot] - pages, MADV_DONTNEED);
            mprotect(end - mapped[slot], mapped[slot] - pages, PROT_NONE);
        } else
            mprotect(end - pages, pages, PROT_READ | PROT_WRITE);
        mapped[slot] = pages;
    }
    char* start = host_address(slot, bytes);
    memset(end - pages, POISON, start - (end - pages));
    memset(start + bytes, POISON, end - start - bytes);
}

void forget_cells(Memory& memory) {
    if (memory.cells) munmap(memory.cells, memory.room * sizeof(Cell));
    memory.cells = nullptr, memory.room = 0;
}

static void need_cells(Memory& memory) {
    size_t needed = (memory.bytes + memory.grain - 1) / memory.grain + 1;
    if (needed <= memory.room) return;
    forget_cells(memory);
    void* got = mmap(nullptr, needed * sizeof(Cell), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) abort();
    memory.cells = (Cell*)got, memory.room = needed;
}

// Makes cells smaller; what was remembered of a cell holds for its parts.
void refine(Memory& memory, uint32_t grain) {
    Memory finer = memory;
    finer.grain = grain, finer.cells = nullptr, finer.room = 0;
    need_cells(finer);
    for (size_t i = 0; i * grain < memory.bytes; i++) finer.cells[i] = memory.cells[i * grain / memory.grain];
    forget_cells(memory);
    memory = finer;
}

static void set_up(Memory& memory, char* start, size_t bytes, uint32_t unit, const char* name) {
    memory.start = start, memory.bytes = bytes, memory.unit = unit;
    memory.grain = !unit ? 4 : unit & (unit - 1) ? 1 : unit;
    memory.written = nullptr, memory.constant = 0, memory.shared = 0;
    snprintf(memory.name, sizeof memory.name, "%s", name);
    if (launch->check) need_cells(memory);
}

static uint8_t dynamic_written[49152];

void place_buffers() {
    for (int i = 0; i < launch->buffer_count; i++) {
        const Buffer& buffer = launch->buffers[i];
        open_slot(i, buffer.bytes);
        set_up(slots[i], host_address(i, buffer.bytes), buffer.bytes, buffer.unit, buffer.name);
        slots[i].constant = buffer.constant;
        slots[i].written = buffer.written;
        memcpy(slots[i].start, buffer.host, buffer.bytes);
    }
    for (int i = launch->buffer_count; i < DYNAMIC; i++) slots[i].start = nullptr;
    open_slot(DYNAMIC, launch->dynamic_shared);
    set_up(slots[DYNAMIC], host_address(DYNAMIC, launch->dynamic_shared), launch->dynamic_shared, 0,
           "extern __shared__");
    slots[DYNAMIC].shared = 1;
    slots[DYNAMIC].written = dynamic_written;
    for (int i = 0; launch->check && i < launch->variable_count; i++) {
        Memory& variable = launch->variables[i];
        if (variable.grain != 4) forget_cells(variable);
        variable.grain = 4, variable.unit = 0;
        need_cells(variable);
    }
}

void copy_back() {
    for (int i = 0; i < launch->buffer_count; i++)
        if (!launch->buffers[i].constant) memcpy(launch->buffers[i].host, slots[i].start, launch->buffers[i].bytes);
}

// A block starts with shared memory that holds nothing of the block before.
void poison_shared() {
    for (int i = 0; i <= launch->variable_count; i++) {
        Memory& memory = i < launch->variable_count ? launch->variables[i] : slots[DYNAMIC];
        if (!memory.shared || !memory.bytes) continue;
        memset(memory.start, POISON, memory.bytes);
        if (launch->check) memset(memory.written, 0, memory.bytes / 4 + 1);
    }
}

Memory* memory_at(const char* address) {
    static Memory* last;
    size_t offset = address - arena;
    if (offset < SLOTS * SLOT_BYTES) {
        Memory* memory = &slots[offset / SLOT_BYTES];
        return memory->start ? memory : nullptr;
    }
    int count = launch->variable_count;
    if (!count) return nullptr;
    Memory* variables = launch->variables;  // in the order of their addresses
    const char* end = variables[count - 1].start + variables[count - 1].bytes;
    if (address < variables[0].start || address >= end + PAGE) return nullptr;
    if (last >= variables && last < variables + count && size_t(address - last->start) < last->bytes) return last;
    int i = count - 1;
    while (variables[i].start > address) i--;
    return last = &variables[i];  // beyond its end: an over-run of it
}

extern "C" EXPORT void* cu_dynamic_shared() { return slots[DYNAMIC].start; }
extern "C" EXPORT void host_forget(Memory* variables, int count) {
    for (int i = 0; i < count; i++) forget_cells(variables[i]);
}
