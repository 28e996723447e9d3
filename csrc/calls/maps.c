/*
 * maps.c -- names and shapes of the maps of rotations, poses and screws
 *
 * Checked by  tests/c/test_lie.c, tests/test_se3_arguments.py.
 */
#include "calls/maps.h"

#include <stddef.h>

const fa_map_row fa_map_rows[FA_N_MAPS] = {
    [FA_SO3_HAT] = {"so3_hat", {"3", "33"}},
    [FA_SO3_VEE] = {"so3_vee", {"33", "3"}},
    [FA_SO3_EXP] = {"so3_exp", {"3", "33"}},
    [FA_SO3_LOG] = {"so3_log", {"33", "3"}},
    [FA_SO3_LEFT_JACOBIAN] = {"so3_left_jacobian", {"3", "33"}},
    [FA_SO3_RIGHT_JACOBIAN] = {"so3_right_jacobian", {"3", "33"}},
    [FA_SO3_LEFT_JACOBIAN_INVERSE] = {"so3_left_jacobian_inverse", {"3", "33"}},
    [FA_SO3_RIGHT_JACOBIAN_INVERSE] = {"so3_right_jacobian_inverse", {"3", "33"}},
    [FA_SO3_CAYLEY] = {"so3_cayley", {"3", "33"}},
    [FA_SO3_CAYLEY_INVERSE] = {"so3_cayley_inverse", {"33", "3"}},
    [FA_QUATERNION_FROM_ROTATION] = {"quaternion_from_rotation", {"33", "4"}},
    [FA_ROTATION_FROM_QUATERNION] = {"rotation_from_quaternion", {"4", "33"}},
    [FA_QUATERNION_PRODUCT] = {"quaternion_product", {"4", "4", "4"}},
    [FA_QUATERNION_INVERSE] = {"quaternion_inverse", {"4", "4"}},
    [FA_QUATERNION_EXP] = {"quaternion_exp", {"3", "4"}},
    [FA_QUATERNION_LOG] = {"quaternion_log", {"4", "3"}},
    [FA_SE3_HAT] = {"hat", {"6", "44"}},
    [FA_SE3_VEE] = {"vee", {"44", "6"}},
    [FA_SE3_EXP] = {"exp", {"6", "44"}},
    [FA_SE3_LOG] = {"log", {"44", "6"}},
    [FA_SE3_POSE] = {"pose", {"33", "3", "44"}},
    [FA_SE3_INVERSE] = {"inverse", {"44", "44"}},
    [FA_SE3_COMPOSE] = {"compose", {"44", "44", "44"}},
    [FA_SE3_INTERPOLATE] = {"interpolate", {"44", "44", "", "44"}},
    [FA_SE3_ADJOINT] = {"adjoint", {"44", "66"}},
    [FA_SE3_ADJOINT_INVERSE] = {"adjoint_inverse", {"44", "66"}},
    [FA_SE3_APPLY_ADJOINT] = {"apply_adjoint", {"44", "6", "6"}},
    [FA_SE3_APPLY_ADJOINT_INVERSE] = {"apply_adjoint_inverse", {"44", "6", "6"}},
    [FA_SE3_APPLY_COADJOINT] = {"apply_coadjoint", {"44", "6", "6"}},
    [FA_SE3_APPLY_COADJOINT_INVERSE] = {"apply_coadjoint_inverse", {"44", "6", "6"}},
    [FA_SE3_AD] = {"ad", {"6", "66"}},
    [FA_SE3_BRACKET] = {"bracket", {"6", "6", "6"}},
    [FA_SE3_LEFT_JACOBIAN] = {"left_jacobian", {"6", "66"}},
    [FA_SE3_RIGHT_JACOBIAN] = {"right_jacobian", {"6", "66"}},
    [FA_SE3_LEFT_JACOBIAN_INVERSE] = {"left_jacobian_inverse", {"6", "66"}},
    [FA_SE3_RIGHT_JACOBIAN_INVERSE] = {"right_jacobian_inverse", {"6", "66"}},
    [FA_SE3_LEFT_JACOBIAN_DERIVATIVE] = {"left_jacobian_derivative", {"6", "6", "66"}},
    [FA_SE3_RIGHT_JACOBIAN_DERIVATIVE] = {"right_jacobian_derivative",
                                          {"6", "6", "66"}},
    [FA_SE3_LEFT_JACOBIAN_INVERSE_DERIVATIVE] = {"left_jacobian_inverse_derivative",
                                                 {"6", "6", "66"}},
    [FA_SE3_RIGHT_JACOBIAN_INVERSE_DERIVATIVE] = {"right_jacobian_inverse_derivative",
                                                  {"6", "6", "66"}},
    [FA_SE3_CAYLEY] = {"cayley", {"6", "44"}},
    [FA_SE3_CAYLEY_INVERSE] = {"cayley_inverse", {"44", "6"}},
    [FA_SE3_SCREW] = {"screw", {"3", "3", "", "6"}},
    [FA_SCREWS_ROTATION_COMPOSE] = {"rotation_compose", {"233", "233", "233"}},
    [FA_SCREWS_ROTATION_INVERSE] = {"rotation_inverse", {"233", "233"}},
    [FA_SCREWS_ROTATION_APPLY] = {"rotation_apply", {"233", "23", "23"}},
    [FA_SCREWS_ROTATION_BRACKET] = {"rotation_bracket", {"23", "23", "23"}},
    [FA_SCREWS_ROTATION_EXP] = {"rotation_exp", {"23", "233"}},
    [FA_SCREWS_ROTATION_LOG] = {"rotation_log", {"233", "23"}},
    [FA_SCREWS_ROTATION_LEFT_JACOBIAN] = {"rotation_left_jacobian", {"23", "233"}},
    [FA_SCREWS_ROTATION_LEFT_JACOBIAN_INVERSE] = {"rotation_left_jacobian_inverse",
                                                  {"23", "233"}},
    [FA_SCREWS_COMPOSE] = {"compose", {"244", "244", "244"}},
    [FA_SCREWS_INVERSE] = {"inverse", {"244", "244"}},
    [FA_SCREWS_EXP] = {"exp", {"26", "244"}},
    [FA_SCREWS_LOG] = {"log", {"244", "26"}},
    [FA_SCREWS_APPLY_ADJOINT] = {"apply_adjoint", {"244", "26", "26"}},
    [FA_SCREWS_APPLY_ADJOINT_INVERSE] = {"apply_adjoint_inverse", {"244", "26", "26"}},
    [FA_SCREWS_APPLY_COADJOINT] = {"apply_coadjoint", {"244", "26", "26"}},
    [FA_SCREWS_APPLY_COADJOINT_INVERSE] = {"apply_coadjoint_inverse",
                                           {"244", "26", "26"}},
    [FA_SCREWS_BRACKET] = {"bracket", {"26", "26", "26"}},
    [FA_SCREWS_LEFT_JACOBIAN] = {"left_jacobian", {"26", "266"}},
    [FA_SCREWS_LEFT_JACOBIAN_INVERSE] = {"left_jacobian_inverse", {"26", "266"}},
};

const char *fa_map_module(fa_map map)
{
    return map <= FA_SE3_SCREW ? "se3" : "screws";
}

int fa_map_inputs(fa_map map)
{
    int n = 0;
    while (n < FA_MAP_OPERANDS && fa_map_rows[map].operands[n]) {
        n++;
    }
    return n - 1;
}

int fa_map_size(fa_map map, int i)
{
    int size = 1;
    for (const char *d = fa_map_rows[map].operands[i]; *d; d++) {
        size *= *d - '0';
    }
    return size;
}
