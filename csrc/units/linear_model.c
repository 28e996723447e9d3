/*
 * linear_model.c -- the linear model, from the kernels at complex numbers
 *
 * The kernels of the full model run at i h eta, i h etad: real parts are the values
 * without deformation, imaginary parts h times the change along eta and etad.
 *
 * Checked by  tests/dynamics/test_linear_model.py: differences of the full model,
 *             the twin.
 */
/* products that do not look for infinities, which cost a fifth of the time */
#if defined(__clang__)
#pragma STDC CX_LIMITED_RANGE ON
#else
#pragma GCC optimize("cx-limited-range")
#endif

#include "kernels/derivatives/linear_model.h"
#include "lanes/complex_step.h"

#include "calls/call.h"
#include "kernels/dynamics/inverse_steps.h"
#include "kernels/kinematics/forms.h"
#include "model/layout.h"

/* some of their kernels are not called from here; gcc inlines most in this order */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels/dynamics/inverse_dynamics.c"
#include "kernels/derivatives/tangent.c"
#include "kernels/derivatives/jacobian_tangents.c"
#include "kernels/kinematics/kinematics.c"
#include "kernels/kinematics/link_jacobians.c"
#include "kernels/dynamics/mass_matrix.c"
#pragma GCC diagnostic pop

size_t fa_linear_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv, id = id_work(model), mm = mm_work_size(model);
    const size_t kin = kin_node_work_size(model);
    const size_t most = id > mm ? id : mm;
    const size_t result = nv * nv > 6 * nv ? nv * nv : 6 * nv;
    return 2 * ((most > kin ? most : kin) + result + (size_t)model->nq + nv);
}

/* x with its last n entries, those of the modes, times i h */
static void linear_seed(const double *x, int size, int n, fa_real *seeded)
{
    for (int i = 0; i < size; i++) {
        seeded[i] =
            i < size - n ? fa_complex(x[i], 0.0) : fa_complex(0.0, FA_STEP * x[i]);
    }
}

/* value and change */
static void linear_sum(const fa_real *f, int size, double *sum)
{
    for (int i = 0; i < size; i++) {
        sum[i] = creal(f[i]) + cimag(f[i]) / FA_STEP;
    }
}

void fa_linear_mass(const fa_model *model, const double *q, double *work, double *M)
{
    fa_real *x = (fa_real *)work, *result = x + model->nq;

    linear_seed(q, model->nq, model->n_modes, x);
    mm_run(model, x, result + model->nv * model->nv, result);
    linear_sum(result, model->nv * model->nv, M);
}

void fa_linear_forces(const fa_model *model, const double *q, const double *qd,
                      double *work, double *C)
{
    fa_real *x = (fa_real *)work, *v = x + model->nq, *result = v + model->nv;

    linear_seed(q, model->nq, model->n_modes, x);
    if (qd) {
        linear_seed(qd, model->nv, model->n_modes, v);
    }
    id_run(model, qd ? ID_MOTION : ID_GRAVITY_ONLY, x, qd ? v : NULL, NULL,
           result + model->nv, result);
    linear_sum(result, model->nv, C);
}

void fa_linear_jacobian(const fa_model *model, int node, const double *q, double *work,
                        double *J)
{
    fa_real *x = (fa_real *)work, *result = x + model->nq;
    const fa_call call = {.in = {x},
                          .out = result,
                          .work = result + 6 * model->nv,
                          .index = node,
                          .states = 1};

    linear_seed(q, model->nq, model->n_modes, x);
    kin_walk(model, &call, KIN_COLUMNS, NULL);
    linear_sum(result, 6 * model->nv, J);
}

size_t fa_linear_tangents_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    const size_t tg =
        (size_t)model->nq + 2 * nv + 2 * nv * nv + tg_tree_work_size(model);
    const size_t jt = (size_t)model->nq + 6 * nv * nv + jt_work_size(model);
    return 2 * (tg > jt ? tg : jt);
}

void fa_linear_tangents(const fa_model *model, int inertial, const double *q,
                        const double *qd, const double *qdd, double *work, double *dq,
                        double *dqd)
{
    const int nv = model->nv, size = nv * nv;
    fa_real *x = (fa_real *)work, *v = x + model->nq, *a = v + nv, *result = a + nv;

    linear_seed(q, model->nq, model->n_modes, x);
    linear_seed(qd, nv, model->n_modes, v);
    linear_seed(qdd, nv, 0, a);
    tg_tree(model, inertial, x, v, a, result + 2 * size, result, result + size);
    linear_sum(result, size, dq);
    linear_sum(result + size, size, dqd);
    /* along modes and their rates, of which tau is linear, the change itself */
    for (int i = 0; i < size; i++) {
        if (i % nv >= nv - model->n_modes) {
            dq[i] = creal(result[i]);
            dqd[i] = creal(result[size + i]);
        }
    }
}

void fa_linear_jacobian_tangents(const fa_model *model, int node, const double *q,
                                 double *work, double *dJ)
{
    const int nv = model->nv, size = 6 * nv * nv;
    fa_real *x = (fa_real *)work, *result = x + model->nq;
    const fa_call call = {
        .in = {x}, .out = result, .work = result + size, .index = node, .states = 1};

    linear_seed(q, model->nq, model->n_modes, x);
    jt_run(model, &call);
    linear_sum(result, size, dJ);
    for (int i = 0; i < size; i++) { /* along modes the change itself */
        dJ[i] = i % nv < nv - model->n_modes ? dJ[i] : creal(result[i]);
    }
}

size_t fa_linear_links_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv, blocks = 6 * (size_t)model->n_bodies * nv;
    return 2 * ((size_t)model->nq + nv + lj_work_size(model) + 2 * blocks);
}

void fa_linear_link_jacobians(const fa_model *model, const double *q, const double *qd,
                              double *work, double *J, double *rate)
{
    const int size = 6 * model->nv, links = size * model->n_links;
    fa_real *x = (fa_real *)work, *v = x + model->nq, *scratch = v + model->nv;
    fa_real *blocks = lj_rest(model, scratch);
    const lj_blocks values = {blocks, blocks + links};
    const lj_blocks rates = {blocks + size * model->n_bodies,
                             blocks + size * model->n_bodies + links};

    linear_seed(q, model->nq, model->n_modes, x);
    if (qd) {
        linear_seed(qd, model->nv, model->n_modes, v);
    }
    lj_run(model, FORM_BODY, x, qd ? v : NULL, scratch, &values, &rates);
    linear_sum(values.links, links, J);
    if (qd) {
        linear_sum(rates.links, links, rate);
    }
}
