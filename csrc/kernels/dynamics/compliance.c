/*
 * compliance.c -- J M^-1 J' of nodes, from the articulated factors
 *
 * Equations   Omega_psi = Psi' H' D^-1 H Psi, J M^-1 J' = B' Omega_psi B; six unit
 *             wrenches on a node walk to the root through freed modes and joints:
 *                 e_f = L^-1 (Lambda; U)' F,  F becomes phi F - Y' D_f^-1 e_f     (W1)
 *                 e_R = S' F,  F becomes F - G e_R; wide joints as the modes      (W2)
 *             H Psi B are the rows e, and for two nodes i, j
 *                 J_i M^-1 J_j' = sum of e_i' D^-1 e_j over the bodies that
 *                 carry both                                                      (W3)
 *             A sum of squares for one node: symmetric, never negative.
 * Cost        O(bodies * modes^3) for the factors, O(depth * modes^2) for the walk.
 * Source      Jain and Rodriguez, US patent 5,546,508, sec. 9 and eqs. 53 to 56, 70.
 * Checked by  tests/dynamics/test_innovations.py: LAPACK, the spatial operators.
 */
#ifndef FA_COMPLIANCE_C
#define FA_COMPLIANCE_C

#include "calls/call.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/node.h"
#include "kernels/dynamics/forward_work.h"
#include "kernels/dynamics/mass_inverse.c"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* six columns through the modes of a body; Pm [n][6] becomes e_f (W1) */
FA_INLINE void psi_rows(const int n, int at, int tri, const fd_work *w, fa_real *e,
                        fa_real *F)
{
    const fa_real *Y = w->Y + 6 * at, *L = w->L + tri, *pivot = w->pivot + at;

    for (int r = 0; r < n; r++) {
        for (int s = 0; s < r; s++) {
            for (int c = 0; c < 6; c++) {
                e[6 * r + c] -= L[fa_tri(r, s)] * e[6 * s + c];
            }
        }
        for (int i = 0; i < 6; i++) {
            const fa_real gain = Y[6 * r + i] * pivot[r];
            for (int c = 0; c < 6; c++) {
                F[6 * i + c] -= gain * e[6 * r + c];
            }
        }
    }
}

/* six columns through the joint of a body (W2); e [n_dof][6] */
FA_NOINLINE void psi_joint(const fa_body *b, const fd_work *w, const fd_body *self,
                           fa_real *e, fa_real *F)
{
    const int axis = b->joint == FA_JOINT_REVOLUTE ? 2 : 5;

    if (b->wide) {
        for (int j = 0; j < b->n_dof; j++) {
            for (int c = 0; c < 6; c++) {
                e[6 * j + c] = (fa_real){0};
                for (int i = 0; i < 6; i++) {
                    e[6 * j + c] += b->S[6 * j + i] * F[6 * i + c];
                }
            }
        }
        psi_rows(b->n_dof, b->wide_at, b->wide_tri_at, w, e, F);
    } else if (b->joint_at >= 0) {
        memcpy(e, F + 6 * axis, 6 * sizeof(fa_real));
        for (int i = 0; i < 6; i++) {
            for (int c = 0; c < 6; c++) {
                F[6 * i + c] -= self->G[i] * e[c];
            }
        }
    }
}

/* forces F on a body that is carried on a node of its own: Pm -= Pi' F (F4) */
FA_INLINE void psi_float(const fa_body *b, const fd_work *w, const fa_real *F,
                         fa_real *Pm)
{
    const fa_real *columns = w->columns + 6 * b->hop_at;
    const int n = b->n_modes;

    for (int s = 0; s < n; s++) {
        for (int c = 0; c < 6; c++) {
            for (int i = 0; i < 3; i++) {
                Pm[6 * s + c] -= columns[3 * s + i] * F[6 * i + c] +
                                 columns[3 * (n + s) + i] * F[6 * (3 + i) + c];
            }
        }
    }
}

/* six columns from a body to the rows (Pm; F) of its parent, with no joint freed */
FA_NOINLINE void psi_hop(const fa_model *model, const fa_body *b, const fd_work *w,
                         const fa_hop *h, fa_real *Pm, fa_real *F)
{
    const fa_body *bp = model->bodies + b->parent;
    const fa_real *slope = w->columns + 6 * b->hop_at;
    const int np = b->parent_modes;

    for (int c = 0; c < 6; c++) {
        fa_real f[6], moved[6] = {{0}}, rows[FA_MAX_MODES];
        for (int i = 0; i < 6; i++) {
            f[i] = F[6 * i + c];
        }
        fa_zero(rows, np);
        hop_force_add(h, np, slope, slope + 3 * np, f, moved, rows);
        for (int i = 0; i < 6; i++) {
            F[6 * i + c] = moved[i];
        }
        for (int s = 0; s < np; s++) {
            Pm[6 * s + c] = rows[s];
        }
    }
    if (bp->joint == FA_JOINT_FLOATING) {
        psi_float(bp, w, F, Pm);
    }
}

/* six unit wrenches on a node, in its axes, on the rows (Pm; F) of its body (5) */
FA_NOINLINE void cp_node(const fa_model *model, const fa_node *node, const fa_real *q,
                         const fd_work *w, fa_real *Pm, fa_real *F)
{
    const fa_body *b = model->bodies + node->body;
    fa_real Rn[9], Rc[9], rho[3], slope[3 * FA_MAX_MODES], shift[3 * FA_MAX_MODES];
    const int n = b->n_modes;
    fa_turn turn;

    const fa_real *eta = node_eta(model, q, b->eta_at);
    node_place(node, n, eta, &turn, Rn, rho);
    node_columns(node, n, eta, &turn, NULL, slope, shift);
    fa_zero(F, 36);
    for (int c = 0; c < 3; c++) {
        fa_real lever[3];
        for (int j = 0; j < 3; j++) {
            Rc[3 * c + j] = b->frame[3 * c] * Rn[3 * j] +
                            b->frame[3 * c + 1] * Rn[3 * j + 1] +
                            b->frame[3 * c + 2] * Rn[3 * j + 2];
        }
        fa_cross(lever, rho, Rc + 3 * c);
        for (int i = 0; i < 3; i++) {
            F[6 * i + c] = F[6 * (3 + i) + 3 + c] = Rc[3 * c + i];
            F[6 * i + 3 + c] = lever[i];
        }
        for (int s = 0; s < n; s++) {
            Pm[6 * s + c] = fa_dot(slope + 3 * s, Rc + 3 * c);
            Pm[6 * s + 3 + c] = fa_dot(shift + 3 * s, Rc + 3 * c);
        }
    }
    if (b->joint == FA_JOINT_FLOATING) {
        psi_float(b, w, F, Pm);
    }
}

/* H Psi B of a node: the rows e [nv][6] of its body and of those that carry it */
FA_NOINLINE void cp_walk(const fa_model *model, int number, const fa_real *q,
                         const fd_work *w, fa_real *e)
{
    int k = model->nodes[number].body;
    fa_real F[36];

    fa_zero(e, 6 * model->nv);
    cp_node(model, model->nodes + number, q, w, e + 6 * model->bodies[k].mode_at, F);
    for (;;) {
        const fa_body *b = model->bodies + k;
        psi_rows(b->n_modes, b->own_at, b->tri_at, w, e + 6 * b->mode_at, F);
        if (b->n_dof > 0) {
            psi_joint(b, w, w->body + k, e + 6 * b->joint_at, F);
        }
        if (b->parent < 0) {
            return;
        }
        psi_hop(model, b, w, &w->body[k].hop, e + 6 * b->parent_mode_at, F);
        k = b->parent;
    }
}

/* sum [6][6] += a' D^-1 b over n rows [6] of a and b with the pivots D^-1 */
FA_INLINE void psi_add(int n, const fa_real *pivot, const fa_real *a, const fa_real *b,
                       fa_real *sum)
{
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 6; i++) {
            const fa_real scaled = a[6 * r + i] * pivot[r];
            for (int j = 0; j < 6; j++) {
                sum[6 * i + j] += scaled * b[6 * r + j];
            }
        }
    }
}

/* the rows of one body, modes and joint, in (W3) */
FA_INLINE void psi_add_body(const fa_body *b, const fd_work *w, const fd_body *self,
                            const fa_real *modes_a, const fa_real *modes_b,
                            const fa_real *joint_a, const fa_real *joint_b,
                            fa_real *sum)
{
    psi_add(b->n_modes, w->pivot + b->own_at, modes_a, modes_b, sum);
    if (b->n_dof > 0) {
        psi_add(b->n_dof, b->wide ? w->pivot + b->wide_at : &self->inverse, joint_a,
                joint_b, sum);
    }
}

/* the upper triangle, into both: rounding is not symmetric */
FA_INLINE void psi_mirror(fa_real *sum)
{
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < i; j++) {
            sum[6 * i + j] = sum[6 * j + i];
        }
    }
}

static size_t cp_work_size(const fa_model *model)
{
    return mi_work_size(model) + 12 * (size_t)model->nv;
}

/* J_i M^-1 J_j' (node, q) of nodes i, j in their axes */
static void cp_compliance(const fa_model *model, const fa_call *call)
{
    const mi_work m = mi_split(model, call->work);
    fa_real *first = call->work + mi_work_size(model), *second = first;
    int k = model->nodes[call->index].body;

    mi_factor(model, call->in[0], &m);
    cp_walk(model, call->index, call->in[0], &m.w, first);
    if (call->second != call->index) {
        second += 6 * model->nv;
        cp_walk(model, call->second, call->in[0], &m.w, second);
    }
    fa_zero(call->out, 36);
    for (; k >= 0; k = model->bodies[k].parent) {
        const fa_body *b = model->bodies + k;
        const int modes = 6 * b->mode_at, joint = b->n_dof > 0 ? 6 * b->joint_at : 0;
        psi_add_body(b, &m.w, m.w.body + k, first + modes, second + modes,
                     first + joint, second + joint, call->out);
    }
    if (second == first) {
        psi_mirror(call->out);
    }
}

#endif
