/*
 * strain.h -- strain energy of a straight beam beyond the quadratic one (U2, U3)
 *
 * Equations   of a Gauss point, with the sines of two slopes x = (x_0, x_1), the twist
 *             theta and their rates k along the beam, sigma = x.x, tau = x.k,
 *             chi = x_0 k_1 - x_1 k_0, a_2 = 1/2 + sigma/8, a_3 = 1/2 + 3 sigma/8,
 *             t = theta' - a_2 chi,  b = k + a_3 tau x,
 *             kappa = (C b_0 + S b_1, C b_1 - S b_0),
 *             C = 1 - theta^2/2 + theta^4/24,  S = theta - theta^3/6               (U2)
 *             V = 1/2 sum EI (kappa^2 - k^2) + GJ (t^2 - theta'^2)                 (U3)
 *             Moments m of b, p = m.x, w = a_3 tau, M = GJ t:
 *             dV/dk_0 = m_0 + a_3 p x_0 + M a_2 x_1 - EI k_0,
 *             dV/dk_1 = m_1 + a_3 p x_1 - M a_2 x_0 - EI k_1,
 *             dV/dx_0 = m_0 w + p (a_3 k_0 + 3/4 tau x_0) - M (a_2 k_1 + chi x_0/4),
 *             dV/dx_1 = m_1 w + p (a_3 k_1 + 3/4 tau x_1) + M (a_2 k_0 - chi x_1/4),
 *             dV/dtheta = EI kappa . dkappa/dtheta,  dV/dtheta' = M - GJ theta'.
 *             Where EI is one number, kappa^2 = (C^2 + S^2) b^2, and m = (C^2 + S^2) EI b.
 *             One or two modes in one plane have polynomials in place of the sum.
 * Checked by  tests/beams/test_strain_energy.py
 */
#ifndef FA_KERNELS_STRAIN_H
#define FA_KERNELS_STRAIN_H

#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* modes of two directions and of twist: the first of each, their numbers */
typedef struct {
    int at[3], count[3];
} strain_size;

/* slopes and twist x, their rates k, at one point */
typedef struct {
    fa_real x[3], k[3];
} strain_point;

/* the constants of a point */
FA_INLINE int strain_stride(const strain_size z)
{
    return 3 + 2 * (z.count[0] + z.count[1] + z.count[2]);
}

/* x and k of a point for coordinates eta */
FA_INLINE void strain_at(const strain_size z, const fa_constant *c, const fa_real *eta,
                         strain_point *s)
{
    const fa_constant *row = c + 3;

    FA_UNROLL
    for (int d = 0; d < 3; d++) {
        const int n = z.count[d];
        s->x[d] = s->k[d] = (fa_real){0};
        FA_UNROLL
        for (int r = 0; r < n; r++) {
            s->x[d] += row[r] * eta[z.at[d] + r];
            s->k[d] += row[n + r] * eta[z.at[d] + r];
        }
        row += 2 * n;
    }
}

/* what bending alone follows from; m, the moments of b, from who has them */
typedef struct {
    fa_real sigma, tau, a3, w, m[2];
} strain_bending;

FA_INLINE void strain_bending_at(const strain_point *s, strain_bending *bend)
{
    const fa_real *x = s->x, *k = s->k;

    bend->sigma = x[0] * x[0] + x[1] * x[1];
    bend->tau = x[0] * k[0] + x[1] * k[1];
    bend->a3 = 0.5 + 0.375 * bend->sigma;
    bend->w = bend->a3 * bend->tau;
}

/* the same with twist */
typedef struct {
    strain_bending bend;
    fa_real chi, a2, b[2], C, S, turned, kappa[2], M[3];
} strain_moments;

FA_INLINE void strain_moments_at(const fa_constant *c, const strain_point *s,
                                 strain_moments *m)
{
    const fa_real *x = s->x, *k = s->k, theta = x[2], square = theta * theta;

    strain_bending_at(s, &m->bend);
    m->chi = x[0] * k[1] - x[1] * k[0];
    m->a2 = 0.5 + 0.125 * m->bend.sigma;
    m->C = 1.0 - square * (0.5 - (1.0 / 24.0) * square);
    m->S = theta * (1.0 - (1.0 / 6.0) * square);
    m->turned = 1.0 - 0.5 * square; /* dS/dtheta; dC/dtheta = -S */
    m->b[0] = k[0] + m->bend.w * x[0];
    m->b[1] = k[1] + m->bend.w * x[1];
    m->kappa[0] = m->C * m->b[0] + m->S * m->b[1];
    m->kappa[1] = m->C * m->b[1] - m->S * m->b[0];
    m->M[0] = c[0] * m->kappa[0];
    m->M[1] = c[1] * m->kappa[1];
    m->M[2] = c[2] * (k[2] - m->a2 * m->chi);
    m->bend.m[0] = m->C * m->M[0] - m->S * m->M[1];
    m->bend.m[1] = m->S * m->M[0] + m->C * m->M[1];
}

/* derivatives of the energy by x and k */
FA_INLINE void strain_forces(const fa_constant *c, const strain_point *s,
                             const strain_moments *m, strain_point *f)
{
    const fa_real *x = s->x, *k = s->k, *M = m->M;
    const fa_real m0 = m->bend.m[0], m1 = m->bend.m[1], a3 = m->bend.a3, w = m->bend.w;
    const fa_real p = m0 * x[0] + m1 * x[1], bent = 0.75 * m->bend.tau;
    const fa_real lean = 0.25 * m->chi;

    f->k[0] = m0 + a3 * p * x[0] + M[2] * m->a2 * x[1] - c[0] * k[0];
    f->k[1] = m1 + a3 * p * x[1] - M[2] * m->a2 * x[0] - c[1] * k[1];
    f->k[2] = M[2] - c[2] * k[2];
    f->x[0] =
        m0 * w + p * (a3 * k[0] + bent * x[0]) - M[2] * (m->a2 * k[1] + lean * x[0]);
    f->x[1] =
        m1 * w + p * (a3 * k[1] + bent * x[1]) + M[2] * (m->a2 * k[0] - lean * x[1]);
    f->x[2] = M[0] * (m->turned * m->b[1] - m->S * m->b[0]) -
              M[1] * (m->turned * m->b[0] + m->S * m->b[1]);
}

/* y += what forces on x and k do on the modes */
FA_INLINE void strain_rows_add(const strain_size z, const fa_constant *c,
                               const strain_point *f, const int stride, fa_real *y)
{
    const fa_constant *row = c + 3;

    FA_UNROLL
    for (int d = 0; d < 3; d++) {
        const int n = z.count[d];
        FA_UNROLL
        for (int r = 0; r < n; r++) {
            fa_real *entry = y + (z.at[d] + r) * stride;
            *entry = *entry + row[r] * f->x[d] + row[n + r] * f->k[d];
        }
        row += 2 * n;
    }
}

/* forces of a beam that bends in one plane: kappa = k (1 + x^2/2 + 3/8 x^4) */
FA_INLINE void strain_plane_add(const strain_size z, const int d, int n_points,
                                const fa_constant *c, const fa_real *eta, fa_real *z_f)
{
    const int n = z.count[d], at = z.at[d];

    for (int g = 0; g < n_points; g++, c += 3 + 2 * n) {
        const fa_constant *row = c + 3;
        fa_real x = {0}, k = {0};
        FA_UNROLL
        for (int r = 0; r < n; r++) {
            x += row[r] * eta[at + r];
            k += row[n + r] * eta[at + r];
        }
        const fa_real square = x * x;
        const fa_real more = square * (0.5 + 0.375 * square);
        const fa_real moment = c[d] * k, whole = 1.0 + more;
        const fa_real on_k = moment * (more * (1.0 + whole));
        const fa_real on_x = moment * k * x * (whole * (1.0 + 1.5 * square));
        FA_UNROLL
        for (int r = 0; r < n; r++) {
            z_f[at + r] += row[r] * on_x + row[n + r] * on_k;
        }
    }
}

/* P(u, v) of FA_STRAIN_TERMS coefficients, the highest powers first */
FA_INLINE fa_real strain_polynomial(const fa_constant *c, fa_real u, fa_real v)
{
    fa_real sum = {0};

    FA_UNROLL
    for (int j = FA_STRAIN_DEGREE; j >= 0; j--) {
        const int last = j > 0 ? j : 1;
        fa_real inner = {0};
        FA_UNROLL
        for (int t = FA_STRAIN_DEGREE; t >= last; t--) {
            inner = inner * u + *c++;
        }
        sum = sum * v + (j > 0 ? inner : inner * u);
    }
    return sum;
}

/* forces of one or two modes that bend in one plane, from `at` on */
FA_INLINE void strain_few_add(const fa_constant *c, const int n, int at,
                              const fa_real *eta, fa_real *z_f)
{
    const fa_real a = eta[at], u = a * a;

    if (n == 1) {
        c += FA_STRAIN_TERMS - FA_STRAIN_DEGREE;
        z_f[at] += a * u * (((c[0] * u + c[1]) * u + c[2]) * u + c[3]);
        return;
    }
    const fa_real b = eta[at + 1], v = b * b;
    FA_UNROLL
    for (int r = 0; r < 2; r++) {
        z_f[at + r] += a * strain_polynomial(c, u, v);
        z_f[at + r] += b * strain_polynomial(c + FA_STRAIN_TERMS, u, v);
        c += 2 * FA_STRAIN_TERMS;
    }
}

/* derivatives of the energy by x and k without twist */
FA_INLINE void strain_bends(const fa_constant *c, const strain_point *s,
                            strain_point *f)
{
    const fa_real *x = s->x, *k = s->k;
    strain_bending b;

    strain_bending_at(s, &b);
    const fa_real w = b.w;
    const fa_real more[2] = {c[0] * (w * x[0]), c[1] * (w * x[1])}; /* of kappa - k */
    const fa_real m0 = more[0] + c[0] * k[0], m1 = more[1] + c[1] * k[1];
    const fa_real p = m0 * x[0] + m1 * x[1], q = b.a3 * p, bent = 0.75 * b.tau * p;

    f->k[0] = more[0] + q * x[0];
    f->k[1] = more[1] + q * x[1];
    f->x[0] = m0 * w + q * k[0] + bent * x[0];
    f->x[1] = m1 * w + q * k[1] + bent * x[1];
    f->x[2] = f->k[2] = (fa_real){0};
}

/*
 * strain_forces where EI is the same about all axes: with C^2 + S^2 = 1 + turn,
 * turn = theta^6 (theta^2/576 - 1/72),  kappa.kappa = (1 + turn) b.b
 */
FA_INLINE void strain_round(const fa_constant *c, const strain_point *s,
                            strain_point *f)
{
    const fa_real *x = s->x, *k = s->k, theta = x[2], square = theta * theta;
    const fa_real fourth = square * square;
    const fa_real turn = square * fourth * ((1.0 / 576.0) * square - 1.0 / 72.0);
    const fa_real chi = x[0] * k[1] - x[1] * k[0];
    strain_bending bend;

    strain_bending_at(s, &bend);
    const fa_real a2 = 0.5 + 0.125 * bend.sigma, w = bend.w;
    const fa_real b[2] = {k[0] + w * x[0], k[1] + w * x[1]};
    const fa_real more[2] = {c[0] * (w * x[0] + turn * b[0]),
                             c[0] * (w * x[1] + turn * b[1])}; /* of m - EI k */
    const fa_real m0 = more[0] + c[0] * k[0], m1 = more[1] + c[0] * k[1];
    const fa_real p = m0 * x[0] + m1 * x[1], q = bend.a3 * p,
                  bent = 0.75 * bend.tau * p;
    const fa_real less = c[2] * (a2 * chi), M = c[2] * k[2] - less;
    const fa_real on_k = M * a2, on_x = bent - 0.25 * chi * M;

    f->k[0] = more[0] + q * x[0] + on_k * x[1];
    f->k[1] = more[1] + q * x[1] - on_k * x[0];
    f->k[2] = -less;
    f->x[0] = m0 * w + q * k[0] - on_k * k[1] + on_x * x[0];
    f->x[1] = m1 * w + q * k[1] + on_k * k[0] + on_x * x[1];
    f->x[2] = c[0] * (b[0] * b[0] + b[1] * b[1]) *
              (theta * fourth * ((1.0 / 144.0) * square - 1.0 / 24.0));
}

/* derivatives of the energy by the modes, point by point, added to z_f [n] (U3) */
FA_INLINE void strain_points_add(const fa_strain *strain, const strain_size z,
                                 const fa_real *eta, fa_real *z_f)
{
    const fa_constant *c = strain->constants;

    for (int g = 0; g < strain->n; g++, c += strain_stride(z)) {
        strain_point s, f;
        strain_moments m;
        strain_at(z, c, eta, &s);
        if (z.count[2] == 0) {
            strain_bends(c, &s, &f);
        } else if (strain->is_round) {
            strain_round(c, &s, &f);
        } else {
            strain_moments_at(c, &s, &m);
            strain_forces(c, &s, &m, &f);
        }
        strain_rows_add(z, c, &f, 1, z_f);
    }
}

/* the same of a straight body, whose sizes the compiler may know */
FA_INLINE void strain_force_add(const fa_strain *strain, const strain_size z,
                                const fa_real *eta, fa_real *z_f)
{
    const int d = z.count[0] == 0;

    if (z.count[2] > 0 || (z.count[0] > 0 && z.count[1] > 0)) {
        strain_points_add(strain, z, eta, z_f);
    } else if (z.count[d] <= 2) { /* which have polynomials */
        strain_few_add(strain->forces, z.count[d], z.at[d], eta, z_f);
    } else {
        strain_plane_add(z, d, strain->n, strain->constants, eta, z_f);
    }
}

FA_INLINE strain_size strain_size_of(const fa_strain *strain)
{
    const fa_strain *t = strain;
    return (strain_size){{t->at[0], t->at[1], t->at[2]},
                         {t->count[0], t->count[1], t->count[2]}};
}

/* the same of a body of any kind */
FA_NOINLINE void strain_any_add(const fa_strain *strain, const fa_real *eta,
                                fa_real *z_f)
{
    const strain_size z = strain_size_of(strain);

    const int d = strain->plane;

    if (d < 0) {
        strain_points_add(strain, z, eta, z_f);
    } else if (strain->forces) {
        strain_few_add(strain->forces, z.count[d], z.at[d], eta, z_f);
    } else {
        strain_plane_add(z, d, strain->n, strain->constants, eta, z_f);
    }
}

/* the energy itself (U3) */
FA_NOINLINE fa_real strain_energy(const fa_strain *strain, const fa_real *eta)
{
    const strain_size z = strain_size_of(strain);
    const fa_constant *c = strain->constants;
    fa_real sum = {0};

    for (int g = 0; g < strain->n; g++, c += strain_stride(z)) {
        strain_point s;
        strain_moments m;
        strain_at(z, c, eta, &s);
        strain_moments_at(c, &s, &m);
        for (int i = 0; i < 2; i++) {
            sum += 0.5 * (c[i] * (m.kappa[i] * m.kappa[i] - s.k[i] * s.k[i]));
        }
        const fa_real t = s.k[2] - m.a2 * m.chi;
        sum += 0.5 * (c[2] * (t * t - s.k[2] * s.k[2]));
    }
    return sum;
}

/* second derivatives of the energy by x and k: of x, of x (rows) and k, of k */
typedef struct {
    fa_real xx[6], xk[9], kk[6];
} strain_second;

/* those of the moments of b, E their derivatives by b, without the quadratic energy (U4) */
FA_INLINE void strain_bends_twice(const fa_constant *c, const strain_point *s,
                                  const fa_real *E, const strain_bending *b,
                                  fa_real db_x[2][2], fa_real db_k[2][2],
                                  strain_second *H)
{
    const fa_real *x = s->x, *k = s->k, *m = b->m, tau = b->tau, a3 = b->a3, w = b->w;
    const fa_real p = m[0] * x[0] + m[1] * x[1], bent = 0.75 * p;
    fa_real g[2], Ex[2][2], Ek[2][2];

    for (int i = 0; i < 2; i++) {
        g[i] = a3 * k[i] + 0.75 * tau * x[i]; /* dw/dx */
        for (int d = 0; d < 2; d++) {
            db_x[d][i] = g[i] * x[d] + (d == i ? w : (fa_real){0});
            db_k[d][i] = a3 * x[i] * x[d] + (d == i ? 1.0 : 0.0);
        }
        for (int d = 0; d < 2; d++) {
            Ex[d][i] = E[d] * db_x[0][i] + E[d + 1] * db_x[1][i];
            Ek[d][i] = E[d] * db_k[0][i] + E[d + 1] * db_k[1][i];
        }
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            H->xk[3 * i + j] = Ek[0][j] * db_x[0][i] + Ek[1][j] * db_x[1][i] +
                               a3 * m[i] * x[j] + bent * x[i] * x[j] +
                               (i == j ? a3 * p : (fa_real){0});
        }
        for (int j = i; j < 2; j++) {
            H->xx[FA_SYM[i][j]] = Ex[0][j] * db_x[0][i] + Ex[1][j] * db_x[1][i] +
                                  bent * (x[i] * k[j] + k[i] * x[j]) + m[i] * g[j] +
                                  m[j] * g[i] + (i == j ? bent * tau : (fa_real){0});
            H->kk[FA_SYM[i][j]] = Ek[0][j] * db_k[0][i] + Ek[1][j] * db_k[1][i] -
                                  (i == j ? fa_spread(c[i]) : (fa_real){0});
        }
    }
}

/* second derivatives of a beam that bends in two planes without twist */
FA_INLINE void strain_second_bends(const fa_constant *c, const strain_point *s,
                                   strain_second *H)
{
    const fa_real E[3] = {fa_spread(c[0]), fa_splat(0.0), fa_spread(c[1])};
    fa_real db_x[2][2], db_k[2][2];
    strain_bending b;

    strain_bending_at(s, &b);
    b.m[0] = c[0] * (s->k[0] + b.w * s->x[0]);
    b.m[1] = c[1] * (s->k[1] + b.w * s->x[1]);
    strain_bends_twice(c, s, E, &b, db_x, db_k, H);
}

/* the same with twist */
FA_INLINE void strain_second_all(const fa_constant *c, const strain_point *s,
                                 const strain_moments *m, strain_second *H)
{
    const fa_real *x = s->x, *k = s->k, *M = m->M, *b = m->b;
    const fa_real C = m->C, S = m->S, T = m->turned;
    const fa_real E[3] = {c[0] * C * C + c[1] * S * S, (c[0] - c[1]) * (C * S),
                          c[0] * S * S + c[1] * C * C};
    const fa_real turn[2] = {T * b[1] - S * b[0], -T * b[0] - S * b[1]};
    const fa_real on_turn[2] = {c[0] * turn[0], c[1] * turn[1]};
    const fa_real u[2] = {C * on_turn[0] - S * on_turn[1] - S * M[0] - T * M[1],
                          S * on_turn[0] + C * on_turn[1] + T * M[0] - S * M[1]};
    const fa_real chi_x[2] = {k[1], -k[0]}, chi_k[2] = {-x[1], x[0]};
    const fa_real lean = 0.25 * m->chi;
    fa_real db_x[2][2], db_k[2][2], t_x[2], t_k[2];

    strain_bends_twice(c, s, E, &m->bend, db_x, db_k, H);
    for (int i = 0; i < 2; i++) {
        t_x[i] = -lean * x[i] - m->a2 * chi_x[i];
        t_k[i] = -m->a2 * chi_k[i];
        H->xx[FA_SYM[i][2]] = u[0] * db_x[0][i] + u[1] * db_x[1][i];
        H->xk[6 + i] = u[0] * db_k[0][i] + u[1] * db_k[1][i];
        H->xk[3 * i + 2] = c[2] * t_x[i];
        H->kk[FA_SYM[i][2]] = c[2] * t_k[i];
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            const fa_real both = i == j ? (fa_real){0} : (j - i) * m->a2;
            H->xk[3 * i + j] +=
                c[2] * t_x[i] * t_k[j] - M[2] * (0.25 * x[i] * chi_k[j] + both);
        }
        for (int j = i; j < 2; j++) {
            H->xx[FA_SYM[i][j]] += c[2] * t_x[i] * t_x[j] -
                                   M[2] * (0.25 * (x[i] * chi_x[j] + x[j] * chi_x[i]) +
                                           (i == j ? lean : (fa_real){0}));
            H->kk[FA_SYM[i][j]] += c[2] * t_k[i] * t_k[j];
        }
    }
    /* d2C/dtheta2 = -T, d2S/dtheta2 = -theta */
    H->xx[5] = on_turn[0] * turn[0] + on_turn[1] * turn[1] -
               M[0] * (T * b[0] + x[2] * b[1]) - M[1] * (T * b[1] - x[2] * b[0]);
    H->xk[8] = H->kk[5] = (fa_real){0};
}

/* second derivatives of a point by the modes, of `directions`, added to K */
FA_INLINE void strain_blocks_add(const int directions, const strain_size z,
                                 const fa_constant *c, const strain_second *H,
                                 int stride, fa_real *K)
{
    const fa_constant *row = c + 3;

    for (int d = 0; d < directions; d++) {
        const int n = z.count[d];
        for (int r = 0; r < n; r++) {
            const fa_constant *column = c + 3;
            const int at = z.at[d] + r;
            for (int e = 0; e <= d; e++) {
                const int m = z.count[e];
                const fa_real on_x =
                    row[r] * H->xx[FA_SYM[d][e]] + row[n + r] * H->xk[3 * e + d];
                const fa_real on_k =
                    row[r] * H->xk[3 * d + e] + row[n + r] * H->kk[FA_SYM[d][e]];
                for (int t = 0; t < (e < d ? m : r + 1); t++) {
                    const int to = z.at[e] + t;
                    const fa_real y = column[t] * on_x + column[m + t] * on_k;
                    K[at * stride + to] += y;
                    /* a mode may move in both directions, which have two blocks */
                    if (at != to || e < d) {
                        K[to * stride + at] += y;
                    }
                }
                column += 2 * m;
            }
        }
        row += 2 * n;
    }
}

/* second derivatives of the energy of a beam that bends in one plane, added to K */
FA_INLINE void strain_plane_tangents_add(const fa_strain *strain, const fa_real *eta,
                                         int stride, fa_real *K)
{
    const int d = strain->plane, n = strain->count[d], at = strain->at[d];
    const fa_constant *c = strain->constants;

    for (int g = 0; g < strain->n; g++, c += 3 + 2 * n) {
        const fa_constant *row = c + 3;
        fa_real x = {0}, k = {0};
        for (int r = 0; r < n; r++) {
            x += row[r] * eta[at + r];
            k += row[n + r] * eta[at + r];
        }
        const fa_real square = x * x, more = square * (0.5 + 0.375 * square);
        const fa_real whole = 1.0 + more, slope = x * (1.0 + 1.5 * square);
        const fa_real kk = c[d] * (more * (1.0 + whole));
        const fa_real xk = 2.0 * c[d] * (k * whole * slope);
        const fa_real xx =
            c[d] * (k * k) * (slope * slope + whole * (1.0 + 4.5 * square));
        for (int r = 0; r < n; r++) {
            const fa_real on_x = row[r] * xx + row[n + r] * xk;
            const fa_real on_k = row[r] * xk + row[n + r] * kk;
            for (int s = 0; s < n; s++) {
                K[(at + r) * stride + at + s] += row[s] * on_x + row[n + s] * on_k;
            }
        }
    }
}

/* second derivatives of the energy by the n modes, added to K with rows of `stride` */
FA_NOINLINE void strain_tangents_add(const fa_strain *strain, const fa_real *eta,
                                     int stride, fa_real *K)
{
    const strain_size z = strain_size_of(strain);
    const fa_constant *c = strain->constants;

    if (strain->plane >= 0) {
        strain_plane_tangents_add(strain, eta, stride, K);
        return;
    }
    for (int g = 0; g < strain->n; g++, c += strain_stride(z)) {
        strain_point s;
        strain_second H;

        strain_at(z, c, eta, &s);
        if (z.count[2] > 0) {
            strain_moments m;
            strain_moments_at(c, &s, &m);
            strain_second_all(c, &s, &m, &H);
            strain_blocks_add(3, z, c, &H, stride, K);
        } else {
            strain_second_bends(c, &s, &H);
            strain_blocks_add(2, z, c, &H, stride, K);
        }
    }
}

#endif
