/*
 * rigid_tangents.c -- derivatives of the dynamics of arms without modes
 *
 * Equations   X1 to X10 of tangent.c for bodies that do not deform, on joints of one
 *             freedom (T = 2 P), and what forward dynamics shares with them:
 *                 M(i,k) = A_k.J_i,  C_k = J_k.f + d qd,  f at rest accelerations,
 *                 qdd = (L D L')^-1 (tau - C)                                   (G4)
 *             The accelerations Da of the bodies that qdd adds change the forces of all
 *             that is outboard of a body, composite inertia I, by
 *                 Df = I Da + g,  g = sum over the children of g + A qdd        (G5)
 * Frames      axes of the base, about the origin of the first body. Twists and screws
 *             are then sums, without a turn.
 * Cost        36 multiplications for a pair of joints, some 450 for a body.
 * Source      as tangent.c; R. Featherstone, Rigid Body Dynamics Algorithms, 2008, G4.
 * Checked by  tests/derivatives/test_derivatives.py,
 *             tests/derivatives/test_forward_derivatives.py.
 */
#ifndef FA_RIGID_TANGENTS_C
#define FA_RIGID_TANGENTS_C

#include "kernels/bodies/axial.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/bodies/node.h"
#include "kernels/derivatives/tangent_hop.h"
#include "lanes/dense_lanes.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* a body, from the second sweep on with all that is outboard of it */
typedef struct {
    fa_real s, c;             /* theta of hops with angles */
    fa_real R[9], x[3];       /* pose */
    fa_real added[6], g[6];   /* Da and g of G5 */
    fa_real v[6], a[6];       /* twist, acceleration */
    fa_real m, mp[3], I[6];   /* inertia about the common point */
    fa_real Y[6], h[6], f[6]; /* rate of I, momentum, force (X5) */
} rt_body;

/* a joint, side by side: screw, how it moves, its rows on motions inboard */
typedef struct {
    fa_real J[6], P[6], Q[6], A[6], B[3];
} rt_joint;

typedef struct {
    rt_body *bodies;
    rt_joint *joints; /* [nu] */
    fa_real *x;       /* [nv] */
} rt_work;

/* whether these recursions know the arm */
static int rt_knows(const fa_model *model)
{
    return model->n_modes == 0 && !model->any_wide && !model->tree &&
           model->fidelity != FA_LINEAR;
}

static size_t rt_work_size(const fa_model *model)
{
    return (size_t)model->n_bodies * (sizeof(rt_body) / sizeof(fa_real)) +
           (size_t)model->nu * (sizeof(rt_joint) / sizeof(fa_real)) + (size_t)model->nv;
}

static rt_work rt_split(const fa_model *model, fa_real *work)
{
    rt_work w = {.bodies = (rt_body *)work};
    w.joints = (rt_joint *)(w.bodies + model->n_bodies);
    w.x = (fa_real *)(w.joints + model->nu);
    return w;
}

/* pose behind a hop of two angles (V1) */
FA_INLINE void rt_pose_axial(const fa_body *b, const int kind, const rt_body *p,
                             rt_body *w)
{
    const fa_real s = w->s, c = w->c;

    for (int i = 0; i < 3; i++) {
        const fa_real *row = p->R + 3 * i;
        fa_real u = row[1], z = row[2], x = p->x[i];
        if (AXIAL_SQUARE(kind)) {
            u = row[2];
            z = -row[1];
        } else if (!AXIAL_PARALLEL(kind)) {
            u = b->alpha[1] * row[1] + b->alpha[0] * row[2];
            z = b->alpha[1] * row[2] - b->alpha[0] * row[1];
        }
        w->R[3 * i] = c * row[0] + s * u;
        w->R[3 * i + 1] = c * u - s * row[0];
        w->R[3 * i + 2] = z;
        for (int j = 0; j < 3; j++) {
            if (AXIAL_HAS(kind, j)) {
                x += b->arm[j] * row[j];
            }
        }
        w->x[i] = x;
    }
}

/* pose behind any hop; `origin`: that of the first body */
FA_NOINLINE void rt_pose_any(const fa_model *model, const fa_body *b, const fa_real *q,
                             const rt_body *p, fa_real *origin, rt_body *w)
{
    fa_turn turn;
    fa_hop h;

    hop_pose(model, b, 0, q, &h, &turn, NULL, NULL);
    if (!p) {
        if (b == model->bodies) {
            memcpy(origin, h.r, sizeof h.r);
        }
        memcpy(w->R, h.R, sizeof w->R);
        for (int i = 0; i < 3; i++) {
            w->x[i] = h.r[i] - origin[i];
        }
        return;
    }
    fa_mat_mul(w->R, p->R, h.R);
    fa_rotate(w->x, p->R, h.r);
    for (int i = 0; i < 3; i++) {
        w->x[i] += p->x[i];
    }
}

/* J, P, twist and acceleration of a body (X4); p NULL on the ground, qdd NULL: zero */
FA_INLINE void rt_move(const fa_model *model, const fa_body *b, const fa_real *qd,
                       const fa_real *qdd, const rt_body *p, rt_body *w,
                       rt_joint *joints)
{
    if (p) {
        memcpy(w->v, p->v, sizeof w->v);
        memcpy(w->a, p->a, sizeof w->a);
    } else {
        fa_zero(w->v, 6);
        for (int i = 0; i < 3; i++) {
            w->a[i] = (fa_real){0};
            w->a[3 + i] = fa_spread(-model->gravity[i]);
        }
    }
    if (b->joint_at < 0) {
        return;
    }
    const fa_real rate = qd[b->joint_at];
    const fa_real push = qdd ? qdd[b->joint_at] : (fa_real){0};
    const fa_real z[3] = {w->R[2], w->R[5], w->R[8]};
    rt_joint *k = joints + b->joint_at;
    const int turns = b->joint == FA_JOINT_REVOLUTE;
    fa_real *J = k->J, *P = k->P;

    fa_zero(J, 3);
    memcpy(J + 3, z, sizeof z);
    if (turns) {
        memcpy(J, z, sizeof z);
        fa_cross(J + 3, w->x, z);
    }
    for (int i = 0; i < 6; i++) {
        w->v[i] += J[i] * rate;
    }
    tg_cross(P, w->v, J);
    for (int i = 0; i < 6; i++) {
        w->a[i] += P[i] * rate + J[i] * push;
    }
}

/* y = I x, with m, mp and I of a body */
FA_INLINE void rt_times(const rt_body *w, const fa_real *x, fa_real *restrict y)
{
    fa_sym_mul(y, w->I, x);
    fa_cross_add(y, w->mp, x + 3);
    fa_cross(y + 3, x, w->mp);
    for (int i = 0; i < 3; i++) {
        y[3 + i] += w->m * x[3 + i];
    }
}

/* Y of one body (X5): w~ I + (w~ I)' - mp v' - v mp' + 2 mp.v */
FA_INLINE void rt_rate(const rt_body *b, fa_real *restrict Y)
{
    const fa_real *I = b->I, *w = b->v, *v = b->v + 3, *mp = b->mp;
    const fa_real a = w[1] * I[2] - w[2] * I[1], c = w[2] * I[1] - w[0] * I[4];
    const fa_real along[3] = {mp[0] * v[0], mp[1] * v[1], mp[2] * v[2]};

    Y[0] = 2.0 * (a + along[1] + along[2]);
    Y[1] =
        w[1] * I[4] - w[0] * I[2] + w[2] * (I[0] - I[3]) - mp[0] * v[1] - mp[1] * v[0];
    Y[2] =
        w[0] * I[1] - w[2] * I[4] + w[1] * (I[5] - I[0]) - mp[0] * v[2] - mp[2] * v[0];
    Y[3] = 2.0 * (c + along[2] + along[0]);
    Y[4] =
        w[2] * I[2] - w[1] * I[1] + w[0] * (I[3] - I[5]) - mp[1] * v[2] - mp[2] * v[1];
    Y[5] = 2.0 * (along[0] + along[1] - a - c);
}

/* inertia of one body, its rate, momentum and force */
FA_NOINLINE void rt_weigh(const fa_body *b, rt_body *w)
{
    const fa_real *x = w->x;
    fa_real mp0[3], mp[3], twice[3], J0[6];

    for (int i = 0; i < 3; i++) {
        mp0[i] = fa_spread(b->mp0[i]);
    }
    for (int i = 0; i < 6; i++) {
        J0[i] = fa_spread(b->J0[i]);
    }
    fa_rotate(mp, w->R, mp0);
    w->m = fa_spread(b->mass);
    for (int i = 0; i < 3; i++) {
        w->mp[i] = mp[i] + b->mass * x[i];
        twice[i] = mp[i] + w->mp[i];
    }
    /* I = R J0 R' - (x y' + y x') / 2 + x.y, y = 2 mp + m x */
    fa_rotate_sym(w->I, w->R, J0, 3);
    const fa_real xx = x[0] * twice[0], yy = x[1] * twice[1], zz = x[2] * twice[2];
    w->I[0] += yy + zz;
    w->I[3] += zz + xx;
    w->I[5] += xx + yy;
    w->I[1] -= 0.5 * (x[0] * twice[1] + x[1] * twice[0]);
    w->I[2] -= 0.5 * (x[0] * twice[2] + x[2] * twice[0]);
    w->I[4] -= 0.5 * (x[1] * twice[2] + x[2] * twice[1]);
    FA_RELOAD();
    rt_rate(w, w->Y);
    FA_RELOAD();
    rt_times(w, w->v, w->h);
    rt_times(w, w->a, w->f);
    tg_carry_add(w->f, w->v, w->h);
}

/* first sweep, outward */
FA_NOINLINE void rt_outward(const fa_model *model, const fa_real *q, const fa_real *qd,
                            const fa_real *qdd, const rt_work *work)
{
    fa_real origin[3];

    for (int k = 0; k < model->n_bodies; k++) {
        if (axial_is(model->bodies + k)) {
            axial_turn(model->bodies + k, q, &work->bodies[k].s, &work->bodies[k].c);
        }
    }
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const rt_body *p = b->parent < 0 ? NULL : work->bodies + b->parent;
        rt_body *w = work->bodies + k;

        if (axial_is(b)) {
            AXIAL_SWITCH(b, rt_pose_axial, p, w)
        } else {
            rt_pose_any(model, b, q, p, origin, w);
        }
        rt_move(model, b, qd, qdd, p, w, work->joints);
        rt_weigh(b, w);
    }
}

/* body k joins its parent, and the rows A, B of its joint (X5, X7) */
FA_NOINLINE void rt_collect(const fa_body *b, const rt_body *w, rt_body *p,
                            rt_joint *joints)
{
    if (b->joint_at >= 0) {
        rt_joint *k = joints + b->joint_at;
        const fa_real twice[3] = {2.0 * k->J[3], 2.0 * k->J[4], 2.0 * k->J[5]};
        rt_times(w, k->J, k->A);
        fa_sym_mul(k->B, w->Y, k->J);
        fa_cross_add(k->B, w->h, k->J);
        fa_cross_add(k->B, w->h + 3, twice);
    }
    if (p) {
        p->m += w->m;
        for (int i = 0; i < 3; i++) {
            p->mp[i] += w->mp[i];
        }
        for (int i = 0; i < 6; i++) {
            p->I[i] += w->I[i];
            p->Y[i] += w->Y[i];
            p->h[i] += w->h[i];
            p->f[i] += w->f[i];
        }
    }
}

/* second sweep, inward */
static void rt_inward(const fa_model *model, const rt_work *work)
{
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;
        rt_collect(b, work->bodies + k, b->parent < 0 ? NULL : work->bodies + b->parent,
                   work->joints);
    }
}

/* Q of all joints (X4) */
static void rt_screws(const fa_model *model, const rt_work *work)
{
    for (int k = 0; k < model->n_bodies; k++) {
        const rt_body *w = work->bodies + k;
        if (model->bodies[k].joint_at >= 0) {
            rt_joint *j = work->joints + model->bodies[k].joint_at;
            tg_cross(j->Q, w->a, j->J);
            tg_cross_add(j->Q, w->v, j->P);
        }
    }
}

/* changes of force of joint k with a displacement and with a rate (X7) */
FA_NOINLINE void rt_deltas(const rt_body *w, const rt_joint *k, fa_real *restrict dq,
                           fa_real *restrict dqd)
{
    fa_real twice[3], turn[3];

    rt_times(w, k->Q, dq);
    fa_sym_mul_add(dq, w->Y, k->P);
    fa_cross_add(dq, k->P, w->h);
    for (int i = 0; i < 3; i++) {
        twice[i] = 2.0 * k->P[i];
        turn[i] = 2.0 * k->J[i];
    }
    fa_cross_add(dq + 3, twice, w->h + 3);
    tg_carry_add(dq, k->J, w->f);
    FA_RELOAD();
    rt_times(w, k->P, dqd);
    for (int i = 0; i < 6; i++) {
        dqd[i] *= 2.0;
    }
    fa_sym_mul_add(dqd, w->Y, k->J);
    fa_cross_add(dqd, k->J, w->h);
    fa_cross_add(dqd + 3, turn, w->h + 3);
}

/* row k of joint k on joint i, itself or inboard (X9) */
FA_INLINE void rt_row(const rt_joint *k, const rt_joint *i, fa_real *dq, fa_real *dqd)
{
    const fa_real q = fa_dot(k->A, i->Q) + fa_dot(k->A + 3, i->Q + 3);
    const fa_real qd = fa_dot(k->A, i->P) + fa_dot(k->A + 3, i->P + 3);

    *dq = q + fa_dot(k->B, i->P);
    *dqd = 2.0 * qd + fa_dot(k->B, i->J);
}

/* column k of joint i inboard of it (X10) */
FA_INLINE void rt_column(const fa_real *J, const fa_real *changes, fa_real *dq,
                         fa_real *dqd)
{
    *dq = fa_dot(J, changes) + fa_dot(J + 3, changes + 3);
    *dqd = fa_dot(J, changes + 6) + fa_dot(J + 3, changes + 9);
}

/* joint of body k with itself and all inboard of it: third sweep */
FA_NOINLINE void rt_pairs(const fa_model *model, const rt_work *work, int k,
                          fa_real *restrict dq, fa_real *restrict dqd)
{
    const int nv = model->nv, at = model->bodies[k].joint_at;
    const rt_joint *joints = work->joints;
    const rt_joint own = joints[at];
    fa_real changes[12];

    rt_deltas(work->bodies + k, joints + at, changes, changes + 6);
    for (int a = k; a >= 0; a = model->bodies[a].parent) {
        const int i = model->bodies[a].joint_at;
        if (i >= 0) {
            rt_row(&own, joints + i, dq + at * nv + i, dqd + at * nv + i);
        }
    }
    dqd[at * nv + at] += model->bodies[k].damping[0];
    for (int a = model->bodies[k].parent; a >= 0; a = model->bodies[a].parent) {
        const int i = model->bodies[a].joint_at;
        if (i >= 0) {
            rt_column(joints[i].J, changes, dq + i * nv + at, dqd + i * nv + at);
        }
    }
}

/* whether each pair of joints has one of the two inboard of the other */
static int rt_is_chain(const fa_model *model)
{
    int is_chain = 1;
    for (int k = 0; k < model->n_bodies; k++) {
        is_chain &= model->bodies[k].parent == k - 1;
    }
    return is_chain;
}

/* all of X9 and X10, from Q on */
static void rt_finish(const fa_model *model, const rt_work *work, fa_real *dq,
                      fa_real *dqd)
{
    if (!rt_is_chain(model)) {
        fa_zero(dq, model->nv * model->nv);
        fa_zero(dqd, model->nv * model->nv);
    }
    rt_screws(model, work);
    for (int k = 0; k < model->n_bodies; k++) {
        if (model->bodies[k].joint_at >= 0) {
            rt_pairs(model, work, k, dq, dqd);
        }
    }
}

/* as tg_tree, of an arm that rt_knows; work [rt_work_size] */
FA_NOINLINE void rt_tangents(const fa_model *model, const fa_real *q, const fa_real *qd,
                             const fa_real *qdd, fa_real *work, fa_real *dq,
                             fa_real *dqd)
{
    const rt_work w = rt_split(model, work);

    rt_outward(model, q, qd, qdd, &w);
    rt_inward(model, &w);
    rt_finish(model, &w, dq, dqd);
}

/* M, lower triangle, and C (G4), of joint k */
FA_INLINE void rt_mass_row(const fa_model *model, const rt_work *work, int k,
                           const fa_real *qd, fa_real *M, fa_real *C)
{
    const int nv = model->nv, at = model->bodies[k].joint_at;
    const rt_joint *own = work->joints + at;
    const rt_body *w = work->bodies + k;
    fa_real A[6];

    C[at] = fa_dot(own->J, w->f) + fa_dot(own->J + 3, w->f + 3) +
            model->bodies[k].damping[0] * qd[at];
    memcpy(A, own->A, sizeof A);
    for (int a = k; a >= 0; a = model->bodies[a].parent) {
        const int i = model->bodies[a].joint_at;
        if (i >= 0) {
            const fa_real *J = work->joints[i].J;
            M[at * nv + i] = fa_dot(A, J) + fa_dot(A + 3, J + 3);
        }
    }
    M[at * nv + at] += model->bodies[k].armature[0];
}

/* accelerations and forces with qdd, in place of those without (G5) */
static void rt_accelerate(const fa_model *model, const rt_work *work,
                          const fa_real *qdd)
{
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        rt_body *w = work->bodies + k;

        for (int i = 0; i < 6; i++) {
            w->added[i] =
                b->parent < 0 ? (fa_real){0} : work->bodies[b->parent].added[i];
            if (b->joint_at >= 0) {
                w->added[i] += work->joints[b->joint_at].J[i] * qdd[b->joint_at];
            }
            w->g[i] = (fa_real){0};
            w->a[i] += w->added[i];
        }
    }
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;
        rt_body *w = work->bodies + k;
        fa_real force[6];

        rt_times(w, w->added, force);
        for (int i = 0; i < 6; i++) {
            w->f[i] += force[i] + w->g[i];
        }
        for (int i = 0; i < 6 && b->parent >= 0; i++) {
            fa_real sum = w->g[i];
            if (b->joint_at >= 0) {
                sum += work->joints[b->joint_at].A[i] * qdd[b->joint_at];
            }
            work->bodies[b->parent].g[i] += sum;
        }
    }
}

/*
 * What rt_finish needs for the derivatives of inverse dynamics at the accelerations of
 * forward dynamics, and the factors of M (ldl_factor).
 */
FA_NOINLINE void rt_forward(const fa_model *model, const fa_real *q, const fa_real *qd,
                            const fa_real *tau, const rt_work *w, fa_real *M)
{
    rt_outward(model, q, qd, NULL, w);
    rt_inward(model, w);
    if (!rt_is_chain(model)) {
        fa_zero(M, model->nv * model->nv);
    }
    for (int k = 0; k < model->n_bodies; k++) {
        if (model->bodies[k].joint_at >= 0) {
            rt_mass_row(model, w, k, qd, M, w->x);
        }
    }
    if (model->n_passive > 0) {
        jf_add(model, 1.0, q, qd, w->x);
    }
    for (int i = 0; i < model->nv; i++) {
        w->x[i] = tau[i] - w->x[i];
    }
    ldl_factor(model->nv, M);
    ldl_solve(model->nv, M, w->x);
    rt_accelerate(model, w, w->x);
}

#endif
