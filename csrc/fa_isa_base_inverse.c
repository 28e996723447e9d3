/* fa_isa_base_inverse.c -- inverse dynamics for any machine (SSE2, NEON) */
#include "fa_isa_base.h"
#include "fa_inverse.inc"
