/* avx512_forward.c -- forward dynamics for AVX-512 */
#if defined(__x86_64__)
#include "lanes/avx512.h"
#include "units/forward.inc"
#include "lanes/end.h"
#else
typedef int
    fa_isa_avx512_forward_is_not_for_this_machine; /* a file needs a declaration */
#endif
