/*
 * tangent.c -- derivatives of inverse dynamics by central differences, until the exact
 *              ones take this place
 */
#include "body.h"
#include "hop.h"

static size_t tg_work_size(const fa_model *model)
{
    return id_work(model) + 4 * (size_t)model->nv + (size_t)model->nq +
           (size_t)pos_total(model);
}

static void tg_run(const fa_model *model, const fa_real *q, const fa_real *qd,
                   const fa_real *qdd, fa_real *work, fa_real *dq, fa_real *dqd)
{
    const int nv = model->nv;
    const double eps = 1e-6;
    fa_real *step = work, *a = step + nv, *b = a + nv, *rate = b + nv;
    fa_real *moved = rate + nv, *u = moved + model->nq, *rest = u + pos_total(model);

    fa_zero(step, nv);
    memcpy(rate, qd, (size_t)nv * sizeof(fa_real));
    for (int k = 0; k < nv; k++) {
        for (int side = 0; side < 2; side++) {
            step[k] = fa_splat(side ? -eps : eps);
            pos_rates(model, NULL, step, u);
            pos_step(model, q, u, moved);
            id_run(model, ID_MOTION | ID_ACCELERATION, moved, qd, qdd, rest,
                   side ? b : a);
        }
        step[k] = (fa_real){0};
        for (int i = 0; i < nv; i++) {
            dq[i * nv + k] = (a[i] - b[i]) * (0.5 / eps);
        }
        for (int side = 0; side < 2; side++) {
            rate[k] = qd[k] + (side ? -eps : eps);
            id_run(model, ID_MOTION | ID_ACCELERATION, q, rate, qdd, rest,
                   side ? b : a);
        }
        rate[k] = qd[k];
        for (int i = 0; i < nv; i++) {
            dqd[i * nv + k] = (a[i] - b[i]) * (0.5 / eps);
        }
    }
}
