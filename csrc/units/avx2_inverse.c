/* avx2_inverse.c -- inverse dynamics for AVX2 */
#if defined(__x86_64__)
#include "lanes/avx2.h"
#include "units/inverse.inc"
#include "lanes/end.h"
#else
typedef int
    fa_isa_avx2_inverse_is_not_for_this_machine; /* a file needs a declaration */
#endif
