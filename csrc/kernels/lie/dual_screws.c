/*
 * dual_screws.c -- rotations, poses and screws over the dual numbers
 *
 * A dual number x + eps y, eps^2 = 0, has a rigid motion in its real part and a small
 * elastic one in its dual part; a product drops what is small twice. Stored as pairs,
 * the real part first; no matrix beyond 4 x 4 is formed.
 *
 * G1          rotations A + eps theta~ A, isomorphic to SE(3): theta is its position,
 *             exp(u + eps w) = (R, (J w)~ R),  left Jacobian J + eps DJ[w]        (S1)
 * G2          poses T + eps delta^ T, which are SE(3) over the dual numbers:
 *             exp(X + eps U) = T + eps (J6 U)^ T                                  (S2)
 *             left Jacobian J6 + eps DJ6[U]                                       (S3)
 *             with R, J, J6 and their derivatives of lie.h (E1-E6)
 * Source      A. Cibicik, O. Egeland, IEEE Transactions on Robotics, 2020,
 *             DOI 10.1109/TRO.2020.3014519, eqs. 8-21, 128-145.
 * Checked by  tests/c/test_lie.c, tests/reference/test_screws.py.
 */
#ifndef FA_DUAL_SCREWS_C
#define FA_DUAL_SCREWS_C

#include "calls/call.h"
#include "calls/maps.h"
#include "kernels/bodies/node.h"
#include "kernels/lie/lie.c"
#include "kernels/lie/lie.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"

/* real part [[R, r], [0, 1]], dual part [[B, d], [0, 0]] */
typedef struct {
    fa_real R[9], B[9], r[3], d[3];
} dual_hop;

/* theta of B = theta~ A; returns where it is one and A is a rotation */
FA_INLINE fa_mask dual_angle(const fa_real *A, const fa_real *B, fa_real *theta)
{
    fa_real S[9], most = {0}, off = {0};

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            S[3 * i + j] = fa_dot(B + 3 * i, A + 3 * j); /* B A' */
        }
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        theta[i] = 0.5 * (S[3 * k + j] - S[3 * j + k]);
        most += lie_abs(S[3 * j + k]) + lie_abs(S[3 * k + j]);
        off += lie_abs(S[3 * j + k] + S[3 * k + j]) + lie_abs(S[3 * i + i]);
    }
    return (off <= LIE_TOLERANCE * most + LIE_ROUNDING) & lie_is_rotation(A);
}

/* Y = theta~ A */
FA_INLINE void dual_angle_matrix(const fa_real *theta, const fa_real *A, fa_real *Y)
{
    fa_real cross[9];
    lie_hat(theta, cross);
    fa_mat_mul(Y, cross, A);
}

/* a dual rotation [18] from its input, NaN where it is none */
FA_INLINE void dual_rotation_load(const fa_real *X, lie_pair *P)
{
    fa_real theta[3];
    memcpy(P, X, sizeof *P);
    lie_keep(dual_angle(P->A, P->B, theta), P->A, 9);
}

/* a dual pose [32] from its input, NaN where it is none */
FA_INLINE void dual_pose_load(const fa_real *C, dual_hop *h)
{
    fa_real theta[3];
    fa_mask fine;

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            h->R[3 * i + j] = C[4 * i + j];
            h->B[3 * i + j] = C[16 + 4 * i + j];
        }
        h->r[i] = C[4 * i + 3];
        h->d[i] = C[16 + 4 * i + 3];
    }
    fine = dual_angle(h->R, h->B, theta);
    for (int j = 0; j < 4; j++) {
        fine &= lie_abs(C[12 + j] - (j == 3)) <= LIE_TOLERANCE;
        fine &= lie_abs(C[28 + j]) <= LIE_ROUNDING;
    }
    lie_keep(fine, h->R, 9);
    lie_keep(fine, h->r, 3);
}

FA_INLINE void dual_pose_store(const dual_hop *h, fa_real *C)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C[4 * i + j] = h->R[3 * i + j];
            C[16 + 4 * i + j] = h->B[3 * i + j];
        }
        C[4 * i + 3] = h->r[i];
        C[16 + 4 * i + 3] = h->d[i];
        C[12 + i] = C[28 + i] = (fa_real){0};
    }
    C[15] = fa_splat(1.0);
    C[31] = (fa_real){0};
}

/* transposed dual matrix, the inverse of a dual rotation */
FA_INLINE void dual_transpose(const fa_real *A, const fa_real *B, fa_real *At,
                              fa_real *Bt)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            At[3 * i + j] = A[3 * j + i];
            Bt[3 * i + j] = B[3 * j + i];
        }
    }
}

/* (y, z) = (A + eps B) (a + eps b) */
FA_INLINE void dual_rotate(const fa_real *A, const fa_real *B, const fa_real *a,
                           const fa_real *b, fa_real *y, fa_real *z)
{
    fa_real more[3];
    fa_rotate(y, A, a);
    fa_rotate(z, A, b);
    fa_rotate(more, B, a);
    for (int i = 0; i < 3; i++) {
        z[i] += more[i];
    }
}

FA_INLINE void dual_inverse(const dual_hop *a, dual_hop *h)
{
    dual_transpose(a->R, a->B, h->R, h->B);
    dual_rotate(h->R, h->B, a->r, a->d, h->r, h->d);
    for (int i = 0; i < 3; i++) {
        h->r[i] = -h->r[i];
        h->d[i] = -h->d[i];
    }
}

/* y = Ad x on a dual screw [12], real part first */
FA_INLINE void dual_adjoint(const dual_hop *h, const fa_real *x, fa_real *y)
{
    dual_rotate(h->R, h->B, x, x + 6, y, y + 6);
    dual_rotate(h->R, h->B, x + 3, x + 9, y + 3, y + 9);
    fa_cross_add(y + 3, h->r, y);
    fa_cross_add(y + 9, h->r, y + 6);
    fa_cross_add(y + 9, h->d, y);
}

/* a dual wrench is moved as a dual screw with its halves exchanged */
FA_INLINE void dual_coadjoint(const dual_hop *h, const fa_real *w, fa_real *y)
{
    fa_real swapped[12], moved[12];
    for (int i = 0; i < 12; i++) {
        swapped[i] = w[i % 6 < 3 ? i + 3 : i - 3];
    }
    dual_adjoint(h, swapped, moved);
    for (int i = 0; i < 12; i++) {
        y[i] = moved[i % 6 < 3 ? i + 3 : i - 3];
    }
}

/* G1 */

static void dual_rotation_compose(const fa_call *call)
{
    lie_pair a, b, both;
    dual_rotation_load(call->in[0], &a);
    dual_rotation_load(call->in[1], &b);
    lie_pair_mul(&both, &a, &b);
    memcpy(call->out, &both, sizeof both);
}

static void dual_rotation_inverse(const fa_call *call)
{
    lie_pair a;
    dual_rotation_load(call->in[0], &a);
    dual_transpose(a.A, a.B, call->out, call->out + 9);
}

static void dual_rotation_apply(const fa_call *call)
{
    lie_pair a;
    dual_rotation_load(call->in[0], &a);
    dual_rotate(a.A, a.B, call->in[1], call->in[1] + 3, call->out, call->out + 3);
}

static void dual_rotation_bracket(const fa_call *call)
{
    lie_bracket(call->in[0], call->in[1], call->out);
}

/* (S1) */
static void dual_rotation_exp(const fa_call *call)
{
    fa_hop C;
    lie_exp(call->in[0], &C);
    memcpy(call->out, C.R, sizeof C.R);
    dual_angle_matrix(C.r, C.R, call->out + 9);
}

static void dual_rotation_log(const fa_call *call)
{
    fa_hop C;
    memcpy(C.R, call->in[0], sizeof C.R);
    const fa_mask fine = dual_angle(C.R, call->in[0] + 9, C.r);
    lie_log(&C, call->out);
    lie_keep(fine, call->out, 6);
}

static void dual_rotation_left_jacobian(const fa_call *call)
{
    lie_stumpff f;
    lie_pair J;
    lie_stumpff_at(fa_dot(call->in[0], call->in[0]), &f);
    lie_jacobian6(&f, call->in[0], &J);
    memcpy(call->out, &J, sizeof J);
}

static void dual_rotation_left_jacobian_inverse(const fa_call *call)
{
    lie_stumpff f;
    lie_pair J;
    lie_stumpff_at(fa_dot(call->in[0], call->in[0]), &f);
    lie_jacobian6_inverse(&f, call->in[0], &J);
    memcpy(call->out, &J, sizeof J);
}

/* G2 */

static void dual_pose_compose(const fa_call *call)
{
    dual_hop a, b, h;
    fa_real more[9];
    dual_pose_load(call->in[0], &a);
    dual_pose_load(call->in[1], &b);
    fa_mat_mul(h.R, a.R, b.R);
    fa_mat_mul(h.B, a.R, b.B);
    fa_mat_mul(more, a.B, b.R);
    dual_rotate(a.R, a.B, b.r, b.d, h.r, h.d);
    for (int i = 0; i < 9; i++) {
        h.B[i] += more[i];
    }
    for (int i = 0; i < 3; i++) {
        h.r[i] += a.r[i];
        h.d[i] += a.d[i];
    }
    dual_pose_store(&h, call->out);
}

static void dual_pose_inverse(const fa_call *call)
{
    dual_hop a, h;
    dual_pose_load(call->in[0], &a);
    dual_inverse(&a, &h);
    dual_pose_store(&h, call->out);
}

static void dual_apply_adjoint(const fa_call *call)
{
    dual_hop a;
    dual_pose_load(call->in[0], &a);
    dual_adjoint(&a, call->in[1], call->out);
}

static void dual_apply_adjoint_inverse(const fa_call *call)
{
    dual_hop a, h;
    dual_pose_load(call->in[0], &a);
    dual_inverse(&a, &h);
    dual_adjoint(&h, call->in[1], call->out);
}

static void dual_apply_coadjoint(const fa_call *call)
{
    dual_hop a;
    dual_pose_load(call->in[0], &a);
    dual_coadjoint(&a, call->in[1], call->out);
}

static void dual_apply_coadjoint_inverse(const fa_call *call)
{
    dual_hop a, h;
    dual_pose_load(call->in[0], &a);
    dual_inverse(&a, &h);
    dual_coadjoint(&h, call->in[1], call->out);
}

static void dual_bracket(const fa_call *call)
{
    const fa_real *a = call->in[0], *b = call->in[1];
    fa_real more[6];
    lie_bracket(a, b, call->out);
    lie_bracket(a, b + 6, call->out + 6);
    lie_bracket(a + 6, b, more);
    for (int i = 0; i < 6; i++) {
        call->out[6 + i] += more[i];
    }
}

/* (S2) */
static void dual_pose_exp(const fa_call *call)
{
    const fa_real *X = call->in[0];
    lie_stumpff f;
    lie_pair J;
    dual_hop h;
    fa_real delta[6];

    lie_stumpff_at(fa_dot(X, X), &f);
    lie_rotation(&f, X, h.R);
    lie_jacobian6(&f, X, &J);
    fa_rotate(h.r, J.A, X + 3);
    lie_pair_apply(&J, X + 6, delta);
    dual_angle_matrix(delta, h.R, h.B);
    fa_cross(h.d, delta, h.r);
    for (int i = 0; i < 3; i++) {
        h.d[i] += delta[3 + i];
    }
    dual_pose_store(&h, call->out);
}

/* X = log T, U = J6^-1 delta, delta = (theta; d - theta x r) */
static void dual_pose_log(const fa_call *call)
{
    fa_real *X = call->out, delta[6];
    lie_stumpff f;
    lie_pair J;
    dual_hop h;
    fa_hop T;

    dual_pose_load(call->in[0], &h);
    memcpy(T.R, h.R, sizeof T.R);
    memcpy(T.r, h.r, sizeof T.r);
    lie_log(&T, X);
    (void)dual_angle(h.R, h.B, delta);
    fa_cross(delta + 3, h.r, delta);
    for (int i = 0; i < 3; i++) {
        delta[3 + i] += h.d[i];
    }
    lie_stumpff_at(fa_dot(X, X), &f);
    lie_jacobian6_inverse(&f, X, &J);
    lie_pair_apply(&J, delta, X + 6);
}

/* (S3), or its inverse */
FA_INLINE void dual_jacobians(const fa_call *call, int inverse)
{
    const fa_real *X = call->in[0];
    lie_stumpff f;
    lie_pair J, D;

    lie_stumpff_at(fa_dot(X, X), &f);
    if (inverse) {
        lie_jacobian6_inverse(&f, X, &J);
        lie_jacobian6_inverse_rate(&f, X, X + 6, &D);
    } else {
        lie_jacobian6(&f, X, &J);
        lie_jacobian6_rate(&f, X, X + 6, &D);
    }
    lie_pair_matrix(&J, call->out);
    lie_pair_matrix(&D, call->out + 36);
}

static void dual_left_jacobian(const fa_call *call)
{
    dual_jacobians(call, 0);
}

static void dual_left_jacobian_inverse(const fa_call *call)
{
    dual_jacobians(call, 1);
}

#endif
