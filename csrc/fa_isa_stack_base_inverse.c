/* fa_isa_stack_base_inverse.c -- inverse dynamics of stacks for any machine (SSE2, NEON) */
#include "fa_isa_base.h"
#include "fa_stack_inverse.inc"
