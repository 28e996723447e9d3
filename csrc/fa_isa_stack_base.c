/* fa_isa_stack_base.c -- kernels of stacks for any machine, two states per call (SSE2, NEON) */
#define FA_LANES 2
#define FA_NAME(name) name##_base
#include "fa_stack_kernels.inc"
