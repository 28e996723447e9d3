/*
 * tangent_driven.h -- tangents of a body whose modes drive further shapes (X12)
 *
 * Equations   with amplitudes zeta_k = 1/2 eta' K_k eta of p driven shapes (B6) the body
 *             has n + p coordinates y = (eta; zeta), and X6 holds for them. Of
 *                 dzeta/deta = N, dzetad/deta = N1, dzetad/detad = N,
 *                 dzetadd/deta = N2, dzetadd/detad = 2 N1,
 *                 N_ks = K_k(s,r) eta_r, N1 and N2 likewise with etad and etadd
 *             rows project by N, and with the changes (q, qd, A) of the forces on the
 *             frame by y, yd, ydd, the block Z = (Zq, Zqd, G) of the modal ones:
 *                 q_s += N_ks q_k + N1_ks qd_k + N2_ks A_k,
 *                 qd_s += N_ks qd_k + 2 N1_ks A_k,
 *                 dz/deta = (1; N)'(Zq (1; N) + Zqd (0; N1) + G (0; N2)) + K_k z_k,
 *                 dz/detad = (1; N)'(Zqd (1; N) + 2 G (0; N1))                  (X12)
 * Checked by  tests/derivatives/test_derivatives.py
 */
#ifndef FA_TANGENT_DRIVEN_H
#define FA_TANGENT_DRIVEN_H

#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "kernels/derivatives/tangent_body.h"
#include "kernels/derivatives/tangent_hop.h"
#include "kernels/dynamics/inverse_steps.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"
#include "model/modal.h"

/* scratch for one body with driven shapes, of m = n + p coordinates */
typedef struct {
    tg_coordinate *own;    /* [m] */
    fa_real *y[3];         /* [m] */
    fa_real *N[3];         /* [p][n] */
    fa_real *zq, *zqd, *z; /* [m][m], [m][m], [m] */
    double *integrals;     /* [fa_modal_size(m)] */
} tg_driven;

static size_t tg_driven_size(const fa_body *b)
{
    const size_t n = (size_t)b->n_modes, p = (size_t)b->driven.n, m = n + p;
    const size_t doubles = fa_modal_size((int)m);

    return m * (sizeof(tg_coordinate) / sizeof(fa_real)) + 3 * m + 3 * p * n +
           2 * m * m + m +
           (doubles * sizeof(double) + sizeof(fa_real) - 1) / sizeof(fa_real);
}

/* the largest of all bodies, in fa_real */
static size_t tg_driven_work_size(const fa_model *model)
{
    size_t most = 0;
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const size_t size = b->driven.n > 0 ? tg_driven_size(b) : 0;
        most = size > most ? size : most;
    }
    return most;
}

static tg_driven tg_driven_split(const fa_body *b, fa_real *work)
{
    const int n = b->n_modes, p = b->driven.n, m = n + p;
    tg_driven d = {.own = (tg_coordinate *)work};
    fa_real *next = (fa_real *)(d.own + m);

    for (int i = 0; i < 3; i++, next += m) {
        d.y[i] = next;
    }
    for (int i = 0; i < 3; i++, next += p * n) {
        d.N[i] = next;
    }
    d.zq = next;
    d.zqd = d.zq + m * m;
    d.z = d.zqd + m * m;
    d.integrals = (double *)(void *)(d.z + m);
    return d;
}

/* the body with all of its shapes as modes; integrals [fa_modal_size(n + p)] */
static fa_body tg_driven_body(const fa_body *b, double *integrals)
{
    const int n = b->n_modes, p = b->driven.n, m = n + p;
    const fa_modal *c = &b->modal;
    const fa_driven *d = &b->driven;
    double *E = integrals, *F0 = E + 3 * m, *mp1 = F0 + 3 * m, *F1 = mp1 + 3 * m;
    double *J1 = F1 + 3 * m * m, *J2 = J1 + 6 * m, *G = J2 + 6 * m * m;
    fa_body all = *b;

    memcpy(E, c->E, 3 * (size_t)n * sizeof *E);
    memcpy(E + 3 * n, d->E, 3 * (size_t)p * sizeof *E);
    memcpy(mp1, c->mp1, 3 * (size_t)n * sizeof *E);
    memcpy(mp1 + 3 * n, d->E, 3 * (size_t)p * sizeof *E);
    memcpy(F0, c->F0, 3 * (size_t)n * sizeof *E);
    memcpy(F0 + 3 * n, d->F0, 3 * (size_t)p * sizeof *E);
    memcpy(J1, c->J1, 6 * (size_t)n * sizeof *E);
    memcpy(J1 + 6 * n, d->J1, 6 * (size_t)p * sizeof *E);
    for (int r = 0; r < m; r++) {
        for (int s = 0; s < m; s++) {
            const int k = r - n, l = s - n;
            const double *f, *j;
            if (k < 0 && l < 0) {
                f = c->F1 + 3 * (r * n + s);
                j = c->J2 + 6 * (r * n + s);
            } else if (l < 0) {
                f = d->Fkr + 3 * (k * n + s);
                j = d->Jkr + 6 * (k * n + s);
            } else if (k < 0) {
                f = d->Frk + 3 * (l * n + r);
                j = d->Jkr + 6 * (l * n + r);
            } else {
                f = d->Fkl + 3 * (k * p + l);
                j = d->Jkl + 6 * (k * p + l);
            }
            memcpy(F1 + 3 * (r * m + s), f, 3 * sizeof *f);
            memcpy(J2 + 6 * (r * m + s), j, 6 * sizeof *j);
            if (s <= r) {
                G[fa_tri(r, s)] = k < 0   ? c->G[fa_tri(r, s)]
                                  : l < 0 ? d->Gkr[k * n + s]
                                          : d->Gkl[k * p + l];
            }
        }
    }
    all.n_modes = m;
    all.driven.n = 0;
    all.F1_is_skew = 0;
    all.modal = (fa_modal){.E = E,
                           .F0 = F0,
                           .F1 = F1,
                           .mp1 = mp1,
                           .G = G,
                           .J1 = J1,
                           .J2 = J2,
                           .K = c->K,
                           .C = c->C};
    return all;
}

/* y and N of all orders from eta, etad, etadd */
static void tg_driven_state(const fa_body *b, const fa_real *const motion[3],
                            const tg_driven *d)
{
    const int n = b->n_modes, p = b->driven.n;

    for (int i = 0; i < 3; i++) {
        memcpy(d->y[i], motion[i], (size_t)n * sizeof(fa_real));
    }
    for (int k = 0; k < p; k++) {
        for (int s = 0; s < n; s++) {
            const double *row = b->driven.K + (k * n + s) * n;
            for (int i = 0; i < 3; i++) {
                fa_real sum = {0};
                for (int r = 0; r < n; r++) {
                    sum += row[r] * motion[i][r];
                }
                d->N[i][k * n + s] = sum;
            }
        }
        fa_real y[3];
        fa_zero(y, 3);
        for (int s = 0; s < n; s++) {
            y[0] += 0.5 * d->N[0][k * n + s] * motion[0][s];
            y[1] += d->N[0][k * n + s] * motion[1][s];
            y[2] +=
                d->N[0][k * n + s] * motion[2][s] + d->N[1][k * n + s] * motion[1][s];
        }
        for (int i = 0; i < 3; i++) {
            d->y[i][n + k] = y[i];
        }
    }
}

/* what a driven shape c, of these N, N1 and N2, gives a mode (X12) */
FA_INLINE void tg_driven_add(const fa_real N, const fa_real N1, const fa_real N2,
                             const tg_coordinate *c, tg_coordinate *mode)
{
    for (int i = 0; i < 6; i++) {
        mode->A[i] += N * c->A[i];
        mode->B[i] += N * c->B[i];
        mode->q[i] += N * c->q[i] + N1 * c->qd[i] + N2 * c->A[i];
        mode->qd[i] += N * c->qd[i] + 2.0 * N1 * c->A[i];
    }
}

/* rows and changes of the frame's force, projected on the modes (X12) */
static void tg_driven_rows(const fa_body *b, const tg_driven *d, tg_coordinate *own)
{
    const int n = b->n_modes;

    memcpy(own, d->own, (size_t)n * sizeof *own);
    for (int k = 0; k < b->driven.n; k++) {
        const tg_coordinate *c = d->own + n + k;
        for (int s = 0; s < n; s++) {
            tg_driven_add(d->N[0][k * n + s], d->N[1][k * n + s], d->N[2][k * n + s], c,
                          own + s);
        }
    }
}

/* entry (r, s) of the modal mass of all shapes */
FA_INLINE double tg_driven_mass(const fa_body *all, int r, int s)
{
    return r < s ? all->modal.G[fa_tri(s, r)] : all->modal.G[fa_tri(r, s)];
}

/* the own block, projected on the modes, added to q and qd (X12) */
static void tg_driven_block(const fa_body *b, const fa_body *all, const tg_driven *d,
                            int stride, fa_real *q, fa_real *qd)
{
    const int n = b->n_modes, p = b->driven.n, m = n + p;

    for (int s = 0; s < n; s++) {
        for (int a = 0; a < m; a++) { /* row a of the brackets, column s */
            fa_real dq = d->zq[a * m + s], dqd = d->zqd[a * m + s];
            for (int k = 0; k < p; k++) {
                const double G = tg_driven_mass(all, a, n + k);
                const fa_real N = d->N[0][k * n + s], N1 = d->N[1][k * n + s];
                dq += d->zq[a * m + n + k] * N + d->zqd[a * m + n + k] * N1 +
                      G * d->N[2][k * n + s];
                dqd += d->zqd[a * m + n + k] * N + 2.0 * G * N1;
            }
            if (a < n) {
                q[a * stride + s] += dq;
                qd[a * stride + s] += dqd;
                continue;
            }
            for (int r = 0; r < n; r++) {
                const int k = a - n;
                q[r * stride + s] += d->N[0][k * n + r] * dq +
                                     b->driven.K[(k * n + r) * n + s] * d->z[a];
                qd[r * stride + s] += d->N[0][k * n + r] * dqd;
            }
        }
    }
}

/* tg_start for a body with driven shapes; work [tg_driven_size] */
FA_NOINLINE void tg_start_driven(const id_body *of, tg_body *self, tg_wide *wide,
                                 const fa_body *b, const fa_real *const motion[3],
                                 fa_real *work, tg_coordinate *own, int stride,
                                 fa_real *q, fa_real *qd)
{
    const tg_driven d = tg_driven_split(b, work);
    const fa_body all = tg_driven_body(b, d.integrals);
    const fa_real *const y[3] = {d.y[0], d.y[1], d.y[2]};
    const int m = all.n_modes;
    fa_shape shape;
    fa_real frame[6];

    tg_driven_state(b, motion, &d);
    fa_zero(d.zq, 2 * m * m);
    body_shape(&all, m, y[0], &shape);
    tg_start(of, self, wide, &all, m, &shape, y, d.own, m, d.zq, d.zqd);
    body_bias(&all, m, &shape, y[1], of->V, d.z, frame);
    body_mass_mul_add(&all, m, &shape, y[2], of->a, d.z, frame);
    tg_driven_rows(b, &d, own);
    tg_driven_block(b, &all, &d, stride, q, qd);
}

#endif
