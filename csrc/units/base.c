/* base.c -- every other kernel for any machine (SSE2, NEON) */
#include "lanes/base.h"
#include "units/kernels.inc"
