/*
 * joint.h -- wide joints: helical, spherical, and poses with any motion subspace
 *
 * Equations   helical: R_J = rot_z(q), x_J = e_z p q, S = (e_z; p e_z)
 *             spherical, pose: R_J = R(quaternion) / |quaternion|^2, x_J = position,
 *             twist of the body in its own axes S v, with constant S
 *             V += S v, c += V x S v                                        (K5, K7)
 *             For one screw v is the rate of q; for poses the positions follow from
 *             the twist (positions.c).
 * Lanes       out of line: the joints along z in hop.h stay as fast as they are.
 * Source      J. Stuelpnagel, SIAM Review 6(4), 1964 (quaternions); Jain and
 *             Rodriguez, US patent 5,546,508, eqs. 7 to 9 (H* of any freedom).
 * Checked by  tests/bodies/test_joints.py, tests/dynamics/test_dynamics.py.
 */
#ifndef FA_JOINT_H
#define FA_JOINT_H

#include "lanes/lane.h"
#include "lanes/lane_math.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* rotation of a quaternion (w, x, y, z) of any length; NaN for zero */
FA_INLINE void joint_quaternion(const fa_real *e, fa_real *R)
{
    const fa_real w = e[0], x = e[1], y = e[2], z = e[3];
    const fa_real twice = 2.0 / (w * w + x * x + y * y + z * z);

    R[0] = 1.0 - twice * (y * y + z * z);
    R[4] = 1.0 - twice * (x * x + z * z);
    R[8] = 1.0 - twice * (x * x + y * y);
    R[1] = twice * (x * y - w * z);
    R[3] = twice * (x * y + w * z);
    R[2] = twice * (x * z + w * y);
    R[6] = twice * (x * z - w * y);
    R[5] = twice * (y * z - w * x);
    R[7] = twice * (y * z + w * x);
}

/* adds the displacement x_J, in the axes of the node */
FA_NOINLINE void joint_displace(const fa_body *b, const fa_real *q, fa_real *arm)
{
    for (int i = 0; i < 3; i++) {
        const fa_constant *row = b->rot + 3 * i;
        if (b->joint == FA_JOINT_HELICAL) {
            arm[i] += row[2] * b->S[5] * q[b->position_at];
        } else if (b->joint == FA_JOINT_POSE) {
            const fa_real *x = q + b->position_at + 4;
            arm[i] += row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
        }
    }
}

/* R = base R_J */
FA_NOINLINE void joint_turn(const fa_body *b, const fa_real *q, const fa_real *base,
                            fa_real *R)
{
    fa_real turn[9];

    if (b->joint == FA_JOINT_HELICAL) {
        const fa_real zero = {0}, one = fa_splat(1.0);
        fa_real s, c;
        fa_sincos(q[b->position_at], &s, &c);
        const fa_real about_z[9] = {c, -s, zero, s, c, zero, zero, zero, one};
        memcpy(turn, about_z, sizeof turn);
    } else {
        joint_quaternion(q + b->position_at, turn);
    }
    fa_mat_mul(R, base, turn);
}

/* S_j of any joint */
FA_INLINE void joint_screw(const fa_body *b, int j, fa_real *S)
{
    const int axis = b->joint == FA_JOINT_REVOLUTE ? 2 : 5;
    for (int i = 0; i < 6; i++) {
        S[i] = b->wide ? fa_spread(b->S[6 * j + i]) : fa_splat(i == axis);
    }
}

/* s = S v */
FA_INLINE void joint_motion(const fa_body *b, const fa_real *v, fa_real *s)
{
    fa_zero(s, 6);
    for (int j = 0; j < b->n_dof; j++) {
        for (int i = 0; i < 6; i++) {
            s[i] += b->S[6 * j + i] * v[j];
        }
    }
}

/* S_j' f */
FA_INLINE fa_real joint_project(const fa_body *b, int j, const fa_real *f)
{
    fa_real sum = {0};
    for (int i = 0; i < 6; i++) {
        sum += b->S[6 * j + i] * f[i];
    }
    return sum;
}

/* S_j' f of any joint */
FA_INLINE fa_real joint_force(const fa_body *b, int j, const fa_real *f)
{
    return b->wide ? joint_project(b, j, f) : f[b->joint == FA_JOINT_REVOLUTE ? 2 : 5];
}

/* V += S v, c += V x S v (K5, K7) */
FA_NOINLINE void joint_velocity(const fa_body *b, const fa_real *qd, fa_real *V,
                                fa_real *c)
{
    fa_real s[6];

    joint_motion(b, qd + b->joint_at, s);
    for (int i = 0; i < 6; i++) {
        V[i] += s[i];
    }
    fa_cross_add(c, V, s);
    fa_cross_add(c + 3, V, s + 3);
    fa_cross_add(c + 3, V + 3, s);
}

#endif
