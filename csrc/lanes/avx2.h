/* avx2.h -- from here to lanes/end.h: AVX2, four states per call */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define FA_LANES 4
#define FA_ISA "avx2"
#define FA_NAME(name) name##_avx2
