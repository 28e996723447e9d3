/*
 * driven.h -- what foreshortening means to the inertia of a body (B6)
 *
 * Positions that are quadratic in the modes move a body by p shapes g_k beside its n
 * modes, with amplitudes that the modes drive:
 *
 *             zeta_k = 1/2 eta' K_k eta, N_kr = K_k(r,s) eta_s,
 *             zetad_k = N_kr etad_r, zetadd_k = N_kr etadd_r + K_k(r,s) etad_r etad_s
 * With the integrals of all n + p shapes, (B1) to (B5) hold for (eta; zeta), and
 * modal rows take N' of the rows of the driven shapes:
 *             F_r += N_kr F_k, E_r += N_kr E_k,
 *             G(r,s) += N_kr G(k,s) + G(r,k) N_ks + N_kr G(k,l) N_ls,
 *             b_eta(r) += N_kr b_zeta(k), b of the accelerations K_k(r,s) etad_r etad_s
 *                                                                               (B6)
 * Shapes along one axis of a straight beam (driven_shapes.h) have a shorter way, with
 *             W_k = w_k + u_kr eta_r + e zeta_k:  F_k = W_k x e,
 *             J_k = 2 W_k.e - e W_k' - W_k e'
 * This is the kinetic energy of masses that do move so: positive, and kept exactly. To
 * first order in the modes it has what the true positions give.
 *
 * Source      T. Kane, R. Ryan, A. Banerjee, J. Guidance, Control, and Dynamics 10,
 *             1987, for the first order; the shapes by flexarm/bodies/integrals.py.
 * Checked by  tests/beams/test_foreshortening.py,
 *             tests/dynamics/test_dynamics.py: Lagrangian, twin.
 */
#ifndef FA_KERNELS_DRIVEN_H
#define FA_KERNELS_DRIVEN_H

#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* the driven shapes of a deformed body, set only if there are any */
typedef struct {
    fa_real N[FA_MAX_DRIVEN * FA_MAX_MODES]; /* N_kr, shape by shape */
    fa_real zeta[FA_MAX_DRIVEN];
    fa_real F[3 * FA_MAX_DRIVEN], J[6 * FA_MAX_DRIVEN]; /* F_k, J_k; W_k in F */
} fa_driven_shape;

/* the deformed body (B1) */
typedef struct {
    fa_real mp[3], J[6];
    fa_real F[3 * FA_MAX_SHAPES];
    fa_real Jr[6 * FA_MAX_SHAPES]; /* J_r omega needs them one by one */
    fa_driven_shape driven;
} fa_shape;

/* y += x a, for a constant a of m numbers */
FA_INLINE void driven_add(const fa_constant *a, const int m, fa_real x, fa_real *y)
{
    for (int i = 0; i < m; i++) {
        y[i] += a[i] * x;
    }
}

/* N and zeta at eta */
FA_INLINE void driven_amplitudes(const fa_driven *c, const int n, const fa_real *eta,
                                 fa_driven_shape *d)
{
    for (int k = 0; k < c->n; k++) {
        fa_real *N = d->N + k * n, sum = {0};
        for (int r = 0; r < n; r++) {
            const fa_constant *row = c->K + (k * n + r) * n;
            N[r] = row[0] * eta[0];
            for (int s = 1; s < n; s++) {
                N[r] += row[s] * eta[s];
            }
            sum += N[r] * eta[r];
        }
        d->zeta[k] = 0.5 * sum;
    }
}

/* places of the axes next to axis a, and of products with a in a symmetric matrix */
typedef struct {
    int b, c, bb, cc, ab, ac;
} driven_axes;

static const driven_axes DRIVEN_AXES[3] = {
    {1, 2, 3, 5, 1, 2}, {2, 0, 5, 0, 4, 1}, {0, 1, 0, 3, 2, 4}};

/* driven_shape along one axis */
FA_INLINE void axial_shape(const fa_driven *c, const int n, const fa_real *eta,
                           fa_shape *s)
{
    const driven_axes x = DRIVEN_AXES[c->axis];
    fa_driven_shape *d = &s->driven;
    fa_real S[3];

    fa_zero(S, 3);
    driven_amplitudes(c, n, eta, d);
    for (int k = 0; k < c->n; k++) {
        const fa_constant *w = c->w + 3 * k, *u = c->u + 2 * k * n;
        const fa_real zeta = d->zeta[k];
        fa_real W1 = fa_spread(w[1]), W2 = fa_spread(w[2]);

        for (int r = 0; r < n; r++) {
            const fa_real y1 = u[2 * r] * zeta, y2 = u[2 * r + 1] * zeta;
            W1 += u[2 * r] * eta[r];
            W2 += u[2 * r + 1] * eta[r];
            s->F[3 * r + x.b] -= y2;
            s->F[3 * r + x.c] += y1;
            s->Jr[6 * r + x.ab] -= y1;
            s->Jr[6 * r + x.ac] -= y2;
        }
        S[0] += (w[0] + 0.5 * zeta) * zeta;
        S[1] += W1 * zeta;
        S[2] += W2 * zeta;
        s->mp[c->axis] += c->E[3 * k + c->axis] * zeta;
        d->F[3 * k] = w[0] + zeta;
        d->F[3 * k + 1] = W1;
        d->F[3 * k + 2] = W2;
    }
    s->J[x.bb] += 2.0 * S[0];
    s->J[x.cc] += 2.0 * S[0];
    s->J[x.ab] -= S[1];
    s->J[x.ac] -= S[2];
}

/* zetad_k */
FA_INLINE fa_real driven_rate(const fa_driven_shape *d, const int n, int k,
                              const fa_real *rates)
{
    fa_real sum = d->N[k * n] * rates[0];
    for (int r = 1; r < n; r++) {
        sum += d->N[k * n + r] * rates[r];
    }
    return sum;
}

/* zetadd_k at constant rates */
FA_INLINE fa_real driven_bend(const fa_driven *c, const int n, int k,
                              const fa_real *etad)
{
    fa_real total = {0};
    for (int r = 0; r < n; r++) {
        const fa_constant *row = c->K + (k * n + r) * n;
        fa_real sum = row[0] * etad[0];
        for (int s = 1; s < n; s++) {
            sum += row[s] * etad[s];
        }
        total += sum * etad[r];
    }
    return total;
}

/* driven_mass_mul_add along one axis */
FA_INLINE void axial_mass_mul_add(const fa_driven *c, const int n,
                                  const fa_driven_shape *d, const fa_real *rates,
                                  const fa_real *V, fa_real *f_f, fa_real *f_r)
{
    const driven_axes x = DRIVEN_AXES[c->axis];
    const int a = c->axis;

    for (int k = 0; k < c->n; k++) {
        const fa_real *W = d->F + 3 * k, zetad = driven_rate(d, n, k, rates);
        const fa_constant E = c->E[3 * k + a];
        const fa_real force = W[2] * V[x.b] - W[1] * V[x.c] + E * V[3 + a] + zetad;

        for (int r = 0; r < n; r++) {
            f_f[r] += d->N[k * n + r] * force;
        }
        f_r[x.b] += W[2] * zetad;
        f_r[x.c] -= W[1] * zetad;
        f_r[3 + a] += E * zetad;
    }
}

/* driven_bias along one axis */
FA_INLINE void axial_bias(const fa_driven *c, const int n, const fa_driven_shape *d,
                          const fa_real *etad, const fa_real *V, const fa_real *cross,
                          fa_real *z_f, fa_real *z_r, fa_real *flow)
{
    const driven_axes x = DRIVEN_AXES[c->axis];
    const int a = c->axis;
    const fa_real across = V[x.b] * V[x.b] + V[x.c] * V[x.c];
    fa_real Q[3], A[3];

    fa_zero(Q, 3);
    fa_zero(A, 3);
    for (int k = 0; k < c->n; k++) {
        const fa_real *W = d->F + 3 * k, zetad = driven_rate(d, n, k, etad);
        const fa_real zetadd = driven_bend(c, n, k, etad);
        const fa_real tb = 2.0 * V[x.b] * zetad, tc = 2.0 * V[x.c] * zetad;
        const fa_constant *u = c->u + 2 * k * n, E = c->E[3 * k + a];
        fa_real moved[2], force;

        fa_zero(moved, 2);
        for (int r = 0; r < n; r++) {
            moved[0] += u[2 * r] * etad[r];
            moved[1] += u[2 * r + 1] * etad[r];
            z_f[r] += u[2 * r] * tc - u[2 * r + 1] * tb;
        }
        force = E * cross[a] + zetadd - W[0] * across +
                V[a] * (W[1] * V[x.b] + W[2] * V[x.c]) +
                2.0 * (moved[1] * V[x.b] - moved[0] * V[x.c]);
        for (int r = 0; r < n; r++) {
            z_f[r] += d->N[k * n + r] * force;
        }
        for (int i = 0; i < 3; i++) {
            Q[i] += W[i] * zetad;
            A[i] += W[i] * zetadd;
        }
        z_r[3 + a] += E * zetadd;
        flow[a] += E * zetad;
    }
    z_r[a] -= Q[1] * V[x.b] + Q[2] * V[x.c];
    z_r[x.b] += 2.0 * Q[0] * V[x.b] - Q[1] * V[a] + A[2];
    z_r[x.c] += 2.0 * Q[0] * V[x.c] - Q[2] * V[a] - A[1];
}

/* driven_modal_inertia_add along one axis */
FA_INLINE void axial_modal_inertia_add(const fa_driven *c, const int n,
                                       const fa_driven_shape *d, fa_real *Y, fa_real *L)
{
    const driven_axes x = DRIVEN_AXES[c->axis];
    const int a = c->axis;

    for (int k = 0; k < c->n; k++) {
        const fa_real *N = d->N + k * n, *W = d->F + 3 * k;
        for (int r = 0; r < n; r++) {
            Y[6 * r + x.b] += N[r] * W[2];
            Y[6 * r + x.c] -= N[r] * W[1];
            Y[6 * r + 3 + a] += N[r] * c->E[3 * k + a];
            for (int s = 0; s <= r; s++) {
                L[fa_tri(r, s)] += N[r] * N[s];
            }
        }
    }
}

/* adds the driven shapes to the deformed body (B1, B6); after its modes */
FA_INLINE void driven_shape(const fa_body *b, const int n, const fa_real *eta,
                            fa_shape *s)
{
    if (b->driven.axis >= 0) {
        axial_shape(&b->driven, n, eta, s);
        return;
    }

    const fa_driven *c = &b->driven;
    fa_driven_shape *d = &s->driven;
    const int p = c->n;

    driven_amplitudes(c, n, eta, d);
    for (int k = 0; k < p; k++) {
        fa_real *F = d->F + 3 * k, *J = d->J + 6 * k, turned[6];

        fa_zero(turned, 6);

        for (int i = 0; i < 3; i++) {
            F[i] = fa_spread(c->F0[3 * k + i]);
        }
        for (int i = 0; i < 6; i++) {
            J[i] = fa_spread(c->J1[6 * k + i]);
        }
        for (int r = 0; r < n; r++) {
            driven_add(c->Fkr + 3 * (k * n + r), 3, eta[r], F);
            driven_add(c->Jkr + 6 * (k * n + r), 6, eta[r], J);
            driven_add(c->Frk + 3 * (k * n + r), 3, d->zeta[k], s->F + 3 * r);
            driven_add(c->Jkr + 6 * (k * n + r), 6, d->zeta[k], s->Jr + 6 * r);
        }
        for (int l = 0; l < p; l++) {
            driven_add(c->Fkl + 3 * (k * p + l), 3, d->zeta[l], F);
            driven_add(c->Jkl + 6 * (k * p + l), 6, d->zeta[l], turned);
        }
        for (int i = 0; i < 6; i++) {
            s->J[i] += (J[i] + 0.5 * turned[i]) * d->zeta[k];
            J[i] += turned[i];
        }
        driven_add(c->E + 3 * k, 3, d->zeta[k], s->mp);
    }
}

/* f += M (zetad; V) on the driven shapes, projected, and on the frame (B2, B6) */
FA_INLINE void driven_mass_mul_add(const fa_driven *c, const int n,
                                   const fa_driven_shape *d, const fa_real *rates,
                                   const fa_real *V, fa_real *f_f, fa_real *f_r)
{
    const int p = c->n;
    fa_real zetad[FA_MAX_DRIVEN];

    if (c->axis >= 0) {
        axial_mass_mul_add(c, n, d, rates, V, f_f, f_r);
        return;
    }
    for (int k = 0; k < p; k++) {
        zetad[k] = driven_rate(d, n, k, rates);
    }
    for (int k = 0; k < p; k++) {
        const fa_constant *E = c->E + 3 * k, *G = c->Gkr + k * n;
        const fa_real *F = d->F + 3 * k;
        fa_real force = fa_dot(F, V) + E[0] * V[3] + E[1] * V[4] + E[2] * V[5];

        for (int l = 0; l < p; l++) {
            force += c->Gkl[k * p + l] * zetad[l];
        }
        for (int r = 0; r < n; r++) {
            force += G[r] * rates[r];
        }
        for (int r = 0; r < n; r++) {
            f_f[r] += G[r] * zetad[k] + d->N[k * n + r] * force;
        }
        for (int i = 0; i < 3; i++) {
            f_r[i] += F[i] * zetad[k];
            f_r[3 + i] += E[i] * zetad[k];
        }
    }
}

/*
 * Velocity forces of the driven shapes (B3, B6), added to z_f [n], z_r [6] and flow [3],
 * the rate of mp; J_r of the modes has its part of zeta by driven_shape.
 *   cross  [3]  omega x v
 */
FA_INLINE void driven_bias(const fa_driven *c, const int n, const fa_driven_shape *d,
                           const fa_real *etad, const fa_real *V, const fa_real *cross,
                           fa_real *z_f, fa_real *z_r, fa_real *flow)
{
    const int p = c->n;
    fa_real zetad[FA_MAX_DRIVEN], zetadd[FA_MAX_DRIVEN];

    if (c->axis >= 0) {
        axial_bias(c, n, d, etad, V, cross, z_f, z_r, flow);
        return;
    }
    for (int k = 0; k < p; k++) {
        zetad[k] = driven_rate(d, n, k, etad);
        zetadd[k] = driven_bend(c, n, k, etad);
    }
    for (int k = 0; k < p; k++) {
        const fa_constant *E = c->E + 3 * k;
        fa_real spin[3], both[3], force;

        fa_zero(both, 3);

        fa_sym_mul(spin, d->J + 6 * k, V);
        force =
            E[0] * cross[0] + E[1] * cross[1] + E[2] * cross[2] - 0.5 * fa_dot(V, spin);
        for (int r = 0; r < n; r++) {
            const fa_constant *kr = c->Fkr + 3 * (k * n + r),
                              *rk = c->Frk + 3 * (k * n + r);
            const fa_real turn = (kr[0] - rk[0]) * V[0] + (kr[1] - rk[1]) * V[1] +
                                 (kr[2] - rk[2]) * V[2];
            force += turn * etad[r];
            z_f[r] += c->Gkr[k * n + r] * zetadd[k] - turn * zetad[k];
            for (int i = 0; i < 3; i++) {
                both[i] += (kr[i] + rk[i]) * etad[r];
            }
        }
        for (int l = 0; l < p; l++) { /* F1(k,l) is skew: driven shapes turn no node */
            const fa_constant *kl = c->Fkl + 3 * (k * p + l);
            const fa_real turn = kl[0] * V[0] + kl[1] * V[1] + kl[2] * V[2];
            force += 2.0 * turn * zetad[l] + c->Gkl[k * p + l] * zetadd[l];
        }
        for (int r = 0; r < n; r++) {
            z_f[r] += d->N[k * n + r] * force;
        }
        for (int i = 0; i < 3; i++) {
            z_r[i] += (spin[i] + both[i]) * zetad[k] + d->F[3 * k + i] * zetadd[k];
            z_r[3 + i] += E[i] * zetadd[k];
            flow[i] += E[i] * zetad[k];
        }
    }
}

/* adds N' of the driven rows to M_fr, (angular; linear) row by row, and to M_ff (B6) */
FA_INLINE void driven_modal_inertia_add(const fa_driven *c, const int n,
                                        const fa_driven_shape *d, fa_real *Y,
                                        fa_real *L)
{
    const int p = c->n;

    if (c->axis >= 0) {
        axial_modal_inertia_add(c, n, d, Y, L);
        return;
    }
    for (int k = 0; k < p; k++) {
        const fa_constant *E = c->E + 3 * k, *G = c->Gkr + k * n;
        const fa_real *N = d->N + k * n, *F = d->F + 3 * k;

        for (int r = 0; r < n; r++) {
            fa_real coupled = fa_spread(G[r]);
            for (int i = 0; i < 3; i++) {
                Y[6 * r + i] += N[r] * F[i];
                Y[6 * r + 3 + i] += N[r] * E[i];
            }
            for (int l = 0; l < p; l++) {
                coupled += c->Gkl[k * p + l] * d->N[l * n + r];
            }
            /* row s takes N_ks (G(k,r) + G(k,l) N_lr), and G(s,k) N_kr */
            for (int s = r; s < n; s++) {
                L[fa_tri(s, r)] += N[s] * coupled + G[s] * N[r];
            }
        }
    }
}

/* E_k zeta_k, added to the first moment of the weight (B4, B6) */
FA_INLINE void driven_moment_add(const fa_driven *c, const int n, const fa_real *eta,
                                 fa_real *mp)
{
    for (int k = 0; k < c->n; k++) {
        fa_real zeta = {0};
        for (int r = 0; r < n * n; r++) {
            zeta += 0.5 * c->K[k * n * n + r] * eta[r / n] * eta[r % n];
        }
        driven_add(c->E + 3 * k, 3, zeta, mp);
    }
}

#endif
