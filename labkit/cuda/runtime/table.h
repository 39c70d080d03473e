// The launch table: each kernel's parameters, deduced from the kernel itself, and a way to call it.
#pragma once

struct CuParameter {
    char type;      // of the value, or of what is pointed to: f(loat) i(nteger) u(nsigned) b(ool) s(tructure)
    char pointer;   // 0, 'm'(utable) or 'c'(onstant)
    unsigned size;  // in bytes, of the value or of what is pointed to
};
struct CuEntry {
    const char* name;
    void (*call)(void** arguments);
    const CuParameter* parameters;
    int count;
};

template <class T> struct cu_type {
    static constexpr char letter = 's';
    static constexpr unsigned size = sizeof(T);
};
#define CU_TYPE(T, L)                                                                          \
    template <> struct cu_type<T> {                                                            \
        static constexpr char letter = L;                                                      \
        static constexpr unsigned size = sizeof(T);                                            \
    };
CU_TYPE(float, 'f') CU_TYPE(double, 'f') CU_TYPE(bool, 'b') CU_TYPE(char, 'i')
CU_TYPE(signed char, 'i') CU_TYPE(short, 'i') CU_TYPE(int, 'i') CU_TYPE(long, 'i') CU_TYPE(long long, 'i')
CU_TYPE(unsigned char, 'u') CU_TYPE(unsigned short, 'u') CU_TYPE(unsigned, 'u')
CU_TYPE(unsigned long, 'u') CU_TYPE(unsigned long long, 'u')
template <> struct cu_type<void> {
    static constexpr char letter = 's';
    static constexpr unsigned size = 1;
};

template <class T> struct cu_parameter {
    static constexpr CuParameter value = {cu_type<T>::letter, 0, cu_type<T>::size};
};
template <class T> struct cu_parameter<const T> : cu_parameter<T> {};
template <class T> struct cu_parameter<T*> {
    static constexpr CuParameter value = {cu_type<T>::letter, 'm', cu_type<T>::size};
};
template <class T> struct cu_parameter<const T*> {
    static constexpr CuParameter value = {cu_type<T>::letter, 'c', cu_type<T>::size};
};

template <unsigned... I> struct cu_indices {};
template <unsigned N, unsigned... I> struct cu_count : cu_count<N - 1, N - 1, I...> {};
template <unsigned... I> struct cu_count<0, I...> {
    typedef cu_indices<I...> type;
};

template <class F, F kernel> struct cu_kernel;
template <class... A, void (*kernel)(A...)> struct cu_kernel<void (*)(A...), kernel> {
    static constexpr int count = sizeof...(A);
    static constexpr CuParameter parameters[sizeof...(A) + 1] = {cu_parameter<A>::value..., {0, 0, 0}};
    template <unsigned... I>
    static inline __attribute__((no_sanitize("thread"))) void spread(void** a, cu_indices<I...>) {
        kernel(*(A*)a[I]...);
    }
    static __attribute__((no_sanitize("thread"))) void call(void** a) {
        spread(a, typename cu_count<sizeof...(A)>::type());
    }
};
#define CU_ENTRY(name, ...)                                                                    \
    {name, cu_kernel<decltype(&__VA_ARGS__), &__VA_ARGS__>::call,                              \
     cu_kernel<decltype(&__VA_ARGS__), &__VA_ARGS__>::parameters,                              \
     cu_kernel<decltype(&__VA_ARGS__), &__VA_ARGS__>::count},
