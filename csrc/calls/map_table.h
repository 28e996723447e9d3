/*
 * map_table.h -- the maps of rotations, poses and screws: one row each
 *
 * FA_SE3_MAPS(X) and FA_SCREWS_MAPS(X), those of se3 and reference.screws, are X
 * of every row, X a macro of the columns: the map of the enum fa_map; its name; names
 * of the inputs, those of the function in Python, and of the output; core dimensions of
 * these operands, one digit each, "" for a scalar; what computes FA_LANES of them.
 */
#ifndef FA_MAP_TABLE_H
#define FA_MAP_TABLE_H

/* clang-format off */

#define FA_SE3_MAPS(X)                                                                 \
    X(FA_SO3_HAT, so3_hat, "phi -> matrix", ("3", "33"), lie_so3_hat)                  \
    X(FA_SO3_VEE, so3_vee, "S -> phi", ("33", "3"), lie_so3_vee)                       \
    X(FA_SO3_EXP, so3_exp, "phi -> R", ("3", "33"), lie_so3_exp)                       \
    X(FA_SO3_LOG, so3_log, "R -> phi", ("33", "3"), lie_so3_log)                       \
    X(FA_SO3_LEFT_JACOBIAN, so3_left_jacobian, "phi -> J",                             \
      ("3", "33"), lie_so3_left_jacobian)                                              \
    X(FA_SO3_RIGHT_JACOBIAN, so3_right_jacobian, "phi -> J",                           \
      ("3", "33"), lie_so3_right_jacobian)                                             \
    X(FA_SO3_LEFT_JACOBIAN_INVERSE, so3_left_jacobian_inverse, "phi -> J",             \
      ("3", "33"), lie_so3_left_jacobian_inverse)                                      \
    X(FA_SO3_RIGHT_JACOBIAN_INVERSE, so3_right_jacobian_inverse, "phi -> J",           \
      ("3", "33"), lie_so3_right_jacobian_inverse)                                     \
    X(FA_SO3_CAYLEY, so3_cayley, "phi -> R", ("3", "33"), lie_so3_cayley)              \
    X(FA_SO3_CAYLEY_INVERSE, so3_cayley_inverse, "R -> phi",                           \
      ("33", "3"), lie_so3_cayley_inverse)                                             \
    X(FA_QUATERNION_FROM_ROTATION, quaternion_from_rotation, "R -> q",                 \
      ("33", "4"), lie_quaternion_from_rotation)                                       \
    X(FA_ROTATION_FROM_QUATERNION, rotation_from_quaternion, "q -> R",                 \
      ("4", "33"), lie_rotation_from_quaternion)                                       \
    X(FA_QUATERNION_PRODUCT, quaternion_product, "p, q -> pq",                         \
      ("4", "4", "4"), lie_quaternion_product)                                         \
    X(FA_QUATERNION_INVERSE, quaternion_inverse, "q -> inverse",                       \
      ("4", "4"), lie_quaternion_inverse)                                              \
    X(FA_QUATERNION_EXP, quaternion_exp, "phi -> q",                                   \
      ("3", "4"), lie_quaternion_of_vector)                                            \
    X(FA_QUATERNION_LOG, quaternion_log, "q -> phi",                                   \
      ("4", "3"), lie_vector_of_quaternion)                                            \
    X(FA_SE3_HAT, hat, "X -> matrix", ("6", "44"), lie_se3_hat)                        \
    X(FA_SE3_VEE, vee, "S -> X", ("44", "6"), lie_se3_vee)                             \
    X(FA_SE3_EXP, exp, "X -> C", ("6", "44"), lie_se3_exp)                             \
    X(FA_SE3_LOG, log, "C -> X", ("44", "6"), lie_se3_log)                             \
    X(FA_SE3_POSE, pose, "rotation, position -> C", ("33", "3", "44"), lie_se3_pose)   \
    X(FA_SE3_INVERSE, inverse, "C -> inverse", ("44", "44"), lie_se3_inverse)          \
    X(FA_SE3_COMPOSE, compose, "A, B -> C", ("44", "44", "44"), lie_se3_compose)       \
    X(FA_SE3_INTERPOLATE, interpolate, "C0, C1, s -> C",                               \
      ("44", "44", "", "44"), lie_se3_interpolate)                                     \
    X(FA_SE3_ADJOINT, adjoint, "C -> Ad", ("44", "66"), lie_se3_adjoint)               \
    X(FA_SE3_ADJOINT_INVERSE, adjoint_inverse, "C -> Ad",                              \
      ("44", "66"), lie_se3_adjoint_inverse)                                           \
    X(FA_SE3_APPLY_ADJOINT, apply_adjoint, "C, X -> Y",                                \
      ("44", "6", "6"), lie_se3_apply_adjoint)                                         \
    X(FA_SE3_APPLY_ADJOINT_INVERSE, apply_adjoint_inverse, "C, X -> Y",                \
      ("44", "6", "6"), lie_se3_apply_adjoint_inverse)                                 \
    X(FA_SE3_APPLY_COADJOINT, apply_coadjoint, "C, W -> Y",                            \
      ("44", "6", "6"), lie_se3_apply_coadjoint)                                       \
    X(FA_SE3_APPLY_COADJOINT_INVERSE, apply_coadjoint_inverse, "C, W -> Y",            \
      ("44", "6", "6"), lie_se3_apply_coadjoint_inverse)                               \
    X(FA_SE3_AD, ad, "X -> ad", ("6", "66"), lie_se3_ad)                               \
    X(FA_SE3_BRACKET, bracket, "X, Y -> Z", ("6", "6", "6"), lie_se3_bracket)          \
    X(FA_SE3_LEFT_JACOBIAN, left_jacobian, "X -> J",                                   \
      ("6", "66"), lie_se3_left_jacobian)                                              \
    X(FA_SE3_RIGHT_JACOBIAN, right_jacobian, "X -> J",                                 \
      ("6", "66"), lie_se3_right_jacobian)                                             \
    X(FA_SE3_LEFT_JACOBIAN_INVERSE, left_jacobian_inverse, "X -> J",                   \
      ("6", "66"), lie_se3_left_jacobian_inverse)                                      \
    X(FA_SE3_RIGHT_JACOBIAN_INVERSE, right_jacobian_inverse, "X -> J",                 \
      ("6", "66"), lie_se3_right_jacobian_inverse)                                     \
    X(FA_SE3_LEFT_JACOBIAN_DERIVATIVE, left_jacobian_derivative, "X, U -> D",          \
      ("6", "6", "66"), lie_se3_left_derivative)                                       \
    X(FA_SE3_RIGHT_JACOBIAN_DERIVATIVE, right_jacobian_derivative, "X, U -> D",        \
      ("6", "6", "66"), lie_se3_right_derivative)                                      \
    X(FA_SE3_LEFT_JACOBIAN_INVERSE_DERIVATIVE,                                         \
      left_jacobian_inverse_derivative, "X, U -> D",                                   \
      ("6", "6", "66"), lie_se3_left_inverse_derivative)                               \
    X(FA_SE3_RIGHT_JACOBIAN_INVERSE_DERIVATIVE,                                        \
      right_jacobian_inverse_derivative, "X, U -> D",                                  \
      ("6", "6", "66"), lie_se3_right_inverse_derivative)                              \
    X(FA_SE3_CAYLEY, cayley, "X -> C", ("6", "44"), lie_se3_cayley)                    \
    X(FA_SE3_CAYLEY_INVERSE, cayley_inverse, "C -> X",                                 \
      ("44", "6"), lie_se3_cayley_inverse)                                             \
    X(FA_SE3_SCREW, screw, "point, axis, pitch -> X",                                  \
      ("3", "3", "", "6"), lie_se3_screw)

#define FA_SCREWS_MAPS(X)                                                              \
    X(FA_SCREWS_ROTATION_COMPOSE, rotation_compose, "X, Y -> XY",                      \
      ("233", "233", "233"), dual_rotation_compose)                                    \
    X(FA_SCREWS_ROTATION_INVERSE, rotation_inverse, "X -> inverse",                    \
      ("233", "233"), dual_rotation_inverse)                                           \
    X(FA_SCREWS_ROTATION_APPLY, rotation_apply, "X, a -> b",                           \
      ("233", "23", "23"), dual_rotation_apply)                                        \
    X(FA_SCREWS_ROTATION_BRACKET, rotation_bracket, "a, b -> c",                       \
      ("23", "23", "23"), dual_rotation_bracket)                                       \
    X(FA_SCREWS_ROTATION_EXP, rotation_exp, "W -> X",                                  \
      ("23", "233"), dual_rotation_exp)                                                \
    X(FA_SCREWS_ROTATION_LOG, rotation_log, "X -> W",                                  \
      ("233", "23"), dual_rotation_log)                                                \
    X(FA_SCREWS_ROTATION_LEFT_JACOBIAN, rotation_left_jacobian, "W -> J",              \
      ("23", "233"), dual_rotation_left_jacobian)                                      \
    X(FA_SCREWS_ROTATION_LEFT_JACOBIAN_INVERSE, rotation_left_jacobian_inverse,        \
      "W -> J", ("23", "233"), dual_rotation_left_jacobian_inverse)                    \
    X(FA_SCREWS_COMPOSE, compose, "S, T -> ST",                                        \
      ("244", "244", "244"), dual_pose_compose)                                        \
    X(FA_SCREWS_INVERSE, inverse, "T -> inverse", ("244", "244"), dual_pose_inverse)   \
    X(FA_SCREWS_EXP, exp, "X -> T", ("26", "244"), dual_pose_exp)                      \
    X(FA_SCREWS_LOG, log, "T -> X", ("244", "26"), dual_pose_log)                      \
    X(FA_SCREWS_APPLY_ADJOINT, apply_adjoint, "T, t -> moved",                         \
      ("244", "26", "26"), dual_apply_adjoint)                                         \
    X(FA_SCREWS_APPLY_ADJOINT_INVERSE, apply_adjoint_inverse, "T, t -> moved",         \
      ("244", "26", "26"), dual_apply_adjoint_inverse)                                 \
    X(FA_SCREWS_APPLY_COADJOINT, apply_coadjoint, "T, w -> moved",                     \
      ("244", "26", "26"), dual_apply_coadjoint)                                       \
    X(FA_SCREWS_APPLY_COADJOINT_INVERSE, apply_coadjoint_inverse, "T, w -> moved",     \
      ("244", "26", "26"), dual_apply_coadjoint_inverse)                               \
    X(FA_SCREWS_BRACKET, bracket, "a, b -> c", ("26", "26", "26"), dual_bracket)       \
    X(FA_SCREWS_LEFT_JACOBIAN, left_jacobian, "X -> J",                                \
      ("26", "266"), dual_left_jacobian)                                               \
    X(FA_SCREWS_LEFT_JACOBIAN_INVERSE, left_jacobian_inverse, "X -> J",                \
      ("26", "266"), dual_left_jacobian_inverse)

/* clang-format on */

#define FA_MAPS(X) FA_SE3_MAPS(X) FA_SCREWS_MAPS(X)

#endif
