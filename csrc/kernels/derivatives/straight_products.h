/*
 * straight_products.h -- what the modes of a straight body are to products of tangents
 *
 * Equations   rows and changes of X6 are linear in the integrals of a mode, its part
 *             S = (F, E, J, sums): along changes X, Y, U of eta, etad, etadd the force
 *             on the frame changes by q(S_r X_r) + qd(S_r Y_r) + A(S_r U_r), and a row is
 *             W.S_r with W of the motion z, zd of the frame; of a cotangent A, B are
 *             those of S_r l_r, and m.q_r, m.qd_r, m.A_r are W.S_r with W of m     (TP7)
 *             Driven shapes have X_k = N_ks X_s, Y_k = N1_ks X_s + N_ks Y_s,
 *             U_k = N2_ks X_s + 2 N1_ks Y_s + N_ks U_s, and hand back likewise    (TP8)
 * Checked by  tests/derivatives/test_products.py: the matrices.
 */
#ifndef FA_STRAIGHT_PRODUCTS_H
#define FA_STRAIGHT_PRODUCTS_H

#include "kernels/bodies/straight.h"
#include "kernels/derivatives/tangent_body.h"
#include "kernels/derivatives/tangent_hop.h"
#include "kernels/derivatives/tangent_straight.h"
#include "kernels/dynamics/inverse_steps.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"
#include "model/straight_bodies.h"

/* parts by q, by qd, by qdd read so many numbers of S: all, up to F1t, F and E */
enum { PS_ALL = 27, PS_RATES = 18, PS_INERTIA = 12, PS_ROWS = 6 };
static const int PS_SIZES[3] = {PS_ALL, PS_RATES, PS_ROWS};

/* X, Y, U along, or l back; W of a row along, or of q, qd, A back */
typedef struct {
    const fa_real *by[3]; /* of the modes; the last one may be NULL: zero */
    fa_real *rows[3];     /* results of the modes, added; the last one may be NULL */
    fa_real on[3][TS_DRIVEN], of[3][TS_DRIVEN]; /* the same of driven shapes */
    ts_part sums[3], tests[3];
    ts_part rates; /* sum of S etad */
} ps_work;

/* y = s (a b' + b a') / 2 of which M.(a b') is the product with a symmetric M */
FA_INLINE void ps_square_add(const fa_real *a, const fa_real *b, double s, fa_real *y)
{
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            y[FA_SYM[i][j]] +=
                s * (i == j ? a[i] * b[i] : a[i] * b[j] + a[j] * b[i]);
        }
    }
}

/* W of a row: A.zd + B.z, motions in the axes of the body */
FA_INLINE void ps_test_row(const ts_body *t, const fa_real *zd, const fa_real *z,
                           ts_part *W)
{
    fa_real swing[3];

    ts_rest(W);
    memcpy(W->F, zd, sizeof W->F);
    fa_cross_add(W->F, z, t->v.omega);
    fa_cross(swing, z, t->V);
    for (int i = 0; i < 3; i++) {
        W->E[i] = zd[3 + i] + 2.0 * swing[i];
        W->sums.F1t[i] = z[i];
        W->sums.F1d[i] = -z[i];
    }
    ps_square_add(z, t->v.omega, -1.0, W->J);
}

/* W of m.q, m.qd, m.A */
FA_INLINE void ps_test_changes(const ts_body *t, const fa_real *m, ts_part *W)
{
    const fa_real *omega = t->v.omega;
    fa_real swing[3], turn[3];

    for (int i = 0; i < 3; i++) {
        ts_rest(W + i);
    }
    fa_cross(turn, m, omega);
    fa_cross(swing, omega, m + 3);
    fa_cross(W[0].E, t->v.x, m);
    fa_cross_add(W[0].E, m + 3, t->v.alpha);
    fa_cross_add(W[0].E, omega, swing);
    ps_square_add(m, t->v.alpha, 1.0, W[0].J);
    ps_square_add(turn, omega, 1.0, W[0].J);
    ps_square_add(m, omega, 1.0, W[0].sums.J2d);
    ps_square_add(m, omega, 1.0, W[1].J);
    for (int i = 0; i < 3; i++) {
        W[0].sums.F1dd[i] = m[i];
        W[0].sums.F1d[i] = turn[i];
        W[1].sums.F1d[i] = W[1].sums.F1t[i] = m[i];
        W[1].F[i] = turn[i];
        W[1].E[i] = -2.0 * swing[i];
        W[2].F[i] = m[i];
        W[2].E[i] = m[3 + i];
    }
}

/* a shape of this rate: weighed by `on`, tested into `of` */
FA_INLINE void ps_take(const int back, const ts_part *part, fa_real rate,
                       const fa_real *on, ps_work *p, fa_real *of)
{
    const fa_real *S = (const fa_real *)part;
    fa_real *rates = (fa_real *)&p->rates;

    for (int j = 0; j < PS_INERTIA; j++) {
        rates[j] += S[j] * rate;
    }
    for (int i = 0; i < (back ? 1 : 3); i++) {
        fa_real *sum = (fa_real *)(p->sums + i);
        for (int j = 0; j < (back ? PS_RATES : PS_SIZES[i]); j++) {
            sum[j] += S[j] * on[i];
        }
    }
    for (int i = 0; i < (back ? 3 : 1); i++) {
        const fa_real *W = (const fa_real *)(p->tests + i);
        fa_real sum = {0};
        for (int j = 0; j < (back ? PS_SIZES[i] : PS_RATES); j++) {
            sum += W[j] * S[j];
        }
        of[i] = sum;
    }
}

/* the same of a mode, and its result */
FA_INLINE void ps_take_mode(const int back, const ts_body *t, const ts_part *part,
                            int at, ps_work *p)
{
    fa_real on[3], of[3];

    for (int i = 0; i < (back ? 1 : 3); i++) {
        on[i] = p->by[i] ? p->by[i][at] : (fa_real){0};
    }
    ps_take(back, part, t->v.etad[at], on, p, of);
    for (int i = 0; i < (back ? 3 : 1); i++) {
        if (p->rows[i]) {
            p->rows[i][at] += of[i];
        }
    }
}

/* X, Y, U, or l, of the driven shapes (TP8) */
FA_INLINE void ps_drive(const int back, const ts_body *t, const straight_size z,
                        ps_work *p)
{
    for (int k = 0; k < z.driven; k++) {
        fa_real *X = p->on[0] + k, *Y = p->on[1] + k, *U = p->on[2] + k;
        *X = *Y = *U = (fa_real){0};
        for (int d = 0; d < 2; d++) {
            const int n = z.bends[d];
            for (int s = 0; s < n; s++) {
                const int at = z.at[d] + s;
                const fa_real N = t->shape.of[d].N[k * n + s], x = p->by[0][at];
                *X += N * x;
                if (!back) {
                    const fa_real y = p->by[1][at], N1 = t->N1[k][at];
                    *Y += N1 * x + N * y;
                    *U += t->N2[k][at] * x + 2.0 * N1 * y;
                    *U += p->by[2] ? N * p->by[2][at] : (fa_real){0};
                }
            }
        }
    }
}

/* what the driven shapes found, to the modes (TP8) */
FA_INLINE void ps_hand(const int back, const ts_body *t, const straight_size z,
                       const ps_work *p)
{
    for (int k = 0; k < z.driven; k++) {
        const fa_real q = p->of[0][k], qd = p->of[1][k], A = p->of[2][k];
        for (int d = 0; d < 2; d++) {
            const int n = z.bends[d];
            for (int s = 0; s < n; s++) {
                const int at = z.at[d] + s;
                const fa_real N = t->shape.of[d].N[k * n + s];
                p->rows[0][at] += N * q;
                if (back) {
                    const fa_real N1 = t->N1[k][at];
                    p->rows[0][at] += N1 * qd + t->N2[k][at] * A;
                    p->rows[1][at] += N * qd + 2.0 * N1 * A;
                    if (p->rows[2]) {
                        p->rows[2][at] += N * A;
                    }
                }
            }
        }
    }
}

/* all shapes of a body */
FA_INLINE void ps_shapes(const int back, const fa_body *b, const straight_size z,
                         const ts_body *t, ps_work *p)
{
    ts_part part;

    ts_rest(&p->rates);
    for (int i = 0; i < (back ? 1 : 3); i++) {
        ts_rest(p->sums + i);
    }
    ps_drive(back, t, z, p);
    for (int k = 0; k < z.driven; k++) {
        const fa_real on[3] = {p->on[0][k], p->on[1][k], p->on[2][k]};
        fa_real of[3] = {{0}};
        ts_shift(b, t, z, k, &part);
        ps_take(back, &part, t->zetad[k], on, p, of);
        for (int i = 0; i < 3; i++) {
            p->of[i][k] = of[i];
        }
    }
    for (int d = 0; d < 2; d++) {
        for (int r = 0; r < z.bends[d]; r++) {
            ts_bend(t, z, d, r, &part);
            if (z.twists > 0) {
                ts_bend_twisted(b, t, z, d, r, &part);
            }
            ps_take_mode(back, t, &part, z.at[d] + r, p);
        }
    }
    for (int r = 0; r < z.twists; r++) {
        ts_twist(b, t, z, r, &part);
        ps_take_mode(back, t, &part, z.at[2] + r, p);
    }
    ps_hand(back, t, z, p);
}

/* y += modal mass times x (B2, B6) */
FA_INLINE void ps_mass_add(const fa_body *b, const straight_size z, const ts_body *t,
                           const fa_real *x, fa_real *y)
{
    fa_real on[TS_DRIVEN] = {{0}};

    for (int d = 0; d < 2; d++) {
        const int n = z.bends[d], at = z.at[d];
        const straight_bends *g = t->shape.of + d;
        for (int r = 0; r < n; r++) {
            y[at + r] += straight_sum(n, g->c + FA_BEND_G(n) + r * n, x + at);
            for (int k = 0; k < z.driven; k++) {
                on[k] += g->N[k * n + r] * x[at + r];
            }
        }
    }
    for (int d = 0; d < 2; d++) {
        for (int r = 0; r < z.bends[d]; r++) {
            for (int k = 0; k < z.driven; k++) {
                y[z.at[d] + r] += t->shape.of[d].N[k * z.bends[d] + r] * on[k];
            }
        }
    }
    for (int r = 0; r < z.twists; r++) {
        const fa_constant *G = straight_twist(b, z) + FA_TWIST_G(z.twists);
        y[z.at[2] + r] += straight_sum(z.twists, G + r * z.twists, x + z.at[2]);
    }
}

/* a straight body that moves, its inertia, and its axes a, b, c in those of the base */
FA_INLINE void ps_start(const id_body *of, const fa_body *b, const straight_size z,
                        const fa_real *const y[3], tg_body *self, ts_body *t,
                        tg_body *turned)
{
    const int axis[3] = {z.axis, DRIVEN_AXES[z.axis].b, DRIVEN_AXES[z.axis].c};
    fa_shape shape;

    straight_deform(b, z, y[0], &t->shape);
    ts_motion(of, axis, y, t);
    ts_driven(b, z, t);
    straight_rigid(z, &t->shape, shape.mp, shape.J);
    tg_inertia(b, &shape, self);
    tg_lift_force(self, of->f, self->f);
    fa_zero(self->offset, 3);
    for (int i = 0; i < 3; i++) {
        turned->x[i] = self->x[i];
        for (int j = 0; j < 3; j++) {
            turned->R[3 * i + j] = self->R[3 * i + axis[j]];
        }
    }
}

/* a twist of the base in the axes and at the place of a body */
FA_INLINE void ps_lower(const tg_body *w, const fa_real *t, fa_real *y)
{
    fa_real moved[3];

    tg_at(t, w->x, moved);
    fa_rotate_t(y, w->R, t);
    fa_rotate_t(y + 3, w->R, moved);
}

/* Y and momentum (X5); own block of the modes, added to q and qd (X13) */
FA_INLINE void ps_finish(const fa_body *b, const straight_size z, const ts_body *t,
                         const ps_work *p, const tg_body *turned, tg_body *self,
                         fa_real *q, fa_real *qd)
{
    const int n = b->n_modes;
    fa_real flow[6], lifted[6];

    for (int d = 0; d < 2; d++) {
        ts_block(t, z, d, 0, n, q, qd);
        ts_block(t, z, d, 1, n, q, qd);
    }
    if (z.twists > 0) {
        ts_twist_block(b, t, z, n, q, qd);
    }
    tg_momentum(0, NULL, NULL, self);
    tg_rate_add(turned->R, p->rates.J, p->rates.E, self);
    memcpy(flow, p->rates.F, sizeof p->rates.F);
    memcpy(flow + 3, p->rates.E, sizeof p->rates.E);
    tg_lift_force(turned, flow, lifted);
    for (int i = 0; i < 6; i++) {
        self->h[i] += lifted[i];
    }
}

/*
 * Inertia, momentum and block of a straight body along changes p->by of its modes while
 * its frame moves by z, zd: rows of the modes, added to p->rows[0], with their mass, and
 * the change of force by the modes, F [6].
 */
FA_NOINLINE void ps_along(const id_body *of, const fa_body *b,
                          const fa_real *const y[3], const fa_real *z,
                          const fa_real *zd, ps_work *p, tg_body *self, fa_real *q,
                          fa_real *qd, fa_real *F)
{
    const straight_size size = straight_sizes(b);
    tg_coordinate x_part, y_part;
    fa_real force[6], low[6], low_d[6];
    tg_body turned;
    ts_body t;

    ps_start(of, b, size, y, self, &t, &turned);
    ps_lower(&turned, z, low);
    ps_lower(&turned, zd, low_d);
    ps_test_row(&t, low_d, low, p->tests);
    ps_shapes(0, b, size, &t, p);
    const ts_part *S = p->sums;
    tg_own_mode(t.v.omega, t.V, t.v.alpha, t.v.x, S->F, S->E, S->E, S->J, &S->sums,
                &x_part);
    tg_own_mode(t.v.omega, t.V, t.v.alpha, t.v.x, S[1].F, S[1].E, S[1].E, S[1].J,
                &S[1].sums, &y_part);
    for (int i = 0; i < 3; i++) {
        force[i] = x_part.q[i] + y_part.qd[i] + S[2].F[i];
        force[3 + i] = x_part.q[3 + i] + y_part.qd[3 + i] + S[2].E[i];
    }
    tg_lift_force(&turned, force, F);
    if (p->by[2]) {
        ps_mass_add(b, size, &t, p->by[2], p->rows[0]);
    }
    ps_finish(b, size, &t, p, &turned, self, q, qd);
}

/* the same back, of cotangents p->by[0] of its modes while its frame has m: what is added
 * to p->rows, and A and B of its modes in `row` */
FA_NOINLINE void ps_back(const id_body *of, const fa_body *b, const fa_real *const y[3],
                         const fa_real *m, ps_work *p, tg_body *self, fa_real *q,
                         fa_real *qd, tg_coordinate *row)
{
    const straight_size size = straight_sizes(b);
    tg_coordinate own;
    fa_real low[6];
    tg_body turned;
    ts_body t;

    ps_start(of, b, size, y, self, &t, &turned);
    ps_lower(&turned, m, low);
    ps_test_changes(&t, low, p->tests);
    ps_shapes(1, b, size, &t, p);
    const ts_part *S = p->sums;
    tg_own_mode(t.v.omega, t.V, t.v.alpha, t.v.x, S->F, S->E, S->E, S->J, &S->sums,
                &own);
    tg_lift_force(&turned, own.A, row->A);
    fa_rotate(row->B, turned.R, own.B);
    if (p->rows[2]) {
        ps_mass_add(b, size, &t, p->by[0], p->rows[2]);
    }
    ps_finish(b, size, &t, p, &turned, self, q, qd);
}

#endif
