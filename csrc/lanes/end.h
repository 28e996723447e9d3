/* end.h -- ends what lanes/begin.h begins */
#if defined(__clang__) && FA_LANES > 2
#pragma clang attribute pop
#endif
