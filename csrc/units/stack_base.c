/* stack_base.c -- every other kernel of stacks for any machine (SSE2, NEON) */
#include "lanes/base.h"
#include "units/stack_kernels.inc"
