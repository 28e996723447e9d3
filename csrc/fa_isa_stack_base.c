/* fa_isa_stack_base.c -- every other kernel of stacks for any machine (SSE2, NEON) */
#include "fa_isa_base.h"
#include "fa_stack_kernels.inc"
