/* fa_isa_stack_avx2.c -- kernels of stacks for AVX2, four states per call */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define FA_LANES 4
#define FA_NAME(name) name##_avx2
#include "fa_stack_kernels.inc"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int fa_isa_stack_avx2_is_not_for_this_machine; /* a file needs a declaration */
#endif
