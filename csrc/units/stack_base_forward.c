/* stack_base_forward.c -- forward dynamics of stacks for any machine (SSE2, NEON) */
#include "lanes/base.h"
#include "units/stack_forward.inc"
