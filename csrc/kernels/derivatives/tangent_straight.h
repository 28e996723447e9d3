/*
 * tangent_straight.h -- tangents of a straight body (X13)
 *
 * Equations   what tangent_body.h and tangent_driven.h compute, X6 and X12, from the few
 *             integrals of M1, on the axes a, b, c of the body. With w = omega,
 *             m_k = u_kr etad_r of each direction, lift = p alpha_o + w_a w_own:
 *                 F1(s,r) etad_s = p X_F(s,r) etad_s on a, -p u_kr zetad_k on o,
 *                 F1(r,s) etad_s = -p X_F(r,s) etad_s on a, p u_kr zetad_k on o,
 *                 J2(s,r) etad_s = 2 A(s,r) etad_s on aa and oo, -X(s,r) etad_s on bc,
 *                                  -u_kr zetad_k on a and own; S as in M1a,
 *                 of the driven shape k (0; -m_kc; m_kb) and its opposite,
 *                 -m_k on a and own, 2 zetad_k on bb and cc;
 *             with twisting modes t what M1 and M2b say of F1 and J2.
 *             Own block, z_k the force on the driven shape k:
 *                 dz_r/deta_s = -A(r,s) (w_a^2 + w_o^2) + S(r,s) (w_a^2 - w_own^2), or
 *                               -p X_F(r,s) alpha_a + X(r,s) w_b w_c
 *                               + u_kr (lift N_ks + 2 p w_o N1_ks) + K_k(r,s) z_k
 *                               + N_kr (u_ks (-p alpha_o + w_a w_own)
 *                                       - (w_b^2 + w_c^2) N_ks + N2_ks),
 *                 dz_r/detad_s = -2 p X_G(r,s) w_a + 2 p_r w_o u_kr N_ks
 *                                + N_kr (-2 p_s w_o u_ks + 2 N1_ks)             (X13)
 * Checked by  tests/derivatives/test_derivatives.py: complex step of the twin;
 *             tests/beams/test_straight.py: the same body without its flag.
 */
#ifndef FA_TANGENT_STRAIGHT_H
#define FA_TANGENT_STRAIGHT_H

#include "kernels/bodies/driven.h"
#include "kernels/bodies/straight.h"
#include "kernels/bodies/straight_forces.h"
#include "kernels/derivatives/tangent_body.h"
#include "kernels/derivatives/tangent_driven.h"
#include "kernels/derivatives/tangent_hop.h"
#include "kernels/dynamics/inverse_steps.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"
#include "model/straight_bodies.h"

enum { TS_DRIVEN = 2 }; /* most driven shapes of a straight body */

/* one shape on a, b, c: first moments, derivative of the inertia, sums of X6 */
typedef struct {
    fa_real F[3], E[3], J[6];
    tg_sums sums;
} ts_part;

/* nothing of all */
FA_INLINE void ts_rest(ts_part *part)
{
    const fa_real zero = {0};

    for (int i = 0; i < 3; i++) {
        part->F[i] = part->E[i] = zero;
        part->sums.F1d[i] = part->sums.F1t[i] = part->sums.F1dd[i] = zero;
    }
    for (int i = 0; i < 6; i++) {
        part->J[i] = part->sums.J2d[i] = zero;
    }
}

/* a straight body that moves; of the driven shapes amplitudes' rates, forces, rows */
typedef struct {
    straight_shape shape;
    straight_motion v;
    fa_real V[3], a[3]; /* velocity and acceleration of the origin */
    fa_real zetad[TS_DRIVEN], zetadd[TS_DRIVEN], force[TS_DRIVEN];
    fa_real N1[TS_DRIVEN][2 * FA_STRAIGHT_MOST], N2[TS_DRIVEN][2 * FA_STRAIGHT_MOST];
    fa_real J[6], d[3]; /* rates of inertia and of first moments */
    tg_coordinate driven[TS_DRIVEN];
} ts_body;

/* N1, N2, rates of the amplitudes (X12), forces on the driven shapes (M3) */
FA_INLINE void ts_driven(const fa_body *b, const straight_size z, ts_body *t)
{
    straight_sums unused;

    fa_zero(unused.h, 3);
    fa_zero(unused.h2, 3);
    fa_zero(unused.d, 3);
    fa_zero(unused.d2, 3);
    fa_zero(unused.J, 6);
    straight_driven(b, z, &t->shape, &t->v, 1, t->zetad, t->force, &unused);
    for (int k = 0; k < z.driven; k++) {
        t->zetadd[k] = (fa_real){0};
        for (int d = 0; d < 2; d++) {
            const int n = z.bends[d], at = z.at[d];
            const straight_bends *g = t->shape.of + d;
            const fa_constant *K = g->c + FA_BEND_N(n) + k * n * n;
            for (int r = 0; r < n; r++, K += n) {
                fa_real first = {0}, second = {0};
                for (int s = 0; s < n; s++) {
                    first += K[s] * t->v.etad[at + s];
                    second += K[s] * t->v.etadd[at + s];
                }
                t->N1[k][at + r] = first;
                t->N2[k][at + r] = second;
                t->zetadd[k] +=
                    g->N[k * n + r] * t->v.etadd[at + r] + first * t->v.etad[at + r];
            }
        }
    }
}

/* mode r of direction d as a shape */
FA_INLINE void ts_bend(const ts_body *t, const straight_size z, const int d,
                       const int r, ts_part *part)
{
    const int n = z.bends[d], m = z.bends[!d], own = 1 + d, o = 2 - d;
    const double p = d ? -1.0 : 1.0;
    const straight_bends *g = t->shape.of + d;
    const fa_constant *c = g->c, *other = t->shape.of[!d].c;
    const fa_constant *X = c + FA_BEND_X(n) + r * m, *A = c + FA_BEND_A(n) + r * n;
    const fa_constant *F = z.rotary ? c + FA_BEND_XF(n, m) + r * m : X;
    const fa_constant *by = other + (z.rotary ? FA_BEND_XF(m, n) : FA_BEND_X(m)) + r;
    const fa_real *rate = t->v.etad + z.at[d], *others = t->v.etad + z.at[!d];
    const fa_real *second = t->v.etadd + z.at[!d];
    tg_sums *sums = &part->sums;

    ts_rest(part);
    part->F[0] = -p * (z.rotary ? g->F[r] : g->X[r]);
    part->F[o] = c[FA_BEND_F0 + r] + p * g->U[r];
    part->E[own] = fa_spread(c[FA_BEND_E(n) + r]);
    part->J[0] = part->J[FA_SYM[o][o]] = 2.0 * g->A[r];
    part->J[own] = c[FA_BEND_J1(n) + r] - g->U[r];
    part->J[4] = -g->X[r];
    for (int s = 0; s < n; s++) {
        sums->J2d[0] += 2.0 * A[s] * rate[s];
    }
    sums->J2d[FA_SYM[o][o]] = sums->J2d[0];
    for (int s = 0; s < m; s++) {
        sums->F1d[0] += p * by[s * n] * others[s];
        sums->F1dd[0] += p * by[s * n] * second[s];
        sums->F1t[0] -= p * F[s] * others[s];
        sums->J2d[4] -= X[s] * others[s];
    }
    for (int k = 0; k < z.driven; k++) {
        const fa_constant u = c[FA_BEND_U(n) + k * n + r];
        sums->F1d[o] -= p * u * t->zetad[k];
        sums->F1dd[o] -= p * u * t->zetadd[k];
        sums->J2d[own] -= u * t->zetad[k];
    }
    sums->F1t[o] = -sums->F1d[o];
    if (z.rotary) {
        const fa_constant *S = c + FA_BEND_S(n, m) + r * n;
        part->J[0] -= 2.0 * g->S[r];
        part->J[FA_SYM[own][own]] = 2.0 * g->S[r];
        for (int s = 0; s < n; s++) {
            sums->J2d[FA_SYM[own][own]] += 2.0 * S[s] * rate[s];
        }
        sums->J2d[0] -= sums->J2d[FA_SYM[own][own]];
    }
}

/* what twist adds to mode r of direction d (M2b) */
FA_INLINE void ts_bend_twisted(const fa_body *b, const ts_body *t,
                               const straight_size z, const int d, const int r,
                               ts_part *part)
{
    const int n = z.twists, m = z.bends[d], own = 1 + d, o = 2 - d;
    const fa_constant *with = straight_mixed(b, z, d) + r;

    part->F[own] = t->shape.of[d].T[r];
    part->J[o] = t->shape.of[d].H[r];
    for (int k = 0; k < n; k++) {
        const fa_real rate = t->v.etad[z.at[2] + k], second = t->v.etadd[z.at[2] + k];
        part->sums.F1d[own] += with[FA_TWIST_TR(n, m) + k * m] * rate;
        part->sums.F1dd[own] += with[FA_TWIST_TR(n, m) + k * m] * second;
        part->sums.F1t[own] += with[FA_TWIST_TF + k * m] * rate;
        part->sums.J2d[o] += with[FA_TWIST_TJ(n, m) + k * m] * rate;
    }
}

/* twisting mode r */
FA_INLINE void ts_twist(const fa_body *b, const ts_body *t, const straight_size z,
                        const int r, ts_part *part)
{
    const int n = z.twists;
    const fa_constant *c = straight_twist(b, z);
    tg_sums *sums = &part->sums;

    ts_rest(part);
    part->F[0] = fa_spread(c[FA_TWIST_F0 + r]);
    part->J[3] = 2.0 * t->shape.D[r];
    part->J[4] = fa_spread(c[FA_TWIST_J1(n) + r]);
    part->J[5] = -part->J[3];
    sums->J2d[3] =
        2.0 * straight_sum(n, c + FA_TWIST_D(n) + r * n, t->v.etad + z.at[2]);
    sums->J2d[5] = -sums->J2d[3];
    for (int d = 0; d < 2; d++) {
        const int m = z.bends[d], own = 1 + d, o = 2 - d;
        const fa_constant *with = straight_mixed(b, z, d) + r * m;
        const fa_constant *TF = with + FA_TWIST_TF, *TR = with + FA_TWIST_TR(n, m);
        const fa_real *rate = t->v.etad + z.at[d];
        part->F[own] = t->shape.T[d][r];
        part->J[o] = t->shape.H[d][r];
        sums->F1d[own] = straight_sum(m, TF, rate);
        sums->F1dd[own] = straight_sum(m, TF, t->v.etadd + z.at[d]);
        sums->F1t[own] = straight_sum(m, TR, rate);
        sums->J2d[o] = straight_sum(m, with + FA_TWIST_TJ(n, m), rate);
    }
}

/* driven shape k */
FA_INLINE void ts_shift(const fa_body *b, const ts_body *t, const straight_size z,
                        const int k, ts_part *part)
{
    fa_real turned[2][2], *F1d = part->sums.F1d, *F1dd = part->sums.F1dd;

    ts_rest(part);
    for (int d = 0; d < 2; d++) {
        const int n = z.bends[d], at = z.at[d];
        const fa_constant *u = t->shape.of[d].c + FA_BEND_U(n) + k * n;
        turned[d][0] = turned[d][1] = (fa_real){0};
        for (int r = 0; r < n; r++) {
            turned[d][0] += u[r] * t->v.etad[at + r];
            turned[d][1] += u[r] * t->v.etadd[at + r];
        }
        part->J[1 + d] = -t->shape.of[d].W[k];
        part->sums.J2d[1 + d] = -turned[d][0];
    }
    part->F[1] = t->shape.of[1].W[k];
    part->F[2] = -t->shape.of[0].W[k];
    part->E[0] = fa_spread(b->straight.constants[FA_STRAIGHT_E + k]);
    part->J[3] = part->J[5] = 2.0 * t->shape.along[k];
    F1d[1] = -turned[1][0];
    F1d[2] = turned[0][0];
    F1dd[1] = -turned[1][1];
    F1dd[2] = turned[0][1];
    for (int i = 1; i < 3; i++) {
        part->sums.F1t[i] = -F1d[i];
    }
    part->sums.J2d[3] = part->sums.J2d[5] = 2.0 * t->zetad[k];
}

/* row and changes of a shape whose amplitude has this rate; rates of the body's sums */
FA_INLINE void ts_coordinate(ts_body *t, const ts_part *part, fa_real rate,
                             tg_coordinate *c)
{
    tg_own_mode(t->v.omega, t->V, t->v.alpha, t->v.x, part->F, part->E, part->E,
                part->J, &part->sums, c);
    for (int i = 0; i < 6; i++) {
        t->J[i] += part->J[i] * rate;
    }
    for (int i = 0; i < 3; i++) {
        t->d[i] += part->E[i] * rate;
    }
}

/* what driven shapes give the mode s of direction d (X12) */
FA_INLINE void ts_project(const ts_body *t, const straight_size z, const int d,
                          const int s, tg_coordinate *c)
{
    const int n = z.bends[d], at = z.at[d] + s;

    for (int k = 0; k < z.driven; k++) {
        tg_driven_add(t->shape.of[d].N[k * n + s], t->N1[k][at], t->N2[k][at],
                      t->driven + k, c);
    }
}

/* rows and changes of all modes in the axes of the base; E: axes of the body there */
FA_INLINE void ts_coordinates(const fa_body *b, const straight_size z, ts_body *t,
                              const tg_body *at_body, tg_coordinate *own)
{
    ts_part part;

    for (int k = 0; k < z.driven; k++) {
        ts_shift(b, t, z, k, &part);
        ts_coordinate(t, &part, t->zetad[k], t->driven + k);
    }
    for (int d = 0; d < 2; d++) {
        for (int r = 0; r < z.bends[d]; r++) {
            ts_bend(t, z, d, r, &part);
            if (z.twists > 0) {
                ts_bend_twisted(b, t, z, d, r, &part);
            }
            ts_coordinate(t, &part, t->v.etad[z.at[d] + r], own + z.at[d] + r);
            ts_project(t, z, d, r, own + z.at[d] + r);
        }
    }
    for (int r = 0; r < z.twists; r++) {
        ts_twist(b, t, z, r, &part);
        ts_coordinate(t, &part, t->v.etad[z.at[2] + r], own + z.at[2] + r);
    }
    for (int r = 0; r < b->n_modes; r++) {
        tg_lift_coordinate(at_body, own + r);
    }
}

/* rows of the block of modes of direction d by those of e (X13) */
FA_INLINE void ts_block(const ts_body *t, const straight_size z, const int d,
                        const int e, int stride, fa_real *q, fa_real *qd)
{
    const int n = z.bends[d], m = z.bends[e], own = 1 + d, o = 2 - d;
    const double p = d ? -1.0 : 1.0, p_e = e ? -1.0 : 1.0;
    const straight_bends *g = t->shape.of + d, *h = t->shape.of + e;
    const fa_constant *c = g->c;
    const fa_real *w = t->v.omega, *alpha = t->v.alpha;
    const fa_real fast = w[0] * w[0] + w[o] * w[o], across = w[1] * w[1] + w[2] * w[2];
    const fa_real gyro = w[0] * w[0] - w[own] * w[own], bc = w[1] * w[2];
    const fa_real lift = p * alpha[o] + w[0] * w[own], twice = 2.0 * p * w[o];
    const fa_real drop = w[0] * w[1 + e] - p_e * alpha[2 - e];
    const fa_real twice_e = 2.0 * p_e * w[2 - e];
    const fa_constant *X_F = c + (z.rotary ? FA_BEND_XF(n, m) : FA_BEND_X(n));
    const fa_constant *X_G = c + (z.rotary ? FA_BEND_XG(n, m) : FA_BEND_X(n));

    for (int s = 0; s < m; s++) {
        const int to = z.at[e] + s;
        fa_real on_N[TS_DRIVEN], on_Nd[TS_DRIVEN], on_u[TS_DRIVEN], on_ud[TS_DRIVEN];
        for (int k = 0; k < z.driven; k++) {
            const fa_real N = h->N[k * m + s], N1 = t->N1[k][to];
            const fa_constant u = h->c[FA_BEND_U(m) + k * m + s];
            on_N[k] = u * drop - across * N + t->N2[k][to];
            on_Nd[k] = 2.0 * N1 - twice_e * u;
            on_u[k] = lift * N + twice * N1;
            on_ud[k] = twice * N;
        }
        for (int r = 0; r < n; r++) {
            const int at = (z.at[d] + r) * stride + to;
            fa_real dq, dqd = {0};
            if (d == e) {
                dq = -c[FA_BEND_A(n) + r * n + s] * fast;
                dq += z.rotary ? c[FA_BEND_S(n, z.bends[!d]) + r * n + s] * gyro
                               : (fa_real){0};
            } else {
                dq = c[FA_BEND_X(n) + r * m + s] * bc - p * X_F[r * m + s] * alpha[0];
                dqd = -2.0 * p * X_G[r * m + s] * w[0];
            }
            for (int k = 0; k < z.driven; k++) {
                const fa_constant u = c[FA_BEND_U(n) + k * n + r];
                dq += u * on_u[k] + g->N[k * n + r] * on_N[k];
                dqd += u * on_ud[k] + g->N[k * n + r] * on_Nd[k];
                if (d == e) {
                    dq += c[FA_BEND_N(n) + (k * n + r) * n + s] * t->force[k];
                }
            }
            q[at] += dq;
            qd[at] += dqd;
        }
    }
}

/* block of the twisting modes and those that bend along d, and their own (X13) */
FA_INLINE void ts_twist_block(const fa_body *b, const ts_body *t, const straight_size z,
                              int stride, fa_real *q, fa_real *qd)
{
    const int n = z.twists;
    const fa_constant *D = straight_twist(b, z) + FA_TWIST_D(n);
    const fa_real *w = t->v.omega;
    const fa_real apart = w[1] * w[1] - w[2] * w[2];

    for (int k = 0; k < n; k++) {
        const int at = z.at[2] + k;
        for (int s = 0; s < n; s++) {
            q[at * stride + z.at[2] + s] -= D[k * n + s] * apart;
        }
        for (int d = 0; d < 2; d++) {
            const int m = z.bends[d], own = 1 + d;
            const fa_constant *with = straight_mixed(b, z, d) + k * m;
            const fa_real slant = w[0] * w[2 - d], alpha = t->v.alpha[own];
            for (int r = 0; r < m; r++) {
                const int bend = z.at[d] + r;
                const fa_constant TF = with[FA_TWIST_TF + r];
                const fa_constant TR = with[FA_TWIST_TR(n, m) + r];
                const fa_constant TJ = with[FA_TWIST_TJ(n, m) + r];
                q[bend * stride + at] += TF * alpha - TJ * slant;
                q[at * stride + bend] += TR * alpha - TJ * slant;
                qd[bend * stride + at] += (TF - TR) * w[own];
                qd[at * stride + bend] += (TR - TF) * w[own];
            }
        }
    }
}

/* how the body moves on its axes a, b, c */
FA_INLINE void ts_motion(const id_body *of, const int axis[3],
                         const fa_real *const y[3], ts_body *t)
{
    fa_real cross[3];

    t->v.eta = y[0];
    t->v.etad = y[1];
    t->v.etadd = y[2];
    fa_cross(cross, of->V, of->V + 3);
    for (int i = 0; i < 3; i++) {
        t->v.omega[i] = of->V[axis[i]];
        t->v.alpha[i] = of->a[axis[i]];
        t->V[i] = of->V[3 + axis[i]];
        t->v.x[i] = of->a[3 + axis[i]] + cross[axis[i]];
    }
}

/* tg_start of a straight body, of a model without any wide B */
FA_NOINLINE void tg_start_straight(const id_body *of, tg_body *self, const fa_body *b,
                                   const fa_real *const y[3], tg_coordinate *own,
                                   int stride, fa_real *q, fa_real *qd)
{
    const straight_size z = straight_sizes(b);
    const int axis[3] = {z.axis, DRIVEN_AXES[z.axis].b, DRIVEN_AXES[z.axis].c};
    fa_shape shape;
    tg_body turned; /* with the axes a, b, c */
    ts_body t;

    straight_deform(b, z, y[0], &t.shape);
    ts_motion(of, axis, y, &t);
    ts_driven(b, z, &t);
    straight_rigid(z, &t.shape, shape.mp, shape.J);
    tg_inertia(b, &shape, self);
    tg_lift_force(self, of->f, self->f);
    fa_zero(self->offset, 3);
    for (int i = 0; i < 3; i++) {
        turned.x[i] = self->x[i];
        for (int j = 0; j < 3; j++) {
            turned.R[3 * i + j] = self->R[3 * i + axis[j]];
        }
    }
    fa_zero(t.J, 6);
    fa_zero(t.d, 3);
    ts_coordinates(b, z, &t, &turned, own);
    for (int d = 0; d < 2; d++) {
        ts_block(&t, z, d, 0, stride, q, qd);
        ts_block(&t, z, d, 1, stride, q, qd);
    }
    if (z.twists > 0) {
        ts_twist_block(b, &t, z, stride, q, qd);
    }
    tg_momentum(b->n_modes, y[1], own, self);
    tg_rate_add(turned.R, t.J, t.d, self);
}

#endif
