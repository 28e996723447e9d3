/*
 * dispatch.c -- the kernels this machine can run
 *
 * Checked by  tests/c/test_dispatch.c, tests/calls/test_isa.py.
 */
#include "library/tables.h"

#include <string.h>

/* sets that were compiled: setup.py names them, base if none is named */
#if defined(__x86_64__) && defined(FA_AVX2)
#define DISPATCH_AVX2
extern const fa_kernels fa_kernels_avx2;
#endif
#if defined(__x86_64__) && defined(FA_AVX512)
#define DISPATCH_AVX512
extern const fa_kernels fa_kernels_avx512;
#endif
#if defined(FA_BASE) || !(defined(FA_AVX2) || defined(FA_AVX512))
#define DISPATCH_BASE
extern const fa_kernels fa_kernels_base;
#endif

const fa_kernels *fa_kernels_named(const char *name)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
#if defined(DISPATCH_AVX512)
    if (strcmp(name, "avx512") == 0) {
        const int has =
            __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
        return has ? &fa_kernels_avx512 : NULL;
    }
#endif
#if defined(DISPATCH_AVX2)
    if (strcmp(name, "avx2") == 0) {
        const int has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        return has ? &fa_kernels_avx2 : NULL;
    }
#endif
#if defined(DISPATCH_BASE)
    if (strcmp(name, "base") == 0) {
        return &fa_kernels_base;
    }
#endif
    return NULL;
}

const fa_kernels *fa_kernels_best(void)
{
    const char *const widest_first[] = {"avx512", "avx2", "base"};
    const fa_kernels *kernels = NULL;

    for (int i = 0; !kernels && i < 3; i++) {
        kernels = fa_kernels_named(widest_first[i]);
    }
    return kernels;
}

const fa_kernels *fa_kernels_for_few(const fa_kernels *kernels)
{
    const fa_kernels *narrow = fa_kernels_named("avx2");
    return narrow && strcmp(kernels->name, "avx512") == 0 ? narrow : kernels;
}
