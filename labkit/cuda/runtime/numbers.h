// CUDA's mathematics for float and double, from the compiler's own functions.
#pragma once

template <class T> constexpr bool cu_is_integer = T(0.5f) == T(0) && T(1.5f) == T(1);

// name(double), name(float), name(any integer) and namef(float).
#define CU_ONE(name)                                                                           \
    static inline double name(double x) { return __builtin_##name(x); }                        \
    static inline float name(float x) { return __builtin_##name##f(x); }                       \
    static inline float name##f(float x) { return __builtin_##name##f(x); }                    \
    static inline double name(int x) { return __builtin_##name(x); }                           \
    static inline double name(unsigned x) { return __builtin_##name(x); }                      \
    static inline double name(long long x) { return __builtin_##name((double)x); }
#define CU_TWO(name)                                                                           \
    static inline double name(double x, double y) { return __builtin_##name(x, y); }           \
    static inline float name(float x, float y) { return __builtin_##name##f(x, y); }           \
    static inline double name(double x, float y) { return __builtin_##name(x, y); }            \
    static inline double name(float x, double y) { return __builtin_##name(x, y); }            \
    static inline double name(int x, int y) { return __builtin_##name(x, y); }                 \
    static inline double name(double x, int y) { return __builtin_##name(x, y); }              \
    static inline double name(int x, double y) { return __builtin_##name(x, y); }              \
    static inline float name(float x, int y) { return __builtin_##name##f(x, y); }             \
    static inline float name(int x, float y) { return __builtin_##name##f(x, y); }             \
    static inline float name##f(float x, float y) { return __builtin_##name##f(x, y); }
CU_ONE(exp) CU_ONE(exp2) CU_ONE(expm1) CU_ONE(log) CU_ONE(log2) CU_ONE(log10) CU_ONE(log1p)
CU_ONE(sqrt) CU_ONE(cbrt) CU_ONE(fabs) CU_ONE(floor) CU_ONE(ceil) CU_ONE(round) CU_ONE(trunc)
CU_ONE(rint) CU_ONE(nearbyint) CU_ONE(sin) CU_ONE(cos) CU_ONE(tan) CU_ONE(asin) CU_ONE(acos)
CU_ONE(atan) CU_ONE(sinh) CU_ONE(cosh) CU_ONE(tanh) CU_ONE(asinh) CU_ONE(acosh) CU_ONE(atanh)
CU_ONE(erf) CU_ONE(erfc) CU_ONE(lgamma) CU_ONE(tgamma)
CU_TWO(pow) CU_TWO(fmod) CU_TWO(atan2) CU_TWO(hypot) CU_TWO(fmax) CU_TWO(fmin) CU_TWO(copysign)
CU_TWO(fdim)

static inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
static inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrt(float x) { return 1.0f / sqrtf(x); }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline int abs(int x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return x < 0 ? -x : x; }
static inline float abs(float x) { return fabsf(x); }
static inline double abs(double x) { return fabs(x); }
static inline bool isnan(double x) { return __builtin_isnan(x); }
static inline bool isnan(float x) { return __builtin_isnan(x); }
static inline bool isinf(double x) { return __builtin_isinf(x); }
static inline bool isinf(float x) { return __builtin_isinf(x); }
static inline bool isfinite(double x) { return __builtin_isfinite(x); }
static inline bool isfinite(float x) { return __builtin_isfinite(x); }
static inline bool signbit(double x) { return __builtin_signbit(x); }
static inline bool signbit(float x) { return __builtin_signbit(x); }

template <class A, class B> static inline auto max(A a, B b) -> decltype(a + b) {
    typedef decltype(a + b) C;
    return C(a) > C(b) ? C(a) : C(b);
}
template <class A, class B> static inline auto min(A a, B b) -> decltype(a + b) {
    typedef decltype(a + b) C;
    return C(a) < C(b) ? C(a) : C(b);
}

// The fast forms, here as exact as the others: compare with tolerances, never bit by bit.
static inline float __expf(float x) { return expf(x); }
static inline float __exp10f(float x) { return powf(10.0f, x); }
static inline float __logf(float x) { return logf(x); }
static inline float __log2f(float x) { return log2f(x); }
static inline float __log10f(float x) { return log10f(x); }
static inline float __sinf(float x) { return sinf(x); }
static inline float __cosf(float x) { return cosf(x); }
static inline float __tanf(float x) { return tanf(x); }
static inline float __tanhf(float x) { return tanhf(x); }
static inline float __powf(float x, float y) { return powf(x, y); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
static inline int __float2int_rn(float x) { return int(rintf(x)); }
static inline int __float2int_rz(float x) { return int(x); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
static inline int __ffs(int x) { return __builtin_ffs(x); }

template <class To, class From> static inline To cu_bits(From value) {
    static_assert(sizeof(To) >= sizeof(From), "no room for the bits");
    To result = 0;
    __builtin_memcpy(&result, &value, sizeof(From));
    return result;
}
template <class To> static inline To cu_value(uint64_t bits) {
    To result;
    __builtin_memcpy(&result, &bits, sizeof(To));
    return result;
}
static inline int __float_as_int(float x) { return cu_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return cu_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return cu_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return cu_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return cu_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return cu_bits<double>(x); }
#define __ldg(pointer) (*(pointer))
