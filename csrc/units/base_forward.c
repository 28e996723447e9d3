/* base_forward.c -- forward dynamics for any machine (SSE2, NEON) */
#include "lanes/base.h"
#include "units/forward.inc"
