/* fa_isa_stack_base_forward.c -- forward dynamics of stacks for any machine (SSE2, NEON) */
#include "fa_isa_base.h"
#include "fa_stack_forward.inc"
