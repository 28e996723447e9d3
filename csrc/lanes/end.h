/* end.h -- ends what lanes/avx512.h and lanes/avx2.h begin */
#if defined(__clang__)
#pragma clang attribute pop
#endif
