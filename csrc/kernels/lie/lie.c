/*
 * lie.c -- maps of rotations, quaternions and poses, as kernels without a model
 *
 * Each reads call->in, writes call->out, and leaves its mathematics to lie.h (E1-E7).
 * A lane whose input is no rotation, no pose or a zero vector becomes NaN.
 */
#ifndef FA_LIE_C
#define FA_LIE_C

#include "calls/call.h"
#include "calls/maps.h"
#include "kernels/bodies/joint.h"
#include "kernels/bodies/node.h"
#include "kernels/lie/lie.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"

/* fine lanes of y [n] stay, the others become NaN */
FA_INLINE void lie_keep(fa_mask fine, fa_real *y, int n)
{
    for (int i = 0; i < n; i++) {
        y[i] = fa_select(fine, y[i], fa_splat((double)NAN));
    }
}

/* vector of a skew matrix S [9, rows `stride` apart]; returns where it is one */
FA_INLINE fa_mask lie_vee(const fa_real *S, int stride, fa_real *phi)
{
    fa_real most = {0}, off = {0};

    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const fa_real above = S[stride * j + k], below = S[stride * k + j];
        phi[i] = 0.5 * (below - above);
        most += lie_abs(above);
        off += lie_abs(above + below) + lie_abs(S[stride * i + i]);
    }
    return off <= LIE_TOLERANCE * most + LIE_ROUNDING;
}

static void lie_so3_hat(const fa_call *call)
{
    lie_hat(call->in[0], call->out);
}

static void lie_so3_vee(const fa_call *call)
{
    lie_keep(lie_vee(call->in[0], 3, call->out), call->out, 3);
}

static void lie_so3_exp(const fa_call *call)
{
    lie_stumpff f;
    lie_stumpff_at(fa_dot(call->in[0], call->in[0]), &f);
    lie_rotation(&f, call->in[0], call->out);
}

static void lie_so3_log(const fa_call *call)
{
    lie_rotation_log(call->in[0], call->out);
    lie_keep(lie_is_rotation(call->in[0]), call->out, 3);
}

/* X or, for the right Jacobians, -X */
FA_INLINE void lie_signed(const fa_real *X, double sign, int n, fa_real *Y)
{
    for (int i = 0; i < n; i++) {
        Y[i] = sign * X[i];
    }
}

FA_INLINE void lie_so3_jacobians(const fa_call *call, double sign, int inverse)
{
    lie_stumpff f;
    fa_real phi[3];
    lie_signed(call->in[0], sign, 3, phi);
    lie_stumpff_at(fa_dot(phi, phi), &f);
    if (inverse) {
        lie_jacobian_inverse(&f, phi, call->out);
    } else {
        lie_jacobian(&f, phi, call->out);
    }
}

static void lie_so3_left_jacobian(const fa_call *call)
{
    lie_so3_jacobians(call, 1.0, 0);
}

static void lie_so3_right_jacobian(const fa_call *call)
{
    lie_so3_jacobians(call, -1.0, 0);
}

static void lie_so3_left_jacobian_inverse(const fa_call *call)
{
    lie_so3_jacobians(call, 1.0, 1);
}

static void lie_so3_right_jacobian_inverse(const fa_call *call)
{
    lie_so3_jacobians(call, -1.0, 1);
}

/* rotation of a quaternion of any length but zero */
FA_INLINE void lie_quaternion_turn(const fa_real *q, fa_real *R)
{
    fa_real scaled[4];
    lie_quaternion_scaled(q, scaled);
    joint_quaternion(scaled, R);
}

/* (I - phi~/2)^-1 (I + phi~/2), the rotation of the quaternion (1; phi/2) */
FA_INLINE void lie_cayley(const fa_real *phi, fa_real *R)
{
    const fa_real q[4] = {fa_splat(1.0), 0.5 * phi[0], 0.5 * phi[1], 0.5 * phi[2]};
    lie_quaternion_turn(q, R);
}

FA_INLINE void lie_cayley_inverse(const fa_real *R, fa_real *phi)
{
    fa_real q[4];
    lie_quaternion(R, q);
    for (int i = 0; i < 3; i++) {
        phi[i] = 2.0 * q[1 + i] / q[0];
    }
}

static void lie_so3_cayley(const fa_call *call)
{
    lie_cayley(call->in[0], call->out);
}

static void lie_so3_cayley_inverse(const fa_call *call)
{
    lie_cayley_inverse(call->in[0], call->out);
    lie_keep(lie_is_rotation(call->in[0]), call->out, 3);
}

static void lie_quaternion_from_rotation(const fa_call *call)
{
    lie_quaternion(call->in[0], call->out);
    lie_keep(lie_is_rotation(call->in[0]), call->out, 4);
}

static void lie_rotation_from_quaternion(const fa_call *call)
{
    lie_quaternion_turn(call->in[0], call->out);
}

static void lie_quaternion_product(const fa_call *call)
{
    const fa_real *b = call->in[1];
    lie_quaternion_multiply(call->in[0], b[0], b + 1, call->out);
}

static void lie_quaternion_inverse(const fa_call *call)
{
    fa_real q[4];
    const fa_real scale = lie_quaternion_scaled(call->in[0], q);
    const fa_real square = q[0] * q[0] + fa_dot(q + 1, q + 1);
    for (int i = 0; i < 4; i++) {
        call->out[i] = (i ? -q[i] : q[i]) / square / scale;
    }
}

static void lie_quaternion_of_vector(const fa_call *call)
{
    lie_stumpff f;
    lie_stumpff_at(0.25 * fa_dot(call->in[0], call->in[0]), &f);
    call->out[0] = f.c[0];
    for (int i = 0; i < 3; i++) {
        call->out[1 + i] = 0.5 * f.c[1] * call->in[0][i];
    }
}

static void lie_vector_of_quaternion(const fa_call *call)
{
    fa_real q[4];
    lie_quaternion_scaled(call->in[0], q);
    lie_quaternion_log(q, call->out);
}

static void lie_se3_hat(const fa_call *call)
{
    const fa_real *X = call->in[0];
    fa_hop h = {.r = {X[3], X[4], X[5]}};
    lie_hat(X, h.R);
    lie_join(&h, call->out);
    call->out[15] = (fa_real){0};
}

static void lie_se3_vee(const fa_call *call)
{
    const fa_real *S = call->in[0];
    fa_mask fine = lie_vee(S, 4, call->out);
    for (int i = 0; i < 4; i++) {
        fine &= lie_abs(S[12 + i]) <= LIE_ROUNDING;
    }
    for (int i = 0; i < 3; i++) {
        call->out[3 + i] = S[4 * i + 3];
    }
    lie_keep(fine, call->out, 6);
}

static void lie_se3_exp(const fa_call *call)
{
    fa_hop C;
    lie_exp(call->in[0], &C);
    lie_join(&C, call->out);
}

static void lie_se3_log(const fa_call *call)
{
    fa_hop C;
    lie_split_checked(call->in[0], &C);
    lie_log(&C, call->out);
}

static void lie_se3_pose(const fa_call *call)
{
    fa_hop C;
    memcpy(C.R, call->in[0], sizeof C.R);
    memcpy(C.r, call->in[1], sizeof C.r);
    lie_keep(lie_is_rotation(C.R), C.R, 1);
    lie_join(&C, call->out);
}

static void lie_se3_inverse(const fa_call *call)
{
    fa_hop C, inverse;
    lie_split_checked(call->in[0], &C);
    lie_inverse(&C, &inverse);
    lie_join(&inverse, call->out);
}

static void lie_se3_compose(const fa_call *call)
{
    fa_hop a, b, both;
    lie_split_checked(call->in[0], &a);
    lie_split_checked(call->in[1], &b);
    lie_compose(&a, &b, &both);
    lie_join(&both, call->out);
}

/* a exp(s log(a^-1 b)) */
static void lie_se3_interpolate(const fa_call *call)
{
    fa_hop a, b, back, way, moved;
    fa_real X[6];
    lie_split_checked(call->in[0], &a);
    lie_split_checked(call->in[1], &b);
    lie_inverse(&a, &back);
    lie_compose(&back, &b, &way);
    lie_log(&way, X);
    for (int i = 0; i < 6; i++) {
        X[i] *= call->in[2][0];
    }
    lie_exp(X, &way);
    lie_compose(&a, &way, &moved);
    lie_join(&moved, call->out);
}

/* Ad = [[R, 0], [r~ R, R]] */
static void lie_se3_adjoint(const fa_call *call)
{
    fa_hop C;
    lie_pair Ad;
    fa_real cross[9];
    lie_split_checked(call->in[0], &C);
    memcpy(Ad.A, C.R, sizeof Ad.A);
    lie_hat(C.r, cross);
    fa_mat_mul(Ad.B, cross, C.R);
    lie_pair_matrix(&Ad, call->out);
}

/* Ad^-1 = [[R', 0], [-R' r~, R']], the transpose of r~ R below */
static void lie_se3_adjoint_inverse(const fa_call *call)
{
    fa_hop C;
    lie_pair Ad;
    fa_real cross[9], lower[9];
    lie_split_checked(call->in[0], &C);
    lie_hat(C.r, cross);
    fa_mat_mul(lower, cross, C.R);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            Ad.A[3 * i + j] = C.R[3 * j + i];
            Ad.B[3 * i + j] = lower[3 * j + i];
        }
    }
    lie_pair_matrix(&Ad, call->out);
}

static void lie_se3_apply_adjoint(const fa_call *call)
{
    fa_hop C;
    lie_split_checked(call->in[0], &C);
    lie_adjoint(&C, call->in[1], call->out);
}

static void lie_se3_apply_adjoint_inverse(const fa_call *call)
{
    fa_hop C;
    lie_split_checked(call->in[0], &C);
    lie_adjoint_inverse(&C, call->in[1], call->out);
}

/* a wrench (n; f) is moved as a twist with its halves exchanged: Ad^-T */
static void lie_se3_apply_coadjoint(const fa_call *call)
{
    const fa_real *w = call->in[1];
    const fa_real swapped[6] = {w[3], w[4], w[5], w[0], w[1], w[2]};
    fa_real y[6];
    fa_hop C;
    lie_split_checked(call->in[0], &C);
    lie_adjoint(&C, swapped, y);
    memcpy(call->out, y + 3, 3 * sizeof *y);
    memcpy(call->out + 3, y, 3 * sizeof *y);
}

static void lie_se3_apply_coadjoint_inverse(const fa_call *call)
{
    const fa_real *w = call->in[1];
    const fa_real swapped[6] = {w[3], w[4], w[5], w[0], w[1], w[2]};
    fa_real y[6];
    fa_hop C;
    lie_split_checked(call->in[0], &C);
    lie_adjoint_inverse(&C, swapped, y);
    memcpy(call->out, y + 3, 3 * sizeof *y);
    memcpy(call->out + 3, y, 3 * sizeof *y);
}

static void lie_se3_ad(const fa_call *call)
{
    lie_pair ad;
    lie_hat(call->in[0], ad.A);
    lie_hat(call->in[0] + 3, ad.B);
    lie_pair_matrix(&ad, call->out);
}

static void lie_se3_bracket(const fa_call *call)
{
    lie_bracket(call->in[0], call->in[1], call->out);
}

/* J6, its inverse and their derivatives; derivatives have a second input */
FA_INLINE void lie_se3_jacobians(const fa_call *call, double sign, int inverse,
                                 int derivative)
{
    lie_stumpff f;
    lie_pair J;
    fa_real X[6], U[6];

    lie_signed(call->in[0], sign, 6, X);
    lie_stumpff_at(fa_dot(X, X), &f);
    if (derivative) {
        lie_signed(call->in[1], sign, 6, U);
    }
    if (derivative && inverse) {
        lie_jacobian6_inverse_rate(&f, X, U, &J);
    } else if (derivative) {
        lie_jacobian6_rate(&f, X, U, &J);
    } else if (inverse) {
        lie_jacobian6_inverse(&f, X, &J);
    } else {
        lie_jacobian6(&f, X, &J);
    }
    lie_pair_matrix(&J, call->out);
}

static void lie_se3_left_jacobian(const fa_call *call)
{
    lie_se3_jacobians(call, 1.0, 0, 0);
}

static void lie_se3_right_jacobian(const fa_call *call)
{
    lie_se3_jacobians(call, -1.0, 0, 0);
}

static void lie_se3_left_jacobian_inverse(const fa_call *call)
{
    lie_se3_jacobians(call, 1.0, 1, 0);
}

static void lie_se3_right_jacobian_inverse(const fa_call *call)
{
    lie_se3_jacobians(call, -1.0, 1, 0);
}

static void lie_se3_left_derivative(const fa_call *call)
{
    lie_se3_jacobians(call, 1.0, 0, 1);
}

static void lie_se3_right_derivative(const fa_call *call)
{
    lie_se3_jacobians(call, -1.0, 0, 1);
}

static void lie_se3_left_inverse_derivative(const fa_call *call)
{
    lie_se3_jacobians(call, 1.0, 1, 1);
}

static void lie_se3_right_inverse_derivative(const fa_call *call)
{
    lie_se3_jacobians(call, -1.0, 1, 1);
}

/* (I - X^/2)^-1 (I + X^/2): r = (I - phi~/2)^-1 v = (R + I) v / 2 */
static void lie_se3_cayley(const fa_call *call)
{
    const fa_real *X = call->in[0];
    fa_hop C;
    lie_cayley(X, C.R);
    fa_rotate(C.r, C.R, X + 3);
    for (int i = 0; i < 3; i++) {
        C.r[i] = 0.5 * (C.r[i] + X[3 + i]);
    }
    lie_join(&C, call->out);
}

static void lie_se3_cayley_inverse(const fa_call *call)
{
    fa_real *X = call->out, cross[3];
    fa_hop C;
    lie_split_checked(call->in[0], &C);
    lie_cayley_inverse(C.R, X);
    fa_cross(cross, X, C.r);
    for (int i = 0; i < 3; i++) {
        X[3 + i] = C.r[i] - 0.5 * cross[i];
    }
}

/*
 * (e; p x e + h e) of the unit vector e along the axis; (0; e) if h is inf. There is no
 * screw of pitch -inf: as a limit of unit screws it slides along -e, as one of X / h
 * along e.
 */
static void lie_se3_screw(const fa_call *call)
{
    const fa_real *point = call->in[0], h = call->in[2][0];
    const fa_mask sliding = h == fa_splat((double)INFINITY);
    const fa_real *axis = call->in[1], none = {0};
    const fa_real most =
        lie_max(lie_max(lie_abs(axis[0]), lie_abs(axis[1])), lie_abs(axis[2]));
    fa_real e[3], *X = call->out;

    for (int i = 0; i < 3; i++) {
        e[i] = axis[i] / most;
    }
    const fa_real scale = 1.0 / lie_sqrt(fa_dot(e, e));
    for (int i = 0; i < 3; i++) {
        e[i] *= scale;
    }
    fa_cross(X + 3, point, e);
    for (int i = 0; i < 3; i++) {
        X[3 + i] = fa_select(sliding, e[i], X[3 + i] + h * e[i]);
        /* a point that is no number spoils a sliding screw too */
        X[3 + i] += 0.0 * point[i];
        X[i] = fa_select(sliding, none, e[i]);
    }
}

#endif
