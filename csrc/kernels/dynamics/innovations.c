/*
 * innovations.c -- the factors of M, and the diagonal blocks of its inverse
 *
 * Equations   M = L D L', D = H P H', G = P H' D^-1, L = 1 + H Phi K, K = Phi G  (54)
 *             column by column: a gain of G walks to the root, and every body on the
 *             way takes its rows (Lambda; U)' F and S' F                         (N1)
 *             [M^-1](k,k) = D^-1 + G' T G, T the compliance of the frame of body k
 *             with its own joint and modes locked: zero at the root, and outward
 *             T = e' D^-1 e + F' T(parent) F with unit wrenches carried through the
 *             parent by W1 and W2. It is the part of Y = Psi' Y Psi + H' D^-1 H that
 *             crosses the joint.                                                 (N2)
 * Blocks      those of the bodies of the user, modes and then the joint, and motors. A product of
 *             screws is a chain of carriers here; P of the body that it ends in, all
 *             outboard of it free, gives D and G of all its freedoms at once.
 * Rows        body by body, base to tip: as spatial operators have them.
 * Cost        O(bodies * modes^3) and, for L, O(nv * depth * modes).
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 51 to 56 and sec. 9.
 * Checked by  tests/dynamics/test_innovations.py: LAPACK, the spatial operators.
 */
#ifndef FA_INNOVATIONS_C
#define FA_INNOVATIONS_C

#include "calls/call.h"
#include "kernels/bodies/floating.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/joint.h"
#include "kernels/dynamics/compliance.c"
#include "kernels/dynamics/forward_rows.h"
#include "kernels/dynamics/forward_steps.h"
#include "kernels/dynamics/forward_work.h"
#include "kernels/dynamics/mass_inverse.c"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

typedef struct {
    mi_work m;
    fd_work block; /* rows H P and triangle H P H' of one body of the user */
    fa_real *zero; /* [n] */
    fa_real *G;    /* [nv][6]  at the frame of the body, row by row */
    fa_real *T;    /* [n_bodies][36] */
    int *modes_at; /* [n_bodies] row of the first mode */
    int *joint_at; /* [n_bodies] row of the first freedom */
} inn_work;

/* whether a body has rows of its own: a body of the user, or the rotor of a motor */
static int inn_is_block(const fa_body *b)
{
    return b->link >= 0 || b->drives >= 0;
}

/* the first of the carriers whose chain ends in body k, or k */
static int inn_top(const fa_model *model, int k)
{
    while (model->bodies[k].parent >= 0 &&
           model->bodies[model->bodies[k].parent].link < 0) {
        k = model->bodies[k].parent;
    }
    return k;
}

/* the body after c on the way from c out to k */
static int inn_next(const fa_model *model, int c, int k)
{
    while (model->bodies[k].parent != c) {
        k = model->bodies[k].parent;
    }
    return k;
}

/* coordinates of the body of the user that k is, those of its carriers included */
static int inn_rows(const fa_model *model, int k)
{
    const int top = inn_top(model, k);
    int n = model->bodies[k].n_modes + model->bodies[k].n_dof;

    while (k != top) {
        k = model->bodies[k].parent;
        n += model->bodies[k].n_dof;
    }
    return n;
}

static size_t inn_most_rows(const fa_model *model)
{
    int most = 0;
    for (int k = 0; k < model->n_bodies; k++) {
        const int n = !inn_is_block(model->bodies + k) ? 0 : inn_rows(model, k);
        most = n > most ? n : most;
    }
    return (size_t)most;
}

static size_t inn_work_size(const fa_model *model)
{
    const size_t n = inn_most_rows(model), bodies = (size_t)model->n_bodies;
    return mi_work_size(model) + 9 * n + n * (n + 1) / 2 + 6 * (size_t)model->nv +
           36 * bodies + (2 * bodies * sizeof(int)) / sizeof(fa_real) + 1;
}

/* rows of the coordinates of all bodies */
static void inn_places(const fa_model *model, const inn_work *w)
{
    int joints = 0;

    for (int k = 0; k < model->n_bodies; k++) {
        w->modes_at[k] = joints;
        w->joint_at[k] = 0;
        joints += model->bodies[k].n_dof;
    }
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;
        const int top = inn_top(model, k);
        if (!inn_is_block(b)) {
            continue;
        }
        w->modes_at[k] = b->own_at + w->modes_at[top];
        for (int c = k;; c = model->bodies[c].parent) {
            w->joint_at[c] = model->bodies[c].joint_at + b->own_at + b->n_modes;
            if (c == top) {
                break;
            }
        }
    }
}

static inn_work inn_split(const fa_model *model, fa_real *work)
{
    const size_t n = inn_most_rows(model);
    inn_work w = {.m = mi_split(model, work)};

    w.block.z_f = work + mi_work_size(model);
    w.block.pivot = w.block.z_f + n;
    w.block.Y = w.block.pivot + n;
    w.block.L = w.block.Y + 6 * n;
    w.zero = w.block.L + n * (n + 1) / 2;
    w.G = w.zero + n;
    w.T = w.G + 6 * (size_t)model->nv;
    w.modes_at = (int *)(w.T + 36 * (size_t)model->n_bodies);
    w.joint_at = w.modes_at + model->n_bodies;
    inn_places(model, &w);
    return w;
}

/* row of coordinate i of the body of the user that k is */
FA_INLINE int inn_row(const fa_model *model, const inn_work *w, int k, int i)
{
    const int n = model->bodies[k].n_modes;
    return i < n ? w->modes_at[k] + i : w->joint_at[inn_top(model, k)] + i - n;
}

/*
 * Rows H P and triangle H P H' of a body of the user, its modes not yet freed; the
 * screws of its carriers are moved to its own frame (51).
 */
FA_NOINLINE void inn_fill(const fa_model *model, int k, const inn_work *w)
{
    const fd_work *f = &w->m.w;
    const fa_body *b = model->bodies + k;
    fa_real *Y = w->block.Y, *L = w->block.L;
    int n = b->n_modes;

    memcpy(Y, f->Y + 6 * b->own_at, (size_t)(6 * n) * sizeof(fa_real));
    memcpy(L, f->L + b->tri_at, (size_t)(n * (n + 1) / 2) * sizeof(fa_real));
    for (int c = inn_top(model, k);; c = inn_next(model, c, k)) {
        for (int j = 0; j < model->bodies[c].n_dof; j++, n++) {
            fa_real S[6], moved[6];
            joint_screw(model->bodies + c, j, S);
            for (int at = c; at != k;) {
                at = inn_next(model, at, k);
                hop_motion(&f->body[at].hop, 0, NULL, NULL, S, NULL, moved);
                memcpy(S, moved, sizeof S);
            }
            for (int r = 0; r < n; r++) {
                L[fa_tri(n, r)] = fa_dot(Y + 6 * r, S) + fa_dot(Y + 6 * r + 3, S + 3);
            }
            fa_inertia_mul(Y + 6 * n, &f->body[k].P, S);
            L[fa_tri(n, n)] = fa_dot(Y + 6 * n, S) + fa_dot(Y + 6 * n + 3, S + 3) +
                              model->bodies[c].armature[j];
        }
        if (c == k) {
            return;
        }
    }
}

/* triangle L and pivots of D, and gains G of a body of the user; inn_fill before */
FA_NOINLINE void inn_gains(const fa_model *model, int k, int n, const inn_work *w)
{
    const fa_real *Y = w->block.Y, *L = w->block.L, *pivot = w->block.pivot;
    fd_body unused = {0};

    fa_zero(w->block.z_f, n);
    fa_zero(w->zero, n);
    fd_eliminate(n, 0, 0, w->zero, &w->block, &unused);
    for (int r = n - 1; r >= 0; r--) {
        fa_real *gain = w->G + 6 * inn_row(model, w, k, r);
        for (int i = 0; i < 6; i++) {
            gain[i] = Y[6 * r + i] * pivot[r];
        }
        for (int s = r + 1; s < n; s++) {
            const fa_real *other = w->G + 6 * inn_row(model, w, k, s);
            for (int i = 0; i < 6; i++) {
                gain[i] -= L[fa_tri(s, r)] * other[i];
            }
        }
    }
}

/* the force F of body c on its parent: its rows of a column, unless these are NULL */
FA_NOINLINE void inn_climb(const fa_model *model, const inn_work *w, int c, fa_real *F,
                           fa_real *column)
{
    const fd_work *f = &w->m.w;
    const fa_body *b = model->bodies + c, *bp = model->bodies + b->parent;
    const fa_real *slope = f->columns + 6 * b->hop_at;
    fa_real moved[6] = {{0}}, rows[FA_MAX_MODES];
    const int np = b->parent_modes, nv = model->nv;

    fa_zero(rows, np);
    hop_force_add(&f->body[c].hop, np, slope, slope + 3 * np, F, moved, rows);
    memcpy(F, moved, sizeof moved);
    if (!column) {
        return;
    }
    if (bp->joint == FA_JOINT_FLOATING) {
        floating_force(bp, f->columns + 6 * bp->hop_at, F, rows);
    }
    for (int s = 0; s < np; s++) {
        column[(w->modes_at[b->parent] + s) * nv] = rows[s];
    }
    for (int j = 0; j < bp->n_dof; j++) {
        fa_real S[6];
        joint_screw(bp, j, S);
        column[(w->joint_at[b->parent] + j) * nv] = fa_dot(S, F) + fa_dot(S + 3, F + 3);
    }
}

/* the columns of L of a body of the user (N1) */
FA_NOINLINE void inn_columns(const fa_model *model, int k, int n, const inn_work *w,
                             fa_real *L)
{
    const int top = inn_top(model, k);

    for (int i = 0; i < n; i++) {
        const int row = inn_row(model, w, k, i);
        fa_real F[6];
        memcpy(F, w->G + 6 * row, sizeof F);
        L[row * model->nv + row] = fa_splat(1.0);
        for (int c = k, carried = 0; model->bodies[c].parent >= 0;
             c = model->bodies[c].parent) {
            carried |= c == top;
            inn_climb(model, w, c, F, carried ? L + row : NULL);
        }
    }
}

/* pose, inertia and gains of all bodies, with what `visit` wants of each */
FA_INLINE void inn_run(const fa_model *model, const fa_real *q, const inn_work *w,
                       void (*visit)(const fa_model *, int, int, const inn_work *,
                                     fa_real *),
                       fa_real *out)
{
    const fd_work *f = &w->m.w;

    fa_zero(w->m.x, model->nv);
    for (int k = 0; k < model->n_bodies; k++) {
        mi_start(model, model->bodies + k, q, f, f->body + k);
    }
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;
        const int n = !inn_is_block(b) ? 0 : inn_rows(model, k);

        if (b->joint == FA_JOINT_FLOATING) {
            fd_float(b, f, f->body + k);
        }
        if (n > 0) {
            inn_fill(model, k, w);
            visit(model, k, n, w, out);
        }
        fd_eliminate(b->n_modes, b->own_at, b->tri_at, w->m.x, f, f->body + k);
        fd_eliminate_joint(b, NULL, w->m.x, w->m.x, f, f->body + k);
        if (b->parent >= 0) {
            fd_inward(model, b, b->parent_modes, b->kept, f, f->body + k);
        }
    }
}

/* L and D of one body of the user: out [2][nv][nv] */
FA_NOINLINE void inn_store_factors(const fa_model *model, int k, int n,
                                   const inn_work *w, fa_real *out)
{
    const int nv = model->nv;
    fa_real *D = out + nv * nv;

    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            const int a = inn_row(model, w, k, i), b = inn_row(model, w, k, j);
            D[a * nv + b] = D[b * nv + a] = w->block.L[fa_tri(i, j)];
        }
    }
    inn_gains(model, k, n, w);
    inn_columns(model, k, n, w, out);
}

/* L and D (q), rows by bodies */
static void inn_factors(const fa_model *model, const fa_call *call)
{
    const inn_work w = inn_split(model, call->work);

    fa_zero(call->out, 2 * model->nv * model->nv);
    inn_run(model, call->in[0], &w, inn_store_factors, call->out);
}

/* D^-1 of one body of the user, column by column, and its gains */
FA_NOINLINE void inn_store_inverse(const fa_model *model, int k, int n,
                                   const inn_work *w, fa_real *out)
{
    const fa_real *L = w->block.L, *pivot = w->block.pivot;
    fa_real *x = w->block.z_f;
    const int nv = model->nv;

    inn_gains(model, k, n, w);
    for (int c = 0; c < n; c++) {
        const int column = inn_row(model, w, k, c);
        for (int r = c; r < n; r++) {
            x[r] = fa_splat(r == c);
            for (int s = c; s < r; s++) {
                x[r] -= L[fa_tri(r, s)] * x[s];
            }
        }
        for (int r = n - 1; r >= c; r--) {
            const int row = inn_row(model, w, k, r);
            x[r] *= pivot[r];
            for (int s = r + 1; s < n; s++) {
                x[r] -= L[fa_tri(s, r)] * x[s];
            }
            out[row * nv + column] = out[column * nv + row] = x[r];
        }
    }
}

/* T of the frame of body k with its joint locked (N2); a body with a parent */
FA_NOINLINE void inn_compliance(const fa_model *model, int k, const inn_work *w)
{
    const fd_work *f = &w->m.w;
    const fa_body *b = model->bodies + k, *bp = model->bodies + b->parent;
    const fa_real *T = w->T + 36 * b->parent;
    fa_real F[36], TF[36], modes[6 * FA_MAX_MODES], joint[36], *sum = w->T + 36 * k;

    fa_zero(F, 36);
    fa_zero(sum, 36);
    for (int i = 0; i < 6; i++) {
        F[7 * i] = fa_splat(1.0);
    }
    psi_hop(model, b, f, &f->body[k].hop, modes, F);
    psi_rows(bp->n_modes, bp->own_at, bp->tri_at, f, modes, F);
    psi_joint(bp, f, f->body + b->parent, joint, F);
    psi_add_body(bp, f, f->body + b->parent, modes, modes, joint, joint, sum);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            TF[6 * i + j] = (fa_real){0};
            for (int l = 0; l < 6; l++) {
                TF[6 * i + j] += T[6 * i + l] * F[6 * l + j];
            }
        }
    }
    for (int i = 0; i < 6; i++) {
        for (int j = i; j < 6; j++) {
            for (int l = 0; l < 6; l++) {
                sum[6 * i + j] += F[6 * l + i] * TF[6 * l + j];
            }
        }
    }
    psi_mirror(sum);
}

/* D^-1 + G' T G of one body of the user (N2) */
FA_NOINLINE void inn_add_block(const fa_model *model, int k, int n, const inn_work *w,
                               fa_real *out)
{
    const int nv = model->nv, top = inn_top(model, k);
    const fa_real *T = w->T + 36 * top;

    for (int i = 0; i < n; i++) { /* gains at the frame where the carriers start */
        fa_real *F = w->G + 6 * inn_row(model, w, k, i);
        for (int c = k; c != top; c = model->bodies[c].parent) {
            inn_climb(model, w, c, F, NULL);
        }
    }
    for (int i = 0; i < n; i++) {
        const int row = inn_row(model, w, k, i);
        fa_real TG[6] = {{0}};
        for (int a = 0; a < 36; a++) {
            TG[a / 6] += T[a] * w->G[6 * row + a % 6];
        }
        for (int j = 0; j <= i; j++) {
            const int column = inn_row(model, w, k, j);
            const fa_real *G = w->G + 6 * column;
            out[row * nv + column] += fa_dot(G, TG) + fa_dot(G + 3, TG + 3);
            out[column * nv + row] = out[row * nv + column];
        }
    }
}

/* diagonal blocks of M^-1 (q), rows by bodies */
static void inn_inverse_blocks(const fa_model *model, const fa_call *call)
{
    const inn_work w = inn_split(model, call->work);

    fa_zero(call->out, model->nv * model->nv);
    inn_run(model, call->in[0], &w, inn_store_inverse, call->out);
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        if (b->parent < 0) {
            fa_zero(w.T + 36 * k, 36);
        } else {
            inn_compliance(model, k, &w);
        }
        if (inn_is_block(b)) {
            inn_add_block(model, k, inn_rows(model, k), &w, call->out);
        }
    }
}

#endif
