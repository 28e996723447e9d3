/* stack_avx512.c -- every other kernel of stacks for AVX-512 */
#if defined(__x86_64__)
#include "lanes/avx512.h"
#include "units/stack_kernels.inc"
#include "lanes/end.h"
#else
typedef int
    fa_isa_stack_avx512_is_not_for_this_machine; /* a file needs a declaration */
#endif
