/*
 * composite.c -- forward dynamics by the mass matrix and LAPACK
 *
 *             qdd = M^-1 (tau - C), M by C1 and C2, C by inverse dynamics; with
 *             constraints M^-1 A' too, then L4.
 * Cost        O(nv^3): for comparison, and for the short chains where it wins.
 * Source      Jain and Rodriguez, US patent 5,546,508, eq. 46.
 * Checked by  tests/dynamics/test_dynamics.py, tests/constraints/test_constraints.py.
 */
#ifndef FA_COMPOSITE_C
#define FA_COMPOSITE_C

#include "calls/call.h"
#include "dense/dense.h"
#include "kernels/dynamics/constraint_rows.h"
#include "kernels/dynamics/constraints.c"
#include "kernels/dynamics/inverse_steps.h"
#include "kernels/dynamics/mass_matrix.c"
#include "lanes/lane.h"
#include "model/layout.h"

/* a matrix and right sides of doubles, in fa_real */
static size_t co_dense_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv, columns = 1 + (size_t)model->n_constraints;
    return (nv * (nv + columns) + FA_LANES - 1) / FA_LANES;
}

static size_t co_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    const size_t larger =
        id_work(model) > mm_work_size(model) ? id_work(model) : mm_work_size(model);
    return larger + nv * nv + nv + co_dense_size(model) + cn_work_size(model);
}

/* M^-1 of the right side and of the rows of the constraints, lane by lane */
static void co_solve(const fa_model *model, int states, const fa_real *M,
                     const fa_real *force, const cn_work *w, fa_real *dense,
                     fa_real *qdd)
{
    const int nv = model->nv, m = model->n_constraints;
    double *a = (double *)dense, *x = a + nv * nv;

    fa_zero(qdd, nv);
    fa_zero(w->X, m * nv);
    for (int lane = 0; lane < states; lane++) {
        for (int i = 0; i < nv; i++) {
            for (int j = i; j < nv; j++) {
                a[i * nv + j] = M[i * nv + j][lane];
            }
            x[i] = force[i][lane];
        }
        for (int i = 0; i < m * nv; i++) {
            x[nv + i] = w->A[i][lane];
        }
        fa_dense_solve(nv, 1 + m, a, x);
        for (int i = 0; i < nv; i++) {
            qdd[i][lane] = x[i];
        }
        for (int i = 0; i < m * nv; i++) {
            w->X[i][lane] = x[nv + i];
        }
    }
}

static void co_forward_dynamics(const fa_model *model, const fa_call *call)
{
    const int nv = model->nv;
    const fa_real *q = call->in[0], *qd = call->in[1];
    const cn_work w = cn_split(model, call->work);
    fa_real *M = call->work + cn_work_size(model), *C = M + nv * nv, *dense = C + nv;
    fa_real *rest = dense + co_dense_size(model);

    id_run(model, ID_MOTION, q, qd, NULL, rest, C);
    mm_run(model, q, rest, M);
    for (int i = 0; i < nv; i++) {
        C[i] = call->in[2][i] - C[i];
    }
    if (model->n_constraints > 0) {
        cn_rows(model, q, qd, &w);
    }
    co_solve(model, call->states, M, C, &w, dense, call->out);
    if (model->n_constraints > 0) {
        cn_residual(model, call->out, &w);
        cn_compliance(model, &w);
        cn_solve(model, call->states, &w);
        cn_add(model, &w, call->out);
    }
}

#endif
