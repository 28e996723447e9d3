/* fa_isa_stack_avx512.c -- kernels of stacks for AVX-512, eight states per call */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,fma"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512vl,fma")
#endif
#define FA_LANES 8
#define FA_NAME(name) name##_avx512
#include "fa_stack_kernels.inc"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int
    fa_isa_stack_avx512_is_not_for_this_machine; /* a file needs a declaration */
#endif
