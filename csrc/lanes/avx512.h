/* avx512.h -- from here to lanes/end.h: AVX-512, eight states per call */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,fma"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512vl,fma")
#endif
#define FA_LANES 8
#define FA_ISA "avx512"
#define FA_NAME(name) name##_avx512
