/*
 * maps.c -- maps without a model on any number of states, through strides
 *
 * The batch of batch.c for kernels whose operands have fixed sizes.
 */
#ifndef FA_MAPS_C
#define FA_MAPS_C

#include "calls/call.h"
#include "calls/kernels.h"
#include "calls/maps.h"
#include "kernels/batch/operands.h"
#include "kernels/lie/dual_screws.c"
#include "kernels/lie/lie.c"
#include "lanes/lane.h"

static void (*const map_rows[FA_N_MAPS])(const fa_call *) = {
    [FA_SO3_HAT] = lie_so3_hat,
    [FA_SO3_VEE] = lie_so3_vee,
    [FA_SO3_EXP] = lie_so3_exp,
    [FA_SO3_LOG] = lie_so3_log,
    [FA_SO3_LEFT_JACOBIAN] = lie_so3_left_jacobian,
    [FA_SO3_RIGHT_JACOBIAN] = lie_so3_right_jacobian,
    [FA_SO3_LEFT_JACOBIAN_INVERSE] = lie_so3_left_jacobian_inverse,
    [FA_SO3_RIGHT_JACOBIAN_INVERSE] = lie_so3_right_jacobian_inverse,
    [FA_SO3_CAYLEY] = lie_so3_cayley,
    [FA_SO3_CAYLEY_INVERSE] = lie_so3_cayley_inverse,
    [FA_QUATERNION_FROM_ROTATION] = lie_quaternion_from_rotation,
    [FA_ROTATION_FROM_QUATERNION] = lie_rotation_from_quaternion,
    [FA_QUATERNION_PRODUCT] = lie_quaternion_product,
    [FA_QUATERNION_INVERSE] = lie_quaternion_inverse,
    [FA_QUATERNION_EXP] = lie_quaternion_of_vector,
    [FA_QUATERNION_LOG] = lie_vector_of_quaternion,
    [FA_SE3_HAT] = lie_se3_hat,
    [FA_SE3_VEE] = lie_se3_vee,
    [FA_SE3_EXP] = lie_se3_exp,
    [FA_SE3_LOG] = lie_se3_log,
    [FA_SE3_POSE] = lie_se3_pose,
    [FA_SE3_INVERSE] = lie_se3_inverse,
    [FA_SE3_COMPOSE] = lie_se3_compose,
    [FA_SE3_INTERPOLATE] = lie_se3_interpolate,
    [FA_SE3_ADJOINT] = lie_se3_adjoint,
    [FA_SE3_ADJOINT_INVERSE] = lie_se3_adjoint_inverse,
    [FA_SE3_APPLY_ADJOINT] = lie_se3_apply_adjoint,
    [FA_SE3_APPLY_ADJOINT_INVERSE] = lie_se3_apply_adjoint_inverse,
    [FA_SE3_APPLY_COADJOINT] = lie_se3_apply_coadjoint,
    [FA_SE3_APPLY_COADJOINT_INVERSE] = lie_se3_apply_coadjoint_inverse,
    [FA_SE3_AD] = lie_se3_ad,
    [FA_SE3_BRACKET] = lie_se3_bracket,
    [FA_SE3_LEFT_JACOBIAN] = lie_se3_left_jacobian,
    [FA_SE3_RIGHT_JACOBIAN] = lie_se3_right_jacobian,
    [FA_SE3_LEFT_JACOBIAN_INVERSE] = lie_se3_left_jacobian_inverse,
    [FA_SE3_RIGHT_JACOBIAN_INVERSE] = lie_se3_right_jacobian_inverse,
    [FA_SE3_LEFT_JACOBIAN_DERIVATIVE] = lie_se3_left_derivative,
    [FA_SE3_RIGHT_JACOBIAN_DERIVATIVE] = lie_se3_right_derivative,
    [FA_SE3_LEFT_JACOBIAN_INVERSE_DERIVATIVE] = lie_se3_left_inverse_derivative,
    [FA_SE3_RIGHT_JACOBIAN_INVERSE_DERIVATIVE] = lie_se3_right_inverse_derivative,
    [FA_SE3_CAYLEY] = lie_se3_cayley,
    [FA_SE3_CAYLEY_INVERSE] = lie_se3_cayley_inverse,
    [FA_SE3_SCREW] = lie_se3_screw,
    [FA_SCREWS_ROTATION_COMPOSE] = dual_rotation_compose,
    [FA_SCREWS_ROTATION_INVERSE] = dual_rotation_inverse,
    [FA_SCREWS_ROTATION_APPLY] = dual_rotation_apply,
    [FA_SCREWS_ROTATION_BRACKET] = dual_rotation_bracket,
    [FA_SCREWS_ROTATION_EXP] = dual_rotation_exp,
    [FA_SCREWS_ROTATION_LOG] = dual_rotation_log,
    [FA_SCREWS_ROTATION_LEFT_JACOBIAN] = dual_rotation_left_jacobian,
    [FA_SCREWS_ROTATION_LEFT_JACOBIAN_INVERSE] = dual_rotation_left_jacobian_inverse,
    [FA_SCREWS_COMPOSE] = dual_pose_compose,
    [FA_SCREWS_INVERSE] = dual_pose_inverse,
    [FA_SCREWS_EXP] = dual_pose_exp,
    [FA_SCREWS_LOG] = dual_pose_log,
    [FA_SCREWS_APPLY_ADJOINT] = dual_apply_adjoint,
    [FA_SCREWS_APPLY_ADJOINT_INVERSE] = dual_apply_adjoint_inverse,
    [FA_SCREWS_APPLY_COADJOINT] = dual_apply_coadjoint,
    [FA_SCREWS_APPLY_COADJOINT_INVERSE] = dual_apply_coadjoint_inverse,
    [FA_SCREWS_BRACKET] = dual_bracket,
    [FA_SCREWS_LEFT_JACOBIAN] = dual_left_jacobian,
    [FA_SCREWS_LEFT_JACOBIAN_INVERSE] = dual_left_jacobian_inverse,
};

static size_t map_work_size(fa_map map)
{
    size_t total = 0;
    for (int i = 0; i <= fa_map_inputs(map); i++) {
        total += (size_t)fa_map_size(map, i);
    }
    return total * sizeof(fa_real);
}

static fa_failures map_run(fa_map map, size_t count, const fa_operand *operands,
                           void *work)
{
    const int n_in = fa_map_inputs(map);
    const fa_operand *out = operands + n_in;
    fa_real *lanes[FA_MAP_OPERANDS], *next = work;
    fa_failures bad = {0, 0};
    fa_call call = {.out = NULL};

    for (int i = 0; i <= n_in; i++) {
        lanes[i] = next;
        next += operands[i].size;
        if (i < n_in) {
            call.in[i] = lanes[i];
        }
    }
    call.out = lanes[n_in];
    for (size_t at = 0; at < count; at += FA_LANES) {
        const size_t states = count - at < FA_LANES ? count - at : FA_LANES;
        call.states = (int)states;
        for (int i = 0; i < n_in; i++) {
            batch_load(operands + i, 0, at, states, lanes[i]);
        }
        map_rows[map](&call);
        batch_count(call.out, out->size, at, states, &bad);
        batch_store(out, 0, at, states, call.out);
    }
    return bad;
}

#endif
