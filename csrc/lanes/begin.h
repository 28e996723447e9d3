/* begin.h -- from here to lanes/end.h: an instruction set, and how many states per call
 *
 *   FA_AVX512, FA_AVX2   one of them defined, or none: any machine (SSE2, NEON)
 */
#if defined(FA_AVX512)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,fma"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512vl,fma")
#endif
#define FA_LANES 8
#define FA_ISA "avx512"
#define FA_NAME(name) name##_avx512
#elif defined(FA_AVX2)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define FA_LANES 4
#define FA_ISA "avx2"
#define FA_NAME(name) name##_avx2
#else
#if defined(__x86_64__) && !defined(FA_UNROLLED_MODES)
#define FA_UNROLLED_MODES 0 /* processors from before 2013: not worth minutes of gcc */
#endif
#define FA_LANES 2
#define FA_ISA "base"
#define FA_NAME(name) name##_base
#endif
