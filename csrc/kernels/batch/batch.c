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
#include "calls/kernels.h"
#include "kernels/batch/operands.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/dynamics/constraints.c"
#include "kernels/dynamics/energy.c"
#include "kernels/dynamics/inverse_steps.h"
#include "kernels/dynamics/mass_inverse.c"
#include "kernels/dynamics/mass_matrix.c"
#include "kernels/kinematics/kinematics.c"
#include "kernels/kinematics/link_jacobians.c"
#include "kernels/kinematics/motion.c"
#include "kernels/kinematics/positions.c"
#include "lanes/lane.h"
#include "model/kinds.h"
#include "model/layout.h"

#ifndef FA_STACK_LANES /* of one arm alone */
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

static const batch_row batch_rows[FA_N_KERNELS] = {
    [FA_INVERSE_DYNAMICS] = {id_inverse_dynamics, id_work},
    [FA_BIAS_FORCES] = {id_bias_forces, id_work},
    [FA_GRAVITY_FORCES] = {id_gravity_forces, id_work},
    [FA_FORWARD_DYNAMICS] = {cn_forward_dynamics, cn_forward_work_size},
    [FA_MASS_MATRIX] = {mm_mass_matrix, mm_work_size},
    [FA_MASS_INVERSE] = {mi_inverse, mi_work_size},
    [FA_APPLY_MASS] = {mi_apply, id_work},
    [FA_APPLY_MASS_INVERSE] = {mi_apply_inverse, mi_work_size},
    [FA_LOG_DET_MASS] = {mi_log_det, mi_work_size},
    [FA_KINETIC_ENERGY] = {en_kinetic, en_work_size},
    [FA_POTENTIAL_ENERGY] = {en_potential, en_work_size},
    [FA_DISSIPATED_POWER] = {en_dissipation, en_no_work},
    [FA_LINK_POSES] = {kin_link_poses, kin_poses_work_size},
    [FA_NODE_POSES] = {kin_node_poses, kin_poses_work_size},
    [FA_NODE_POSE] = {kin_node_pose, kin_node_work_size},
    [FA_NODE_VELOCITY] = {kin_node_velocity, kin_node_work_size},
    [FA_JACOBIAN] = {kin_jacobian, kin_node_work_size},
    [FA_WRENCH_FORCES] = {kin_wrench_forces, kin_node_work_size},
    [FA_NODE_ACCELERATION] = {mo_node_acceleration, mo_work_size},
    [FA_MOMENTUM] = {mo_momentum, mo_work_size},
    [FA_CENTER_OF_MASS] = {mo_center_of_mass, kin_poses_work_size},
    [FA_INTEGRATE] = {pos_integrate, pos_work_size},
    [FA_POSITION_RATES] = {pos_position_rates, pos_work_size},
    [FA_LINK_VELOCITIES] = {mo_link_velocities, mo_work_size},
    [FA_LINK_VELOCITIES_SPATIAL] = {mo_link_velocities_spatial, mo_work_size},
    [FA_LINK_VELOCITIES_HYBRID] = {mo_link_velocities_hybrid, mo_work_size},
    [FA_LINK_VELOCITIES_MIXED] = {mo_link_velocities_mixed, mo_work_size},
    [FA_LINK_ACCELERATIONS] = {mo_link_accelerations, mo_work_size},
    [FA_LINK_ACCELERATIONS_SPATIAL] = {mo_link_accelerations_spatial, mo_work_size},
    [FA_LINK_ACCELERATIONS_HYBRID] = {mo_link_accelerations_hybrid, mo_work_size},
    [FA_LINK_ACCELERATIONS_MIXED] = {mo_link_accelerations_mixed, mo_work_size},
    [FA_LINK_JACOBIANS] = {lj_link_jacobians, lj_work_size},
    [FA_LINK_JACOBIANS_SPATIAL] = {lj_link_jacobians_spatial, lj_work_size},
    [FA_LINK_JACOBIANS_HYBRID] = {lj_link_jacobians_hybrid, lj_work_size},
    [FA_LINK_JACOBIANS_MIXED] = {lj_link_jacobians_mixed, lj_work_size},
    [FA_LINK_JACOBIAN_RATES] = {lj_link_jacobian_rates, lj_rates_work_size},
    [FA_LINK_JACOBIAN_RATES_SPATIAL] = {lj_link_jacobian_rates_spatial,
                                        lj_rates_work_size},
    [FA_LINK_JACOBIAN_RATES_HYBRID] = {lj_link_jacobian_rates_hybrid,
                                       lj_rates_work_size},
    [FA_LINK_JACOBIAN_RATES_MIXED] = {lj_link_jacobian_rates_mixed, lj_rates_work_size},
    [FA_CONSTRAINT_VIOLATION] = {cn_violation, cn_work_size},
    [FA_CONSTRAINT_JACOBIAN] = {cn_jacobian, cn_work_size},
    [FA_CONSTRAINT_FORCES] = {cn_forces, cn_forces_work_size},
#ifndef FA_STACK_LANES /* of one arm alone */
    [FA_INVERSE_TANGENTS] = {tg_derivatives, tg_work_size},
    [FA_FORWARD_BASIC] = {ba_forward_dynamics, ba_work_size},
    [FA_FORWARD_COMPOSITE] = {co_forward_dynamics, co_work_size},
    [FA_INNOVATIONS] = {inn_factors, inn_work_size},
    [FA_INVERSE_BLOCKS] = {inn_inverse_blocks, inn_work_size},
    [FA_NODE_COMPLIANCE] = {cp_compliance, cp_work_size},
    [FA_FORWARD_TANGENTS] = {ft_derivatives, ft_work_size},
    [FA_INVERSE_JVP] = {ft_inverse_jvp, ft_work_size},
    [FA_FORWARD_JVP] = {ft_forward_jvp, ft_work_size},
    [FA_INVERSE_VJP] = {ft_inverse_vjp, ft_work_size},
    [FA_FORWARD_VJP] = {ft_forward_vjp, ft_work_size},
    [FA_JACOBIAN_TANGENTS] = {jt_run, jt_work_size},
    [FA_ENERGY_TANGENTS] = {et_energy, et_work_size},
#endif
};

#ifndef FA_STACK_LANES
/* of arms with linear fidelity, where it makes a difference */
static const batch_row batch_linear_rows[FA_N_KERNELS] = {
    [FA_INVERSE_DYNAMICS] = {li_inverse_dynamics, li_work_size},
    [FA_BIAS_FORCES] = {li_bias_forces, li_work_size},
    [FA_GRAVITY_FORCES] = {li_gravity_forces, li_work_size},
    [FA_FORWARD_DYNAMICS] = {li_forward_dynamics, li_work_size},
    [FA_FORWARD_BASIC] = {li_forward_dynamics, li_work_size},
    [FA_FORWARD_COMPOSITE] = {li_forward_dynamics, li_work_size},
    [FA_MASS_MATRIX] = {li_mass_matrix, li_work_size},
    [FA_MASS_INVERSE] = {li_mass_inverse, li_work_size},
    [FA_APPLY_MASS] = {li_apply, li_work_size},
    [FA_APPLY_MASS_INVERSE] = {li_apply_inverse, li_work_size},
    [FA_LOG_DET_MASS] = {li_log_det, li_work_size},
    [FA_KINETIC_ENERGY] = {li_kinetic, li_work_size},
    [FA_NODE_VELOCITY] = {li_node_velocity, li_work_size},
    [FA_JACOBIAN] = {li_jacobian, li_work_size},
    [FA_WRENCH_FORCES] = {li_wrench_forces, li_work_size},
    [FA_LINK_VELOCITIES] = {li_link_velocities, li_links_work_size},
    [FA_LINK_ACCELERATIONS] = {li_link_accelerations, li_links_work_size},
    [FA_LINK_JACOBIANS] = {li_link_jacobians, li_links_work_size},
    [FA_LINK_JACOBIAN_RATES] = {li_link_jacobian_rates, li_links_work_size},
    [FA_JACOBIAN_TANGENTS] = {li_jacobian_tangents, li_jacobian_tangents_work_size},
};

static const batch_row *batch_row_of(const fa_model *model, fa_kernel kernel)
{
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
    fa_real *lanes[FA_MOST_OPERANDS];
    fa_failures bad = {0, 0};
    int sizes[FA_MOST_OPERANDS], is_row[FA_MOST_OPERANDS];
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
    for (int i = 0; i < FA_MOST_INPUTS; i++) {
        call.in[i] = i < n_in ? lanes[i] : NULL;
    }
    call.out = lanes[n_in];
    call.work = next;
    call.index = call.second = 0;
    const int widened = model->n_motors > 0 && n_in > 2 &&
                        batch_width(model, kernel, 2, sizes) > (size_t)operands[2].size;

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
        row->run(model, &call);
        batch_count(call.out, out->size, at, states, &bad);
        batch_store(out, is_row[n_in], at, states, call.out);
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
