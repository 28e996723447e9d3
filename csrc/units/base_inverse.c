/* base_inverse.c -- inverse dynamics for any machine (SSE2, NEON) */
#include "lanes/base.h"
#include "units/inverse.inc"
