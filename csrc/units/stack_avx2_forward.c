/* stack_avx2_forward.c -- forward dynamics of stacks for AVX2 */
#if defined(__x86_64__)
#include "lanes/avx2.h"
#include "units/stack_forward.inc"
#include "lanes/end.h"
#endif
typedef int fa_unit; /* a file needs a declaration, on other machines too */
