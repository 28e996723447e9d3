/*
 * axial.h -- hops of two angles: R = rot_x(alpha) rot_z(q + delta)
 *
 * Equations   R = rot_x(alpha) rot_z(theta), theta = q + delta, r = arm         (V1)
 *             with s, c of theta, a symmetric 2 x 2 block (m, b; b, n) turns into
 *             m - s x, b' = c x - b, n + s x,  x = s (m - n) + 2 c b           (V2)
 *             which, like sums over rot_z, touches few entries; rot_x(pi/2) none.
 * Kinds       `kind` is a compile-time constant, fa_hop_kind; what it says of the angle
 *             alpha and of the place of the joint leaves no arithmetic with zeros.
 * Checked by  tests/dynamics/test_axial_hops.py.
 */
#ifndef FA_AXIAL_H
#define FA_AXIAL_H

#include "lanes/lane.h"
#include "lanes/lane_math.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* alpha is zero; a right angle */
#define AXIAL_PARALLEL(kind) ((kind) == FA_HOP_PARALLEL_X || (kind) == FA_HOP_PARALLEL)
#define AXIAL_SQUARE(kind) ((kind) >= FA_HOP_SQUARE_O && (kind) <= FA_HOP_SQUARE)

/* whether coordinate i of r may differ from zero */
#define AXIAL_HAS(kind, i)                                                             \
    ((kind) == FA_HOP_PARALLEL || (kind) == FA_HOP_SQUARE ||                           \
     (kind) == FA_HOP_TWISTED ||                                                       \
     (kind) == ((i) == 0   ? FA_HOP_SQUARE_X                                           \
                : (i) == 1 ? FA_HOP_SQUARE_Y                                           \
                           : FA_HOP_SQUARE_Z) ||                                       \
     ((kind) == FA_HOP_PARALLEL_X && (i) == 0))

/* all kinds of hops with angles, for functions of their own and tables of them */
#define AXIAL_KINDS(ROW)                                                               \
    ROW(FA_HOP_PARALLEL_X)                                                             \
    ROW(FA_HOP_PARALLEL)                                                               \
    ROW(FA_HOP_SQUARE_O)                                                               \
    ROW(FA_HOP_SQUARE_X)                                                               \
    ROW(FA_HOP_SQUARE_Y)                                                               \
    ROW(FA_HOP_SQUARE_Z)                                                               \
    ROW(FA_HOP_SQUARE)                                                                 \
    ROW(FA_HOP_TWISTED)

/* step(b, kind, ...) with the kind as a constant, for hops that have angles */
#define AXIAL_CASE(kind, step, b, ...)                                                 \
    case kind:                                                                         \
        step(b, kind, __VA_ARGS__);                                                    \
        break;
#define AXIAL_SWITCH(b, step, ...)                                                     \
    switch ((b)->hop_kind) {                                                           \
        AXIAL_CASE(FA_HOP_PARALLEL_X, step, b, __VA_ARGS__)                            \
        AXIAL_CASE(FA_HOP_PARALLEL, step, b, __VA_ARGS__)                              \
        AXIAL_CASE(FA_HOP_SQUARE_O, step, b, __VA_ARGS__)                              \
        AXIAL_CASE(FA_HOP_SQUARE_X, step, b, __VA_ARGS__)                              \
        AXIAL_CASE(FA_HOP_SQUARE_Y, step, b, __VA_ARGS__)                              \
        AXIAL_CASE(FA_HOP_SQUARE_Z, step, b, __VA_ARGS__)                              \
        AXIAL_CASE(FA_HOP_SQUARE, step, b, __VA_ARGS__)                                \
    default:                                                                           \
        step(b, FA_HOP_TWISTED, __VA_ARGS__);                                          \
        break;                                                                         \
    }

/* whether a body hangs by a hop that has angles */
FA_INLINE int axial_is(const fa_body *b)
{
    return b->hop_kind > FA_HOP_GROUND;
}

/* sine and cosine of theta */
FA_INLINE void axial_turn(const fa_body *b, const fa_real *q, fa_real *s, fa_real *c)
{
    fa_real sine, cosine;

    fa_sincos(q[b->position_at], &sine, &cosine);
    *s = sine;
    *c = cosine;
    if (b->is_turned) {
        *s = b->delta[1] * sine + b->delta[0] * cosine;
        *c = b->delta[1] * cosine - b->delta[0] * sine;
    }
}

/* y = R' x */
FA_INLINE void axial_rotate_t(const fa_body *b, const int kind, fa_real s, fa_real c,
                              const fa_real *x, fa_real *restrict y)
{
    fa_real u = x[1], v = x[2];

    if (AXIAL_SQUARE(kind)) {
        u = x[2];
        v = -x[1];
    } else if (!AXIAL_PARALLEL(kind)) {
        u = b->alpha[1] * x[1] + b->alpha[0] * x[2];
        v = b->alpha[1] * x[2] - b->alpha[0] * x[1];
    }
    y[0] = c * x[0] + s * u;
    y[1] = c * u - s * x[0];
    y[2] = v;
}

/* y = R x */
FA_INLINE void axial_rotate(const fa_body *b, const int kind, fa_real s, fa_real c,
                            const fa_real *x, fa_real *restrict y)
{
    const fa_real u = s * x[0] + c * x[1];

    y[0] = c * x[0] - s * x[1];
    if (AXIAL_SQUARE(kind)) {
        y[1] = -x[2];
        y[2] = u;
    } else if (AXIAL_PARALLEL(kind)) {
        y[1] = u;
        y[2] = x[2];
    } else {
        y[1] = b->alpha[1] * u - b->alpha[0] * x[2];
        y[2] = b->alpha[0] * u + b->alpha[1] * x[2];
    }
}

/* y += r x a */
FA_INLINE void axial_arm_cross_add(const fa_body *b, const int kind, const fa_real *a,
                                   fa_real *restrict y)
{
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        if (AXIAL_HAS(kind, i1)) {
            y[i] += b->arm[i1] * a[i2];
        }
        if (AXIAL_HAS(kind, i2)) {
            y[i] -= b->arm[i2] * a[i1];
        }
    }
}

/* a force of the child at its origin, added to those of the parent, y [6]: (R f) at r */
FA_INLINE void axial_force_add(const fa_body *b, const int kind, fa_real s, fa_real c,
                               const fa_real *f, fa_real *restrict y)
{
    fa_real F[6];

    axial_rotate(b, kind, s, c, f, F);
    axial_rotate(b, kind, s, c, f + 3, F + 3);
    axial_arm_cross_add(b, kind, F + 3, F);
    for (int i = 0; i < 6; i++) {
        y[i] += F[i];
    }
}

/* of the same force the moment about the z axis of the parent alone */
FA_INLINE void axial_moment_add(const fa_body *b, const int kind, fa_real s, fa_real c,
                                const fa_real *f, fa_real *y)
{
    fa_real F[6];

    axial_rotate(b, kind, s, c, f, F);
    axial_rotate(b, kind, s, c, f + 3, F + 3);
    axial_arm_cross_add(b, kind, F + 3, F);
    y[2] += F[2];
}

/* Y = R S R' of a symmetric S; its last row and column are zero if m is 2 (V2) */
FA_INLINE void axial_rotate_sym(const fa_body *b, const int kind, fa_real s, fa_real c,
                                const fa_real *S, const int m, fa_real *restrict Y)
{
    const fa_real x = s * (S[0] - S[3]) + 2.0 * c * S[1];
    const fa_real xy = c * x - S[1], yy = S[3] + s * x;
    fa_real xz = {0}, yz = {0}, zz = {0};

    if (m > 2) {
        xz = c * S[2] - s * S[4];
        yz = s * S[2] + c * S[4];
        zz = S[5];
    }
    Y[0] = S[0] - s * x;
    if (AXIAL_SQUARE(kind)) {
        Y[1] = -xz;
        Y[2] = xy;
        Y[3] = zz;
        Y[4] = -yz;
        Y[5] = yy;
    } else if (AXIAL_PARALLEL(kind)) {
        Y[1] = xy;
        Y[2] = xz;
        Y[3] = yy;
        Y[4] = yz;
        Y[5] = zz;
    } else {
        const fa_constant sa = b->alpha[0], ca = b->alpha[1];
        fa_real t = sa * yy;
        if (m > 2) {
            t = sa * (yy - zz) + 2.0 * ca * yz;
        }
        Y[1] = ca * xy;
        Y[2] = sa * xy;
        Y[3] = yy - sa * t;
        Y[4] = ca * t;
        Y[5] = sa * t;
        if (m > 2) {
            Y[1] -= sa * xz;
            Y[2] += ca * xz;
            Y[4] -= yz;
            Y[5] += zz;
        }
    }
}

/*
 * Y = R B R' of a B whose last row is zero if m is 2 (V2). With alpha = pi/2 or 0 row 1 or
 * 2 of Y is then zero again; it is written as zero.
 */
FA_INLINE void axial_rotate_mat(const fa_body *b, const int kind, fa_real s, fa_real c,
                                const fa_real *B, const int m, fa_real *restrict Y)
{
    const fa_real x = s * (B[0] - B[4]) + c * (B[1] + B[3]);
    fa_real rows[3][3] = {{B[0] - s * x, c * x - B[3], c * B[2] - s * B[5]},
                          {c * x - B[1], B[4] + s * x, s * B[2] + c * B[5]}};

    if (m > 2) {
        rows[2][0] = c * B[6] - s * B[7];
        rows[2][1] = s * B[6] + c * B[7];
        rows[2][2] = B[8];
    }
    for (int i = 0; i < m; i++) {
        fa_real y = rows[i][1], z = rows[i][2];
        if (AXIAL_SQUARE(kind)) {
            y = -rows[i][2];
            z = rows[i][1];
        } else if (!AXIAL_PARALLEL(kind)) {
            y = b->alpha[1] * rows[i][1] - b->alpha[0] * rows[i][2];
            z = b->alpha[0] * rows[i][1] + b->alpha[1] * rows[i][2];
        }
        const int negative = i == 2 && AXIAL_SQUARE(kind);
        fa_real *row = Y + 3 * (i && AXIAL_SQUARE(kind) ? 3 - i : i);
        row[0] = negative ? -rows[i][0] : rows[i][0];
        row[1] = negative ? -y : y;
        row[2] = negative ? -z : z;
    }
    for (int j = 0; j < 3; j++) {
        if (m > 2) {
            if (!AXIAL_SQUARE(kind) && !AXIAL_PARALLEL(kind)) {
                const fa_real y = Y[3 + j], z = Y[6 + j];
                Y[3 + j] = b->alpha[1] * y - b->alpha[0] * z;
                Y[6 + j] = b->alpha[0] * y + b->alpha[1] * z;
            }
        } else if (AXIAL_SQUARE(kind)) {
            Y[3 + j] = (fa_real){0};
        } else if (AXIAL_PARALLEL(kind)) {
            Y[6 + j] = (fa_real){0};
        } else {
            Y[6 + j] = b->alpha[0] * Y[3 + j];
            Y[3 + j] = b->alpha[1] * Y[3 + j];
        }
    }
}

/* rows of R B R' that are zero, as axial_rotate_mat leaves them */
#define AXIAL_ZERO_ROW(kind, m, i)                                                     \
    ((m) == 2 &&                                                                       \
     ((AXIAL_SQUARE(kind) && (i) == 1) || (AXIAL_PARALLEL(kind) && (i) == 2)))

/* entry (i, j) of B + r~ D, all three about the same point */
FA_INLINE fa_real axial_coupling(const fa_body *b, const int kind, const int m,
                                 const fa_real *B, const fa_real *D, const int i,
                                 const int j)
{
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    fa_real sum = B[3 * i + j];

    if (AXIAL_HAS(kind, i1)) {
        const fa_real moved = b->arm[i1] * D[FA_SYM[i2][j]];
        sum = AXIAL_ZERO_ROW(kind, m, i) ? moved : sum + moved;
    }
    if (AXIAL_HAS(kind, i2)) {
        const fa_real moved = b->arm[i2] * D[FA_SYM[i1][j]];
        sum = AXIAL_ZERO_ROW(kind, m, i) && !AXIAL_HAS(kind, i1) ? -moved : sum - moved;
    }
    return sum;
}

/* entry (i, j) of A + r~ B' - X r~ */
FA_INLINE fa_real axial_inertia(const fa_body *b, const int kind, const int m,
                                const fa_real *B, const fa_real *X, const fa_real *A,
                                const int i, const int j)
{
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    fa_real sum = A[FA_SYM[i][j]];

    if (AXIAL_HAS(kind, i1) && !AXIAL_ZERO_ROW(kind, m, j)) {
        sum += b->arm[i1] * B[3 * j + i2];
    }
    if (AXIAL_HAS(kind, i2) && !AXIAL_ZERO_ROW(kind, m, j)) {
        sum -= b->arm[i2] * B[3 * j + i1];
    }
    if (AXIAL_HAS(kind, j1)) {
        sum += b->arm[j1] * X[3 * i + j2];
    }
    if (AXIAL_HAS(kind, j2)) {
        sum -= b->arm[j2] * X[3 * i + j1];
    }
    return sum;
}

/*
 * Off the origin (P = phi G phi', phi = [[1, r~], [0, 1]]): B of axial_rotate_mat and D
 * about the child's origin give X = B + r~ D. Written out, for compilers that keep
 * nested loops.
 */
FA_INLINE void axial_shift_coupling(const fa_body *b, const int kind, const int m,
                                    const fa_real *B, const fa_real *D,
                                    fa_real *restrict X)
{
    X[0] = axial_coupling(b, kind, m, B, D, 0, 0);
    X[1] = axial_coupling(b, kind, m, B, D, 0, 1);
    X[2] = axial_coupling(b, kind, m, B, D, 0, 2);
    X[3] = axial_coupling(b, kind, m, B, D, 1, 0);
    X[4] = axial_coupling(b, kind, m, B, D, 1, 1);
    X[5] = axial_coupling(b, kind, m, B, D, 1, 2);
    X[6] = axial_coupling(b, kind, m, B, D, 2, 0);
    X[7] = axial_coupling(b, kind, m, B, D, 2, 1);
    X[8] = axial_coupling(b, kind, m, B, D, 2, 2);
}

/* and A about it gives Y = A + r~ B' - X r~, A of axial_rotate_sym */
FA_INLINE void axial_shift_inertia(const fa_body *b, const int kind, const int m,
                                   const fa_real *B, const fa_real *X, const fa_real *A,
                                   fa_real *restrict Y)
{
    Y[0] = axial_inertia(b, kind, m, B, X, A, 0, 0);
    Y[1] = axial_inertia(b, kind, m, B, X, A, 0, 1);
    Y[2] = axial_inertia(b, kind, m, B, X, A, 0, 2);
    Y[3] = axial_inertia(b, kind, m, B, X, A, 1, 1);
    Y[4] = axial_inertia(b, kind, m, B, X, A, 1, 2);
    Y[5] = axial_inertia(b, kind, m, B, X, A, 2, 2);
}

#endif
