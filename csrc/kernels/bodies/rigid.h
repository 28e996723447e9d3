/*
 * rigid.h -- arms without modes: motion and force of each body
 *
 * Equations   a is the acceleration of the origin, not that of its components:
 *             W = wdot~ + w~ w~,  R' (a_p + W_p r) for a point r of the parent  (V4)
 *             w = R' w_p + S_w qd, wdot = R' wdot_p + w x S_w qd + S_w qdd,
 *             a = R'(a_p + W_p r) + (w + R' w_p) x S_v qd + S_v qdd             (V5)
 *             f = (mp x a + vex(W E0); m a + W mp),
 *             vex(M)_i = M_kj - M_jk,  E0 = sum m x x'                          (V3)
 *             No velocity of a point enters. The base has a = -gravity.
 * Lanes       one state each; the kind of a hop is a compile-time constant.
 * Source      J. Y. S. Luh, M. W. Walker, R. P. C. Paul, J. Dyn. Syst. Meas. Control
 *             102, 1980; C. A. Balafoutis, R. V. Patel, Dynamic Analysis of Robot
 *             Manipulators, 1991 (W).
 * Checked by  tests/dynamics/test_axial_hops.py, tests/dynamics/test_pinocchio.py,
 *             tests/dynamics/test_dynamics.py.
 */
#ifndef FA_RIGID_H
#define FA_RIGID_H

#include "kernels/bodies/axial.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/joint.h"
#include "kernels/bodies/node.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

typedef struct {
    fa_real s, c;                /* of theta, where the hop has angles */
    fa_real w[3], wdot[3], a[3]; /* V5 */
} rigid_motion;

/* W of a body that turns (V4) */
FA_INLINE void rigid_swing(const rigid_motion *m, fa_real *W)
{
    const fa_real *w = m->w, *wdot = m->wdot;
    const fa_real xx = w[0] * w[0], yy = w[1] * w[1], zz = w[2] * w[2];

    W[0] = -(yy + zz);
    W[4] = -(xx + zz);
    W[8] = -(xx + yy);
    W[1] = w[0] * w[1] - wdot[2];
    W[3] = w[0] * w[1] + wdot[2];
    W[2] = w[0] * w[2] + wdot[1];
    W[6] = w[0] * w[2] - wdot[1];
    W[5] = w[1] * w[2] - wdot[0];
    W[7] = w[1] * w[2] + wdot[0];
}

/* a revolute joint: adds the rate, and the acceleration unless qdd is NULL (V5) */
FA_INLINE void rigid_revolve(const fa_body *b, const fa_real *qd, const fa_real *qdd,
                             rigid_motion *m)
{
    const fa_real rate = qd[b->joint_at];

    m->wdot[0] += m->w[1] * rate;
    m->wdot[1] -= m->w[0] * rate;
    m->w[2] += rate;
    if (qdd) {
        m->wdot[2] += qdd[b->joint_at];
    }
}

/* body on a hop with angles; p its parent (V5) */
FA_INLINE void rigid_carry(const fa_body *b, const int kind, const rigid_motion *p,
                           const fa_real *qd, const fa_real *qdd, rigid_motion *m)
{
    fa_real a[3], W[9];

    rigid_swing(p, W);
    for (int i = 0; i < 3; i++) {
        a[i] = p->a[i];
        for (int j = 0; j < 3; j++) {
            if (AXIAL_HAS(kind, j)) {
                a[i] += W[3 * i + j] * b->arm[j];
            }
        }
    }
    axial_rotate_t(b, kind, m->s, m->c, p->w, m->w);
    axial_rotate_t(b, kind, m->s, m->c, p->wdot, m->wdot);
    axial_rotate_t(b, kind, m->s, m->c, a, m->a);
    rigid_revolve(b, qd, qdd, m);
}

/* body on a revolute joint on the ground; weight times gravity */
FA_INLINE void rigid_stand(const fa_body *b, const double weight, const fa_real *qd,
                           const fa_real *qdd, rigid_motion *m)
{
    const fa_real x = fa_spread(weight * b->fall[0]),
                  y = fa_spread(weight * b->fall[1]);

    fa_zero(m->w, 3);
    fa_zero(m->wdot, 3);
    m->w[2] = qd[b->joint_at];
    if (qdd) {
        m->wdot[2] = qdd[b->joint_at];
    }
    m->a[0] = m->c * x + m->s * y;
    m->a[1] = m->c * y - m->s * x;
    m->a[2] = fa_spread(weight * b->fall[2]);
}

/* body on any hop, out of line; p NULL: the ground (V5) */
FA_NOINLINE void rigid_carry_any(const fa_model *model, const fa_body *b,
                                 const double weight, const rigid_motion *p,
                                 const fa_hop *h, const fa_real *qd, const fa_real *qdd,
                                 rigid_motion *m)
{
    fa_real a[3], before[3], s[6], accelerations[6], both[3];

    fa_zero(m->w, 3);
    fa_zero(m->wdot, 3);
    for (int i = 0; i < 3; i++) {
        a[i] = fa_spread(-weight * model->gravity[i]);
    }
    if (p) {
        fa_real W[9];
        rigid_swing(p, W);
        fa_rotate(a, W, h->r);
        for (int i = 0; i < 3; i++) {
            a[i] += p->a[i];
        }
        fa_rotate_t(m->w, h->R, p->w);
        fa_rotate_t(m->wdot, h->R, p->wdot);
    }
    fa_rotate_t(m->a, h->R, a);
    fa_zero(s, 6);
    fa_zero(accelerations, 6);
    if (b->wide) {
        joint_motion(b, qd + b->joint_at, s);
        if (qdd) {
            joint_motion(b, qdd + b->joint_at, accelerations);
        }
    } else if (b->joint_at >= 0) {
        const int axis = b->joint == FA_JOINT_REVOLUTE ? 2 : 5;
        s[axis] = qd[b->joint_at];
        if (qdd) {
            accelerations[axis] = qdd[b->joint_at];
        }
    }
    memcpy(before, m->w, sizeof before);
    fa_cross_add(m->wdot, before, s);
    for (int i = 0; i < 3; i++) {
        m->w[i] += s[i];
        m->wdot[i] += accelerations[i];
        both[i] = m->w[i] + before[i];
        m->a[i] += accelerations[3 + i];
    }
    fa_cross_add(m->a, both, s + 3);
}

/* force of one body (V3) */
FA_INLINE void rigid_force(const fa_body *b, const rigid_motion *m, fa_real *f)
{
    const fa_constant *E = b->E0, *mp = b->mp0;
    const fa_real *a = m->a;
    fa_real W[9];

    rigid_swing(m, W);
    const fa_real xx = W[4] - W[0], yy = W[8] - W[4], zz = W[0] - W[8];

    f[0] = W[7] * E[3] - W[5] * E[5] + W[6] * E[1] - W[3] * E[2] + yy * E[4] +
           mp[1] * a[2] - mp[2] * a[1];
    f[1] = W[2] * E[5] - W[6] * E[0] + W[1] * E[4] - W[7] * E[1] + zz * E[2] +
           mp[2] * a[0] - mp[0] * a[2];
    f[2] = W[3] * E[0] - W[1] * E[3] + W[5] * E[2] - W[2] * E[4] + xx * E[1] +
           mp[0] * a[1] - mp[1] * a[0];
    for (int i = 0; i < 3; i++) {
        f[3 + i] = b->mass * a[i] + W[3 * i] * mp[0] + W[3 * i + 1] * mp[1] +
                   W[3 * i + 2] * mp[2];
    }
}

/* moment about the joint alone, of a body on the ground (V3) */
FA_INLINE fa_real rigid_standing_moment(const fa_body *b, const rigid_motion *m)
{
    return b->J0[5] * m->wdot[2] + b->mp0[0] * m->a[1] - b->mp0[1] * m->a[0];
}

/* sine and cosine, first and for all bodies: their long chains overlap */
FA_INLINE void rigid_turn(const fa_body *b, const fa_real *q, rigid_motion *m)
{
    if (b->hop_kind != FA_HOP_GENERAL) {
        axial_turn(b, q, &m->s, &m->c);
    }
}

/*
 * Motion and force of one body on a hop with angles (V3 to V5).
 *   p     motion of the parent
 *   qdd   [nv], or NULL for zero
 *   m, f  [6]  results
 */
typedef void rigid_step(const fa_body *b, const fa_real *qd, const fa_real *qdd,
                        const rigid_motion *p, rigid_motion *m, fa_real *f);

/* a function for each kind: in one function compilers would share equal parts, for
 * which they run out of registers */
#define RIGID_MOVE(kind)                                                               \
    FA_NOINLINE void rigid_move_##kind(const fa_body *b, const fa_real *qd,            \
                                       const fa_real *qdd, const rigid_motion *p,      \
                                       rigid_motion *m, fa_real *f)                    \
    {                                                                                  \
        rigid_carry(b, kind, p, qd, qdd, m);                                           \
        rigid_force(b, m, f);                                                          \
    }
AXIAL_KINDS(RIGID_MOVE)

#define RIGID_ROW(kind) [kind] = rigid_move_##kind,
static rigid_step *const rigid_move_of[] = {AXIAL_KINDS(RIGID_ROW)};

/*
 * The same on any hop.
 *   weight  times gravity
 *   p       motion of the parent, NULL on the ground
 *   h       R and r of a general hop
 *   f       [6]  of a body on a joint on the ground the moment f[2], the others zero
 */
FA_INLINE void rigid_move(const fa_model *model, const fa_body *b, const double weight,
                          const fa_real *q, const fa_real *qd, const fa_real *qdd,
                          const rigid_motion *p, fa_hop *h, rigid_motion *m, fa_real *f)
{
    if (axial_is(b)) {
        rigid_move_of[b->hop_kind](b, qd, qdd, p, m, f);
    } else if (b->hop_kind == FA_HOP_GROUND) {
        rigid_stand(b, weight, qd, qdd, m);
        fa_zero(f, 6);
        f[2] = rigid_standing_moment(b, m);
    } else {
        fa_turn turn;
        hop_pose(model, b, 0, q, h, &turn, NULL, NULL);
        rigid_carry_any(model, b, weight, p, h, qd, qdd, m);
        rigid_force(b, m, f);
    }
}

#endif
