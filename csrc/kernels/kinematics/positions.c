/*
 * positions.c -- from velocities to positions: rates, and steps along a displacement
 *
 *             rates of plain coordinates are velocities; of a quaternion e and a
 *             position x with the twist (omega; v) = S qd of the body, in its axes,
 *                 e_dot = 1/2 e o (0; omega), x_dot = R(e) v                    (Q1)
 *             steps q (+) u: plain coordinates add; a pose is multiplied by exp(u),
 *                 e o (c_0; c_1 u_w / 2) at (u_w / 2)^2, x + R J_left(u_w) u_v  (Q2)
 *             and the quaternion brought to unit length.
 *             Runge-Kutta on the group (rollout.c) integrates u from each step's start,
 *                 u_dot = V + 1/2 [u, V] + 1/12 [u, [u, V]] + O(u^4)            (Q3)
 * Displacement u holds, joint by joint, 3 numbers of a spherical joint, 6 of a pose and
 *             n_dof of any other; then the modes.
 * Source      H. Munthe-Kaas, Applied Numerical Mathematics 29, 1999 (Q3).
 * Checked by  tests/bodies/test_joints.py, tests/simulation/test_simulate_joints.py.
 */
#ifndef FA_POSITIONS_C
#define FA_POSITIONS_C

#include "calls/call.h"
#include "kernels/bodies/joint.h"
#include "kernels/bodies/node.h"
#include "kernels/lie/lie.h"
#include "lanes/lane.h"
#include "lanes/lane_math.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* numbers of a joint in a displacement */
static int pos_size(const fa_body *b)
{
    return b->joint == FA_JOINT_POSE ? 6 : b->n_dof;
}

static int pos_total(const fa_model *model)
{
    int total = model->n_modes;
    for (int k = 0; k < model->n_bodies; k++) {
        total += pos_size(model->bodies + k);
    }
    return total;
}

FA_INLINE int pos_is_pose(const fa_body *b)
{
    return b->joint == FA_JOINT_SPHERICAL || b->joint == FA_JOINT_POSE;
}

/* rates of the positions of one pose (Q1) */
FA_NOINLINE void pos_pose_rates(const fa_body *b, const fa_real *q, const fa_real *qd,
                                fa_real *rates)
{
    fa_real V[6], half[3], R[9];

    joint_motion(b, qd, V);
    for (int i = 0; i < 3; i++) {
        half[i] = 0.5 * V[i];
    }
    lie_quaternion_multiply(q, (fa_real){0}, half, rates);
    if (b->joint == FA_JOINT_POSE) {
        joint_quaternion(q, R);
        fa_rotate(rates + 4, R, V + 3);
    }
}

/* one pose moved along u [3 or 6] (Q2) */
FA_NOINLINE void pos_pose_step(const fa_body *b, const fa_real *q, const fa_real *u,
                               fa_real *moved)
{
    const fa_real quarter = 0.25 * fa_dot(u, u);
    const fa_stumpff f = fa_stumpff_at(quarter);
    fa_real half[3], norm = {0};

    for (int i = 0; i < 3; i++) {
        half[i] = 0.5 * f.c1 * u[i];
    }
    lie_quaternion_multiply(q, f.c0, half, moved);
    for (int i = 0; i < 4; i++) {
        norm += moved[i] * moved[i];
    }
    for (int w = 0; w < FA_LANES; w++) {
        norm[w] = 1.0 / sqrt(norm[w]);
    }
    for (int i = 0; i < 4; i++) {
        moved[i] *= norm;
    }
    if (b->joint == FA_JOINT_POSE) {
        fa_turn t = {.phi = {u[0], u[1], u[2]}};
        const fa_stumpff g = fa_stumpff_at(fa_dot(u, u));
        fa_real R[9], y[3], shift[3];
        t.c2 = g.c2;
        t.c3 = g.c3;
        node_left_jacobian(&t, u + 3, y);
        joint_quaternion(q, R);
        fa_rotate(shift, R, y);
        for (int i = 0; i < 3; i++) {
            moved[4 + i] = q[4 + i] + shift[i];
        }
    }
}

/* u_dot of one pose at its displacement u (Q3); of three numbers if spherical */
FA_NOINLINE void pos_pose_rate(const fa_body *b, const fa_real *u, const fa_real *qd,
                               fa_real *rate)
{
    fa_real V[6], full[6] = {{0}}, once[6], twice[6];
    const int n = pos_size(b);

    memcpy(full, u, (size_t)n * sizeof(fa_real));
    joint_motion(b, qd, V);
    lie_bracket(full, V, once);
    lie_bracket(full, once, twice);
    for (int i = 0; i < n; i++) {
        rate[i] = V[i] + 0.5 * once[i] + (1.0 / 12.0) * twice[i];
    }
}

/*
 * Rates of a displacement u at velocities qd (Q3).
 *   u, rate  [pos_total]; u may be NULL for zero
 */
static void pos_rates(const fa_model *model, const fa_real *u, const fa_real *qd,
                      fa_real *rate)
{
    const fa_real zero[6] = {{0}};
    int at = 0;

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        if (pos_is_pose(b)) {
            pos_pose_rate(b, u ? u + at : zero, qd + b->joint_at, rate + at);
        } else if (b->n_dof) {
            rate[at] = qd[b->joint_at];
        }
        at += pos_size(b);
    }
    memcpy(rate + at, qd + model->nu, (size_t)model->n_modes * sizeof(fa_real));
}

/* velocities of one pose whose twist is nearest to u: v of S'S v = S'u */
FA_NOINLINE void pos_pose_velocities(const fa_body *b, const fa_real *u, fa_real *v)
{
    const int n = b->n_dof, size = pos_size(b);
    fa_constant A[6][6];

    for (int i = 0; i < n; i++) {
        v[i] = (fa_real){0};
        for (int k = 0; k < size; k++) {
            v[i] += b->S[6 * i + k] * u[k];
        }
        for (int j = 0; j < n; j++) {
            A[i][j] = (fa_constant){0};
            for (int k = 0; k < 6; k++) {
                A[i][j] += b->S[6 * i + k] * b->S[6 * j + k];
            }
        }
    }
    for (int k = 0; k < n; k++) { /* columns of S are independent: definite */
        for (int i = k + 1; i < n; i++) {
            const fa_constant scaled = A[i][k] / A[k][k];
            for (int j = k; j < n; j++) {
                A[i][j] -= scaled * A[k][j];
            }
            v[i] -= scaled * v[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) {
            v[k] -= A[k][j] * v[j];
        }
        v[k] /= A[k][k];
    }
}

/* velocities [nv] of the displacement u in a unit of time, from u = 0: pos_rates back */
static void pos_velocities(const fa_model *model, const fa_real *u, fa_real *v)
{
    int at = 0;

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        if (pos_is_pose(b)) {
            pos_pose_velocities(b, u + at, v + b->joint_at);
        } else if (b->n_dof) {
            v[b->joint_at] = u[at];
        }
        at += pos_size(b);
    }
    memcpy(v + model->nu, u + at, (size_t)model->n_modes * sizeof(fa_real));
}

/* moved = q (+) u (Q2); q, moved [nq], u [pos_total] */
static void pos_step(const fa_model *model, const fa_real *q, const fa_real *u,
                     fa_real *moved)
{
    int at = 0;

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const int p = b->position_at;
        if (pos_is_pose(b)) {
            pos_pose_step(b, q + p, u + at, moved + p);
        } else if (b->n_dof) {
            moved[p] = q[p] + u[at];
        }
        at += pos_size(b);
    }
    for (int i = 0; i < model->n_modes; i++) {
        const int p = model->nq - model->n_modes + i;
        moved[p] = q[p] + u[at + i];
    }
}

static size_t pos_work_size(const fa_model *model)
{
    return (size_t)pos_total(model);
}

/* q (+) dq, dq [nv]: the velocities of a unit of time, held */
static void pos_integrate(const fa_model *model, const fa_call *call)
{
    pos_rates(model, NULL, call->in[1], call->work);
    pos_step(model, call->in[0], call->work, call->out);
}

/* qdot [nq] at velocities qd [nv] (Q1) */
static void pos_position_rates(const fa_model *model, const fa_call *call)
{
    const fa_real *q = call->in[0], *qd = call->in[1];
    fa_real *rates = call->out;

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        if (pos_is_pose(b)) {
            pos_pose_rates(b, q + b->position_at, qd + b->joint_at,
                           rates + b->position_at);
        } else if (b->n_dof) {
            rates[b->position_at] = qd[b->joint_at];
        }
    }
    memcpy(rates + model->nq - model->n_modes, qd + model->nu,
           (size_t)model->n_modes * sizeof(fa_real));
    for (int i = 0; i < model->nq; i++) {
        rates[i] += 0.0 * q[i]; /* a position that is no number has no rate */
    }
}

#endif
