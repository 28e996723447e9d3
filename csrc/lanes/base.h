/* base.h -- from here: any machine, two states per call (SSE2, NEON) */
#if defined(__x86_64__) && !defined(FA_UNROLLED_MODES)
#define FA_UNROLLED_MODES 0 /* processors from before 2013: not worth minutes of gcc */
#endif
#define FA_LANES 2
#define FA_ISA "base"
#define FA_NAME(name) name##_base
