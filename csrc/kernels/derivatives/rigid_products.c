/*
 * rigid_products.c -- products with the derivatives of the dynamics of arms without modes
 *
 * Equations   TP1 to TP4 of tangent_products.c with the sums of rigid_tangents.c: each
 *             joint answers with all that is outboard of it. Along x, y, u
 *                 delta_k = I (Q x + 2 P y + J u) + B (P x + J y) + J x x* f,
 *                 dtau_k = A_k.zd + B_k.z + J_k.(sum of delta outboard of k)    (TP5)
 *             and of a cotangent l, with m inboard of the joint,
 *                 a = I m + sum of A_r l_r, b = B'm + sum of B_r l_r of k and outboard,
 *                 (K'l)_k = Q.a + P.b + m.(J x* f), (C'l)_k = 2 P.a + J.b,
 *                 (M l)_k = J.a                                                 (TP6)
 *             Of forward dynamics, with the factors of M that G4 leaves, G2 and G3.
 * Cost        O(nv) behind the sums, nv^3 / 6 for the factors.
 * Source      as tangent_products.c.
 * Checked by  tests/derivatives/test_products.py: the matrices.
 */
#ifndef FA_RIGID_PRODUCTS_C
#define FA_RIGID_PRODUCTS_C

#include "kernels/bodies/joint_forces.h"
#include "kernels/derivatives/rigid_tangents.c"
#include "kernels/derivatives/tangent_hop.h"
#include "lanes/dense_lanes.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"

/* z, zd and the sum of delta outboard of a body, or m inboard of it, A and B of its rows */
typedef struct {
    fa_real z[6], zd[6], F[6];
} rp_body;

static size_t rp_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    return rt_work_size(model) + nv * nv +
           (size_t)model->n_bodies * (sizeof(rp_body) / sizeof(fa_real));
}

/* factors of M, in scratch that holds other products, too */
static fa_real *rp_mass(const fa_model *model, fa_real *work)
{
    return work + rt_work_size(model);
}

static rp_body *rp_bodies(const fa_model *model, fa_real *work)
{
    return (rp_body *)(rp_mass(model, work) + model->nv * model->nv);
}

/* delta of a joint (TP5), added */
FA_INLINE void rp_delta_add(const rt_body *w, const fa_real *J, const fa_real *zd,
                            const fa_real *z, fa_real x, fa_real *restrict F)
{
    fa_real f[6], step[6];
    const fa_real twice[3] = {2.0 * z[0], 2.0 * z[1], 2.0 * z[2]};

    rt_times(w, zd, f);
    fa_sym_mul_add(f, w->Y, z);
    fa_cross_add(f, z, w->h);
    fa_cross_add(f + 3, twice, w->h + 3);
    for (int i = 0; i < 6; i++) {
        step[i] = J[i] * x;
    }
    tg_carry_add(f, step, w->f);
    for (int i = 0; i < 6; i++) {
        F[i] += f[i];
    }
}

/* body k along a change: z and zd, and what inboard joints are to its own (TP5) */
FA_NOINLINE void rp_outward(const fa_model *model, const rt_work *w, int k,
                            const fa_real *x, const fa_real *y, const fa_real *u,
                            rp_body *bodies, fa_real *tau)
{
    const fa_body *b = model->bodies + k;
    const int at = b->joint_at;
    rp_body *c = bodies + k;

    if (b->parent >= 0) {
        *c = bodies[b->parent];
    } else {
        fa_zero(c->z, 12);
    }
    fa_zero(c->F, 6);
    if (at < 0) {
        return;
    }
    const rt_joint *j = w->joints + at;
    const fa_real push = u ? u[at] : (fa_real){0}, twice = 2.0 * y[at];
    for (int i = 0; i < 6; i++) {
        c->z[i] += j->P[i] * x[at] + j->J[i] * y[at];
        c->zd[i] += j->Q[i] * x[at] + j->P[i] * twice + j->J[i] * push;
    }
    tau[at] = fa_dot(j->A, c->zd) + fa_dot(j->A + 3, c->zd + 3) + fa_dot(j->B, c->z) +
              b->damping[0] * y[at] + b->armature[0] * push;
}

/* body k joins its parent: what outboard joints are to its own (TP5) */
FA_NOINLINE void rp_inward(const fa_model *model, const rt_work *w, int k,
                           const fa_real *x, const fa_real *y, const fa_real *u,
                           rp_body *bodies, fa_real *tau)
{
    const fa_body *b = model->bodies + k;
    const int at = b->joint_at;
    rp_body *c = bodies + k;

    if (at >= 0) {
        const rt_joint *j = w->joints + at;
        const fa_real push = u ? u[at] : (fa_real){0}, twice = 2.0 * y[at];
        fa_real z[6], zd[6];
        tau[at] += fa_dot(j->J, c->F) + fa_dot(j->J + 3, c->F + 3);
        for (int i = 0; i < 6; i++) {
            z[i] = j->P[i] * x[at] + j->J[i] * y[at];
            zd[i] = j->Q[i] * x[at] + j->P[i] * twice + j->J[i] * push;
        }
        rp_delta_add(w->bodies + k, j->J, zd, z, x[at], c->F);
    }
    for (int i = 0; i < 6 && b->parent >= 0; i++) {
        bodies[b->parent].F[i] += c->F[i];
    }
}

/* K x + C y + M u of sums that are ready, without forces inside joints; u may be NULL */
static void rp_sweep(const fa_model *model, const rt_work *w, const fa_real *x,
                     const fa_real *y, const fa_real *u, rp_body *bodies, fa_real *tau)
{
    rt_screws(model, w);
    for (int k = 0; k < model->n_bodies; k++) {
        rp_outward(model, w, k, x, y, u, bodies, tau);
    }
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        rp_inward(model, w, k, x, y, u, bodies, tau);
    }
}

/* the joint of body k takes TP6; m in z, sums of rows in zd and F */
FA_NOINLINE void rp_columns(const fa_model *model, const rt_work *w, int k,
                            const fa_real *l, rp_body *bodies, fa_real *dq,
                            fa_real *dqd, fa_real *dqdd)
{
    const fa_body *b = model->bodies + k;
    const rt_body *self = w->bodies + k;
    const int at = b->joint_at;
    rp_body *c = bodies + k;

    if (at >= 0) {
        const rt_joint *j = w->joints + at;
        const fa_real *m = c->z;
        const fa_real twice[3] = {2.0 * m[3], 2.0 * m[4], 2.0 * m[5]};
        fa_real a[6], turn[6], rows[3];

        for (int i = 0; i < 6; i++) {
            c->zd[i] += j->A[i] * l[at];
        }
        for (int i = 0; i < 3; i++) {
            c->F[i] += j->B[i] * l[at];
        }
        rt_times(self, m, a);
        fa_sym_mul(rows, self->Y, m);
        fa_cross_add(rows, self->h, m);
        fa_cross_add(rows, self->h + 3, twice);
        tg_carry_back(turn, m, self->f);
        for (int i = 0; i < 6; i++) {
            a[i] += c->zd[i];
        }
        for (int i = 0; i < 3; i++) {
            rows[i] += c->F[i];
        }
        dq[at] = fa_dot(j->Q, a) + fa_dot(j->Q + 3, a + 3) + fa_dot(j->P, rows) +
                 fa_dot(j->J, turn) + fa_dot(j->J + 3, turn + 3);
        dqd[at] = 2.0 * (fa_dot(j->P, a) + fa_dot(j->P + 3, a + 3)) +
                  fa_dot(j->J, rows) + b->damping[0] * l[at];
        if (dqdd) {
            dqdd[at] =
                fa_dot(j->J, a) + fa_dot(j->J + 3, a + 3) + b->armature[0] * l[at];
        }
    }
    for (int i = 0; i < 6 && b->parent >= 0; i++) {
        bodies[b->parent].zd[i] += c->zd[i];
        bodies[b->parent].F[i] += c->F[i];
    }
}

/* K'l, C'l, and M l unless dqdd is NULL, likewise */
static void rp_sweep_back(const fa_model *model, const rt_work *w, const fa_real *l,
                          rp_body *bodies, fa_real *dq, fa_real *dqd, fa_real *dqdd)
{
    rt_screws(model, w);
    for (int k = 0; k < model->n_bodies; k++) {
        const int p = model->bodies[k].parent;
        const int at = p < 0 ? -1 : model->bodies[p].joint_at;
        rp_body *c = bodies + k;

        fa_zero(c->z, 18);
        for (int i = 0; i < 6 && p >= 0; i++) {
            c->z[i] = bodies[p].z[i];
            if (at >= 0) {
                c->z[i] += w->joints[at].J[i] * l[at];
            }
        }
    }
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        rp_columns(model, w, k, l, bodies, dq, dqd, dqdd);
    }
}

/* as tp_along, of an arm that rt_knows; work [rp_work_size] */
FA_NOINLINE void rp_along(const fa_model *model, const fa_real *q, const fa_real *qd,
                          const fa_real *qdd, const fa_real *x, const fa_real *y,
                          const fa_real *u, fa_real *work, fa_real *tau)
{
    const rt_work w = rt_split(model, work);

    rt_outward(model, q, qd, qdd, &w);
    rt_inward(model, &w);
    rp_sweep(model, &w, x, y, u, rp_bodies(model, work), tau);
    jf_products_add(model, q, qd, x, y, tau, tau);
}

/* as tp_back */
FA_NOINLINE void rp_back(const fa_model *model, const fa_real *q, const fa_real *qd,
                         const fa_real *qdd, const fa_real *l, fa_real *work,
                         fa_real *dq, fa_real *dqd, fa_real *dqdd)
{
    const rt_work w = rt_split(model, work);

    rt_outward(model, q, qd, qdd, &w);
    rt_inward(model, &w);
    rp_sweep_back(model, &w, l, rp_bodies(model, work), dq, dqd, dqdd);
    jf_products_add(model, q, qd, l, l, dq, dqd);
}

/* the change of qdd along x, y and `change` of tau (G2) */
FA_NOINLINE void rp_forward_along(const fa_model *model, const fa_real *q,
                                  const fa_real *qd, const fa_real *tau,
                                  const fa_real *x, const fa_real *y,
                                  const fa_real *change, fa_real *work, fa_real *out)
{
    const rt_work w = rt_split(model, work);
    fa_real *M = rp_mass(model, work);

    rt_forward(model, q, qd, tau, &w, M);
    rp_sweep(model, &w, x, y, NULL, rp_bodies(model, work), out);
    jf_products_add(model, q, qd, x, y, out, out);
    for (int i = 0; i < model->nv; i++) {
        out[i] = change[i] - out[i];
    }
    ldl_solve(model->nv, M, out);
}

/* its adjoint, of a cotangent l: output [3][nv] (G3) */
FA_NOINLINE void rp_forward_back(const fa_model *model, const fa_real *q,
                                 const fa_real *qd, const fa_real *tau,
                                 const fa_real *l, fa_real *work, fa_real *out)
{
    const rt_work w = rt_split(model, work);
    const int nv = model->nv;
    fa_real *M = rp_mass(model, work), *lambda = out + 2 * nv;

    rt_forward(model, q, qd, tau, &w, M);
    memcpy(lambda, l, (size_t)nv * sizeof *lambda);
    ldl_solve(nv, M, lambda);
    rp_sweep_back(model, &w, lambda, rp_bodies(model, work), out, out + nv, NULL);
    jf_products_add(model, q, qd, lambda, lambda, out, out + nv);
    for (int i = 0; i < 2 * nv; i++) {
        out[i] = -out[i];
    }
}

#endif
