/* stack_base_inverse.c -- inverse dynamics of stacks for any machine (SSE2, NEON) */
#include "lanes/base.h"
#include "units/stack_inverse.inc"
