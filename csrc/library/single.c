/*
 * single.c -- one state of one arm, for control loops in C
 *
 * Checked by  tests/c/test_single.c, tests/interop/test_real_time.py.
 */
#include "library/single.h"

enum { SINGLE_ALIGN = 64 };

/* doubles of each operand; tau may have fewer */
static void single_sizes(const fa_model *model, fa_kernel kernel, int *sizes)
{
    const int nv = model->nv, n_inputs = fa_kernel_inputs(kernel);

    sizes[0] = model->nq;
    for (int i = 1; i < n_inputs; i++) {
        sizes[i] = nv;
    }
    int *out = sizes + n_inputs;
    *out = kernel == FA_MASS_MATRIX ? nv * nv
           : kernel == FA_JACOBIAN  ? 6 * nv
           : kernel == FA_NODE_POSE ? 16
           : kernel == FA_INTEGRATE ? model->nq
                                    : nv;
}

/* bytes of the offsets of the largest operand, which stand at the start of the work */
static size_t single_offsets(const fa_kernel kernel, const int *sizes)
{
    int largest = 0;

    for (int i = 0; i <= fa_kernel_inputs(kernel); i++) {
        largest = sizes[i] > largest ? sizes[i] : largest;
    }
    const size_t bytes = (size_t)largest * sizeof(ptrdiff_t);
    return (bytes + SINGLE_ALIGN - 1) / SINGLE_ALIGN * SINGLE_ALIGN;
}

size_t fa_single_size(const fa_kernels *kernels, const fa_model *model,
                      fa_kernel kernel)
{
    int sizes[FA_MAX_OPERANDS];

    single_sizes(model, kernel, sizes);
    const size_t bytes =
        single_offsets(kernel, sizes) + kernels->work_size(model, kernel, sizes);
    return (bytes + SINGLE_ALIGN - 1) / SINGLE_ALIGN * SINGLE_ALIGN;
}

/*
 * A kernel on one state.
 *   node    for kernels that take one, else NULL
 *   arrays  inputs, then the output, the only one that is written
 *   n_tau   entries of tau
 */
static int single_run(const fa_single *arm, fa_kernel kernel, const int64_t *node,
                      const double *const *arrays, int n_tau)
{
    const int n = fa_kernel_inputs(kernel) + 1;
    fa_operand operands[FA_MAX_OPERANDS];
    int sizes[FA_MAX_OPERANDS];

    single_sizes(arm->model, kernel, sizes);
    ptrdiff_t *offsets = arm->work;
    const size_t work_at = single_offsets(kernel, sizes);
    for (size_t i = 0; i < work_at / sizeof(ptrdiff_t); i++) {
        offsets[i] = (ptrdiff_t)(i * sizeof(double));
    }
    for (int i = 0; i < n; i++) {
        const int size = i == 2 && fa_kernel_takes_tau(kernel) ? n_tau : sizes[i];
        operands[i] = (fa_operand){(char *)arrays[i], 0, size, offsets};
    }
    return arm->kernels
               ->batch(arm->model, kernel, 1, (const char *)node, 0, operands,
                       (char *)arm->work + work_at)
               .count > 0;
}

int fa_forward_dynamics(const fa_single *arm, const double *q, const double *qd,
                        const double *tau, int n_tau, double *qdd)
{
    const double *const arrays[] = {q, qd, tau, qdd};
    return single_run(arm, FA_FORWARD_DYNAMICS, NULL, arrays, n_tau);
}

int fa_inverse_dynamics(const fa_single *arm, const double *q, const double *qd,
                        const double *qdd, double *tau)
{
    const double *const arrays[] = {q, qd, qdd, tau};
    return single_run(arm, FA_INVERSE_DYNAMICS, NULL, arrays, arm->model->nv);
}

int fa_mass_matrix(const fa_single *arm, const double *q, double *M)
{
    const double *const arrays[] = {q, M};
    return single_run(arm, FA_MASS_MATRIX, NULL, arrays, 0);
}

int fa_node_pose(const fa_single *arm, int node, const double *q, double *pose)
{
    const double *const arrays[] = {q, pose};
    const int64_t index = node;
    return single_run(arm, FA_NODE_POSE, &index, arrays, 0);
}

int fa_jacobian(const fa_single *arm, int node, const double *q, double *J)
{
    const double *const arrays[] = {q, J};
    const int64_t index = node;
    return single_run(arm, FA_JACOBIAN, &index, arrays, 0);
}

int fa_move(const fa_single *arm, double h, double *q, const double *qd, double *moved)
{
    const double *const arrays[] = {q, moved, q};

    for (int i = 0; i < arm->model->nv; i++) {
        moved[i] = h * qd[i];
    }
    return single_run(arm, FA_INTEGRATE, NULL, arrays, 0);
}
