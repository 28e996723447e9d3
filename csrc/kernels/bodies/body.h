/*
 * body.h -- one flexible body: modal mass matrix and velocity terms (B1 to B5)
 *
 * Equations   mp = mp0 + mp1 eta, F_r = F0_r + F1(r,s) eta_s,
 *             J_r = J1_r + J2(r,s) eta_s, J = J0 + 1/2 (J1_r + J_r) eta_r       (B1)
 *             M_m = [[G, F', E'], [F, J, mp~], [E, -mp~, m]]                    (B2)
 *             (pi; h; P) = M_m (etad; omega; v),
 *             b_eta(r) = (F1(r,s) - F1(s,r)).omega etad_s - 1/2 omega.J_r omega
 *                        + mp1_r.(omega x v)
 *             b_omega  = F1(r,s) etad_r etad_s + J_r omega etad_r
 *                        + (mp1 etad) x v + omega x h + v x P
 *             b_v      = omega x (mp1 etad + P)                                 (B3)
 *             gravity enters as an acceleration of the base, E_r.g on mode r; its
 *             potential has the centre of mass at mp0 + E eta, so the moment gains
 *             g x (E - mp1) eta where given integrals have E apart from mp1      (B4)
 *             f_m = M_m (etadd; alpha) + b_m + (K eta + C etad + dV; 0; 0)      (B5)
 *             Sums over the repeated modes s, and r where it is not free.
 * Source      Jain and Rodriguez, eqs. 23 and 86; the velocity terms are those of the
 *             kinetic energy (Boltzmann-Hamel), exact for any offsets and inertias,
 *             where appendix C.4 of the patent is not (its digest, 5.3).
 * Checked by  tests/dynamics/test_dynamics.py, tests/bodies/test_modal.py.
 */
#ifndef FA_BODY_H
#define FA_BODY_H

#include "kernels/bodies/driven.h"
#include "kernels/bodies/strain.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

FA_INLINE void body_shape(const fa_body *b, const int n, const fa_real *eta,
                          fa_shape *s)
{
    const fa_modal *c = &b->modal;

    for (int i = 0; i < 3; i++) {
        s->mp[i] = fa_spread(b->mp0[i]);
    }
    for (int i = 0; i < 6; i++) {
        s->J[i] = fa_spread(b->J0[i]);
    }
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 3; i++) {
            s->F[3 * r + i] = fa_spread(c->F0[3 * r + i]);
            s->mp[i] += c->mp1[3 * r + i] * eta[r];
        }
        for (int i = 0; i < 6; i++) {
            s->Jr[6 * r + i] = fa_spread(c->J1[6 * r + i]);
        }
        for (int k = 0; k < n; k++) {
            for (int i = 0; i < 3; i++) {
                s->F[3 * r + i] += c->F1[3 * (r * n + k) + i] * eta[k];
            }
            for (int i = 0; i < 6; i++) {
                s->Jr[6 * r + i] += c->J2[6 * (r * n + k) + i] * eta[k];
            }
        }
        for (int i = 0; i < 6; i++) {
            s->J[i] += 0.5 * (c->J1[6 * r + i] + s->Jr[6 * r + i]) * eta[r];
        }
    }
    if (b->driven.n > 0) {
        driven_shape(b, n, eta, s);
    }
}

/*
 * f = M_m (rates; V), added to f_f [n] and f_r [6] (B2). Also momentum from velocity.
 */
FA_INLINE void body_mass_mul_add(const fa_body *b, const int n, const fa_shape *s,
                                 const fa_real *rates, const fa_real *V, fa_real *f_f,
                                 fa_real *f_r)
{
    const fa_modal *c = &b->modal;

    for (int r = 0; r < n; r++) {
        const fa_constant *E = c->E + 3 * r;
        for (int k = 0; k <= r; k++) {
            f_f[r] += c->G[fa_tri(r, k)] * rates[k];
        }
        for (int k = r + 1; k < n; k++) {
            f_f[r] += c->G[fa_tri(k, r)] * rates[k];
        }
        f_f[r] += fa_dot(s->F + 3 * r, V) + E[0] * V[3] + E[1] * V[4] + E[2] * V[5];
        for (int i = 0; i < 3; i++) {
            f_r[i] += s->F[3 * r + i] * rates[r];
            f_r[3 + i] += E[i] * rates[r];
        }
    }
    fa_sym_mul_add(f_r, s->J, V);
    fa_cross_add(f_r, s->mp, V + 3);
    fa_cross_add(f_r + 3, V, s->mp);
    for (int i = 0; i < 3; i++) {
        f_r[3 + i] += b->mass * V[3 + i];
    }
    if (b->driven.n > 0) {
        driven_mass_mul_add(&b->driven, n, &s->driven, rates, V, f_f, f_r);
    }
}

/*
 * Velocity forces b_m (B3), written to z_f [n] and z_r [6].
 *   etad  [n], V [6]  modal rates and twist of the body
 */
FA_INLINE void body_bias(const fa_body *b, const int n, const fa_shape *s,
                         const fa_real *etad, const fa_real *V, fa_real *z_f,
                         fa_real *z_r)
{
    const fa_modal *c = &b->modal;
    fa_real momentum[6], modal[FA_MAX_SHAPES], flow[3], cross[3];

    fa_zero(momentum, 6);
    fa_zero(modal, n);
    fa_zero(flow, 3);
    fa_zero(z_r, 6);
    body_mass_mul_add(b, n, s, etad, V, modal, momentum);
    fa_cross(cross, V, V + 3);

    for (int r = 0; r < n; r++) {
        fa_real spin[3];
        fa_sym_mul(spin, s->Jr + 6 * r, V);
        z_f[r] = c->mp1[3 * r] * cross[0] + c->mp1[3 * r + 1] * cross[1] +
                 c->mp1[3 * r + 2] * cross[2] - 0.5 * fa_dot(V, spin);
        for (int i = 0; i < 3; i++) {
            flow[i] += c->mp1[3 * r + i] * etad[r];
            z_r[i] += spin[i] * etad[r];
        }
    }
    if (b->driven.n > 0) {
        driven_bias(&b->driven, n, &s->driven, etad, V, cross, z_f, z_r, flow);
    }
    for (int r = 0; r < n; r++) {
        for (int k = 0; k < r; k++) {
            const fa_constant *rk = c->F1 + 3 * (r * n + k),
                              *kr = c->F1 + 3 * (k * n + r);
            const fa_real turn = (rk[0] - kr[0]) * V[0] + (rk[1] - kr[1]) * V[1] +
                                 (rk[2] - kr[2]) * V[2];
            z_f[r] += turn * etad[k];
            z_f[k] -= turn * etad[r];
        }
    }
    /* the symmetric part of F1, of sections that turn their inertia */
    for (int r = 0; r < n && !b->F1_is_skew; r++) {
        for (int k = 0; k <= r; k++) {
            const fa_constant *rk = c->F1 + 3 * (r * n + k),
                              *kr = c->F1 + 3 * (k * n + r);
            const fa_real both = (k == r ? 0.5 : 1.0) * etad[r] * etad[k];
            for (int i = 0; i < 3; i++) {
                z_r[i] += (rk[i] + kr[i]) * both;
            }
        }
    }
    if (n > 0) {
        fa_cross_add(z_r, flow, V + 3);
    }
    fa_cross_add(z_r, V, momentum);
    fa_cross_add(z_r, V + 3, momentum + 3);
    for (int i = 0; i < 3; i++) {
        momentum[3 + i] += flow[i];
    }
    fa_cross_add(z_r + 3, V, momentum + 3);
}

/* K eta + C etad, and what the strain energy has beyond K, added to z_f (B5, U3) */
FA_INLINE void body_elastic_add(const fa_body *b, const int n, const fa_real *eta,
                                const fa_real *etad, fa_real *z_f)
{
    for (int r = 0; r < n; r++) {
        for (int k = 0; k < n; k++) {
            z_f[r] += b->modal.K[r * n + k] * eta[k] + b->modal.C[r * n + k] * etad[k];
        }
    }
    if (b->strain.n > 0) {
        strain_any_add(&b->strain, eta, z_f);
    }
}

/* first moment of the weight, mp0 + E eta + E_k zeta_k (B4, B6) */
FA_INLINE void body_weight_moment(const fa_body *b, const fa_real *eta, fa_real *mp)
{
    for (int i = 0; i < 3; i++) {
        mp[i] = fa_spread(b->mp0[i]);
        for (int r = 0; r < b->n_modes; r++) {
            mp[i] += b->modal.E[3 * r + i] * eta[r];
        }
    }
    driven_moment_add(&b->driven, b->n_modes, eta, mp);
}

/*
 * Moment of gravity of offset masses that turn with their nodes, added to z_r: the first
 * moment of the weight is mp0 + E eta, that of the inertia mp0 + mp1 eta; g in body axes
 * (B4).
 */
FA_INLINE void body_offset_gravity_add(const fa_body *b, const int n,
                                       const fa_real *eta, const fa_real *g,
                                       fa_real *z_r)
{
    fa_real turned[3];

    fa_zero(turned, 3);
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 3; i++) {
            turned[i] += (b->modal.E[3 * r + i] - b->modal.mp1[3 * r + i]) * eta[r];
        }
    }
    fa_cross_add(z_r, g, turned);
}

/* M_fr row by row (angular; linear) [n][6] and the triangle of M_ff (B2, B6) */
FA_INLINE void body_modal_inertia(const fa_body *b, const int n, const fa_shape *s,
                                  fa_real *Y, fa_real *L)
{
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 3; i++) {
            Y[6 * r + i] = s->F[3 * r + i];
            Y[6 * r + 3 + i] = fa_spread(b->modal.E[3 * r + i]);
        }
    }
    for (int i = 0; i < n * (n + 1) / 2; i++) {
        L[i] = fa_spread(b->modal.G[i]);
    }
    if (b->driven.n > 0) {
        driven_modal_inertia_add(&b->driven, n, &s->driven, Y, L);
    }
}

/* rigid block M_rr as a 6 x 6 inertia */
FA_INLINE void body_rigid_inertia(const fa_body *b, const fa_shape *s, fa_inertia *P)
{
    const fa_real zero = {0}, m = fa_spread(b->mass);
    const fa_real D[6] = {m, zero, zero, m, zero, m};
    for (int i = 0; i < 6; i++) {
        P->A[i] = s->J[i];
        P->D[i] = D[i];
    }
    fa_cross_matrix(P->B, s->mp);
}

#endif
