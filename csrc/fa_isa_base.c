/* fa_isa_base.c -- every kernel for any machine, two states per call (SSE2, NEON) */
#define FA_LANES 2
#define FA_ISA "base"
#define FA_NAME(name) name##_base
#include "fa_kernels.inc"
