/*
 * followers.h -- between the independent coordinates of a model and those of its tree
 *
 * Equations   q_tree = B q + offset, qd_tree = B qd; forces and columns of Jacobians B'x,
 *             matrices B' M B                                                    (L6)
 * Checked by  tests/constraints/test_followers.py.
 */
#ifndef FA_FOLLOWERS_LANES_H
#define FA_FOLLOWERS_LANES_H

#include "lanes/lane.h"
#include "model/kinds.h"
#include "model/layout.h"

#include <string.h>

/* q of the tree */
FA_NOINLINE void fo_positions(const fa_model *model, const fa_real *restrict q,
                              fa_real *restrict full)
{
    memcpy(full, q, (size_t)model->n_same * sizeof *q);
    for (int i = model->n_same; i < model->tree->nq; i++) {
        const fa_follow *f = model->positions + i;
        full[i] = f->ratio * q[f->at] + f->offset;
    }
}

/* B x: velocities, accelerations or displacements */
FA_NOINLINE void fo_velocities(const fa_model *model, const fa_real *restrict x,
                               fa_real *restrict full)
{
    memcpy(full, x, (size_t)model->n_same * sizeof *x);
    for (int i = model->n_same; i < model->tree->nv; i++) {
        const fa_follow *f = model->velocities + i;
        full[i] = f->ratio * x[f->at];
    }
}

/* B' of one dimension of an array: [before][tree->nv][after] to [before][nv][after] */
FA_NOINLINE void fo_sum(const fa_model *model, int before, int after,
                        const fa_real *restrict full, fa_real *restrict x)
{
    const int n = model->tree->nv, nv = model->nv;

    fa_zero(x, before * nv * after);
    for (int b = 0; b < before; b++) {
        for (int i = 0; i < n; i++) {
            const fa_follow *f = model->velocities + i;
            const fa_real *from = full + (b * n + i) * after;
            fa_real *to = x + (b * nv + f->at) * after;
            for (int j = 0; j < after; j++) {
                to[j] += f->ratio * from[j];
            }
        }
    }
}

/* M = B' M_tree B; work [tree->nv][nv] */
FA_NOINLINE void fo_sum_both(const fa_model *model, const fa_real *restrict full,
                             fa_real *restrict work, fa_real *restrict M)
{
    fo_sum(model, model->tree->nv, 1, full, work);
    fo_sum(model, 1, model->nv, work, M);
}

/* the same of a symmetric matrix, symmetric bit for bit */
FA_NOINLINE void fo_sum_symmetric(const fa_model *model, const fa_real *restrict full,
                                  fa_real *restrict work, fa_real *restrict M)
{
    fo_sum_both(model, full, work, M);
    for (int i = 0; i < model->nv; i++) {
        for (int j = 0; j < i; j++) {
            M[j * model->nv + i] = M[i * model->nv + j];
        }
    }
}

/* forces on independent coordinates, on those of the tree: none on followers */
FA_NOINLINE void fo_place(const fa_model *model, const fa_real *restrict x,
                          fa_real *restrict full)
{
    memcpy(full, x, (size_t)model->n_same * sizeof *x);
    for (int i = model->n_same; i < model->tree->nv; i++) {
        const fa_follow *f = model->velocities + i;
        full[i] = f->follows ? (fa_real){0} : x[f->at];
    }
}

/* of accelerations of the tree the independent ones */
FA_NOINLINE void fo_pick(const fa_model *model, const fa_real *restrict full,
                         fa_real *restrict x)
{
    memcpy(x, full, (size_t)model->n_same * sizeof *x);
    for (int i = model->n_same; i < model->tree->nv; i++) {
        const fa_follow *f = model->velocities + i;
        if (!f->follows) {
            x[f->at] = full[i];
        }
    }
}

#endif
