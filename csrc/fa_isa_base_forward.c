/* fa_isa_base_forward.c -- forward dynamics for any machine (SSE2, NEON) */
#include "fa_isa_base.h"
#include "fa_forward.inc"
