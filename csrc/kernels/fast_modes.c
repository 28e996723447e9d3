/*
 * fast_modes.c -- the modes of a body freed without factors of D_f
 *
 * Equations   for a body that carries one body at most, on its node t, in the whitened
 *             coordinates of D1: M~ = W M_fr, eps~ = W (tau_f - z_f),
 *             T = [[J_left, 0], [-x~ J_left, 1]], so that (Lambda, U) = zeta T'
 *             gamma: P_R+ of the child in the axes of the body, about its own origin
 *             S = gamma - Z' B^-1 Z, Z = (T C)' gamma, B = 1 + (T C)' gamma T C    (D2)
 *             V = phi - M~' zeta_w T'
 *             P_R = M_rr - M~' M~ + V S V'                                        (D3)
 *             z_R = z_r + M~' eps~ + V S T zeta_w' eps~                           (D4)
 *             outward: u = eps~ - M~ alpha,
 *             etadd = W' (u - zeta_w T' S (T zeta_w' u + phi' alpha))             (D5)
 * Why         D_f^-1 = W' (1 - zeta_w T' S T zeta_w') W with S = gamma (1 + Omega
 *             gamma)^-1, the safe form of the patent's 77: gamma is singular, as
 *             nothing resists a free joint, and may be zero. D3 holds no difference of
 *             large numbers that A3 does not: S is never more than gamma.
 * Cost        O(modes), or O(modes^2) where the modes are not orthogonal.
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 63, 64, 76 to 78.
 * Checked by  tests/test_fast_inverse.py: the basic form, ID(FD) = identity.
 */
#include "body.h"
#include "hop.h"

/* what a body keeps from the way in for the way out, in place of its triangle */
typedef struct {
    fa_real T[36], S[36];
} fast_body;

FA_INLINE fast_body *fast_at(const fa_body *b, const fd_work *w)
{
    return (fast_body *)(w->L + b->tri_at);
}

/* C = A B of 6 x 6 matrices */
FA_NOINLINE void fast_mul(const fa_real *A, const fa_real *B, fa_real *C)
{
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            fa_real sum = A[6 * i] * B[j];
            for (int k = 1; k < 6; k++) {
                sum += A[6 * i + k] * B[6 * k + j];
            }
            C[6 * i + j] = sum;
        }
    }
}

/* gamma, both triangles: P_R+ of the child in the axes of its parent */
FA_INLINE void fast_gamma(const fa_body *child, const fd_body *c, fa_real *gamma)
{
    const int m = child->joint == FA_JOINT_REVOLUTE ? 2 : 3; /* P_R+ S = 0 */
    fa_inertia G;

    fa_rotate_sym(G.A, c->hop.R, c->P.A, m);
    fa_rotate_mat(G.B, c->hop.R, c->P.B, m);
    fa_rotate_sym(G.D, c->hop.R, c->P.D, 3);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            gamma[6 * i + j] = G.A[FA_SYM[i][j]];
            gamma[6 * i + 3 + j] = G.B[3 * i + j];
            gamma[6 * (3 + i) + j] = G.B[3 * j + i];
            gamma[6 * (3 + i) + 3 + j] = G.D[FA_SYM[i][j]];
        }
    }
}

/* T of the node that carries the child, at eta (K3) */
FA_INLINE void fast_turn(const fa_node *node, const int n, const fa_real *eta,
                         const fa_real *r, fa_real *T)
{
    fa_real Rn[9], l[3], x[3];
    fa_turn turn;

    node_place(node, n, eta, &turn, Rn, l);
    fa_zero(T, 36);
    for (int i = 0; i < 3; i++) {
        x[i] = r[i] - l[i];
    }
    for (int j = 0; j < 3; j++) {
        fa_real unit[3] = {{0}}, column[3], shift[3];
        unit[j] = fa_splat(1.0);
        node_left_jacobian(&turn, unit, column);
        fa_cross(shift, column, x);
        for (int i = 0; i < 3; i++) {
            T[6 * i + j] = column[i];
            T[6 * (3 + i) + j] = shift[i];
        }
        T[6 * (3 + j) + 3 + j] = fa_splat(1.0);
    }
}

/* S of D2; gamma [36] becomes S */
FA_NOINLINE void fast_compliance(const double *C, const fa_real *T, fa_real *gamma)
{
    fa_real TC[36], Z[36], B[36];

    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            fa_real sum = T[6 * i + j] * C[7 * j];
            for (int k = j + 1; k < 6; k++) {
                sum += T[6 * i + k] * C[6 * k + j];
            }
            TC[6 * j + i] = sum; /* (T C)' */
        }
    }
    fast_mul(TC, gamma, Z);
    for (int r = 0; r < 6; r++) {
        for (int s = 0; s <= r; s++) {
            fa_real sum = Z[6 * r] * TC[6 * s];
            for (int k = 1; k < 6; k++) {
                sum += Z[6 * r + k] * TC[6 * s + k];
            }
            B[6 * r + s] = r == s ? 1.0 + sum : sum;
        }
    }
    for (int r = 0; r < 6; r++) {
        const fa_real pivot = fa_pivot(B[7 * r]);
        for (int s = r + 1; s < 6; s++) {
            const fa_real scaled = B[6 * s + r] * pivot;
            for (int k = r + 1; k <= s; k++) {
                B[6 * s + k] -= scaled * B[6 * k + r];
            }
            for (int i = 0; i < 6; i++) {
                Z[6 * s + i] -= scaled * Z[6 * r + i];
            }
        }
        for (int i = 0; i < 6; i++) {
            const fa_real scaled = Z[6 * r + i] * pivot;
            for (int j = i; j < 6; j++) {
                gamma[6 * i + j] -= scaled * Z[6 * r + j];
            }
        }
    }
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < i; j++) {
            gamma[6 * i + j] = gamma[6 * j + i];
        }
    }
}

/* F and eps become W F and W eps; rows of F are the first halves of those of Y */
FA_INLINE void fast_whiten(const fa_woodbury *c, const int n, fa_real *Y, fa_real *eps)
{
    for (int r = n - 1; r >= 0; r--) {
        const double *W = c->W + r * (r + 1) / 2;
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

/* sums over the modes of one body, in whitened coordinates */
typedef struct {
    fa_real FF[6], FE[9], Mzeta[36]; /* M~' M~, M~' zeta_w */
    fa_real force[6], pull[6];       /* M~' eps~, zeta_w' eps~ */
} fast_sums;

FA_INLINE void fast_sum(const fa_woodbury *c, const int n, const fa_real *Y,
                        const fa_real *eps, fast_sums *sums)
{
    memset(sums, 0, sizeof *sums);
    for (int i = 0; i < 18; i++) {
        sums->Mzeta[18 + i] = fa_splat(c->Ezeta[i]);
    }
    for (int r = 0; r < n; r++) {
        const fa_real *f = Y + 6 * r;
        const double *e = c->E + 3 * r, *zeta = c->zeta + 6 * r;
        for (int i = 0; i < 3; i++) {
            for (int j = i; j < 3; j++) {
                sums->FF[FA_SYM[i][j]] += f[i] * f[j];
            }
            for (int j = 0; j < 3; j++) {
                sums->FE[3 * i + j] += f[i] * e[j];
            }
            for (int j = 0; j < 6 && c->child >= 0; j++) {
                sums->Mzeta[6 * i + j] += f[i] * zeta[j];
            }
            sums->force[i] += f[i] * eps[r];
            sums->force[3 + i] += e[i] * eps[r];
        }
        for (int j = 0; j < 6 && c->child >= 0; j++) {
            sums->pull[j] += zeta[j] * eps[r];
        }
    }
}

/* P and z of the body with its child, behind the freed modes (D3, D4) */
FA_NOINLINE void fast_join(const fast_body *f, const fa_real *r, const fast_sums *sums,
                           fd_body *self)
{
    fa_real V[36], VS[36], pull[6], *z = self->z;
    fa_inertia *P = &self->P;

    for (int i = 0; i < 6; i++) { /* -M~' zeta_w T', and T zeta_w' eps~ */
        pull[i] = (fa_real){0};
        for (int k = 0; k < 6; k++) {
            pull[i] += f->T[6 * i + k] * sums->pull[k];
        }
        for (int j = 0; j < 6; j++) {
            fa_real sum = {0};
            for (int k = 0; k < 6; k++) {
                sum -= sums->Mzeta[6 * i + k] * f->T[6 * j + k];
            }
            V[6 * i + j] = i == j ? 1.0 + sum : sum;
        }
    }
    for (int i = 0; i < 3; i++) { /* phi = [[1, r~], [0, 1]] */
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        V[6 * i + 3 + i1] -= r[i2];
        V[6 * i + 3 + i2] += r[i1];
    }
    fast_mul(V, f->S, VS);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            z[i] += VS[6 * i + k] * pull[k];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 6; k++) {
            for (int j = i; j < 3; j++) {
                P->A[FA_SYM[i][j]] += VS[6 * i + k] * V[6 * j + k];
                P->D[FA_SYM[i][j]] += VS[6 * (3 + i) + k] * V[6 * (3 + j) + k];
            }
            for (int j = 0; j < 3; j++) {
                P->B[3 * i + j] += VS[6 * i + k] * V[6 * (3 + j) + k];
            }
        }
    }
}

/* frees the modes of one body, in place of fd_eliminate_modes (D2 to D4) */
FA_NOINLINE void fast_eliminate(const fa_model *model, const fa_body *b,
                                const fa_real *q, const fa_real *tau, const fd_work *w,
                                fd_body *self)
{
    const fa_woodbury *c = &b->woodbury;
    const int n = b->n_modes;
    fa_real *Y = w->Y + 6 * b->own_at, *eps = w->z_f + b->own_at;
    fa_inertia *P = &self->P;
    fast_sums sums;

    for (int r = 0; r < n; r++) {
        eps[r] = tau[r] - eps[r];
    }
    fast_whiten(c, n, Y, eps);
    fast_sum(c, n, Y, eps, &sums);
    for (int i = 0; i < 6; i++) {
        P->A[i] -= sums.FF[i];
        P->D[i] -= c->EE[i];
        self->z[i] += sums.force[i];
    }
    for (int i = 0; i < 9; i++) {
        P->B[i] -= sums.FE[i];
    }
    if (c->child >= 0) {
        const fa_body *child = model->bodies + c->child;
        const fd_body *outer = w->body + c->child;
        fast_body *f = fast_at(b, w);
        fast_turn(model->nodes + child->attach, n, q + b->eta_at, outer->hop.r, f->T);
        fast_gamma(child, outer, f->S);
        fast_compliance(c->C, f->T, f->S);
        fast_join(f, outer->hop.r, &sums, self);
    }
}

/* the force of a child on such a body; its inertia is taken by fast_eliminate (A5) */
FA_NOINLINE void fast_inward(const fa_model *model, const fa_body *b, const fd_work *w,
                             const fd_body *self)
{
    const fa_real *slope = w->columns + 6 * b->hop_at;

    hop_force_add(&self->hop, b->parent_modes, slope, slope + 3 * b->parent_modes,
                  self->z, w->body[b->parent].z,
                  w->z_f + model->bodies[b->parent].own_at);
}

/* modal accelerations, in place of fd_accelerate_modes (D5) */
FA_NOINLINE void fast_accelerate(const fa_body *b, const fd_work *w,
                                 const fd_body *self, fa_real *etadd)
{
    const fa_woodbury *c = &b->woodbury;
    const fa_real *Y = w->Y + 6 * b->own_at, *eps = w->z_f + b->own_at, *a = self->a;
    const int n = b->n_modes;
    fa_real sum[6] = {{0}}, h[6] = {{0}};

    for (int r = 0; r < n; r++) {
        const double *e = c->E + 3 * r;
        etadd[r] =
            eps[r] - fa_dot(Y + 6 * r, a) - e[0] * a[3] - e[1] * a[4] - e[2] * a[5];
        for (int j = 0; j < 6 && c->child >= 0; j++) {
            sum[j] += c->zeta[6 * r + j] * etadd[r];
        }
    }
    if (c->child >= 0) {
        const fast_body *f = fast_at(b, w);
        fa_real moved[6], force[6] = {{0}};
        memcpy(moved, a, sizeof moved);
        fa_cross_add(moved + 3, a, w->body[c->child].hop.r);
        for (int i = 0; i < 36; i++) {
            moved[i / 6] += f->T[i] * sum[i % 6];
        }
        for (int i = 0; i < 36; i++) {
            force[i / 6] += f->S[i] * moved[i % 6];
        }
        for (int i = 0; i < 36; i++) {
            h[i % 6] += f->T[i] * force[i / 6];
        }
    }
    for (int r = 0; r < n; r++) { /* row r of zeta_w, then column r of W' */
        for (int j = 0; j < 6 && c->child >= 0; j++) {
            etadd[r] -= c->zeta[6 * r + j] * h[j];
        }
        const double *W = c->W + r * (r + 1) / 2;
        for (int s = 0; s < r && !c->is_diagonal; s++) {
            etadd[s] += W[s] * etadd[r];
        }
        etadd[r] *= W[r];
    }
}
