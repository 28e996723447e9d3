/* fa_isa_base.c -- every other kernel for any machine (SSE2, NEON) */
#include "fa_isa_base.h"
#include "fa_kernels.inc"
