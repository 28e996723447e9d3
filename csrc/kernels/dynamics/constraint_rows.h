/*
 * constraint_rows.h -- rows of constraints: violation, Jacobian and rates of loops, of
 * points that slide, of couplings
 *
 * Equations   L1 to L3 of constraints.c, SL1 to SL4 of sliding.h.
 * Checked by  tests/constraints/.
 */
#ifndef FA_CONSTRAINT_ROWS_H
#define FA_CONSTRAINT_ROWS_H

#include "calls/call.h"
#include "kernels/dynamics/sliding.h"
#include "kernels/kinematics/kinematics.c"
#include "kernels/kinematics/motion.c"
#include "kernels/kinematics/positions.c"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

typedef struct {
    fa_real *motion;           /* [mo_work_size] */
    fa_real *A, *X;            /* [m][nv]  rows, and M^-1 of them */
    fa_real *phi, *rate, *rhs; /* [m]  rhs: gamma with stabilization, then lambda */
    fa_real *S;                /* [m][m]  A M^-1 A' */
    fa_real *J[4];  /* [6][nv]  in the base: both frames, a node of a line; [3][nv] */
    fa_real *walk;  /* [kin_node_work_size] */
    fa_real *zero;  /* [nv] */
    fa_real *dense; /* doubles of one lane: [m][m], [m], [m] ints */
} cn_work;

static size_t cn_dense_size(size_t m)
{
    return (m * m + 3 * m + FA_LANES - 1) / FA_LANES;
}

static size_t cn_work_size(const fa_model *model)
{
    const size_t m = (size_t)model->n_constraints, nv = (size_t)model->nv;
    if (m == 0) {
        return 0;
    }
    return mo_work_size(model) + 2 * m * nv + 3 * m + m * m + 21 * nv +
           kin_node_work_size(model) + nv + cn_dense_size(m);
}

static cn_work cn_split(const fa_model *model, fa_real *work)
{
    const size_t m = (size_t)model->n_constraints, nv = (size_t)model->nv;
    cn_work w;
    w.motion = work;
    w.A = work + mo_work_size(model);
    w.X = w.A + m * nv;
    w.phi = w.X + m * nv;
    w.rate = w.phi + m;
    w.rhs = w.rate + m;
    w.S = w.rhs + m;
    w.J[0] = w.S + m * m;
    w.J[1] = w.J[0] + 6 * nv;
    w.J[2] = w.J[1] + 6 * nv;
    w.J[3] = w.J[2] + 6 * nv;
    w.walk = w.J[3] + 3 * nv;
    w.zero = w.walk + kin_node_work_size(model);
    w.dense = w.zero + nv;
    return w;
}

static const fa_constant cn_origin[3];

/* moves a node to a frame on it: origin p and axes R_f in those of the node */
FA_INLINE void cn_shift(mo_node *o, const fa_constant *p, const fa_constant *rotation)
{
    const fa_real own[3] = {fa_spread(p[0]), fa_spread(p[1]), fa_spread(p[2])};
    fa_real arm[3], swing[3], R[9];

    fa_rotate(arm, o->R, own);
    fa_cross(swing, o->omega, arm);
    fa_cross_add(o->v_dot, o->omega_dot, arm);
    fa_cross_add(o->v_dot, o->omega, swing);
    for (int i = 0; i < 3; i++) {
        o->x[i] += arm[i];
        o->v[i] += swing[i];
    }
    fa_mat_mul_const(R, o->R, rotation);
    memcpy(o->R, R, sizeof R);
}

/*
 * A frame on a node, -1 the ground: its motion after mo_run, and its Jacobian in the base.
 *   p, rotation  [3], [9]  origin and axes in those of the node
 *   J            [6][nv]
 */
FA_NOINLINE void cn_frame(const fa_model *model, int node, const fa_constant *p,
                          const fa_constant *rotation, const fa_real *q,
                          const fa_real *qd, const cn_work *w, fa_real *J, mo_node *o)
{
    const int nv = model->nv;
    fa_real node_R[9], arm[3];

    if (node < 0) {
        const fa_real one = fa_splat(1.0);
        memset(o, 0, sizeof *o);
        o->R[0] = o->R[4] = o->R[8] = one;
        fa_zero(J, 6 * nv);
    } else {
        const fa_call call = {.in = {q}, .out = J, .work = w->walk, .index = node};
        mo_node_at(model, node, q, qd, NULL, w->motion, o);
        kin_walk(model, &call, KIN_COLUMNS, NULL);
    }
    memcpy(node_R, o->R, sizeof node_R);
    memcpy(arm, o->x, sizeof arm);
    cn_shift(o, p, rotation);
    for (int i = 0; i < 3; i++) {
        arm[i] = o->x[i] - arm[i];
    }
    for (int k = 0; k < nv; k++) {
        const fa_real turn[3] = {J[k], J[nv + k], J[2 * nv + k]};
        const fa_real move[3] = {J[3 * nv + k], J[4 * nv + k], J[5 * nv + k]};
        fa_real omega[3], v[3];
        fa_rotate(omega, node_R, turn);
        fa_rotate(v, node_R, move);
        fa_cross_add(v, omega, arm);
        for (int i = 0; i < 3; i++) {
            J[i * nv + k] = omega[i];
            J[(3 + i) * nv + k] = v[i];
        }
    }
}

/* column i of a rotation by rows */
FA_INLINE void cn_axis(const fa_real *R, int i, fa_real *axis)
{
    for (int k = 0; k < 3; k++) {
        axis[k] = R[3 * k + i];
    }
}

/* phi, A and gamma of a locked translation (L1) */
FA_INLINE void cn_translation(const mo_node *a, const mo_node *b, int i,
                              const cn_work *w, int nv, int row)
{
    fa_real n[3], d[3], v[3], acceleration[3], lever[3], turned[3];

    cn_axis(a->R, i, n);
    for (int k = 0; k < 3; k++) {
        d[k] = b->x[k] - a->x[k];
        v[k] = b->v[k] - a->v[k];
        acceleration[k] = b->v_dot[k] - a->v_dot[k];
    }
    /* n.(a_B - a_A - alpha_A x d - omega_A x (2 (v_B - v_A) - omega_A x d)) */
    fa_cross(turned, a->omega, d);
    fa_cross(lever, d, n); /* n.(omega x d) = omega.(d x n) */
    w->phi[row] = fa_dot(n, d);
    w->rhs[row] = fa_dot(n, acceleration) - fa_dot(a->omega_dot, lever);
    for (int k = 0; k < 3; k++) {
        turned[k] = 2.0 * v[k] - turned[k];
    }
    fa_cross(acceleration, a->omega, turned);
    w->rhs[row] -= fa_dot(n, acceleration);
    for (int k = 0; k < nv; k++) {
        fa_real sum = {0};
        for (int j = 0; j < 3; j++) {
            sum += n[j] * (w->J[1][(3 + j) * nv + k] - w->J[0][(3 + j) * nv + k]) -
                   lever[j] * w->J[0][j * nv + k];
        }
        w->A[row * nv + k] = sum;
    }
}

/* phi, A and gamma of a locked rotation (L2) */
FA_INLINE void cn_rotation(const mo_node *a, const mo_node *b, const fa_lock *lock,
                           const cn_work *w, int nv, int row)
{
    fa_real n[3] = {{0}}, ndot[3] = {{0}};

    w->phi[row] = (fa_real){0};
    for (int term = 0; term < lock->n_terms; term++) {
        const double weight = lock->weight[term];
        fa_real ap[3], bq[3], ap_dot[3], bq_dot[3], normal[3], rate[3];

        cn_axis(a->R, lock->p[term], ap);
        cn_axis(b->R, lock->q[term], bq);
        fa_cross(ap_dot, a->omega, ap);
        fa_cross(bq_dot, b->omega, bq);
        fa_cross(normal, bq, ap);
        fa_cross(rate, bq_dot, ap);
        fa_cross_add(rate, bq, ap_dot);
        w->phi[row] += weight * fa_dot(ap, bq);
        for (int k = 0; k < 3; k++) {
            n[k] += weight * normal[k];
            ndot[k] += weight * rate[k];
        }
    }
    w->rhs[row] = (fa_real){0};
    for (int k = 0; k < 3; k++) {
        w->rhs[row] += n[k] * (b->omega_dot[k] - a->omega_dot[k]) +
                       ndot[k] * (b->omega[k] - a->omega[k]);
    }
    for (int k = 0; k < nv; k++) {
        fa_real sum = {0};
        for (int j = 0; j < 3; j++) {
            sum += n[j] * (w->J[1][j * nv + k] - w->J[0][j * nv + k]);
        }
        w->A[row * nv + k] = sum;
    }
}

/* place of the point b on the line of a loop, whose first node has the frame a (SL2) */
static fa_real cn_place(const fa_model *model, const fa_loop *loop, const fa_real *q,
                        const fa_real *qd, const cn_work *w, const mo_node *a,
                        const mo_node *b)
{
    fa_real x[FA_MAX_LINE], t[FA_MAX_LINE], n[3], d[3], tangent[3];

    cn_axis(a->R, 0, n);
    for (int j = 0; j < loop->n_line; j++) {
        mo_node o;
        mo_node_at(model, loop->line[j], q, qd, NULL, w->motion, &o);
        cn_shift(&o, cn_origin, loop->rotation[0]);
        cn_axis(o.R, 0, tangent);
        for (int i = 0; i < 3; i++) {
            d[i] = o.x[i] - a->x[i];
        }
        x[j] = fa_dot(n, d);
        t[j] = fa_dot(n, tangent);
    }
    for (int i = 0; i < 3; i++) {
        d[i] = b->x[i] - a->x[i];
    }
    return slide_place(loop, fa_dot(n, d), x, t);
}

/* a vector that depends on the place s, its derivatives by s, and by time at constant s */
typedef struct {
    fa_real at[3], first[3], second[3]; /* x, x', x'' */
    fa_real rate[3], first_rate[3], rate_rate[3];
} cn_curve;

/* adds what a node adds to it: its vector x with the rates v and a, times weights */
FA_INLINE void cn_blend(const fa_real *weight, const fa_real *x, const fa_real *v,
                        const fa_real *a, cn_curve *c)
{
    for (int i = 0; i < 3; i++) {
        c->at[i] += weight[0] * x[i];
        c->first[i] += weight[1] * x[i];
        c->second[i] += weight[2] * x[i];
        c->rate[i] += weight[0] * v[i];
        c->first_rate[i] += weight[1] * v[i];
        c->rate_rate[i] += weight[0] * a[i];
    }
}

/* its rates where s moves, without the acceleration of s */
FA_INLINE void cn_along(const cn_curve *c, fa_real s_dot, fa_real *v, fa_real *a)
{
    for (int i = 0; i < 3; i++) {
        v[i] = c->rate[i] + c->first[i] * s_dot;
        a[i] =
            c->rate_rate[i] + (2.0 * c->first_rate[i] + c->second[i] * s_dot) * s_dot;
    }
}

/* column i of the axes of a node, with its rates */
FA_INLINE void cn_moving_axis(const mo_node *o, int i, fa_real *n, fa_real *n_dot,
                              fa_real *n_ddot)
{
    cn_axis(o->R, i, n);
    fa_cross(n_dot, o->omega, n);
    fa_cross(n_ddot, o->omega_dot, n);
    fa_cross_add(n_ddot, o->omega, n_dot);
}

/* J += H move + G (turn x t), rows of three of each; turn and move of a node */
static void cn_blend_jacobian(int nv, const fa_real *node, fa_real H, fa_real G,
                              const fa_real *t, fa_real *J)
{
    for (int k = 0; k < nv; k++) {
        const fa_real turn[3] = {node[k], node[nv + k], node[2 * nv + k]};
        fa_real swing[3];
        fa_cross(swing, turn, t);
        for (int i = 0; i < 3; i++) {
            J[i * nv + k] += H * node[(3 + i) * nv + k] + G * swing[i];
        }
    }
}

/*
 * The line c(s) and the axis z of its sections at the place s (SL1, SL4), with their
 * Jacobians at constant s in J[0] (its last rows) and J[3].
 */
FA_NOINLINE void cn_line(const fa_model *model, const fa_loop *loop, fa_real s,
                         const fa_real *q, const fa_real *qd, const cn_work *w,
                         cn_curve *c, cn_curve *z)
{
    const int nv = model->nv;
    const fa_real none = {0};
    fa_real *own = w->J[2];

    memset(c, 0, sizeof *c);
    memset(z, 0, sizeof *z);
    fa_zero(w->J[0] + 3 * nv, 3 * nv);
    fa_zero(w->J[3], 3 * nv);
    for (int i = 0; i < 3; i++) {
        c->at[i] = z->at[i] = 0.0 * s; /* NaN without a place */
    }
    for (int j = 0; j < loop->n_line; j++) {
        fa_real n[3], n_dot[3], n_ddot[3], axis[3];
        slide_weights at;
        mo_node o;

        slide_at(loop, j, s, &at);
        slide_axis_at(loop, j, s, axis);
        if (!fa_any((at.H[0] != 0.0) | (at.G[0] != 0.0) | (at.G[1] != 0.0) |
                    (axis[0] != 0.0) | (axis[1] != 0.0))) {
            continue; /* all lanes are between other nodes */
        }
        cn_frame(model, loop->line[j], cn_origin, loop->rotation[0], q, qd, w, own, &o);
        cn_blend(at.H, o.x, o.v, o.v_dot, c);
        cn_moving_axis(&o, 0, n, n_dot, n_ddot);
        cn_blend(at.G, n, n_dot, n_ddot, c);
        cn_blend_jacobian(nv, own, at.H[0], at.G[0], n, w->J[0] + 3 * nv);
        cn_moving_axis(&o, 2, n, n_dot, n_ddot);
        cn_blend(axis, n, n_dot, n_ddot, z);
        cn_blend_jacobian(nv, own, none, axis[0], n, w->J[3]);
    }
}

/* what the rows of a point on a line share */
typedef struct {
    cn_curve z;           /* axis z of the sections */
    fa_real along, s_dot; /* a_1.c', rate of the place */
} cn_slider;

/*
 * The frame a on the first node of a line, in its place one at the place of the point b
 * (SL3): origin c, which moves along the line, without what its acceleration along it
 * adds, and in place of the axes y and z normals of the line.
 */
FA_NOINLINE void cn_slide(const fa_model *model, const fa_loop *loop, const fa_real *q,
                          const fa_real *qd, const cn_work *w, mo_node *a,
                          const mo_node *b, cn_slider *slider)
{
    const fa_real s = cn_place(model, loop, q, qd, w, a, b);
    fa_real n[3], d[3], rate[3], turned[3];
    cn_curve c;

    cn_line(model, loop, s, q, qd, w, &c, &slider->z);
    cn_axis(a->R, 0, n);
    for (int i = 0; i < 3; i++) {
        d[i] = b->x[i] - c.at[i];
    }
    fa_cross(turned, a->omega, d);
    for (int i = 0; i < 3; i++) {
        rate[i] = b->v[i] - c.rate[i] - turned[i];
    }
    slider->along = fa_dot(n, c.first);
    slider->s_dot = fa_dot(n, rate) / slider->along;
    memcpy(a->x, c.at, sizeof a->x);
    cn_along(&c, slider->s_dot, a->v, a->v_dot);
    for (int i = 1; i < 3; i++) {
        fa_real normal[3];
        cn_axis(a->R, i, normal);
        const fa_real tilt = fa_dot(normal, c.first) / slider->along;
        for (int k = 0; k < 3; k++) {
            a->R[3 * k + i] -= tilt * n[k];
        }
    }
}

/* phi, A and gamma of the turn about a line (SL4); a is the frame of cn_slide */
static void cn_turn(const cn_slider *slider, const mo_node *a, const mo_node *b,
                    const cn_work *w, int nv, int row)
{
    fa_real y[3], y_dot[3], y_ddot[3], z_dot[3], z_ddot[3], lever[3];
    const fa_real *z = slider->z.at;

    cn_moving_axis(b, 1, y, y_dot, y_ddot);
    cn_along(&slider->z, slider->s_dot, z_dot, z_ddot);
    fa_cross(lever, y, z); /* z.(omega x y) = omega.(y x z) */
    const fa_real turn = fa_dot(slider->z.first, y) / slider->along;

    /* the row of a_1.d gives the rate of the place and its acceleration */
    cn_translation(a, b, 0, w, nv, row);
    w->phi[row] = fa_dot(z, y);
    w->rhs[row] = turn * w->rhs[row] + fa_dot(z_ddot, y) + 2.0 * fa_dot(z_dot, y_dot) +
                  fa_dot(z, y_ddot);
    for (int k = 0; k < nv; k++) {
        fa_real sum = turn * w->A[row * nv + k];
        for (int j = 0; j < 3; j++) {
            sum += y[j] * w->J[3][j * nv + k] + lever[j] * w->J[1][j * nv + k];
        }
        w->A[row * nv + k] = sum;
    }
}

/* phi and A of the couplings (L3), from row on */
static void cn_couplings(const fa_model *model, const fa_real *q, const cn_work *w,
                         int row)
{
    const int nu = model->nu, nv = model->nv;

    for (int i = 0; i < model->n_couplings; i++, row++) {
        const fa_constant *c = model->couplings + (size_t)i * (size_t)(nu + 1);
        w->phi[row] = fa_spread(-c[nu]);
        w->rhs[row] = (fa_real){0};
        fa_zero(w->A + row * nv, nv);
        for (int k = 0; k < model->n_bodies; k++) {
            const fa_body *b = model->bodies + k;
            for (int j = 0; j < b->n_dof; j++) {
                w->A[row * nv + b->joint_at + j] = fa_spread(c[b->joint_at + j]);
                if (!pos_is_pose(b)) {
                    w->phi[row] += c[b->joint_at + j] * q[b->position_at + j];
                }
            }
        }
    }
}

/* phi, A, phi_dot and gamma of all constraints; qd may be NULL for zero */
FA_NOINLINE void cn_rows(const fa_model *model, const fa_real *q, const fa_real *qd,
                         const cn_work *w)
{
    const int nv = model->nv;
    int row = 0;

    fa_zero(w->zero, nv);
    mo_run(model, q, qd ? qd : w->zero, NULL, w->motion);
    for (int k = 0; k < model->n_loops; k++) {
        const fa_loop *loop = model->loops + k;
        mo_node frames[2];
        cn_slider slider = {0};
        for (int side = 0; side < 2; side++) {
            cn_frame(model, loop->node[side], loop->position[side],
                     loop->rotation[side], q, qd ? qd : w->zero, w, w->J[side],
                     frames + side);
        }
        if (loop->n_line > 0) {
            cn_slide(model, loop, q, qd ? qd : w->zero, w, frames, frames + 1, &slider);
        }
        for (int i = 0; i < loop->n_rows; i++, row++) {
            const fa_lock *lock = loop->locks + i;
            if (lock->axis >= 0) {
                cn_translation(frames, frames + 1, lock->axis, w, nv, row);
            } else if (loop->n_line > 0) {
                cn_turn(&slider, frames, frames + 1, w, nv, row);
            } else {
                cn_rotation(frames, frames + 1, lock, w, nv, row);
            }
        }
    }
    cn_couplings(model, q, w, row);
    for (int i = 0; i < model->n_constraints; i++) {
        w->rate[i] = (fa_real){0};
        for (int k = 0; k < nv && qd; k++) {
            w->rate[i] += w->A[i * nv + k] * qd[k];
        }
    }
}

#endif
