/* avx2_inverse.c -- inverse dynamics for AVX2 */
#if defined(__x86_64__)
#include "lanes/avx2.h"
#include "units/inverse.inc"
#include "lanes/end.h"
#endif
typedef int fa_unit; /* a file needs a declaration, on other machines too */
