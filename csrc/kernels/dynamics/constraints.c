/*
 * constraints.c -- closed loops and couplings of joints
 *
 * Equations   a loop holds frame A on one node and frame B on another; with the axes
 *             a_i, b_i, origins x_A, x_B, d = x_B - x_A and relative angular velocity
 *             omega = omega_B - omega_A its rows are
 *                 phi = a_i.d,   phi_dot = a_i.(v_B - v_A - omega_A x d)        (L1)
 *                 phi = a_p.b_q, phi_dot = omega.(b_q x a_p)                    (L2)
 *             and sums of two of L2; where B slides on the line of a body, x_A is the
 *             point of this line beside x_B (sliding.h); a coupling is sum c_i q_i = constant       (L3)
 *             A qd = phi_dot, A qdd + gamma = phi_ddot. With s, the rate of
 *             stabilization, forces lambda on the rows and the free motion qdd_0
 *                 (A M^-1 A') lambda = -(A qdd_0 + gamma + 2 s phi_dot + s^2 phi)
 *                 qdd = qdd_0 + M^-1 A' lambda                                  (L4)
 *             M^-1 A' row by row with the factors of the articulated bodies.
 *             Steps back to phi = 0 and A qd = 0 in the metric of M:
 *                 q (+) -M^-1 A'(A M^-1 A')^-1 phi, and likewise for qd         (L5)
 * Redundant   rows that others imply (a planar loop in space) get no force: the Cholesky
 *             factor of A M^-1 A' is pivoted and ends where the rest is rounding.
 * Source      Jain and Rodriguez, US patent 5,546,508, sec. 9 (closed chains through
 *             Omega_psi; its digest, 3.13); J. Baumgarte, Comput. Methods Appl. Mech.
 *             Eng. 1, 1972 (L4); E. Bayo, R. Ledesma, Nonlinear Dynamics 9, 1996 (L5).
 * Checked by  tests/constraints/test_constraints.py: dense KKT systems with rows from
 *             dual numbers.
 */
#ifndef FA_CONSTRAINTS_C
#define FA_CONSTRAINTS_C

#include "calls/call.h"
#include "dense/dense.h"
#include "kernels/dynamics/followers.c"
#include "kernels/dynamics/forward_steps.h"
#include "kernels/dynamics/forward_work.h"
#include "kernels/dynamics/mass_inverse.c"
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
    fa_real *J[3]; /* [6][nv]  of the two frames and of a node of a line, in the base */
    fa_real *walk; /* [kin_node_work_size] */
    fa_real *zero; /* [nv] */
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
    return mo_work_size(model) + 2 * m * nv + 3 * m + m * m + 18 * nv +
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
    w.walk = w.J[2] + 6 * nv;
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

/*
 * The line c(s) at a place s that does not change, in place of the origin of a frame on
 * its first node, with its Jacobian, and its derivatives by s (SL1): c', c'', rate of c'.
 */
FA_NOINLINE void cn_line(const fa_model *model, const fa_loop *loop, fa_real s,
                         const fa_real *q, const fa_real *qd, const cn_work *w,
                         mo_node *a, fa_real slope[3][3])
{
    const int nv = model->nv;
    fa_real *J = w->J[0], *own = w->J[2];

    memset(slope, 0, 9 * sizeof(fa_real));
    fa_zero(J + 3 * nv, 3 * nv);
    for (int i = 0; i < 3; i++) {
        a->x[i] = a->v[i] = a->v_dot[i] = 0.0 * s;
    }
    for (int j = 0; j < loop->n_line; j++) {
        fa_real t[3], t_dot[3], t_ddot[3];
        slide_weights at;
        mo_node o;

        slide_at(loop, j, s, &at);
        if (!fa_any((at.H[0] != 0.0) | (at.G[0] != 0.0) | (at.G[1] != 0.0))) {
            continue; /* all lanes are between other nodes */
        }
        cn_frame(model, loop->line[j], cn_origin, loop->rotation[0], q, qd, w, own, &o);
        cn_axis(o.R, 0, t);
        fa_cross(t_dot, o.omega, t);
        fa_cross(t_ddot, o.omega_dot, t);
        fa_cross_add(t_ddot, o.omega, t_dot);
        for (int i = 0; i < 3; i++) {
            a->x[i] += at.H[0] * o.x[i] + at.G[0] * t[i];
            a->v[i] += at.H[0] * o.v[i] + at.G[0] * t_dot[i];
            a->v_dot[i] += at.H[0] * o.v_dot[i] + at.G[0] * t_ddot[i];
            slope[0][i] += at.H[1] * o.x[i] + at.G[1] * t[i];
            slope[1][i] += at.H[2] * o.x[i] + at.G[2] * t[i];
            slope[2][i] += at.H[1] * o.v[i] + at.G[1] * t_dot[i];
        }
        for (int k = 0; k < nv; k++) {
            const fa_real turn[3] = {own[k], own[nv + k], own[2 * nv + k]};
            fa_real swing[3];
            fa_cross(swing, turn, t);
            for (int i = 0; i < 3; i++) {
                J[(3 + i) * nv + k] +=
                    at.H[0] * own[(3 + i) * nv + k] + at.G[0] * swing[i];
            }
        }
    }
}

/*
 * The frame a on the first node of a line, in its place one at the place of the point b
 * (SL3): origin c, which moves along the line, without what its acceleration along it
 * adds, and in place of the axes y and z normals of the line.
 */
FA_NOINLINE void cn_slide(const fa_model *model, const fa_loop *loop, const fa_real *q,
                          const fa_real *qd, const cn_work *w, mo_node *a,
                          const mo_node *b)
{
    const fa_real s = cn_place(model, loop, q, qd, w, a, b);
    fa_real slope[3][3], n[3], d[3], rate[3], turned[3];

    cn_line(model, loop, s, q, qd, w, a, slope);
    cn_axis(a->R, 0, n);
    for (int i = 0; i < 3; i++) {
        d[i] = b->x[i] - a->x[i];
    }
    fa_cross(turned, a->omega, d);
    for (int i = 0; i < 3; i++) {
        rate[i] = b->v[i] - a->v[i] - turned[i];
    }
    const fa_real along = fa_dot(n, slope[0]), s_dot = fa_dot(n, rate) / along;
    for (int i = 0; i < 3; i++) {
        a->v[i] += slope[0][i] * s_dot;
        a->v_dot[i] += (2.0 * slope[2][i] + slope[1][i] * s_dot) * s_dot;
    }
    for (int i = 1; i < 3; i++) {
        fa_real normal[3];
        cn_axis(a->R, i, normal);
        const fa_real tilt = fa_dot(normal, slope[0]) / along;
        for (int k = 0; k < 3; k++) {
            a->R[3 * k + i] -= tilt * n[k];
        }
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
        for (int side = 0; side < 2; side++) {
            cn_frame(model, loop->node[side], loop->position[side],
                     loop->rotation[side], q, qd ? qd : w->zero, w, w->J[side],
                     frames + side);
        }
        if (loop->n_line > 0) {
            cn_slide(model, loop, q, qd ? qd : w->zero, w, frames, frames + 1);
        }
        for (int i = 0; i < loop->n_rows; i++, row++) {
            const fa_lock *lock = loop->locks + i;
            if (lock->axis >= 0) {
                cn_translation(frames, frames + 1, lock->axis, w, nv, row);
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

/* S = A X; both given (L4) */
static void cn_compliance(const fa_model *model, const cn_work *w)
{
    const int m = model->n_constraints, nv = model->nv;

    for (int i = 0; i < m; i++) {
        for (int j = 0; j <= i; j++) {
            fa_real sum = {0};
            for (int k = 0; k < nv; k++) {
                sum += w->A[i * nv + k] * w->X[j * nv + k];
            }
            w->S[i * m + j] = w->S[j * m + i] = sum;
        }
    }
}

/* X = M^-1 A' with the factors in f, whose c is lost, and S (L4) */
FA_NOINLINE void cn_factor(const fa_model *model, const fd_work *f, const cn_work *w)
{
    const int m = model->n_constraints, nv = model->nv;

    for (int k = 0; k < model->n_bodies; k++) {
        fa_zero(f->body[k].c, 6);
    }
    for (int i = 0; i < m; i++) {
        mi_solve(model, w->A + i * nv, f, w->X + i * nv);
    }
    cn_compliance(model, w);
}

/* rhs becomes lambda = -S^-1 rhs, lane by lane; the last state fills unused lanes */
static void cn_solve(const fa_model *model, int states, const cn_work *w)
{
    const int m = model->n_constraints;
    double *a = (double *)w->dense, *x = a + m * m, *scratch = x + m;

    for (int lane = 0; lane < states; lane++) {
        for (int i = 0; i < m * m; i++) {
            a[i] = w->S[i][lane];
        }
        for (int i = 0; i < m; i++) {
            x[i] = -w->rhs[i][lane];
        }
        fa_dense_solve_semidefinite(m, a, x, scratch);
        for (int i = 0; i < m; i++) {
            w->rhs[i][lane] = x[i];
            for (int rest = states; lane == states - 1 && rest < FA_LANES; rest++) {
                w->rhs[i][rest] = x[i];
            }
        }
    }
}

/* v += X lambda */
static void cn_add(const fa_model *model, const cn_work *w, fa_real *v)
{
    for (int i = 0; i < model->n_constraints; i++) {
        for (int k = 0; k < model->nv; k++) {
            v[k] += w->X[i * model->nv + k] * w->rhs[i];
        }
    }
}

/* gamma becomes A qdd + gamma + 2 s phi_dot + s^2 phi (L4) */
static void cn_residual(const fa_model *model, const fa_real *qdd, const cn_work *w)
{
    const fa_constant s = model->stabilization;

    for (int i = 0; i < model->n_constraints; i++) {
        w->rhs[i] += 2.0 * s * w->rate[i] + s * s * w->phi[i];
        for (int k = 0; k < model->nv; k++) {
            w->rhs[i] += w->A[i * model->nv + k] * qdd[k];
        }
    }
}

/* free accelerations become constrained ones, with the factors in f (L4) */
static void cn_correct(const fa_model *model, int states, const fa_real *q,
                       const fa_real *qd, const fd_work *f, const cn_work *w,
                       fa_real *qdd)
{
    cn_rows(model, q, qd, w);
    cn_residual(model, qdd, w);
    cn_factor(model, f, w);
    cn_solve(model, states, w);
    cn_add(model, w, qdd);
}

/*
 * Accelerations under the constraints, by articulated bodies.
 *   work  [cn_forward_work_size]; lambda stays in it, at cn_split(...).rhs
 */
static void cn_forward(const fa_model *model, int states, const fa_real *q,
                       const fa_real *qd, const fa_real *tau, fa_real *work,
                       fa_real *qdd)
{
    fo_forward(model, q, qd, tau, work, qdd);
    if (model->n_constraints > 0) {
        const fd_work f = fd_split(model, work);
        const cn_work w = cn_split(model, work + fd_work_size(model));
        cn_correct(model, states, q, qd, &f, &w, qdd);
    }
}

static size_t cn_forward_work_size(const fa_model *model)
{
    return fo_forward_work_size(model) + cn_work_size(model);
}

static void cn_forward_dynamics(const fa_model *model, const fa_call *call)
{
    cn_forward(model, call->states, call->in[0], call->in[1], call->in[2], call->work,
               call->out);
}

/* forces lambda on the rows at q, qd, tau */
static void cn_forces(const fa_model *model, const fa_call *call)
{
    const cn_work w = cn_split(model, call->work + fd_work_size(model));
    fa_real *qdd = call->work + cn_forward_work_size(model);

    cn_forward(model, call->states, call->in[0], call->in[1], call->in[2], call->work,
               qdd);
    memcpy(call->out, w.rhs, (size_t)model->n_constraints * sizeof(fa_real));
}

static size_t cn_forces_work_size(const fa_model *model)
{
    return cn_forward_work_size(model) + (size_t)model->nv;
}

/* phi (q) */
static void cn_violation(const fa_model *model, const fa_call *call)
{
    const cn_work w = cn_split(model, call->work);
    cn_rows(model, call->in[0], NULL, &w);
    memcpy(call->out, w.phi, (size_t)model->n_constraints * sizeof(fa_real));
}

/* A (q) */
static void cn_jacobian(const fa_model *model, const fa_call *call)
{
    const cn_work w = cn_split(model, call->work);
    cn_rows(model, call->in[0], NULL, &w);
    memcpy(call->out, w.A,
           (size_t)(model->n_constraints * model->nv) * sizeof(fa_real));
    for (int i = 0; i < model->nq; i++) {
        call->out[0] +=
            0.0 * call->in[0][i]; /* nothing moves where there is no place */
    }
}

static size_t cn_project_work_size(const fa_model *model)
{
    return mi_work_size(model) + cn_work_size(model) + (size_t)model->nv +
           pos_work_size(model);
}

/* one step towards phi = 0 (L5) */
static void cn_step_positions(const fa_model *model, const fa_real *q, fa_real *work,
                              fa_real *moved)
{
    const mi_work f = mi_split(model, work);
    const cn_work w = cn_split(model, work + mi_work_size(model));
    fa_real *dq = work + mi_work_size(model) + cn_work_size(model);
    fa_real *u = dq + model->nv;

    cn_rows(model, q, NULL, &w);
    mi_factor(model, q, &f);
    cn_factor(model, &f.w, &w);
    memcpy(w.rhs, w.phi, (size_t)model->n_constraints * sizeof(fa_real));
    cn_solve(model, FA_LANES, &w);
    fa_zero(dq, model->nv);
    cn_add(model, &w, dq);
    pos_rates(model, NULL, dq, u);
    pos_step(model, q, u, moved);
}

/* velocities with A qd = 0, nearest in the metric of M (L5) */
static void cn_step_velocities(const fa_model *model, const fa_real *q,
                               const fa_real *qd, fa_real *work, fa_real *moved)
{
    const mi_work f = mi_split(model, work);
    const cn_work w = cn_split(model, work + mi_work_size(model));

    cn_rows(model, q, qd, &w);
    mi_factor(model, q, &f);
    cn_factor(model, &f.w, &w);
    memcpy(w.rhs, w.rate, (size_t)model->n_constraints * sizeof(fa_real));
    cn_solve(model, FA_LANES, &w);
    memcpy(moved, qd, (size_t)model->nv * sizeof(fa_real));
    cn_add(model, &w, moved);
}

#endif
