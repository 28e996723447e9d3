/*
 * batch.c -- a kernel on any number of states, through strides
 *
 * Copies FA_LANES states into lanes, calls, copies out. A block ends early where the
 * node number changes. It is read whole before any of its results is written: an
 * output may alias an input.
 */
#ifndef FA_BATCH_C
#define FA_BATCH_C

#include "calls/call.h"
#include "calls/kernel_table.h"
#include "calls/kernels.h"
#include "kernels/batch/operands.h"
#include "kernels/bodies/followers.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/dynamics/constraints.c"
#include "kernels/dynamics/energy.c"
#include "kernels/dynamics/followers.c"
#include "kernels/dynamics/inverse_steps.h"
#include "kernels/dynamics/mass_inverse.c"
#include "kernels/dynamics/mass_matrix.c"
#include "kernels/kinematics/in_base.c"
#include "kernels/kinematics/kinematics.c"
#include "kernels/kinematics/link_jacobians.c"
#include "kernels/kinematics/motion.c"
#include "kernels/kinematics/positions.c"
#include "lanes/lane.h"
#include "model/kinds.h"
#include "model/layout.h"

#ifndef FA_STACK_LANES /* of one arm alone */
#include "kernels/batch/matrix_rows.h"
#include "kernels/derivatives/energy_tangents.c"
#include "kernels/derivatives/forward_tangents.c"
#include "kernels/derivatives/jacobian_tangents.c"
#include "kernels/derivatives/linear.c"
#include "kernels/dynamics/basic_dynamics.c"
#include "kernels/dynamics/compliance.c"
#include "kernels/dynamics/composite.c"
#include "kernels/dynamics/innovations.c"
#endif

typedef struct {
    void (*run)(const fa_model *, const fa_call *);
    size_t (*work_size)(const fa_model *); /* in fa_real */
} batch_row;

#define BATCH_ROW(kernel, name, function, doc, node, arms, reads, operands, run, size, \
                  ...)                                                                 \
    [kernel] = {run, size},
static const batch_row batch_rows[FA_N_KERNELS] = {FA_STACK_KERNELS(BATCH_ROW)
#ifndef FA_STACK_LANES
                                                       FA_ARM_KERNELS(BATCH_ROW)
#endif
};
#undef BATCH_ROW

#ifndef FA_STACK_LANES
/* of arms with linear fidelity, where it makes a difference */
#define BATCH_LINEAR_ROW(kernel, name, function, doc, node, arms, reads, operands,     \
                         run, size, linear, linear_size)                               \
    [kernel] = {linear, linear_size},
static const batch_row batch_linear_rows[FA_N_KERNELS] = {FA_KERNELS(BATCH_LINEAR_ROW)};
#undef BATCH_LINEAR_ROW

/*
 * Models with a tree (model/followers.h): most kernels run on the tree, with all
 * coordinates, and what they return of velocities, dimension by dimension of the operands
 * in kernel_table.h, is summed over followers (L6). Others know such models themselves, or
 * have a row here.
 */
enum { TREE_DIMENSIONS = 3 };

/* lengths of the dimensions of an operand, those of velocities marked; their number */
static int tree_dimensions(const fa_model *model, const char *letters, int *lengths,
                           int *summed)
{
    int n = 0;

    for (; *letters; letters++, n++) {
        summed[n] = *letters == 'V' || *letters == 'T';
        lengths[n] = summed[n]         ? model->nv
                     : *letters == 'Q' ? model->nq
                     : *letters == 'N' ? model->n_nodes
                     : *letters == 'B' ? model->n_links
                                       : *letters - '0';
    }
    return n;
}

static size_t tree_size(const fa_model *model, const char *letters)
{
    int lengths[TREE_DIMENSIONS], summed[TREE_DIMENSIONS];
    const int n = tree_dimensions(model, letters, lengths, summed);
    size_t size = 1;

    for (int i = 0; i < n; i++) {
        size *= (size_t)lengths[i];
    }
    return size;
}

static size_t tree_work_size(const fa_model *model, fa_kernel kernel)
{
    const fa_kernel_row *row = fa_kernel_rows + kernel;
    size_t total = batch_rows[kernel].work_size(model->tree);

    for (int i = 0; i < row->n_in; i++) {
        total += tree_size(model->tree, row->operands[i]);
    }
    return total + 2 * tree_size(model->tree, row->operands[row->n_in]);
}

/* the output of the tree summed, through buffers of its size */
static void tree_sum(const fa_model *model, const char *letters, fa_real *full,
                     fa_real *other, fa_real *out)
{
    int lengths[TREE_DIMENSIONS], summed[TREE_DIMENSIONS], left = 0, size = 1;
    const int n = tree_dimensions(model->tree, letters, lengths, summed);
    fa_real *from = full, *to = other;

    for (int i = 0; i < n; i++) {
        left += summed[i];
        size *= lengths[i];
    }
    if (left == 0) {
        memcpy(out, full, (size_t)size * sizeof(fa_real));
        return;
    }
    for (int i = 0; i < n; i++) {
        if (!summed[i]) {
            continue;
        }
        int before = 1, after = 1;
        for (int j = 0; j < n; j++) {
            before *= j < i ? lengths[j] : 1;
            after *= j > i ? lengths[j] : 1;
        }
        fo_sum(model, before, after, from, --left ? to : out);
        lengths[i] = model->nv;
        fa_real *last = from;
        from = to;
        to = last;
    }
}

static void tree_run(const fa_model *model, fa_kernel kernel, const fa_call *call)
{
    const fa_kernel_row *row = fa_kernel_rows + kernel;
    const char *result = row->operands[row->n_in];
    fa_call own = *call;
    fa_real *next = call->work;

    for (int i = 0; i < row->n_in; i++) {
        const char letter = row->operands[i][0];
        if (letter == 'Q') {
            fo_positions(model, call->in[i], next);
        } else if (letter == 'V') {
            fo_velocities(model, call->in[i], next);
        } else {
            continue;
        }
        own.in[i] = next;
        next += tree_size(model->tree, row->operands[i]);
    }
    const size_t size = tree_size(model->tree, result);
    own.out = next;
    own.work = next + 2 * size;
    batch_rows[kernel].run(model->tree, &own);
    tree_sum(model, result, own.out, own.out + size, call->out);
}

/* a row of functions for each kernel */
#define TREE_ROW(kernel, name, ...)                                                    \
    static void tree_run_##name(const fa_model *model, const fa_call *call)            \
    {                                                                                  \
        tree_run(model, kernel, call);                                                 \
    }                                                                                  \
    static size_t tree_size_##name(const fa_model *model)                              \
    {                                                                                  \
        return tree_work_size(model, kernel);                                          \
    }
FA_KERNELS(TREE_ROW)
#undef TREE_ROW

#define TREE_ROW(kernel, name, ...) [kernel] = {tree_run_##name, tree_size_##name},
static const batch_row tree_rows[FA_N_KERNELS] = {FA_KERNELS(TREE_ROW)};
#undef TREE_ROW

/* how a kernel computes with a model that has a tree */
static const batch_row *tree_row_of(fa_kernel kernel)
{
    static const batch_row forward = {fo_dense_forward, fo_dense_work_size};
    static const batch_row inverse = {fo_inverse, fo_mass_work_size};
    static const batch_row apply_inverse = {fo_apply_inverse, fo_mass_work_size};
    static const batch_row log_det = {fo_log_det, fo_mass_work_size};
    static const batch_row compliance = {fo_compliance, fo_compliance_work_size};

    switch (kernel) {
    case FA_FORWARD_BASIC:
        return &forward;
    case FA_MASS_INVERSE:
        return &inverse;
    case FA_APPLY_MASS_INVERSE:
        return &apply_inverse;
    case FA_LOG_DET_MASS:
        return &log_det;
    case FA_NODE_COMPLIANCE:
        return &compliance;
    case FA_INVERSE_DYNAMICS: /* these know it */
    case FA_BIAS_FORCES:
    case FA_GRAVITY_FORCES:
    case FA_APPLY_MASS:
    case FA_FORWARD_DYNAMICS:
    case FA_FORWARD_COMPOSITE:
    case FA_MASS_MATRIX:
    case FA_INVERSE_TANGENTS:
    case FA_FORWARD_TANGENTS:
    case FA_INVERSE_JVP:
    case FA_INVERSE_VJP:
    case FA_FORWARD_JVP:
    case FA_FORWARD_VJP:
    case FA_INTEGRATE: /* of the coordinates of the model */
    case FA_POSITION_RATES:
        return batch_rows + kernel;
    default:
        return tree_rows + kernel;
    }
}

static const batch_row *batch_row_of(const fa_model *model, fa_kernel kernel)
{
    if (model->tree) {
        return tree_row_of(kernel);
    }
    const batch_row *linear = batch_linear_rows + kernel;
    return model->fidelity == FA_LINEAR && linear->run ? linear : batch_rows + kernel;
}
#else
/* the arms of a stack are not of linear fidelity */
static const batch_row *batch_row_of(const fa_model *model, fa_kernel kernel)
{
    (void)model;
    return batch_rows + kernel;
}
#endif

/* lanes of one operand; tau, and a change of it, are widened from those of actuators to
 * nv entries */
static size_t batch_width(const fa_model *model, fa_kernel kernel, int i,
                          const int *sizes)
{
    const int is_tau = (i == 2 || i == 5) && i < fa_kernel_inputs(kernel);
    const int widened = is_tau && sizes[i] < model->nv && fa_kernel_takes_tau(kernel);
    return (size_t)(widened ? model->nv : sizes[i]);
}

FA_NOINLINE size_t batch_work_size(const fa_model *model, fa_kernel kernel,
                                   const int *sizes)
{
    const int n = fa_kernel_inputs(kernel) + 1;
    size_t total = batch_row_of(model, kernel)->work_size(model);

    for (int i = 0; i < n; i++) {
        total += batch_width(model, kernel, i, sizes);
    }
    return total * sizeof(fa_real);
}

static int64_t batch_index(const char *index, ptrdiff_t stride, size_t i)
{
    int64_t value;
    memcpy(&value, index + (ptrdiff_t)i * stride, sizeof value);
    return value;
}

/* block by block; arms: NULL but for stacks */
FA_INLINE fa_failures batch_blocks(const fa_model *model, fa_kernel kernel,
                                   size_t count, const char *index,
                                   ptrdiff_t index_stride, const fa_operand *operands,
                                   void *work, batch_arms *arms)
{
    const int n_in = fa_kernel_inputs(kernel);
    const int64_t n_nodes = model->n_nodes;
    const int is_pair = fa_kernel_takes_pair(kernel);
    const batch_row *row = batch_row_of(model, kernel);
    const fa_operand *out = operands + n_in;
    fa_real *lanes[FA_MAX_OPERANDS];
    fa_failures bad = {0, 0};
    int sizes[FA_MAX_OPERANDS], is_row[FA_MAX_OPERANDS];
    fa_call call;

    fa_real *next = work;
    for (int i = 0; i <= n_in; i++) {
        sizes[i] = operands[i].size;
        is_row[i] = count > FA_LANES && batch_is_row(operands[i].offset, sizes[i]);
    }
    for (int i = 0; i <= n_in; i++) {
        const size_t width = batch_width(model, kernel, i, sizes);
        lanes[i] = next;
        next += width;
        fa_zero(lanes[i] + sizes[i], (int)width - sizes[i]);
    }
    for (int i = 0; i < FA_MAX_INPUTS; i++) {
        call.in[i] = i < n_in ? lanes[i] : NULL;
    }
    call.out = lanes[n_in];
    call.work = next;
    call.index = call.second = 0;
    const int widened = !jf_is_plain(model) && n_in > 2 &&
                        batch_width(model, kernel, 2, sizes) > (size_t)operands[2].size;

#ifndef FA_STACK_LANES
    const rows_writer write = rows_of(model, kernel, is_row[n_in]);
#endif

    for (size_t at = 0, states; at < count; at += states) {
        states = count - at < FA_LANES ? count - at : FA_LANES;
        if (index) {
            const int64_t first = batch_index(index, index_stride, at);
            for (size_t w = 1; w < states; w++) {
                states = batch_index(index, index_stride, at + w) == first ? states : w;
            }
            call.second = (int)(first % n_nodes);
            call.index = is_pair ? (int)(first / n_nodes) : call.second;
        }
        call.states = (int)states;
        if (arms) {
            arms->take(arms, at, &call);
        }
        for (int i = 0; i < n_in; i++) {
            batch_load(operands + i, is_row[i], at, states, lanes[i]);
        }
        for (int i = 2; widened && i < n_in; i += 3) {
            jf_actuate(model, lanes[i]);
        }
#ifndef FA_STACK_LANES
        if (write && states > 1) {
            write(model, &call, out, at, &bad);
            continue;
        }
#endif
        row->run(model, &call);
        batch_finish(out, is_row[n_in], at, states, call.out, &bad);
    }
    return bad;
}

#ifndef FA_STACK_LANES
static fa_failures batch_run(const fa_model *model, fa_kernel kernel, size_t count,
                             const char *index, ptrdiff_t index_stride,
                             const fa_operand *operands, void *work)
{
    return batch_blocks(model, kernel, count, index, index_stride, operands, work,
                        NULL);
}
#endif

#endif
