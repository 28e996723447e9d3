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

#include "kernels/bodies/driven.h"
#include "kernels/bodies/straight.h"
#include "kernels/derivatives/tangent_body.h"
#include "kernels/derivatives/tangent_hop.h"
#include "kernels/derivatives/tangent_straight.h"
#include "kernels/dynamics/inverse_steps.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"
#include "model/straight_bodies.h"

/* what a sum or a test reads of S: all, what rates need, inertia, F and E */
enum { PS_ALL, PS_RATES, PS_INERTIA, PS_ROWS };

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
            y[FA_SYM[i][j]] += s * (i == j ? a[i] * b[i] : a[i] * b[j] + a[j] * b[i]);
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

/* y += S x, of a part that reads `kind` of it; member by member, so that the compiler
 * sees what is zero */
FA_INLINE void ps_part_add(const int kind, const ts_part *S, fa_real x, ts_part *y)
{
    for (int i = 0; i < 3; i++) {
        y->F[i] += S->F[i] * x;
        y->E[i] += S->E[i] * x;
    }
    for (int i = 0; i < 6 && kind < PS_ROWS; i++) {
        y->J[i] += S->J[i] * x;
    }
    for (int i = 0; i < 3 && kind < PS_INERTIA; i++) {
        y->sums.F1d[i] += S->sums.F1d[i] * x;
        y->sums.F1t[i] += S->sums.F1t[i] * x;
    }
    for (int i = 0; i < 3 && kind < PS_RATES; i++) {
        y->sums.F1dd[i] += S->sums.F1dd[i] * x;
    }
    for (int i = 0; i < 6 && kind < PS_RATES; i++) {
        y->sums.J2d[i] += S->sums.J2d[i] * x;
    }
}

/* W.S likewise */
FA_INLINE fa_real ps_test(const int kind, const ts_part *W, const ts_part *S)
{
    fa_real sum = fa_dot(W->F, S->F) + fa_dot(W->E, S->E);

    for (int i = 0; i < 6 && kind < PS_ROWS; i++) {
        sum += W->J[i] * S->J[i];
    }
    if (kind < PS_INERTIA) {
        sum += fa_dot(W->sums.F1d, S->sums.F1d) + fa_dot(W->sums.F1t, S->sums.F1t);
    }
    if (kind < PS_RATES) {
        sum += fa_dot(W->sums.F1dd, S->sums.F1dd);
        for (int i = 0; i < 6; i++) {
            sum += W->sums.J2d[i] * S->sums.J2d[i];
        }
    }
    return sum;
}

/* a shape of this rate: weighed by `on`, tested into `of` */
FA_INLINE void ps_take(const int back, const ts_part *part, fa_real rate,
                       const fa_real *on, ps_work *p, fa_real *of)
{
    ps_part_add(PS_INERTIA, part, rate, &p->rates);
    FA_UNROLL
    for (int i = 0; i < 3; i++) {
        const int kind = i == 0 ? PS_ALL : i == 1 ? PS_RATES : PS_ROWS;
        if (i == 0 || !back) {
            ps_part_add(back ? PS_RATES : kind, part, on[i], p->sums + i);
        }
        if (i == 0 || back) {
            of[i] = ps_test(back ? kind : PS_RATES, p->tests + i, part);
        }
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

/* rows r of direction d by the modes s of direction e, driven shapes apart (X13) */
FA_INLINE void ps_block_add(const int back, const ts_body *t, const straight_size z,
                            const int d, const int e, const ps_work *p)
{
    const int n = z.bends[d], m = z.bends[e], o = 2 - d;
    const double sign = d ? -1.0 : 1.0;
    const fa_constant *c = t->shape.of[d].c, *X = c + FA_BEND_X(n),
                      *A = c + FA_BEND_A(n);
    const fa_real *w = t->v.omega;
    const fa_real fast = w[0] * w[0] + w[o] * w[o];
    const fa_real slant = w[1] * w[2] - sign * t->v.alpha[0], turn = -2.0 * sign * w[0];

    FA_UNROLL
    for (int r = 0; r < n; r++) {
        FA_UNROLL
        for (int s = 0; s < m; s++) {
            const int row = z.at[d] + r, column = z.at[e] + s;
            const int to = back ? column : row, from = back ? row : column;
            fa_real dq = d == e ? -A[r * n + s] * fast : X[r * m + s] * slant;
            if (d == e) {
                for (int k = 0; k < z.driven; k++) {
                    dq += c[FA_BEND_N(n) + (k * n + r) * n + s] * t->force[k];
                }
            } else {
                const fa_real dqd = X[r * m + s] * turn;
                p->rows[back][to] += dqd * p->by[!back][from];
            }
            p->rows[0][to] += dq * p->by[0][from];
        }
    }
}

/* what the own block adds by driven shapes (X13), to what they found */
FA_INLINE void ps_block_driven(const int back, const ts_body *t, const straight_size z,
                               ps_work *p)
{
    const fa_real *w = t->v.omega, *alpha = t->v.alpha;
    const fa_real across = w[1] * w[1] + w[2] * w[2];

    for (int k = 0; k < z.driven; k++) {
        const fa_real X = p->on[0][k];
        fa_real *of[3] = {p->of[0] + k, p->of[1] + k, p->of[2] + k};
        *of[0] -= across * X;
        *(back ? of[2] : of[0]) += back ? X : p->on[2][k];
        FA_UNROLL
        for (int d = 0; d < 2; d++) {
            const int n = z.bends[d], o = 2 - d;
            const double sign = d ? -1.0 : 1.0;
            const fa_constant *u = t->shape.of[d].c + FA_BEND_U(n) + k * n;
            const fa_real twice = 2.0 * sign * w[o];
            const fa_real lift = sign * alpha[o] + w[0] * w[1 + d];
            const fa_real drop = w[0] * w[1 + d] - sign * alpha[o];
            const fa_real push = lift * X + twice * p->on[1][k];
            fa_real sum = {0};
            FA_UNROLL
            for (int r = 0; r < n; r++) {
                const int at = z.at[d] + r;
                if (back) {
                    sum += u[r] * p->by[0][at];
                    p->rows[0][at] += u[r] * (drop * X);
                    p->rows[1][at] -= u[r] * (twice * X);
                } else {
                    *of[0] += u[r] * (drop * p->by[0][at] - twice * p->by[1][at]);
                    p->rows[0][at] += u[r] * push;
                }
            }
            if (back) {
                *of[0] += lift * sum;
                *of[1] += twice * sum;
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
    ts_rest(&p->rates);
    for (int i = 0; i < (back ? 1 : 3); i++) {
        ts_rest(p->sums + i);
    }
    ps_drive(back, t, z, p);
    FA_UNROLL
    for (int k = 0; k < z.driven; k++) {
        ts_part part;
        const fa_real on[3] = {p->on[0][k], p->on[1][k], p->on[2][k]};
        fa_real of[3] = {{0}};
        ts_shift(b, t, z, k, &part);
        ps_take(back, &part, t->zetad[k], on, p, of);
        for (int i = 0; i < 3; i++) {
            p->of[i][k] = of[i];
        }
    }
    FA_UNROLL
    for (int d = 0; d < 2; d++) {
        FA_UNROLL
        for (int r = 0; r < z.bends[d]; r++) {
            ts_part part;
            ts_bend(t, z, d, r, &part);
            ps_take_mode(back, t, &part, z.at[d] + r, p);
        }
    }
    FA_UNROLL
    for (int d = 0; d < 2; d++) {
        ps_block_add(back, t, z, d, 0, p);
        ps_block_add(back, t, z, d, 1, p);
    }
    ps_block_driven(back, t, z, p);
    ps_hand(back, t, z, p);
}

/* y += modal mass times x (B2), but for driven shapes (B6), which are in TP8 */
FA_INLINE void ps_mass_add(const straight_size z, const ts_body *t, const fa_real *x,
                           fa_real *y)
{
    for (int d = 0; d < 2; d++) {
        const int n = z.bends[d], at = z.at[d];
        const fa_constant *G = t->shape.of[d].c + FA_BEND_G(n);
        for (int r = 0; r < n; r++) {
            y[at + r] += straight_sum(n, G + r * n, x + at);
        }
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

/* Y and momentum (X5) */
FA_INLINE void ps_finish(const ps_work *p, const tg_body *turned, tg_body *self)
{
    fa_real flow[6], lifted[6];

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
 * Inertia and momentum of a straight body along changes p->by of its modes while
 * its frame moves by z, zd: rows of the modes, added to p->rows[0], with their mass, and
 * the change of force by the modes, F [6].
 */
FA_INLINE void ps_along(const id_body *of, const fa_body *b, const straight_size size,
                        const fa_real *const y[3], const fa_real *z, const fa_real *zd,
                        ps_work *p, tg_body *self, fa_real *F)
{
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
        ps_mass_add(size, &t, p->by[2], p->rows[0]);
    }
    ps_finish(p, &turned, self);
}

/* the same back, of cotangents p->by[0] of its modes while its frame has m: what is added
 * to p->rows, and A and B of its modes in `row` */
FA_INLINE void ps_back(const id_body *of, const fa_body *b, const straight_size size,
                       const fa_real *const y[3], const fa_real *m, ps_work *p,
                       tg_body *self, tg_coordinate *row)
{
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
        ps_mass_add(size, &t, p->by[0], p->rows[2]);
    }
    ps_finish(p, &turned, self);
}

/* the sizes of most beams in space, which the compiler then knows */
#define PS_SIZES_OF(b)                                                                 \
    {{2, 2}, 0, 2, {(b)->straight.at[0], (b)->straight.at[1], 4}, (b)->straight.axis, 0}

FA_INLINE int ps_is_usual(const fa_body *b)
{
    const fa_straight *s = &b->straight;
    return s->count[0] == 2 && s->count[1] == 2 && s->count[2] == 0 && s->driven == 2 &&
           !s->rotary;
}

FA_NOINLINE void ps_along_usual(const id_body *of, const fa_body *b,
                                const fa_real *const y[3], const fa_real *z,
                                const fa_real *zd, ps_work *p, tg_body *self,
                                fa_real *F)
{
    const straight_size size = PS_SIZES_OF(b);
    ps_along(of, b, size, y, z, zd, p, self, F);
}

FA_NOINLINE void ps_back_usual(const id_body *of, const fa_body *b,
                               const fa_real *const y[3], const fa_real *m, ps_work *p,
                               tg_body *self, tg_coordinate *row)
{
    const straight_size size = PS_SIZES_OF(b);
    ps_back(of, b, size, y, m, p, self, row);
}

#endif
