/* fa_isa_avx2_inverse.c -- inverse dynamics for AVX2 */
#if defined(__x86_64__)
#include "fa_isa_avx2.h"
#include "fa_inverse.inc"
#include "fa_isa_end.h"
#else
typedef int
    fa_isa_avx2_inverse_is_not_for_this_machine; /* a file needs a declaration */
#endif
