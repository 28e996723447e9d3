/*
 * joint_forces.h -- passive forces inside of joints: springs, friction, stops
 *
 *             Each acts on s = q_joint - r q_motor, r = 1 / gear ratio, or on one
 *             coordinate alone (r = 0); f on s is f on the joint and -r f on the motor:
 *             spring    f = k (s - s0) + c sdot                                (H1)
 *             friction  f = f_c sdot / sqrt(sdot^2 + v_s^2)                    (H2)
 *             stop      d = max(+-(s - bound), 0), ddot = +-sdot,
 *                       f = +-k d max(1 + c ddot, 0)                           (H3)
 *             They stand on the side of the inertia forces, tau = M qdd + ... + f, with
 *             potentials k (s - s0)^2 / 2 and k d^2 / 2. A stop never pulls; without c
 *             it gives back what it took.
 * Derivatives of f by s and sdot are exact. The corners of a stop count as outside.
 * Lanes       one state each; loops over the forces of the model, none: nothing to do.
 * Source      M. W. Spong, J. Dyn. Syst. Meas. Control 109, 1987 (H1 with motors);
 *             K. H. Hunt, F. R. E. Crossley, J. Appl. Mech. 42, 1975 (H3).
 * Checked by  tests/dynamics/test_drives.py,
 *             tests/dynamics/test_drives_closed_forms.py: the twin, energies,
 *             closed forms; tests/derivatives/test_derivatives.py: complex steps.
 */
#ifndef FA_JOINT_FORCES_H
#define FA_JOINT_FORCES_H

#include "lanes/lane.h"
#include "model/kinds.h"
#include "model/layout.h"

/* joint minus motor of one force, of positions or of velocities */
FA_INLINE fa_real jf_relative(const fa_passive *p, const fa_real *x, int joint,
                              int motor)
{
    return p->motor < 0 ? x[joint] : x[joint] - p->ratio * x[motor];
}

/* f at s, sdot (H1 to H3) */
FA_INLINE fa_real jf_force(const fa_passive *p, fa_real s, fa_real rate)
{
    if (p->kind == FA_SPRING) {
        return p->p[0] * (s - p->p[1]) + p->p[2] * rate;
    }
    if (p->kind == FA_FRICTION) {
        return p->p[0] * rate / fa_sqrt(rate * rate + p->p[1] * p->p[1]);
    }
    const fa_real depth = fa_positive(p->p[1] * (s - p->p[0]));
    return p->p[1] * p->p[2] * depth * fa_positive(1.0 + p->p[3] * (p->p[1] * rate));
}

/* the part of f that takes energy: all but the gradient of the potential */
FA_INLINE fa_real jf_drag(const fa_passive *p, fa_real s, fa_real rate)
{
    if (p->kind == FA_SPRING) {
        return p->p[2] * rate;
    }
    if (p->kind == FA_FRICTION) {
        return jf_force(p, s, rate);
    }
    const fa_real depth = fa_positive(p->p[1] * (s - p->p[0]));
    return p->p[1] * p->p[2] * depth *
           (fa_positive(1.0 + p->p[3] * (p->p[1] * rate)) - 1.0);
}

/* tau += sign f of all forces; qd may not be NULL */
FA_NOINLINE void jf_add(const fa_model *model, double sign, const fa_real *q,
                        const fa_real *qd, fa_real *tau)
{
    for (int i = 0; i < model->n_passive; i++) {
        const fa_passive *p = model->passive + i;
        const fa_real f =
            sign * jf_force(p, jf_relative(p, q, p->joint_at, p->motor_at),
                            jf_relative(p, qd, p->joint, p->motor));
        tau[p->joint] += f;
        if (p->motor >= 0) {
            tau[p->motor] -= p->ratio * f;
        }
    }
}

/* sum of the potentials at q */
FA_NOINLINE fa_real jf_potential(const fa_model *model, const fa_real *q)
{
    fa_real sum = {0};

    for (int i = 0; i < model->n_passive; i++) {
        const fa_passive *p = model->passive + i;
        const fa_real s = jf_relative(p, q, p->joint_at, p->motor_at);
        if (p->kind == FA_SPRING) {
            sum += 0.5 * p->p[0] * (s - p->p[1]) * (s - p->p[1]);
        } else if (p->kind == FA_STOP) {
            const fa_real depth = fa_positive(p->p[1] * (s - p->p[0]));
            sum += 0.5 * p->p[2] * depth * depth;
        }
    }
    return sum;
}

/* power that the forces take from the arm at q, qd */
FA_NOINLINE fa_real jf_dissipation(const fa_model *model, const fa_real *q,
                                   const fa_real *qd)
{
    fa_real sum = {0};

    for (int i = 0; i < model->n_passive; i++) {
        const fa_passive *p = model->passive + i;
        const fa_real s = jf_relative(p, q, p->joint_at, p->motor_at);
        const fa_real rate = jf_relative(p, qd, p->joint, p->motor);
        sum += jf_drag(p, s, rate) * rate;
    }
    return sum;
}

/* whether forces of actuators are those of the first velocities, one by one */
static inline int jf_is_plain(const fa_model *model)
{
    return model->n_actuators == model->nu;
}

/*
 * Forces of actuators, at the start of tau, to the velocities on which they act: a motor
 * takes that of its joint, joints without an actuator have none. No force moves to a
 * place before its own, so that from the last body on none is lost.
 */
static inline void jf_actuate(const fa_model *model, fa_real *tau)
{
    for (int k = jf_is_plain(model) ? -1 : model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;
        for (int j = b->n_dof - 1; j >= 0; j--) {
            tau[b->joint_at + j] =
                b->actuator_at < 0 ? (fa_real){0} : tau[b->actuator_at + j];
        }
    }
}

/* velocity on which actuator i acts */
static inline int jf_actuator(const fa_model *model, int i)
{
    for (int k = jf_is_plain(model) ? model->n_bodies : 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        if (b->actuator_at >= 0 && i >= b->actuator_at &&
            i < b->actuator_at + b->n_dof) {
            return b->joint_at + i - b->actuator_at;
        }
    }
    return i;
}

#ifndef FA_COMPLEX_H /* which has no selects */

/* df/ds and df/dsdot */
FA_INLINE void jf_slopes(const fa_passive *p, fa_real s, fa_real rate, fa_real *k,
                         fa_real *c)
{
    const fa_real zero = {0};

    if (p->kind == FA_SPRING) {
        *k = fa_spread(p->p[0]);
        *c = fa_spread(p->p[2]);
    } else if (p->kind == FA_FRICTION) {
        const fa_constant smooth = p->p[1] * p->p[1];
        const fa_real square = rate * rate + smooth;
        *k = zero;
        *c = p->p[0] * (smooth / square) / fa_sqrt(square); /* v_s^3 may underflow */
    } else {
        const fa_real depth = fa_positive(p->p[1] * (s - p->p[0]));
        const fa_real factor = fa_positive(1.0 + p->p[3] * (p->p[1] * rate));
        *k = fa_select(depth > 0.0, p->p[2] * factor, zero);
        *c = fa_select(factor > 0.0, p->p[2] * p->p[3] * depth, zero);
    }
}

/* x on the four entries of joint and motor: x (1, -r)' (1, -r) */
FA_INLINE void jf_spread(const fa_passive *p, int nv, fa_real x, fa_real *A)
{
    A[p->joint * nv + p->joint] += x;
    if (p->motor >= 0) {
        A[p->joint * nv + p->motor] -= p->ratio * x;
        A[p->motor * nv + p->joint] -= p->ratio * x;
        A[p->motor * nv + p->motor] += p->ratio * p->ratio * x;
    }
}

/* adds the derivatives of the forces by q and qd, [nv][nv] each, row = force; these
 * joints have no poses, so a displacement along a velocity is one of the position */
FA_NOINLINE void jf_derivatives_add(const fa_model *model, const fa_real *q,
                                    const fa_real *qd, fa_real *dq, fa_real *dqd)
{
    for (int i = 0; i < model->n_passive; i++) {
        const fa_passive *p = model->passive + i;
        fa_real k, c;
        jf_slopes(p, jf_relative(p, q, p->joint_at, p->motor_at),
                  jf_relative(p, qd, p->joint, p->motor), &k, &c);
        jf_spread(p, model->nv, k, dq);
        jf_spread(p, model->nv, c, dqd);
    }
}

/* the same times changes x of q and y of qd, added to dq and dqd, which may be one; it is
 * its own adjoint, with a cotangent for x and y */
FA_NOINLINE void jf_products_add(const fa_model *model, const fa_real *q,
                                 const fa_real *qd, const fa_real *x, const fa_real *y,
                                 fa_real *dq, fa_real *dqd)
{
    for (int i = 0; i < model->n_passive; i++) {
        const fa_passive *p = model->passive + i;
        fa_real k, c;
        jf_slopes(p, jf_relative(p, q, p->joint_at, p->motor_at),
                  jf_relative(p, qd, p->joint, p->motor), &k, &c);
        k *= jf_relative(p, x, p->joint, p->motor);
        c *= jf_relative(p, y, p->joint, p->motor);
        dq[p->joint] += k;
        dqd[p->joint] += c;
        if (p->motor >= 0) {
            dq[p->motor] -= p->ratio * k;
            dqd[p->motor] -= p->ratio * c;
        }
    }
}

#endif

#endif
