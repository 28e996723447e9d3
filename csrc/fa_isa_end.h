/* fa_isa_end.h -- ends what fa_isa_avx512.h and fa_isa_avx2.h begin */
#if defined(__clang__)
#pragma clang attribute pop
#endif
