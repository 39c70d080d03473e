// What the pieces of the runtime share. The host (launcher.py) calls host_*; kernels only cu_* and the hooks.
#pragma once
#include <cstddef>
#include <cstdint>

#define EXPORT __attribute__((visibility("default")))

enum Kind {  // the order of reports.KINDS
    RACE, OUT_OF_BOUNDS, UNINITIALISED_READ, BARRIER_MISSED, BARRIER_DIVERGENT, WARP_MASK, WRITE_TO_CONST,
    MISALIGNED, DIVISION_BY_ZERO, NULL_POINTER, STACK_OVERFLOW, TIMEOUT, ASSERTION
};
enum Severity { WARNING, ERROR };
enum How { READ = 0, WRITE = 1, ATOMIC = 2, CAS = 6 };

// Where in the source: an offset in the module, or IS_LINE + a line. 0: not known.
typedef uint32_t Site;
constexpr Site IS_LINE = 0x80000000u;

struct Index {
    unsigned x, y, z;
};
struct Report {
    int32_t kind, severity;
    Site site, other_site;
    int32_t thread, other_thread;      // in the block, -1: none
    uint64_t block, other_block;       // in the grid
    int64_t element, size;             // element -1: before the first; size: elements there are
    int64_t number, of;                // what the kind counts: threads at a barrier, a lane, an alignment
    int64_t count;
    char array[64];
};

// A remembered access. `block` is a serial number over all launches, so that old ones are stale by themselves.
struct Access {
    Site site;
    uint32_t block, barrier;
    uint16_t thread;  // and in the upper bits how
    uint16_t warp;
    int number() const { return thread & 1023; }
    int how() const { return thread >> 10; }
};
struct Cell {
    Access write[2], read[2];  // the last one, and one of another thread that is not ordered before it
};

// A piece of memory that kernels may use: an array of the launch, or a variable of the module.
struct Memory {
    char* start;
    size_t bytes;
    uint32_t unit;      // bytes of an element; 0: that of the first access
    uint32_t grain;     // bytes of a cell
    uint8_t* written;   // one byte an element: has it a value? null: all have
    Cell* cells;
    size_t room;        // cells there are
    char name[64];
    int32_t constant;   // the kernel promised not to write
    int32_t shared;     // belongs to a block
};
struct Buffer {  // an argument of a launch, copied into a slot of the arena and back
    char* host;
    size_t bytes;
    uint32_t unit;
    int32_t constant;
    uint8_t* written;
    char name[64];
};
struct Launch {
    void (*call)(void**);
    void** arguments;
    unsigned grid[3], block[3];
    size_t dynamic_shared;
    int32_t check, order;
    unsigned seed;
    double seconds;
    char *base, *end;  // of the module's code
    Memory* variables;
    int32_t variable_count, buffer_count;
    Buffer* buffers;
};

constexpr int SLOTS = 24, DYNAMIC = SLOTS - 1, THREADS = 1024, WARP = 32;
constexpr size_t SLOT_BYTES = size_t(256) << 20, STACK_BYTES = size_t(256) << 10, PAGE = 4096;

enum State { FREE, RUNNING, AT_BARRIER, IN_WARP, KILLED };
struct Fiber {
    void* stack_pointer;
    char* stack;
    State state;
    int thread;
    Index index;
    uint32_t barrier;  // how many barriers of the block, and of the warp, this thread has passed
    uint16_t warp;
    int line, place, kind, argument, width;  // of the barrier or warp operation it waits in
    unsigned mask;
    uint64_t bits;
};

extern const Launch* launch;       // the one that runs
extern Fiber* running;             // the thread that runs, or null
extern Fiber* fiber_of[THREADS];   // by thread; null: not started, or ended
extern int threads;
extern uint64_t block;             // the block's number in the grid
extern uint32_t block_serial, first_serial, serials;  // of this launch's blocks
extern char *stacks, *arena;
extern Site last_site;
extern volatile bool overtime;     // the time of the launch is over
extern volatile bool stopped;      // and no thread may go on

// reports.cpp
Report report(Kind kind, Site site);  // filled in with the running thread
void add(const Report& report, long count = 1);
void clear_reports();
void name_array(Report& report, const Memory& memory, const char* address, size_t size);
// memory.cpp
void place_buffers();
void copy_back();
void poison_shared();
Memory* memory_at(const char* address);
void refine(Memory& memory, uint32_t grain);
void forget_cells(Memory& memory);
extern Memory slots[SLOTS];
// races.cpp
void settle_store();
void finish_accesses();
// threads.cpp
void run_block();
void wait_as(State state);
[[noreturn]] void kill_thread();
// warps.cpp
bool release_warp(int first);
