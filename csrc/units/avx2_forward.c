/* avx2_forward.c -- forward dynamics for AVX2 */
#if defined(__x86_64__)
#include "lanes/avx2.h"
#include "units/forward.inc"
#include "lanes/end.h"
#else
typedef int
    fa_isa_avx2_forward_is_not_for_this_machine; /* a file needs a declaration */
#endif
