// What threads do together: barriers, warp operations, atomics.
#pragma once

extern "C" {
enum { CU_PLAIN, CU_COUNT, CU_OR, CU_AND };                 // __syncthreads and its relatives
enum { CU_INDEX, CU_UP, CU_DOWN, CU_XOR, CU_VOTE, CU_SYNC };  // operations of a warp
enum { CU_ATOMIC = 2, CU_CAS = 6 };
int cu_barrier(int line, int place, int kind, int predicate);
uint64_t cu_warp(int line, int place, int kind, unsigned mask, uint64_t bits, int argument, int width);
uint64_t cu_atomic_load(const void* address, int size, int kind, int line);
void cu_atomic_store(void* address, int size, uint64_t bits);
}

// __COUNTER__ tells barriers apart that stand in one line.
#define __syncthreads() ((void)cu_barrier(__LINE__, __COUNTER__, CU_PLAIN, 0))
#define __syncthreads_count(p) cu_barrier(__LINE__, __COUNTER__, CU_COUNT, !!(p))
#define __syncthreads_or(p) cu_barrier(__LINE__, __COUNTER__, CU_OR, !!(p))
#define __syncthreads_and(p) cu_barrier(__LINE__, __COUNTER__, CU_AND, !!(p))
#define __threadfence() ((void)0)
#define __threadfence_block() ((void)0)
#define __threadfence_system() ((void)0)

static inline void cu_syncwarp(int line, int place, unsigned mask = 0xffffffffu) {
    cu_warp(line, place, CU_SYNC, mask, 0, 0, 32);
}
template <class T>
static inline T cu_shuffle(int line, int place, int kind, unsigned mask, T value, int argument, int width = 32) {
    return cu_value<T>(cu_warp(line, place, kind, mask, cu_bits<uint64_t>(value), argument, width));
}
static inline unsigned cu_vote(int line, int place, unsigned mask, bool predicate) {
    return unsigned(cu_warp(line, place, CU_VOTE, mask, predicate, 0, 32));
}
#define __syncwarp(...) cu_syncwarp(__LINE__, __COUNTER__, ##__VA_ARGS__)
#define __shfl_sync(...) cu_shuffle(__LINE__, __COUNTER__, CU_INDEX, __VA_ARGS__)
#define __shfl_up_sync(...) cu_shuffle(__LINE__, __COUNTER__, CU_UP, __VA_ARGS__)
#define __shfl_down_sync(...) cu_shuffle(__LINE__, __COUNTER__, CU_DOWN, __VA_ARGS__)
#define __shfl_xor_sync(...) cu_shuffle(__LINE__, __COUNTER__, CU_XOR, __VA_ARGS__)
#define __ballot_sync(mask, p) cu_vote(__LINE__, __COUNTER__, mask, p)
#define __any_sync(mask, p) (cu_vote(__LINE__, __COUNTER__, mask, p) != 0)
#define __all_sync(mask, p) (cu_vote(__LINE__, __COUNTER__, mask, !(p)) == 0)

// One system thread runs all: an atomic is plain code, and in checked mode the runtime is told.
template <class T> struct cu_same {
    typedef T type;
};
template <class T> static inline T cu_load(T* address, int kind, int line) {
#ifdef CU_CHECK
    return cu_value<T>(cu_atomic_load(address, sizeof(T), kind, line));
#else
    return *address;
#endif
}
template <class T> static inline void cu_store(T* address, T value) {
#ifdef CU_CHECK
    cu_atomic_store(address, sizeof(T), cu_bits<uint64_t>(value));
#else
    *address = value;
#endif
}
#define CU_ATOMIC_OPERATION(name, types, expression)                                           \
    template <class T>                                                                         \
    static inline T name(T* address, typename cu_same<T>::type value, int line = __builtin_LINE()) { \
        static_assert(types, #name ": CUDA has no such atomic for this type");                 \
        T old = cu_load(address, CU_ATOMIC, line);                                             \
        cu_store(address, T(expression));                                                      \
        return old;                                                                            \
    }
CU_ATOMIC_OPERATION(atomicAdd, sizeof(T) >= 4, old + value)
CU_ATOMIC_OPERATION(atomicExch, sizeof(T) >= 4, value)
CU_ATOMIC_OPERATION(atomicSub, cu_is_integer<T>, old - value)
CU_ATOMIC_OPERATION(atomicMax, cu_is_integer<T>, old > value ? old : value)
CU_ATOMIC_OPERATION(atomicMin, cu_is_integer<T>, old < value ? old : value)
CU_ATOMIC_OPERATION(atomicAnd, cu_is_integer<T>, old & value)
CU_ATOMIC_OPERATION(atomicOr, cu_is_integer<T>, old | value)
CU_ATOMIC_OPERATION(atomicXor, cu_is_integer<T>, old ^ value)
CU_ATOMIC_OPERATION(atomicInc, cu_is_integer<T>, old >= value ? 0 : old + 1)
CU_ATOMIC_OPERATION(atomicDec, cu_is_integer<T>, old == 0 || old > value ? value : old - 1)
template <class T>
static inline T atomicCAS(T* address, typename cu_same<T>::type expected, typename cu_same<T>::type value,
                          int line = __builtin_LINE()) {
    static_assert(cu_is_integer<T>, "atomicCAS: CUDA has no such atomic for this type");
    T old = cu_load(address, CU_CAS, line);
    if (old == expected) cu_store(address, T(value));
    return old;
}
