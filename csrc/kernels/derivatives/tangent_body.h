/*
 * tangent_body.h -- one body in the tangents: inertia and its rate, modal rows (X5, X6)
 *
 * Equations   a body and all that is outboard of it answer a motion that they are
 *             carried along with (X1, X2: Dv = z, Da = zd + z x v) by the change of force
 *                 Df = I zd + B z,  B z = (Y z_w - h x z_w; -2 P x z_w)         (X5)
 *             with the inertia I, its rate Y = dJ/dt, the momentum (h; P), in the axes of
 *             the base: sums over the bodies. Masses that are offset from nodes that turn
 *             (E != mp1) and ruthless models have any B, 6 x 6, in its place.
 *             A coordinate takes of it the rows A.zd + B.z; own rows of mode r and,
 *             while the body does not move, changes by eta_s and etad_s:
 *                 A = (F_r; E_r),
 *                 B = omega x F_r + v x (E_r + mp1_r) + (F1(r,k) - F1(k,r)) etad_k - J_r omega
 *                 df/deta_s  = (J_s alpha + mp1_s x (a + omega x v) + F1(k,s) etadd_k
 *                               + J2(k,s) omega etad_k + omega x (F1(k,s) etad_k + J_s omega);
 *                               alpha x mp1_s + omega x (omega x mp1_s))
 *                 df/detad_s = ((F1(k,s) + F1(s,k)) etad_k + J_s omega + mp1_s x v
 *                               + omega x F_s + v x E_s; omega x (mp1_s + E_s))
 *                 dz_r/deta_s  = F1(r,s).alpha - 1/2 omega.J2(r,s) omega + K(r,s)
 *                 dz_r/detad_s = (F1(r,s) - F1(s,r)).omega + C(r,s)             (X6)
 *             in the axes of the body, its accelerations (alpha; a).
 * Checked by  tests/derivatives/test_derivatives.py
 */
#ifndef FA_TANGENT_BODY_H
#define FA_TANGENT_BODY_H

#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/strain.h"
#include "kernels/derivatives/tangent_hop.h"
#include "kernels/dynamics/inverse_steps.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* a coordinate: its row on motions of what is inboard (zd, z, displacement), and the
 * change of force inboard of its hop by a displacement and by a rate */
typedef struct {
    fa_real A[6], B[6], G[3], q[6], qd[6];
} tg_coordinate;

/* any B of X5, and L: Da = zd + L z for z, which is -v x in a full model (X11) */
typedef struct {
    fa_real B[36], L[36];
} tg_wide;

/* dense results, [nv][nv] */
typedef struct {
    int nv;
    fa_real *dq, *dqd;
} tg_result;

/* y = M x, M 6 x 6 */
FA_INLINE void tg_times6(const fa_real *M, const fa_real *x, fa_real *restrict y)
{
    for (int i = 0; i < 6; i++) {
        y[i] = fa_dot(M + 6 * i, x) + fa_dot(M + 6 * i + 3, x + 3);
    }
}

/* y += I x */
FA_INLINE void tg_inertia_add(const tg_body *w, const fa_real *x, fa_real *restrict y)
{
    fa_sym_mul_add(y, w->I, x);
    fa_cross_add(y, w->mp, x + 3);
    fa_cross_add(y + 3, x, w->mp);
    for (int i = 0; i < 3; i++) {
        y[3 + i] += w->m * x[3 + i];
    }
}

/* f = I zd + B z (X5) */
FA_INLINE void tg_response(const int wide, const tg_body *w, const tg_wide *any,
                           const fa_real *zd, const fa_real *z, fa_real *restrict f)
{
    if (wide) {
        tg_times6(any->B, z, f);
    } else {
        const fa_real twice[3] = {2.0 * z[0], 2.0 * z[1], 2.0 * z[2]};
        fa_cross(f, z, w->h);
        fa_sym_mul_add(f, w->Y, z);
        fa_cross(f + 3, twice, w->h + 3);
    }
    tg_inertia_add(w, zd, f);
}

/* the row of a freedom of the hop of w, added: I J, B' J, and that of the weight */
FA_INLINE void tg_row_add(const int wide, const fa_model *model, const tg_body *w,
                          const tg_wide *any, const fa_real *J, tg_coordinate *c)
{
    tg_inertia_add(w, J, c->A);
    if (!wide) {
        const fa_real twice[3] = {2.0 * J[3], 2.0 * J[4], 2.0 * J[5]};
        fa_sym_mul_add(c->B, w->Y, J);
        fa_cross_add(c->B, w->h, J);
        fa_cross_add(c->B, w->h + 3, twice);
        return;
    }
    fa_real arm[3];
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            c->B[i] += any->B[6 * j + i] * J[j];
        }
    }
    const fa_real g[3] = {fa_spread(model->gravity[0]), fa_spread(model->gravity[1]),
                          fa_spread(model->gravity[2])};
    fa_cross(arm, w->offset, J);
    fa_cross_add(c->G, arm, g);
}

/* moment of offset weight, seen from a body that turns along J */
FA_INLINE void tg_weight_add(const fa_model *model, const tg_body *w, const fa_real *J,
                             fa_real *f)
{
    const fa_real g[3] = {fa_spread(model->gravity[0]), fa_spread(model->gravity[1]),
                          fa_spread(model->gravity[2])};
    fa_real turned[3];

    fa_cross(turned, g, J);
    fa_cross_add(f, turned, w->offset);
}

/* Y += a b' + b a' - 2 a.b, times scale; symmetric */
FA_INLINE void tg_square_add(fa_real *Y, const fa_real scale, const fa_real *a,
                             const fa_real *b)
{
    const fa_real both = 2.0 * fa_dot(a, b);
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            const fa_real off = a[i] * b[j] + a[j] * b[i];
            Y[FA_SYM[i][j]] += scale * (i == j ? off - both : off);
        }
    }
}

/* inertia of a body about the common point; rows of its modes (A) are in place */
FA_INLINE void tg_inertia(const fa_body *b, const fa_shape *s, tg_body *w)
{
    fa_real mp[3], twice[3];

    fa_rotate(mp, w->R, s->mp);
    w->m = fa_spread(b->mass);
    fa_rotate_sym(w->I, w->R, s->J, 3);
    for (int i = 0; i < 3; i++) {
        twice[i] = mp[i] + 0.5 * b->mass * w->x[i];
        w->mp[i] = mp[i] + b->mass * w->x[i];
    }
    tg_square_add(w->I, fa_splat(-1.0), w->x, twice);
}

/* Y and momentum of a body (X5) whose shape rests, and the momentum of its modes; the
 * shape is not that of a ruthless model */
FA_INLINE void tg_momentum(const int n, const fa_real *etad, const tg_coordinate *own,
                           tg_body *w)
{
    const fa_real *omega = w->v, *v = w->v + 3;
    fa_real Z[9], full[9];

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            full[3 * i + j] = w->I[FA_SYM[i][j]];
        }
    }
    fa_zero(Z, 9);
    tg_cross_matrix_add(Z, omega, full);
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            w->Y[FA_SYM[i][j]] = Z[3 * i + j] + Z[3 * j + i];
        }
    }
    tg_square_add(w->Y, fa_splat(-1.0), w->mp, v);
    fa_zero(w->h, 6);
    tg_inertia_add(w, w->v, w->h);
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 6; i++) {
            w->h[i] += own[r].A[i] * etad[r];
        }
    }
}

/* what the rates of the inertia J and of the first moment add to Y; in axes R */
FA_INLINE void tg_rate_add(const fa_real *R, const fa_real *J, const fa_real *flow,
                           tg_body *w)
{
    fa_real turned[6], spun[3];

    fa_rotate_sym(turned, R, J, 3);
    fa_rotate(spun, R, flow);
    for (int i = 0; i < 6; i++) {
        w->Y[i] += turned[i];
    }
    tg_square_add(w->Y, fa_splat(-1.0), w->x, spun);
}

/* the rates of the modes of a body of any kind in Y */
FA_INLINE void tg_rates_add(const fa_body *b, const int n, const fa_shape *s,
                            const fa_real *etad, tg_body *w)
{
    fa_real rate[6], flow[3];

    fa_zero(rate, 6);
    fa_zero(flow, 3);
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 6; i++) {
            rate[i] += s->Jr[6 * r + i] * etad[r];
        }
        for (int i = 0; i < 3; i++) {
            flow[i] += b->modal.mp1[3 * r + i] * etad[r];
        }
    }
    tg_rate_add(w->R, rate, flow, w);
}

/* derivative of the velocity forces of B3 along a change dV of the twist */
FA_NOINLINE void tg_bias_change(const fa_body *b, const fa_shape *s,
                                const fa_real *etad, const fa_real *V,
                                const fa_real *dV, fa_real *z_f, fa_real *z_r)
{
    const fa_modal *c = &b->modal;
    const int n = b->n_modes;
    fa_real zero[FA_MAX_SHAPES], modal[FA_MAX_SHAPES], p[6], dp[6], flow[3], cross[3];

    memset(zero, 0, sizeof zero);
    fa_zero(modal, n);
    fa_zero(p, 6);
    fa_zero(dp, 6);
    fa_zero(z_r, 6);
    fa_zero(flow, 3);
    body_mass_mul_add(b, n, s, etad, V, modal, p);
    body_mass_mul_add(b, n, s, zero, dV, modal, dp);
    fa_cross(cross, dV, V + 3);
    fa_cross_add(cross, V, dV + 3);
    for (int r = 0; r < n; r++) {
        fa_real spin[3];
        fa_sym_mul(spin, s->Jr + 6 * r, dV);
        z_f[r] = -fa_dot(V, spin);
        for (int i = 0; i < 3; i++) {
            z_f[r] += c->mp1[3 * r + i] * cross[i];
            flow[i] += c->mp1[3 * r + i] * etad[r];
            z_r[i] += spin[i] * etad[r];
            for (int k = 0; k < n; k++) {
                const double rk = c->F1[3 * (r * n + k) + i];
                z_f[r] += (rk - c->F1[3 * (k * n + r) + i]) * dV[i] * etad[k];
            }
        }
    }
    fa_cross_add(z_r, flow, dV + 3);
    fa_cross_add(z_r, dV, p);
    fa_cross_add(z_r, V, dp);
    fa_cross_add(z_r, dV + 3, p + 3);
    fa_cross_add(z_r, V + 3, dp + 3);
    for (int i = 0; i < 3; i++) {
        p[3 + i] += flow[i];
    }
    fa_cross_add(z_r + 3, dV, p + 3);
    fa_cross_add(z_r + 3, V, dp + 3);
}

/* any B of a body and the rows B of its modes, by the six units of z */
FA_NOINLINE void tg_wide_body(const fa_body *b, const fa_shape *s, const fa_real *etad,
                              const fa_real *V, const tg_body *w, tg_coordinate *own,
                              tg_wide *any)
{
    const int n = b->n_modes;
    fa_real zero[FA_MAX_SHAPES], z_f[FA_MAX_SHAPES], z_r[6], f[6], t[6], x[3];

    memset(zero, 0, sizeof zero);
    for (int j = 0; j < 6; j++) {
        fa_real unit[6], push[6];

        fa_zero(unit, 6);
        unit[j] = fa_splat(1.0);
        tg_at(unit, w->x, x);
        fa_rotate_t(t, w->R, unit);
        fa_rotate_t(t + 3, w->R, x);
        tg_bias_change(b, s, etad, V, t, z_f, z_r);
        tg_times6(any->L, unit, push);
        tg_at(push, w->x, x);
        fa_rotate_t(t, w->R, push);
        fa_rotate_t(t + 3, w->R, x);
        body_mass_mul_add(b, n, s, zero, t, z_f, z_r);
        tg_lift_force(w, z_r, f);
        for (int i = 0; i < 6; i++) {
            any->B[6 * i + j] = f[i];
        }
        for (int r = 0; r < n; r++) {
            own[r].B[j] = z_f[r];
        }
    }
}

/* sums over k of X6 for one mode s */
typedef struct {
    fa_real F1d[3], F1t[3], F1dd[3], J2d[6]; /* F1(k,s), F1(s,k) etad, F1(k,s) etadd */
} tg_sums;

FA_INLINE void tg_mode_sums(const fa_body *b, const int n, const int s,
                            const fa_real *etad, const fa_real *etadd, tg_sums *t)
{
    const fa_modal *c = &b->modal;

    memset(t, 0, sizeof *t);
    for (int k = 0; k < n; k++) {
        const double *ks = c->F1 + 3 * (k * n + s), *sk = c->F1 + 3 * (s * n + k);
        for (int i = 0; i < 3; i++) {
            t->F1d[i] += ks[i] * etad[k];
            t->F1t[i] += sk[i] * etad[k];
            t->F1dd[i] += ks[i] * etadd[k];
        }
        for (int i = 0; i < 6; i++) {
            t->J2d[i] += c->J2[6 * (k * n + s) + i] * etad[k];
        }
    }
}

/*
 * Row and own changes of a mode of a body that does not move (X6), in its own axes.
 *   V, v, alpha, x  angular velocity, velocity, and true accelerations
 *   F, E, mp1, Jr   its integrals in the deformed body
 */
FA_INLINE void tg_own_mode(const fa_real *V, const fa_real *v, const fa_real *alpha,
                           const fa_real *x, const fa_real *F, const fa_real *E,
                           const fa_real *mp1, const fa_real *Jr, const tg_sums *t,
                           tg_coordinate *c)
{
    fa_real both[3], spin[3], turned[3];

    fa_sym_mul(spin, Jr, V);
    /* row */
    for (int i = 0; i < 3; i++) {
        both[i] = E[i] + mp1[i];
        c->A[i] = F[i];
        c->A[3 + i] = E[i];
        c->B[i] = t->F1t[i] - t->F1d[i] - spin[i];
    }
    fa_zero(c->B + 3, 3);
    fa_zero(c->G, 3);
    fa_cross_add(c->B, V, F);
    fa_cross_add(c->B, v, both);

    /* by the rate */
    for (int i = 0; i < 3; i++) {
        c->qd[i] = t->F1d[i] + t->F1t[i] + spin[i];
    }
    fa_cross_add(c->qd, mp1, v);
    fa_cross_add(c->qd, V, F);
    fa_cross_add(c->qd, v, E);
    fa_cross(c->qd + 3, V, both);

    /* by the coordinate */
    for (int i = 0; i < 3; i++) {
        c->q[i] = t->F1dd[i];
        turned[i] = t->F1d[i] + spin[i];
    }
    fa_sym_mul_add(c->q, Jr, alpha);
    fa_sym_mul_add(c->q, t->J2d, V);
    fa_cross_add(c->q, mp1, x);
    fa_cross_add(c->q, V, turned);
    fa_cross(turned, V, mp1);
    fa_cross(c->q + 3, alpha, mp1);
    fa_cross_add(c->q + 3, V, turned);
}

/* a coordinate of the axes R of a body in those of the base */
FA_INLINE void tg_lift_coordinate(const tg_body *w, tg_coordinate *c)
{
    const tg_coordinate own = *c;

    tg_lift_force(w, own.A, c->A);
    fa_rotate(c->B, w->R, own.B);
    tg_lift_force(w, own.q, c->q);
    tg_lift_force(w, own.qd, c->qd);
}

/*
 * Rows and own changes of the modes of a body that does not move (X6), in the axes of the
 * base.
 *   V, a    twist and acceleration in its own axes, g the weight where it is needed
 */
FA_INLINE void tg_own_modes(const fa_body *b, const int n, const fa_shape *shape,
                            const fa_real *const motion[3], const fa_real *V,
                            const fa_real *a, const fa_real *g, const tg_body *w,
                            tg_coordinate *own)
{
    const fa_modal *c = &b->modal;
    fa_real fall[3]; /* acceleration of the origin */

    memcpy(fall, a + 3, sizeof fall);
    fa_cross_add(fall, V, V + 3);
    for (int s = 0; s < n; s++) {
        fa_real E[3], mp1[3], offset[3];
        tg_sums t;

        tg_mode_sums(b, n, s, motion[1], motion[2], &t);
        for (int i = 0; i < 3; i++) {
            E[i] = fa_spread(c->E[3 * s + i]);
            mp1[i] = fa_spread(c->mp1[3 * s + i]);
            offset[i] = E[i] - mp1[i];
        }
        tg_own_mode(V, V + 3, a, fall, shape->F + 3 * s, E, mp1, shape->Jr + 6 * s, &t,
                    own + s);
        if (b->node_is_offset) {
            fa_cross_add(own[s].q, g, offset);
        }
        tg_lift_coordinate(w, own + s);
    }
}

/* own block of the modes of a body (X6) without elastic forces, added to q and qd */
FA_INLINE void tg_own_block(const fa_body *b, const int n, const fa_real *V,
                            const fa_real *a, int stride, fa_real *q, fa_real *qd)
{
    const fa_modal *c = &b->modal;
    const fa_real square[6] = {0.5 * V[0] * V[0], V[0] * V[1], V[0] * V[2],
                               0.5 * V[1] * V[1], V[1] * V[2], 0.5 * V[2] * V[2]};

    for (int r = 0; r < n; r++) {
        for (int s = 0; s < n; s++) {
            const double *rs = c->F1 + 3 * (r * n + s), *sr = c->F1 + 3 * (s * n + r);
            const double *J2 = c->J2 + 6 * (r * n + s);
            fa_real dq = {0}, dqd = {0};
            for (int i = 0; i < 3; i++) {
                dq += rs[i] * a[i];
                dqd += (rs[i] - sr[i]) * V[i];
            }
            for (int i = 0; i < 6; i++) {
                dq -= J2[i] * square[i];
            }
            q[r * stride + s] += dq;
            qd[r * stride + s] += dqd;
        }
    }
}

/* stiffness at eta and damping of a body (B5, U3), added to its block */
FA_INLINE void tg_elastic_block(const fa_body *b, const int n, const fa_real *eta,
                                int stride, fa_real *q, fa_real *qd)
{
    for (int r = 0; r < n; r++) {
        for (int s = 0; s < n; s++) {
            q[r * stride + s] += b->modal.K[r * n + s];
            qd[r * stride + s] += b->modal.C[r * n + s];
        }
    }
    if (b->strain.n > 0) {
        strain_tangents_add(&b->strain, eta, stride, q);
    }
}

/*
 * Inertia, momentum, rows and own changes of a body (X5, X6).
 *   of        what inverse dynamics knows of it
 *   b, n, y   the body and its coordinates (eta, etad, etadd), or with driven shapes
 *   shape     of the body at y
 *   own       [n] their rows and changes
 *   q, qd     their own block
 */
FA_INLINE void tg_start(const id_body *of, tg_body *self, tg_wide *wide,
                        const fa_body *b, const int n, const fa_shape *shape,
                        const fa_real *const y[3], tg_coordinate *own, int stride,
                        fa_real *q, fa_real *qd)
{
    tg_inertia(b, shape, self);
    tg_lift_force(self, of->f, self->f);
    fa_zero(self->offset, 3);
    tg_own_modes(b, n, shape, y, of->V, of->a, of->g, self, own);
    tg_own_block(b, n, of->V, of->a, stride, q, qd);
    if (!wide) {
        tg_momentum(n, y[1], own, self);
        if (n > 0) {
            tg_rates_add(b, n, shape, y[1], self);
        }
        return;
    }
    tg_wide_body(b, shape, y[1], of->V, self, own, wide);
    if (b->node_is_offset) {
        fa_real turned[3];
        fa_zero(turned, 3);
        for (int s = 0; s < n; s++) {
            for (int i = 0; i < 3; i++) {
                const int at = 3 * s + i;
                turned[i] += (b->modal.E[at] - b->modal.mp1[at]) * y[0][s];
            }
        }
        fa_rotate(self->offset, self->R, turned);
    }
}

/* the same for a ruthless model, whose modes have inertia, stiffness and damping alone */
FA_NOINLINE void tg_start_ruthless(const id_body *of, tg_body *self, tg_wide *wide,
                                   const fa_body *b, tg_coordinate *own)
{
    fa_shape shape;

    body_shape(b, b->n_modes, node_rest, &shape);
    tg_inertia(b, &shape, self);
    tg_lift_force(self, of->f, self->f);
    fa_zero(self->offset, 3);
    memset(own, 0, (size_t)b->n_modes * sizeof *own);
    for (int s = 0; s < b->n_modes; s++) {
        fa_real f[6];
        memcpy(f, shape.F + 3 * s, 3 * sizeof *f);
        for (int i = 0; i < 3; i++) {
            f[3 + i] = fa_spread(b->modal.E[3 * s + i]);
        }
        tg_lift_force(self, f, own[s].A);
    }
    tg_wide_body(b, &shape, node_rest, of->V, self, own, wide);
}

#endif
