/* fa_isa_stack_avx512.c -- every other kernel of stacks for AVX-512 */
#if defined(__x86_64__)
#include "fa_isa_avx512.h"
#include "fa_stack_kernels.inc"
#include "fa_isa_end.h"
#else
typedef int
    fa_isa_stack_avx512_is_not_for_this_machine; /* a file needs a declaration */
#endif
