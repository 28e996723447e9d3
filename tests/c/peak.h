/*
 * peak.h -- loops at the limits of one core, for each instruction set
 *
 * Fused multiplications and additions (PEAK_FUSED), as many of either unfused
 * (PEAK_PLAIN), loads and stores of memory of any size. Fourteen independent chains hide the
 * latency where two units take up to seven cycles.
 */
#ifndef TEST_PEAK_H
#define TEST_PEAK_H

#include <stddef.h>
#include <string.h>

typedef enum { PEAK_FUSED, PEAK_PLAIN, PEAK_LOADS, PEAK_STORES } peak_kind;

enum { PEAK_CHAINS = 14, PEAK_TURNS = 4096, PEAK_NEAR = 8192 };

/* results of the loops, so that they are not left out */
static volatile double peak_sink;

/* a vector of which the compiler knows nothing from here on */
#if defined(__x86_64__)
#define PEAK_HIDE(x) __asm__ volatile("" : "+x"(x))
#else
#define PEAK_HIDE(x) __asm__ volatile("" : "+w"(x))
#endif

#define PEAK_LOOPS(isa, bytes, attribute)                                              \
    typedef double peak_##isa __attribute__((vector_size(bytes)));                     \
    attribute static void peak_compute_##isa(int fused)                                \
    {                                                                                  \
        peak_##isa sum[PEAK_CHAINS], x = {0}, y = {0};                                 \
        x += fused ? 0.5 : 1.0;                                                        \
        y += 0.25;                                                                     \
        PEAK_HIDE(x);                                                                  \
        PEAK_HIDE(y);                                                                  \
        memset(sum, 0, sizeof sum);                                                    \
        for (int k = 0; k < PEAK_CHAINS; k++) {                                        \
            PEAK_HIDE(sum[k]);                                                         \
        }                                                                              \
        for (int i = 0; fused && i < PEAK_TURNS; i++) {                                \
            for (int k = 0; k < PEAK_CHAINS; k++) {                                    \
                sum[k] = sum[k] * x + y;                                               \
            }                                                                          \
        }                                                                              \
        for (int i = 0; !fused && i < PEAK_TURNS; i++) {                               \
            for (int k = 0; k < PEAK_CHAINS; k += 2) {                                 \
                sum[k] = sum[k] * x;                                                   \
                sum[k + 1] = sum[k + 1] + y;                                           \
            }                                                                          \
        }                                                                              \
        for (int k = 0; k < PEAK_CHAINS; k++) {                                        \
            peak_sink = sum[k][0];                                                     \
        }                                                                              \
    }                                                                                  \
    attribute static void peak_move_##isa(char *memory, size_t size, int loads)        \
    {                                                                                  \
        enum { CELL = bytes, STRIDE = 8 * CELL };                                      \
        peak_##isa cell = {0};                                                         \
        for (char *x = memory; loads && x < memory + size; x += STRIDE) {              \
            for (int u = 0; u < STRIDE; u += CELL) {                                   \
                memcpy(&cell, x + u, sizeof cell);                                     \
                PEAK_HIDE(cell);                                                       \
            }                                                                          \
        }                                                                              \
        for (char *x = memory; !loads && x < memory + size; x += STRIDE) {             \
            for (int u = 0; u < STRIDE; u += CELL) {                                   \
                PEAK_HIDE(cell);                                                       \
                memcpy(x + u, &cell, sizeof cell);                                     \
            }                                                                          \
        }                                                                              \
    }

#if defined(__x86_64__)
PEAK_LOOPS(avx512, 64, __attribute__((target("avx512f,avx512dq,avx512vl,fma"))))
PEAK_LOOPS(avx2, 32, __attribute__((target("avx2,fma"))))
#endif
PEAK_LOOPS(base, 16, )

typedef struct {
    const char *isa;
    int lanes;
    void (*compute)(int fused);
    void (*move)(char *memory, size_t size, int loads); /* size: a multiple of 512 */
} peak_loops;

/* the loops of an instruction set that the machine has */
static inline peak_loops peak_of(const char *isa)
{
#if defined(__x86_64__)
    if (strcmp(isa, "avx512") == 0) {
        return (peak_loops){isa, 8, peak_compute_avx512, peak_move_avx512};
    }
    if (strcmp(isa, "avx2") == 0) {
        return (peak_loops){isa, 4, peak_compute_avx2, peak_move_avx2};
    }
#endif
    return (peak_loops){isa, 2, peak_compute_base, peak_move_base};
}

/* operations in a second, or bytes moved to or from `memory`: the mean of so many turns
 * that they take `seconds`, which is less than the time slice of a busy machine */
static inline double peak_rate(const peak_loops *loops, peak_kind kind, char *memory,
                               size_t size, double seconds, double (*now)(void))
{
    const int moves = kind == PEAK_LOADS || kind == PEAK_STORES;
    const double operations = kind == PEAK_FUSED ? 2.0 : 1.0, begun = now();
    /* a look at the clock takes as long as some kilobytes */
    const int passes = size < PEAK_TURNS * sizeof(double) ? PEAK_TURNS / 64 : 1;
    double spent;
    int turns = 0;

    do {
        for (int i = 0; moves && i < passes; i++) {
            loops->move(memory, size, kind == PEAK_LOADS);
        }
        if (!moves) {
            loops->compute(kind == PEAK_FUSED);
        }
        turns++;
        spent = now() - begun;
    } while (spent < seconds);
    const double once = moves ? (double)size * passes
                              : operations * loops->lanes * PEAK_CHAINS * PEAK_TURNS;
    return once * turns / spent;
}

#endif
