/*
 * spatial.h -- 3-vectors, rotations and 6 x 6 inertias on lanes
 *
 * Vectors     fa_real [3]; spatial vectors [6], angular part first.
 * Rotations   fa_real [9] by rows; R takes child components to parent components.
 * Symmetric   3 x 3: [6] as xx, xy, xz, yy, yz, zz.
 * Inertias    6 x 6 symmetric, [[A, B], [B', D]] on (angular; linear): fa_inertia.
 * Names       _add accumulates, _t uses the transpose. Outputs never overlap inputs
 *             unless a comment allows it.
 */
#ifndef FA_SPATIAL_H
#define FA_SPATIAL_H

#include "lanes/lane.h"

typedef struct {
    fa_real A[6], B[9], D[6];
} fa_inertia;

/* place of entry (i, j) in a symmetric 3 x 3 matrix */
static const int FA_SYM[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

/* place of entry (r, s), s <= r, in a lower triangle stored by rows */
FA_INLINE int fa_tri(int r, int s)
{
    return r * (r + 1) / 2 + s;
}

/* sizes of arrays of modes, and of their triangle, that stay in registers */
#define FA_MAX_UNROLLED 8
#define FA_MAX_TRIANGLE (FA_MAX_UNROLLED * (FA_MAX_UNROLLED + 1) / 2)

/* whether n modes have room there, their number known when it is compiled */
FA_INLINE int fa_is_few(const int n)
{
    return __builtin_constant_p(n) && n <= FA_MAX_UNROLLED;
}

FA_INLINE fa_real fa_dot(const fa_real *a, const fa_real *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

FA_INLINE void fa_cross(fa_real *restrict y, const fa_real *a, const fa_real *b)
{
    y[0] = a[1] * b[2] - a[2] * b[1];
    y[1] = a[2] * b[0] - a[0] * b[2];
    y[2] = a[0] * b[1] - a[1] * b[0];
}

/* in this order every product is fused with a sum */
FA_INLINE void fa_cross_add(fa_real *restrict y, const fa_real *a, const fa_real *b)
{
    y[0] = y[0] + a[1] * b[2] - a[2] * b[1];
    y[1] = y[1] + a[2] * b[0] - a[0] * b[2];
    y[2] = y[2] + a[0] * b[1] - a[1] * b[0];
}

/* C = a~, which takes b to a x b */
FA_INLINE void fa_cross_matrix(fa_real *restrict C, const fa_real *a)
{
    const fa_real zero = {0};
    const fa_real rows[9] = {zero, -a[2], a[1], a[2], zero, -a[0], -a[1], a[0], zero};
    for (int i = 0; i < 9; i++) {
        C[i] = rows[i];
    }
}

/* y = R x */
FA_INLINE void fa_rotate(fa_real *restrict y, const fa_real *R, const fa_real *x)
{
    for (int i = 0; i < 3; i++) {
        y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
    }
}

/* y = R' x */
FA_INLINE void fa_rotate_t(fa_real *restrict y, const fa_real *R, const fa_real *x)
{
    for (int i = 0; i < 3; i++) {
        y[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
    }
}

/* y = S x with a symmetric S */
FA_INLINE void fa_sym_mul(fa_real *restrict y, const fa_real *S, const fa_real *x)
{
    y[0] = S[0] * x[0] + S[1] * x[1] + S[2] * x[2];
    y[1] = S[1] * x[0] + S[3] * x[1] + S[4] * x[2];
    y[2] = S[2] * x[0] + S[4] * x[1] + S[5] * x[2];
}

FA_INLINE void fa_sym_mul_add(fa_real *restrict y, const fa_real *S, const fa_real *x)
{
    y[0] = y[0] + S[0] * x[0] + S[1] * x[1] + S[2] * x[2];
    y[1] = y[1] + S[1] * x[0] + S[3] * x[1] + S[4] * x[2];
    y[2] = y[2] + S[2] * x[0] + S[4] * x[1] + S[5] * x[2];
}

/* product of rotations: C = A B */
FA_INLINE void fa_mat_mul(fa_real *restrict C, const fa_real *A, const fa_real *B)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C[3 * i + j] =
                A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
        }
    }
}

/* C = A B with a constant B of the model */
FA_INLINE void fa_mat_mul_const(fa_real *restrict C, const fa_real *A,
                                const fa_constant *B)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C[3 * i + j] =
                A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
        }
    }
}

/*
 * Y = R S R' for a symmetric S of which only the leading m x m block (m = 2 or 3) is
 * not zero: after a revolute joint is freed, nothing resists about its axis.
 */
FA_INLINE void fa_rotate_sym(fa_real *restrict Y, const fa_real *R, const fa_real *S,
                             const int m)
{
    fa_real T[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < m; j++) {
            T[3 * i + j] = R[3 * i] * S[FA_SYM[0][j]];
            for (int k = 1; k < m; k++) {
                T[3 * i + j] += R[3 * i + k] * S[FA_SYM[k][j]];
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            fa_real sum = T[3 * i] * R[3 * j];
            for (int k = 1; k < m; k++) {
                sum += T[3 * i + k] * R[3 * j + k];
            }
            Y[FA_SYM[i][j]] = sum;
        }
    }
}

/* Y = R B R' for a general B of which only the first m rows are not zero */
FA_INLINE void fa_rotate_mat(fa_real *restrict Y, const fa_real *R, const fa_real *B,
                             const int m)
{
    fa_real T[9];
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < 3; j++) {
            T[3 * i + j] = B[3 * i] * R[3 * j] + B[3 * i + 1] * R[3 * j + 1] +
                           B[3 * i + 2] * R[3 * j + 2];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            fa_real sum = R[3 * i] * T[j];
            for (int k = 1; k < m; k++) {
                sum += R[3 * i + k] * T[3 * k + j];
            }
            Y[3 * i + j] = sum;
        }
    }
}

/* force = I motion */
FA_INLINE void fa_inertia_mul(fa_real *restrict f, const fa_inertia *I,
                              const fa_real *v)
{
    fa_sym_mul(f, I->A, v);
    fa_sym_mul(f + 3, I->D, v + 3);
    for (int i = 0; i < 3; i++) {
        const fa_real *B = I->B;
        f[i] = f[i] + B[3 * i] * v[3] + B[3 * i + 1] * v[4] + B[3 * i + 2] * v[5];
        f[3 + i] = f[3 + i] + B[i] * v[0] + B[3 + i] * v[1] + B[6 + i] * v[2];
    }
}

/*
 * P += phi G phi', phi = [[1, r~], [0, 1]]: the inertia G, given about r, seen from
 * the origin.
 */
FA_INLINE void fa_inertia_shift_add(fa_inertia *restrict P, const fa_inertia *G,
                                    const fa_real *r)
{
    fa_real X[9]; /* B + r~ D */
    for (int j = 0; j < 3; j++) {
        const fa_real d[3] = {G->D[FA_SYM[0][j]], G->D[FA_SYM[1][j]],
                              G->D[FA_SYM[2][j]]};
        X[j] = G->B[j] + r[1] * d[2] - r[2] * d[1];
        X[3 + j] = G->B[3 + j] + r[2] * d[0] - r[0] * d[2];
        X[6 + j] = G->B[6 + j] + r[0] * d[1] - r[1] * d[0];
    }
    /* A + r~ B' - X r~, upper triangle */
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = i; j < 3; j++) {
            const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            P->A[FA_SYM[i][j]] += G->A[FA_SYM[i][j]] + r[i1] * G->B[3 * j + i2] -
                                  r[i2] * G->B[3 * j + i1] + r[j1] * X[3 * i + j2] -
                                  r[j2] * X[3 * i + j1];
        }
    }
    for (int i = 0; i < 9; i++) {
        P->B[i] += X[i];
    }
    for (int i = 0; i < 6; i++) {
        P->D[i] += G->D[i];
    }
}

#endif
