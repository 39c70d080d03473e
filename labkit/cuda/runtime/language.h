// CUDA's words for a C++ compiler: qualifiers, built-in variables, vector types.
// No system header is included: a kernel sees what CUDA gives it and nothing of the host.
#pragma once
#define __CUDACC_RTC__ 1
#define __CUDA_ARCH__ 750
#include "prelude.h"
typedef decltype(sizeof(0)) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;

#define __global__
#define __device__
#define __host__
#define __constant__ static __attribute__((used))
#define __managed__
#define __shared__ static __attribute__((used, aligned(64)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __grid_constant__

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 u) : x(u.x), y(u.y), z(u.z) {}
};

// One thread's own values. In checked mode they are functions: reads of variables would be hooked.
extern "C" {
#ifdef CU_CHECK
uint3 cu_thread_index() __attribute__((const));
uint3 cu_block_index() __attribute__((const));
uint3 cu_block_size() __attribute__((const));
uint3 cu_grid_size() __attribute__((const));
#define threadIdx cu_thread_index()
#define blockIdx cu_block_index()
#define blockDim cu_block_size()
#define gridDim cu_grid_size()
#else
extern const uint3 threadIdx, blockIdx, blockDim, gridDim;
#endif
void* cu_dynamic_shared();
int cu_printf(const char* format, ...);
void cu_assertion_failed(int line);
}
static constexpr int warpSize = 32;
#define printf cu_printf
#define assert(condition) ((condition) ? (void)0 : cu_assertion_failed(__LINE__))

// clang looks at the alignment of what is copied only where copying calls a function, as this makes it do.
#if defined(CU_CHECK) && defined(__clang__)
struct CuCopied {
    CuCopied() = default;
    CuCopied(const CuCopied&) {}
    CuCopied& operator=(const CuCopied&) { return *this; }
};
#define CU_COPIED [[no_unique_address]] CuCopied copied;
#else
#define CU_COPIED
#endif

#define CU_VECTOR(T, N)                                                                        \
    struct N##1 {                                                                              \
        T x;                                                                                   \
    };                                                                                         \
    struct alignas(2 * sizeof(T)) N##2 {                                                       \
        T x, y;                                                                                \
        CU_COPIED                                                                              \
    };                                                                                         \
    struct N##3 {                                                                              \
        T x, y, z;                                                                             \
    };                                                                                         \
    struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) N##4 {                                  \
        T x, y, z, w;                                                                          \
        CU_COPIED                                                                              \
    };                                                                                         \
    static inline N##1 make_##N##1(T x) { return {x}; }                                        \
    static inline N##2 make_##N##2(T x, T y) { return {x, y}; }                                \
    static inline N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }                        \
    static inline N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }
CU_VECTOR(char, char)
CU_VECTOR(unsigned char, uchar)
CU_VECTOR(int, int)
CU_VECTOR(float, float)
CU_VECTOR(double, double)
struct uint1 {
    unsigned x;
};
struct alignas(8) uint2 {
    unsigned x, y;
    CU_COPIED
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
    CU_COPIED
};

#include "numbers.h"
#include "together.h"
