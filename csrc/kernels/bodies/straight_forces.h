/*
 * straight_forces.h -- forces of the motion of a straight body (M3, M4)
 *
 * What the bodies of straight.h need for a motion, in its notation:
 *
 * Equations   forces depend on velocities by omega and the true acceleration of the
 *             origin, x = v' + omega x v, alone, as masses do not feel where the
 *             velocity v is counted from. With alpha = omega', q_k = zeta_k'':
 *             f_k = E_k x_a + (W_kc alpha_b - W_kb alpha_c) + q_k
 *                   - w_k' (omega_b^2 + omega_c^2) + omega_a (W_kb omega_b + W_kc omega_c)
 *                   + 2 (u_kr e_r (c) omega_b - u_kr e_r (b) omega_c)
 *             tau_r = (G etadd + K eta + C e)_r + E_r x_own + F0_r alpha_o
 *                   - J1_r omega_a omega_own - X_r (p alpha_a - omega_b omega_c)
 *                   - A_r (omega_a^2 + omega_o^2) + U_r (p alpha_o + omega_a omega_own)
 *                   + 2 p (omega_o u_kr zetad_k - omega_a X(r,s) e_s) + N_kr f_k  (M3)
 *             with rotary inertia + S_r (omega_a^2 - omega_own^2), X_F beside alpha_a and
 *             X_G, the mean of X_F by rows and columns, beside e_s              (M3a)
 *             and of all F_r alpha - 1/2 omega J_r omega of M2b, with gyroscopic forces
 *             (T_F - T_R)(t,r) omega_own e_t on r, the opposite on t            (M3b)
 *             h = F_r e_r + F_k zetad_k,  d = mp1_r e_r + E_k zetad_k
 *             n = J alpha + mp x x + h'' + J' omega + omega x (J omega + h)
 *             f = m x + alpha x mp + d'' + omega x (omega x mp + 2 d)             (M4)
 *             with J' the rate of J, and h'', d'' as h, d with etadd and q_k; with rotary
 *             inertia h'' on a - p X_F(r,s) e_r e_s, on own (T_F + T_R)(t,r) e_t e_r,
 *             which else are zero.
 * Checked by  tests/beams/test_straight.py: the same body without its flag;
 *             Lagrangian, twin.
 */
#ifndef FA_STRAIGHT_FORCES_H
#define FA_STRAIGHT_FORCES_H

#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "kernels/bodies/straight.h"
#include "kernels/bodies/strain.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"
#include "model/straight_bodies.h"

/* how a body moves: on a, b, c, angular velocity and acceleration, acceleration of the
 * origin; etadd and alpha have a meaning only if they are asked for */
typedef struct {
    const fa_real *eta, *etad, *etadd;
    fa_real omega[3], alpha[3], x[3];
} straight_motion;

/* sums over modes and driven shapes (M4) */
typedef struct {
    fa_real h[3], h2[3], d[3], d2[3], J[6];
} straight_sums;

/* forces on the driven shapes; their sums (M3, M4) */
FA_INLINE void straight_driven(const fa_body *b, const straight_size z,
                               const straight_shape *s, const straight_motion *v,
                               const int what, fa_real *zetad, fa_real *force,
                               straight_sums *sum)
{
    const fa_real *w = v->omega;
    const fa_real across = w[1] * w[1] + w[2] * w[2];

    FA_UNROLL
    for (int k = 0; k < z.driven; k++) {
        const fa_constant E = b->straight.constants[FA_STRAIGHT_E + k];
        const fa_real Wb = s->of[0].W[k], Wc = s->of[1].W[k];
        fa_real moved[2], bend = {0};

        zetad[k] = (fa_real){0};
        FA_UNROLL
        for (int d = 0; d < 2; d++) {
            const int n = z.bends[d];
            const straight_bends *g = s->of + d;
            const fa_real *rate = v->etad + z.at[d];
            const fa_real *second = what ? v->etadd + z.at[d] : NULL;
            moved[d] = straight_sum(n, g->c + FA_BEND_U(n) + k * n, rate);
            FA_UNROLL
            for (int r = 0; r < n; r++) {
                const fa_constant *row = g->c + FA_BEND_N(n) + (k * n + r) * n;
                zetad[k] += g->N[k * n + r] * rate[r];
                bend += straight_sum(n, row, rate) * rate[r];
                if (what) {
                    bend += g->N[k * n + r] * second[r];
                }
            }
        }
        force[k] = E * v->x[0] + bend - s->along[k] * across +
                   w[0] * (Wb * w[1] + Wc * w[2]) +
                   2.0 * (moved[1] * w[1] - moved[0] * w[2]);
        if (what) {
            force[k] += Wc * v->alpha[1] - Wb * v->alpha[2];
        }
        sum->h[1] += Wc * zetad[k];
        sum->h[2] -= Wb * zetad[k];
        sum->h2[1] += Wc * bend;
        sum->h2[2] -= Wb * bend;
        sum->d[0] += E * zetad[k];
        sum->d2[0] += E * bend;
        sum->J[1] -= Wb * zetad[k];
        sum->J[2] -= Wc * zetad[k];
        sum->J[3] += 2.0 * s->along[k] * zetad[k];
        sum->J[5] += 2.0 * s->along[k] * zetad[k];
    }
}

/* what twist adds to row r of the modes that bend along d, and to their sums (M3b) */
FA_INLINE fa_real straight_row_twisted(const fa_body *b, const straight_size z,
                                       const int d, const int r,
                                       const straight_shape *s,
                                       const straight_motion *v, const int what,
                                       straight_sums *sum)
{
    const int n = z.twists, m = z.bends[d], own = 1 + d, o = 2 - d;
    const fa_constant *with = straight_mixed(b, z, d) + r;
    const straight_bends *g = s->of + d;
    const fa_real rate = v->etad[z.at[d] + r];
    fa_real row = -v->omega[0] * v->omega[o] * g->H[r];

    FA_UNROLL
    for (int t = 0; t < n; t++) {
        const fa_real turn = v->etad[z.at[2] + t];
        const fa_constant TF = with[FA_TWIST_TF + t * m];
        const fa_constant TR = with[FA_TWIST_TR(n, m) + t * m];
        row += (TF - TR) * (v->omega[own] * turn);
        sum->h2[own] += (TF + TR) * (rate * turn);
    }
    sum->h[own] += g->T[r] * rate;
    sum->J[o] += g->H[r] * rate;
    if (what) {
        row += g->T[r] * v->alpha[own];
        sum->h2[own] += g->T[r] * v->etadd[z.at[d] + r];
    }
    return row;
}

/* rows of the modes that bend along direction d, and their sums (M3, M4) */
FA_INLINE void straight_rows(const fa_body *b, const straight_size z, const int d,
                             const straight_shape *s, const straight_motion *v,
                             const int what, const fa_real *zetad, const fa_real *force,
                             fa_real *z_f, straight_sums *sum)
{
    const int n = z.bends[d], m = z.bends[!d], at = z.at[d];
    const int own = 1 + d, o = 2 - d;
    const double p = d ? -1.0 : 1.0;
    const straight_bends *g = s->of + d;
    const fa_constant *c = g->c;
    const fa_real *w = v->omega, *eta = v->eta + at, *rate = v->etad + at;
    const fa_real *others = v->etad + z.at[!d];
    const fa_real fast = w[0] * w[0] + w[o] * w[o], slant = w[0] * w[own];
    const fa_real bc = w[1] * w[2], twice_a = 2.0 * p * w[0], twice_o = 2.0 * p * w[o];
    const fa_real turn = what ? p * v->alpha[0] - bc : -bc;
    const fa_real lift = what ? p * v->alpha[o] + slant : slant;
    const fa_real gyro = w[0] * w[0] - w[own] * w[own];
    const fa_constant *X_G = c + (z.rotary ? FA_BEND_XG(n, m) : FA_BEND_X(n));
    const fa_real *X_F = z.rotary ? g->F : g->X;
    fa_real spin = {0}, slanted = {0}, turned = {0}, spun = {0};

    FA_UNROLL
    for (int r = 0; r < n; r++) {
        const fa_real J1 = fa_spread(c[FA_BEND_J1(n) + r]),
                      E = fa_spread(c[FA_BEND_E(n) + r]);
        const fa_real F = c[FA_BEND_F0 + r] + p * g->U[r];
        fa_real row = E * v->x[own] - J1 * slant - g->X[r] * turn - g->A[r] * fast +
                      g->U[r] * lift;
        row += straight_sum(n, c + FA_BEND_K(n) + r * n, eta);
        row += straight_sum(n, c + FA_BEND_C(n) + r * n, rate);
        row -= twice_a * straight_sum(m, X_G + r * m, others);
        if (z.rotary) {
            const fa_real flow = straight_sum(m, c + FA_BEND_XF(n, m) + r * m, others);
            row += g->S[r] * gyro;
            row += what ? p * v->alpha[0] * (g->X[r] - g->F[r]) : (fa_real){0};
            turned += g->F[r] * rate[r];
            sum->h2[0] -= p * flow * rate[r];
            spun += g->S[r] * rate[r];
        }
        FA_UNROLL
        for (int k = 0; k < z.driven; k++) {
            row += twice_o * (c[FA_BEND_U(n) + k * n + r] * zetad[k]);
            row += g->N[k * n + r] * force[k];
        }
        if (what) {
            const fa_real *second = v->etadd + at;
            row += c[FA_BEND_F0 + r] * v->alpha[o];
            row += straight_sum(n, c + FA_BEND_G(n) + r * n, second);
            sum->h2[0] -= p * X_F[r] * second[r];
            sum->h2[o] += F * second[r];
            sum->d2[own] += E * second[r];
        }
        if (z.twists > 0) {
            row += straight_row_twisted(b, z, d, r, s, v, what, sum);
        }
        z_f[at + r] = row;
        spin += g->A[r] * rate[r];
        slanted += g->X[r] * rate[r];
        sum->h[o] += F * rate[r];
        sum->d[own] += E * rate[r];
        sum->J[own] += (J1 - g->U[r]) * rate[r];
    }
    sum->h[0] -= p * (z.rotary ? turned : slanted);
    sum->J[0] += 2.0 * spin;
    sum->J[d ? 3 : 5] += 2.0 * spin;
    sum->J[4] -= slanted;
    if (z.rotary) {
        sum->J[0] -= 2.0 * spun;
        sum->J[d ? 5 : 3] += 2.0 * spun;
    }
}

/* what bending modes do to row t of the twisting modes, and to its sums (M3b) */
FA_INLINE fa_real straight_twist_bent(const fa_body *b, const straight_size z,
                                      const int t, const straight_shape *s,
                                      const straight_motion *v, const int what,
                                      straight_sums *sum)
{
    const int n = z.twists;
    const fa_real rate = v->etad[z.at[2] + t];
    fa_real row = {0};

    FA_UNROLL
    for (int d = 0; d < 2; d++) {
        const int m = z.bends[d], own = 1 + d, o = 2 - d;
        const fa_constant *with = straight_mixed(b, z, d) + t * m;
        const fa_real *rates = v->etad + z.at[d];
        row -= v->omega[0] * v->omega[o] * s->H[d][t];
        FA_UNROLL
        for (int r = 0; r < m; r++) {
            row += (with[FA_TWIST_TR(n, m) + r] - with[FA_TWIST_TF + r]) *
                   (v->omega[own] * rates[r]);
        }
        sum->h[own] += s->T[d][t] * rate;
        sum->J[o] += s->H[d][t] * rate;
        if (what) {
            row += s->T[d][t] * v->alpha[own];
            sum->h2[own] += s->T[d][t] * v->etadd[z.at[2] + t];
        }
    }
    return row;
}

/* rows of the twisting modes, and their sums */
FA_INLINE void straight_twists(const fa_body *b, const straight_size z,
                               const straight_shape *s, const straight_motion *v,
                               const int what, fa_real *z_f, straight_sums *sum)
{
    const int n = z.twists, at = z.at[2];
    const fa_constant *c = straight_twist(b, z);
    const fa_real bc = v->omega[1] * v->omega[2];
    const fa_real apart = v->omega[1] * v->omega[1] - v->omega[2] * v->omega[2];

    FA_UNROLL
    for (int r = 0; r < n; r++) {
        fa_real row = straight_sum(n, c + FA_TWIST_K(n) + r * n, v->eta + at);
        row += straight_sum(n, c + FA_TWIST_C(n) + r * n, v->etad + at);
        if (what) {
            row += straight_sum(n, c + FA_TWIST_G(n) + r * n, v->etadd + at);
            row += c[FA_TWIST_F0 + r] * v->alpha[0];
            sum->h2[0] += c[FA_TWIST_F0 + r] * v->etadd[at + r];
        }
        row -= c[FA_TWIST_J1(n) + r] * bc + s->D[r] * apart;
        row += straight_twist_bent(b, z, r, s, v, what, sum);
        sum->h[0] += c[FA_TWIST_F0 + r] * v->etad[at + r];
        sum->J[3] += 2.0 * s->D[r] * v->etad[at + r];
        sum->J[4] += c[FA_TWIST_J1(n) + r] * v->etad[at + r];
        sum->J[5] -= 2.0 * s->D[r] * v->etad[at + r];
        z_f[at + r] = row;
    }
}

/*
 * Forces of a motion, K eta + C etad among them, written to z_f [n] and f [6] (M3, M4).
 *   V, a   [6]  twist and acceleration of the body, component by component
 *   what   0: velocity forces alone, at a = 0 and etadd = 0
 */
FA_INLINE void straight_force(const fa_body *b, const straight_size z,
                              const straight_shape *s, const fa_real *eta,
                              const fa_real *etad, const fa_real *etadd, const int what,
                              const fa_real *V, const fa_real *a, fa_real *z_f,
                              fa_real *f)
{
    const int axis[3] = {z.axis, DRIVEN_AXES[z.axis].b, DRIVEN_AXES[z.axis].c};
    straight_motion v;
    straight_sums sum;
    fa_real zetad[2], force[2], cross[3], n[3], t[3];

    v.eta = eta;
    v.etad = etad;
    v.etadd = etadd;
    fa_zero(&sum.h[0], 3);
    fa_zero(&sum.h2[0], 3);
    fa_zero(&sum.d[0], 3);
    fa_zero(&sum.d2[0], 3);
    fa_zero(&sum.J[0], 6);
    fa_cross(cross, V, V + 3);
    for (int i = 0; i < 3; i++) {
        v.omega[i] = V[axis[i]];
        v.x[i] = cross[axis[i]];
        if (what) {
            v.alpha[i] = a[axis[i]];
            v.x[i] += a[3 + axis[i]];
        }
    }
    straight_driven(b, z, s, &v, what, zetad, force, &sum);
    straight_rows(b, z, 0, s, &v, what, zetad, force, z_f, &sum);
    straight_rows(b, z, 1, s, &v, what, zetad, force, z_f, &sum);
    straight_twists(b, z, s, &v, what, z_f, &sum);
    if (b->strain.n > 0) {
        const strain_size own = {{z.at[0], z.at[1], z.at[2]},
                                 {z.bends[0], z.bends[1], z.twists}};
        strain_force_add(&b->strain, own, eta, z_f);
    }

    fa_sym_mul_add(sum.h, s->J, v.omega);
    fa_cross(n, v.omega, sum.h);
    fa_sym_mul_add(n, sum.J, v.omega);
    fa_cross_add(n, s->mp, v.x);
    fa_cross(t, v.omega, s->mp);
    for (int i = 0; i < 3; i++) {
        t[i] += 2.0 * sum.d[i];
    }
    fa_cross_add(sum.d2, v.omega, t);
    if (what) {
        fa_sym_mul_add(n, s->J, v.alpha);
        fa_cross_add(sum.d2, v.alpha, s->mp);
    }
    for (int i = 0; i < 3; i++) {
        f[axis[i]] = n[i] + sum.h2[i];
        f[3 + axis[i]] = b->mass * v.x[i] + sum.d2[i];
    }
}

#endif
