/*
 * body_products.h -- strain, mass and bent nodes of one body in products with tangents
 *
 * What tangent_body.h and tangent.c add to matrices, times a change or a cotangent.
 * Checked by  tests/derivatives/test_products.py: the matrices.
 */
#ifndef FA_BODY_PRODUCTS_H
#define FA_BODY_PRODUCTS_H

#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/strain.h"
#include "kernels/derivatives/tangent.c"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"

/* change of strain_bends along d (U3) */
FA_INLINE void tp_strain_bends(const fa_constant *c, const strain_point *s,
                               const strain_point *d, strain_point *f)
{
    const fa_real *x = s->x, *k = s->k, *dx = d->x, *dk = d->k;
    const fa_real tau = x[0] * k[0] + x[1] * k[1];
    const fa_real dtau = dx[0] * k[0] + x[0] * dk[0] + dx[1] * k[1] + x[1] * dk[1];
    const fa_real a3 = 0.5 + 0.375 * (x[0] * x[0] + x[1] * x[1]);
    const fa_real da3 = 0.75 * (x[0] * dx[0] + x[1] * dx[1]);
    const fa_real w = a3 * tau, dw = da3 * tau + a3 * dtau;
    fa_real m[2], more[2], dm[2], p = {0}, dp = {0};

    for (int i = 0; i < 2; i++) {
        m[i] = c[i] * (w * x[i] + k[i]);
        more[i] = c[i] * (dw * x[i] + w * dx[i]);
        dm[i] = more[i] + c[i] * dk[i];
        p += m[i] * x[i];
        dp += dm[i] * x[i] + m[i] * dx[i];
    }
    const fa_real q = a3 * p, dq = da3 * p + a3 * dp;
    const fa_real bent = 0.75 * tau * p, dbent = 0.75 * (dtau * p + tau * dp);
    for (int i = 0; i < 2; i++) {
        f->k[i] = more[i] + dq * x[i] + q * dx[i];
        f->x[i] =
            dm[i] * w + m[i] * dw + dq * k[i] + q * dk[i] + dbent * x[i] + bent * dx[i];
    }
    f->x[2] = f->k[2] = (fa_real){0};
}

/* the same with twist, by second derivatives (U4) */
FA_INLINE void tp_strain_all(const fa_constant *c, const strain_point *s,
                             const strain_point *d, strain_point *f)
{
    strain_moments m;
    strain_second H;

    strain_moments_at(c, s, &m);
    strain_second_all(c, s, &m, &H);
    for (int i = 0; i < 3; i++) {
        f->x[i] = f->k[i] = (fa_real){0};
        for (int j = 0; j < 3; j++) {
            f->x[i] += H.xx[FA_SYM[i][j]] * d->x[j] + H.xk[3 * i + j] * d->k[j];
            f->k[i] += H.xk[3 * j + i] * d->x[j] + H.kk[FA_SYM[i][j]] * d->k[j];
        }
    }
}

/* y += second derivatives of the strain energy times x; the matrix is symmetric */
FA_INLINE void tp_strain_points(const fa_strain *strain, const strain_size z,
                                const fa_real *eta, const fa_real *x, fa_real *y)
{
    const fa_constant *c = strain->constants;

    for (int g = 0; g < strain->n; g++, c += strain_stride(z)) {
        strain_point s, d, f;

        strain_at(z, c, eta, &s);
        strain_at(z, c, x, &d);
        if (z.count[2] > 0) {
            tp_strain_all(c, &s, &d, &f);
        } else {
            tp_strain_bends(c, &s, &d, &f);
        }
        strain_rows_add(z, c, &f, 1, y);
    }
}

FA_NOINLINE void tp_strain_add(const fa_strain *strain, const fa_real *eta,
                               const fa_real *x, fa_real *y)
{
    const strain_size z = strain_size_of(strain);

    if (z.count[0] == 2 && z.count[1] == 2 && z.count[2] == 0) {
        const strain_size usual = {{z.at[0], z.at[1], 4}, {2, 2, 0}};
        tp_strain_points(strain, usual, eta, x, y);
    } else {
        tp_strain_points(strain, z, eta, x, y);
    }
}

/* y += modal mass times x of a body (B2, B6); scratch rf [6 n], ff [n (n + 1) / 2] */
FA_NOINLINE void tp_mass_add(const fa_body *b, const fa_real *eta, const fa_real *x,
                             fa_real *rf, fa_real *ff, fa_real *restrict y)
{
    fa_shape shape;

    body_shape(b, b->n_modes, eta, &shape);
    body_modal_inertia(b, b->n_modes, &shape, rf, ff);
    for (int r = 0; r < b->n_modes; r++) {
        for (int s = 0; s < r; s++) {
            y[r] += ff[fa_tri(r, s)] * x[s];
            y[s] += ff[fa_tri(r, s)] * x[r];
        }
        y[r] += ff[fa_tri(r, r)] * x[r];
    }
}

/* sum of (dJ_r/deta_s)'f x_s of the modes of a node, times sign, added to y (X8) */
FA_NOINLINE void tp_bend(const fa_node *node, const int n, const double sign,
                         const fa_real *eta, const fa_real *slope, const tg_bend *t,
                         const fa_real *x, fa_real *y)
{
    fa_real lean[3], shift[3], h[3], g[3];

    fa_zero(lean, 3);
    fa_zero(shift, 3);
    for (int s = 0; s < n; s++) {
        const fa_real by = sign * x[s];
        for (int i = 0; i < 3; i++) {
            lean[i] += node->lambda[3 * s + i] * by;
            shift[i] += node->gamma[3 * s + i] * by;
        }
        if (node->kappa) {
            fa_real bent[3];
            fa_zero(bent, 3);
            node_second_column(node, n, s, x, bent);
            y[s] += fa_dot(bent, t->F);
            for (int i = 0; i < 3; i++) {
                shift[i] += bent[i] * eta[s];
            }
        }
    }
    fa_rotate_t(h, t->H, lean);
    fa_cross(g, t->F, shift);
    for (int r = 0; r < n; r++) {
        const double *lambda = node->lambda + 3 * r;
        y[r] += h[0] * lambda[0] + h[1] * lambda[1] + h[2] * lambda[2] +
                fa_dot(g, slope + 3 * r);
    }
}

/* its adjoint: l_r (dJ_r/deta_s)'f added to y_s */
FA_NOINLINE void tp_bend_back(const fa_node *node, const int n, const double sign,
                              const fa_real *eta, const fa_real *slope,
                              const tg_bend *t, const fa_real *l, fa_real *y)
{
    fa_real lean[3], turn[3], h[3], g[3];

    fa_zero(lean, 3);
    fa_zero(turn, 3);
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 3; i++) {
            lean[i] += node->lambda[3 * r + i] * l[r];
            turn[i] += slope[3 * r + i] * l[r];
        }
    }
    fa_rotate(h, t->H, lean);
    fa_cross(g, turn, t->F);
    for (int s = 0; s < n; s++) {
        const double *lambda = node->lambda + 3 * s, *gamma = node->gamma + 3 * s;
        y[s] += sign * (h[0] * lambda[0] + h[1] * lambda[1] + h[2] * lambda[2] +
                        g[0] * gamma[0] + g[1] * gamma[1] + g[2] * gamma[2]);
        if (node->kappa) {
            fa_real bent[3];
            fa_zero(bent, 3);
            node_second_column(node, n, s, eta, bent);
            y[s] += fa_dot(bent, g);
            fa_zero(bent, 3);
            node_second_column(node, n, s, l, bent);
            y[s] += fa_dot(bent, t->F);
        }
    }
}

#endif
