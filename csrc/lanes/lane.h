/*
 * lane.h -- one state per SIMD lane
 *
 * Kernels are written once against fa_real, a vector of FA_LANES doubles, one lane
 * per state, and compiled once per instruction set. FA_LANES is the native width of
 * that set: a wider vector goes through memory and is several times slower.
 *
 * A branch looks at the model, never at data; what depends on data is a lane select.
 * No lane ever reads another one, so a result does not depend on its place in the
 * batch. This is the only file with a language extension (GCC and Clang vectors).
 */
#ifndef FA_LANE_H
#define FA_LANE_H

#ifndef FA_LANES /* no unit of an instruction set: a file that is checked alone */
#include "lanes/begin.h"
#endif

#include <math.h>
#include <stdint.h>
#include <string.h>

#define FA_INLINE static inline __attribute__((always_inline, unused))

typedef double fa_real __attribute__((vector_size(FA_LANES * 8)));
typedef int64_t fa_mask __attribute__((vector_size(FA_LANES * 8)));    /* 0 or -1 */
typedef long long fa_words __attribute__((vector_size(FA_LANES * 8))); /* of builtins */

/* numbers of one state side by side in memory, at any address */
typedef double fa_row __attribute__((vector_size(FA_LANES * 8), aligned(1), may_alias));

FA_INLINE fa_real fa_load(const char *from)
{
    return *(const fa_row *)from;
}

FA_INLINE void fa_store(char *to, fa_real x)
{
    *(fa_row *)to = x;
}

/*
 * What was stored is loaded again where it is needed: a value that stands in memory
 * anyway is then not kept in a register, from which it would be spilled a second time.
 */
#define FA_RELOAD() __asm__ volatile("" : : : "memory")

/* one number in every lane */
FA_INLINE fa_real fa_splat(double x)
{
    return x - (fa_real){0};
}

/*
 * A constant of the model: one number for all lanes, or, in the kernels of stacks, whose
 * lanes belong to different arms, one for each (calls/stack_lanes.h).
 */
#ifdef FA_STACK_LANES
#define fa_constant fa_real
#define fa_spread(constant) (constant)
#else
typedef double fa_constant;
#define fa_spread(constant) fa_splat(constant)
#endif

/* most modes of a body whose number is a compile-time constant: see FA_SWITCH_MODES */
#ifndef FA_UNROLLED_MODES
#define FA_UNROLLED_MODES 6
#endif

/* before a loop of a few turns, known when it is compiled: no loop remains */
#if FA_UNROLLED_MODES == 0
#define FA_UNROLL
#elif defined(__clang__)
#define FA_UNROLL _Pragma("unroll")
#else
#define FA_UNROLL _Pragma("GCC unroll 8")
#endif

/* lane by lane: a where the mask is set, b elsewhere */
FA_INLINE fa_real fa_select(fa_mask mask, fa_real a, fa_real b)
{
    return (fa_real)((mask & (fa_mask)a) | (~mask & (fa_mask)b));
}

#if defined(__clang__)
#define FA_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define FA_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (fa_mask){__VA_ARGS__})
#endif

/*
 * y_i: lane i of x_0, x_1, ..., FA_LANES of them; y may be x. Every shuffle is one
 * instruction: pairs of numbers within 128 bits, then pairs of those.
 */
FA_INLINE void fa_transpose(const fa_real *x, fa_real *y)
{
#if FA_LANES == 2
    const fa_real a = x[0], b = x[1];
    y[0] = FA_SHUFFLE(a, b, 0, 2);
    y[1] = FA_SHUFFLE(a, b, 1, 3);
#elif FA_LANES == 4
    const fa_real a = FA_SHUFFLE(x[0], x[1], 0, 4, 2, 6);
    const fa_real b = FA_SHUFFLE(x[0], x[1], 1, 5, 3, 7);
    const fa_real c = FA_SHUFFLE(x[2], x[3], 0, 4, 2, 6);
    const fa_real d = FA_SHUFFLE(x[2], x[3], 1, 5, 3, 7);
    y[0] = FA_SHUFFLE(a, c, 0, 1, 4, 5);
    y[1] = FA_SHUFFLE(b, d, 0, 1, 4, 5);
    y[2] = FA_SHUFFLE(a, c, 2, 3, 6, 7);
    y[3] = FA_SHUFFLE(b, d, 2, 3, 6, 7);
#else
    fa_real pair[8], half[8];
    for (int i = 0; i < 8; i += 2) { /* even and odd lanes of rows i and i + 1 */
        pair[i] = FA_SHUFFLE(x[i], x[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        pair[i + 1] = FA_SHUFFLE(x[i], x[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < 8; i += 4) { /* lanes j and j + 4 of rows i to i + 3 */
        for (int j = 0; j < 2; j++) {
            const fa_real a = pair[i + j], b = pair[i + j + 2];
            half[i + j] = FA_SHUFFLE(a, b, 0, 1, 4, 5, 8, 9, 12, 13);
            half[i + j + 2] = FA_SHUFFLE(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
        }
    }
    for (int j = 0; j < 4; j++) {
        y[j] = FA_SHUFFLE(half[j], half[j + 4], 0, 1, 4, 5, 8, 9, 12, 13);
        y[j + 4] = FA_SHUFFLE(half[j], half[j + 4], 2, 3, 6, 7, 10, 11, 14, 15);
    }
#endif
}

/* true if the mask, 0 or -1 in each lane, is set in any lane */
FA_INLINE int fa_any(fa_mask mask)
{
#if defined(__x86_64__) && FA_LANES == 4
    return __builtin_ia32_movmskpd256((fa_real)mask) != 0;
#elif defined(__x86_64__) && FA_LANES == 8
    return __builtin_ia32_cvtq2mask512((fa_words)mask) != 0;
#else
    int64_t any = 0;
    for (int w = 0; w < FA_LANES; w++) {
        any |= mask[w];
    }
    return any != 0;
#endif
}

FA_INLINE fa_real fa_sqrt(fa_real x)
{
    fa_real y = {0};
    for (int w = 0; w < FA_LANES; w++) {
        y[w] = sqrt(x[w]);
    }
    return y;
}

/* x where it is positive, zero elsewhere; NaN stays */
FA_INLINE fa_real fa_positive(fa_real x)
{
    return fa_select(x <= 0.0, (fa_real){0}, x);
}

/* the reciprocal of a pivot; NaN where the pivot is not positive */
FA_INLINE fa_real fa_pivot(fa_real d)
{
    return 1.0 / fa_select(d > 0.0, d, fa_splat((double)NAN));
}

FA_INLINE void fa_zero(fa_real *x, int n)
{
    for (int i = 0; i < n; i++) {
        x[i] = (fa_real){0};
    }
}

/*
 * Calls step(model, b, n, ...), n the number of modes, a compile-time constant up to six:
 * constant bounds make these kernels 1.4 times faster than run-time ones. Where
 * FA_UNROLLED_MODES is 0 (sanitized builds, the base set of x86-64), sizes are read when
 * the kernels run: the smallest code, and the quickest to compile.
 */
#define FA_CASE_MODES(n, step, model, b, ...)                                          \
    case n:                                                                            \
        step(model, b, n, __VA_ARGS__);                                                \
        break;

#if FA_UNROLLED_MODES > 2
#define FA_CASE_MORE_MODES(...)                                                        \
    FA_CASE_MODES(3, __VA_ARGS__)                                                      \
    FA_CASE_MODES(4, __VA_ARGS__)                                                      \
    FA_CASE_MODES(5, __VA_ARGS__)                                                      \
    FA_CASE_MODES(6, __VA_ARGS__)
#else
#define FA_CASE_MORE_MODES(...)
#endif

#if FA_UNROLLED_MODES > 0
#define FA_SWITCH_MODES(n, step, model, b, ...)                                        \
    switch (n) {                                                                       \
        FA_CASE_MODES(0, step, model, b, __VA_ARGS__)                                  \
        FA_CASE_MODES(1, step, model, b, __VA_ARGS__)                                  \
        FA_CASE_MODES(2, step, model, b, __VA_ARGS__)                                  \
        FA_CASE_MORE_MODES(step, model, b, __VA_ARGS__)                                \
    default:                                                                           \
        step(model, b, n, __VA_ARGS__);                                                \
        break;                                                                         \
    }
#else
#define FA_SWITCH_MODES FA_SWITCH_RIGID
#endif

/* the same for kernels that are rarely the bottleneck: rigid, or any number of modes */
#define FA_SWITCH_RIGID(n, step, model, b, ...)                                        \
    if ((n) == 0) {                                                                    \
        step(model, b, 0, __VA_ARGS__);                                                \
    } else {                                                                           \
        step(model, b, n, __VA_ARGS__);                                                \
    }

#define FA_NOINLINE static __attribute__((noinline, unused))

/*
 * The kernels of a set are compiled in several units, so that all cores have something to
 * do: a function that other units call has this name, its own before it everywhere.
 */
#ifdef FA_STACK_LANES
#define FA_SHARED(name) FA_NAME(stack_##name)
#else
#define FA_SHARED(name) FA_NAME(name)
#endif

#endif
