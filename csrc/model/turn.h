/*
 * turn.h -- constants of a model in other axes
 *
 * Vectors [3], rotations [9] by rows, symmetric matrices [6] as xx, xy, xz, yy, yz, zz.
 */
#ifndef FA_TURN_H
#define FA_TURN_H

/* y = A' x for 3-vectors with stride s */
static inline void model_turn(const double *A, const double *x, int sx, double *y,
                              int sy)
{
    for (int i = 0; i < 3; i++) {
        y[i * sy] = A[i] * x[0] + A[3 + i] * x[sx] + A[6 + i] * x[2 * sx];
    }
}

static inline void model_mul(const double *A, const double *B, double *C)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C[3 * i + j] =
                A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
        }
    }
}

/* y = C' S C for a symmetric S of six entries */
static inline void model_turn_sym(const double *C, const double *S, double *y)
{
    const double full[9] = {S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5]};
    const double Ct[9] = {C[0], C[3], C[6], C[1], C[4], C[7], C[2], C[5], C[8]};
    double half[9], turned[9];

    model_mul(Ct, full, half);
    model_mul(half, C, turned);
    for (int i = 0, k = 0; i < 3; i++) {
        for (int j = i; j < 3; j++, k++) {
            y[k] = 0.5 * (turned[3 * i + j] + turned[3 * j + i]);
        }
    }
}

#endif
