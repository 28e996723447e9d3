/*
 * fast_modes.c -- the modes of a body freed without factoring D_f
 *
 * Equations   for a body that carries one other at most, on its node t: in the
 *             coordinates Q' L' eta of D1 the modes have unit mass and
 *                 (Lambda; U) = T [C, 0],  T = [[J_left, 0], [-x~ J_left, 1]]
 *             so that only the first six feel the child, with its P_R+ = Gamma:
 *                 D_f = diag(1 + (T C)' Gamma T C, 1)                             (D2)
 *                 P_fr = Q' W M_fr + [(T C)' Gamma phi'; 0]
 *                 eps_f = Q' W (tau_f - z_f) - [(T C)' f; 0]                      (D3)
 *             these six rows are freed as all rows are by A2 to A9, the others have
 *             pivot one; then  etadd = W' Q x                                     (D4)
 * Why         the patent's D_f^-1 = Lambda - Upsilon (Gamma^-1 + Omega)^-1 Upsilon' in
 *             a form that needs no inverse of Gamma, which is singular, as nothing
 *             resists a free joint. Its safe form by Gamma (1 + Omega Gamma)^-1 subtracts
 *             numbers that are nearly equal where the child is heavy; here sums of
 *             squares and orthogonal transformations do the same.
 * Cost        O(modes), O(modes^2) where the modes are not orthogonal.
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 63, 64, 76 to 78.
 * Checked by  tests/dynamics/test_fast_modes.py: the basic form, ID(FD) = identity.
 */
#ifndef FA_FAST_MODES_C
#define FA_FAST_MODES_C

#include "kernels/bodies/node.h"
#include "kernels/dynamics/forward_rows.h"
#include "kernels/dynamics/forward_steps.h"
#include "kernels/dynamics/forward_work.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"

/* F and eps become W F and W eps; the rows of F are the first halves of those of Y */
FA_INLINE void fast_whiten(const fa_fast *c, const int n, fa_real *Y, fa_real *eps)
{
    for (int r = n - 1; r >= 0; r--) {
        const fa_constant *W = c->W + r * (r + 1) / 2;
        fa_real *y = Y + 6 * r;
        fa_real f[4] = {W[r] * y[0], W[r] * y[1], W[r] * y[2], W[r] * eps[r]};
        for (int s = 0; s < r && !c->is_diagonal; s++) {
            for (int i = 0; i < 3; i++) {
                f[i] += W[s] * Y[6 * s + i];
            }
            f[3] += W[s] * eps[s];
        }
        memcpy(y, f, 3 * sizeof f[0]);
        eps[r] = f[3];
    }
}

/* F and eps become Q' F and Q' eps */
FA_INLINE void fast_reflect(const fa_fast *c, const int n, fa_real *Y, fa_real *eps)
{
    for (int k = 0; k < 6; k++) {
        const fa_constant *h = c->h + k * n;
        fa_real f[4] = {{0}};
        for (int r = k; r < n; r++) {
            for (int i = 0; i < 3; i++) {
                f[i] += h[r] * Y[6 * r + i];
            }
            f[3] += h[r] * eps[r];
        }
        for (int r = k; r < n; r++) {
            for (int i = 0; i < 3; i++) {
                Y[6 * r + i] -= h[r] * f[i];
            }
            eps[r] -= h[r] * f[3];
        }
    }
}

/* columns of T C: motion of the child for the first six coordinates, at eta */
FA_INLINE void fast_columns(const fa_fast *c, const fa_node *node, const int n,
                            const fa_real *eta, const fa_real *r, fa_real *columns)
{
    fa_real Rn[9], x[3];
    fa_turn turn;

    node_place(node, n, eta, &turn, Rn, x);
    for (int i = 0; i < 3; i++) {
        x[i] = r[i] - x[i];
    }
    for (int s = 0; s < 6; s++) {
        fa_real slope[3], *at = columns + 6 * s;
        for (int i = 0; i < 3; i++) {
            slope[i] = fa_spread(c->C[6 * i + s]);
            at[3 + i] = fa_spread(c->C[6 * (3 + i) + s]);
        }
        node_left_jacobian(&turn, slope, at);
        fa_cross_add(at + 3, at, x);
    }
}

/* the child on the first six rows and on the frame (D2, D3, A1, A5) */
FA_INLINE void fast_carry(const fa_body *child, const fd_body *outer,
                          const fa_real *columns, fa_real *L, fa_real *Y, fa_real *eps,
                          fd_body *self)
{
    const fa_real *R = outer->hop.R, *r = outer->hop.r;
    fa_real f[6];
    fa_inertia gamma;

    fd_inward_inertia(child->kept, outer, self, &gamma);
    fa_rotate(f, R, outer->z);
    fa_rotate(f + 3, R, outer->z + 3);
    for (int s = 0; s < 6; s++) {
        const fa_real *own = columns + 6 * s;
        fa_real force[6];
        fa_inertia_mul(force, &gamma, own);
        for (int k = 0; k <= s; k++) {
            const fa_real *other = columns + 6 * k;
            L[fa_tri(s, k)] = fa_dot(other, force) + fa_dot(other + 3, force + 3);
        }
        L[fa_tri(s, s)] += 1.0;
        fa_cross_add(force, r, force + 3);
        for (int i = 0; i < 6; i++) {
            Y[6 * s + i] += force[i];
        }
        eps[s] -= fa_dot(own, f) + fa_dot(own + 3, f + 3);
    }
    for (int i = 0; i < 6; i++) {
        self->z[i] += f[i];
    }
    fa_cross_add(self->z, r, f + 3);
}

/* frees n coordinates of unit mass that feel no child (A3, A7 with D_f = 1) */
FA_INLINE void fast_free(const int n, const fa_real *Y, const fa_real *eps,
                         fd_body *self)
{
    fa_inertia *P = &self->P;

    for (int r = 0; r < n; r++, Y += 6) {
        for (int i = 0; i < 3; i++) {
            for (int j = i; j < 3; j++) {
                P->A[FA_SYM[i][j]] -= Y[i] * Y[j];
                P->D[FA_SYM[i][j]] -= Y[3 + i] * Y[3 + j];
            }
            for (int j = 0; j < 3; j++) {
                P->B[3 * i + j] -= Y[i] * Y[3 + j];
            }
        }
        for (int i = 0; i < 6; i++) {
            self->z[i] += Y[i] * eps[r];
        }
    }
}

/* frees the modes of one body, in place of fd_inward of its child and
 * fd_eliminate_modes (D2, D3) */
FA_NOINLINE void fd_eliminate_modes_fast(const fa_model *model, const fa_body *b,
                                         const fa_real *q, const fa_real *tau,
                                         const fd_work *w, fd_body *self)
{
    const fa_fast *c = &b->fast;
    const int n = b->n_modes, six = c->child >= 0 ? 6 : 0;
    fa_real *Y = w->Y + 6 * b->own_at, *eps = w->z_f + b->own_at;

    for (int r = 0; r < n; r++) {
        eps[r] = tau[r] - eps[r];
    }
    fast_whiten(c, n, Y, eps);
    if (six) {
        fast_reflect(c, n, Y, eps);
    }
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 3; i++) {
            Y[6 * r + 3 + i] = fa_spread(c->E[3 * r + i]);
        }
    }
    fast_free(n - six, Y + 6 * six, eps + six, self);
    if (six) {
        const fa_body *child = model->bodies + c->child;
        const fd_body *outer = w->body + c->child;
        fa_real columns[36], zero[6] = {{0}};
        fast_columns(c, model->nodes + child->attach, n, node_eta(model, q, b->eta_at),
                     outer->hop.r, columns);
        fast_carry(child, outer, columns, w->L + b->tri_at, Y, eps, self);
        for (int s = 0; s < 6; s++) { /* fd_eliminate takes tau - eps */
            eps[s] = -eps[s];
        }
        fd_eliminate(6, b->own_at, b->tri_at, zero, w, self);
    }
}

/* modal accelerations, in place of fd_accelerate_modes (A9, D4) */
FA_NOINLINE void fd_accelerate_modes_fast(const fa_model *model, const fa_body *b,
                                          const fd_work *w, const fd_body *self,
                                          fa_real *x)
{
    const fa_fast *c = &b->fast;
    const fa_real *Y = w->Y + 6 * b->own_at, *eps = w->z_f + b->own_at, *a = self->a;
    const int n = b->n_modes, six = c->child >= 0 ? 6 : 0;

    (void)model;
    for (int r = six; r < n; r++) {
        x[r] = eps[r] - fa_dot(Y + 6 * r, a) - fa_dot(Y + 6 * r + 3, a + 3);
    }
    fd_accelerate_rows(six, b->own_at, b->tri_at, w, a, x);
    for (int k = six - 1; k >= 0; k--) { /* Q x */
        const fa_constant *h = c->h + k * n;
        fa_real dot = {0};
        for (int r = k; r < n; r++) {
            dot += h[r] * x[r];
        }
        for (int r = k; r < n; r++) {
            x[r] -= h[r] * dot;
        }
    }
    for (int r = 0; r < n; r++) { /* column r of W' */
        const fa_constant *W = c->W + r * (r + 1) / 2;
        for (int s = 0; s < r && !c->is_diagonal; s++) {
            x[s] += W[s] * x[r];
        }
        x[r] *= W[r];
    }
}

#endif
