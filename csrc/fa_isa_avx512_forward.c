/* fa_isa_avx512_forward.c -- forward dynamics for AVX-512 */
#if defined(__x86_64__)
#include "fa_isa_avx512.h"
#include "fa_forward.inc"
#include "fa_isa_end.h"
#else
typedef int
    fa_isa_avx512_forward_is_not_for_this_machine; /* a file needs a declaration */
#endif
