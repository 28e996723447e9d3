/*
 * map_table.h -- the maps of rotations, poses and screws: one row each
 *
 * FA_SE3_MAPS(X) and FA_SCREWS_MAPS(X), those of flexarm.se3 and flexarm.screws, are X
 * of every row, X a macro of the columns: the map of the enum fa_map; its name; the core
 * dimensions of its operands, the output last, one digit each, "" for a scalar; what
 * computes FA_LANES of them.
 */
#ifndef FA_MAP_TABLE_H
#define FA_MAP_TABLE_H

#define FA_SE3_MAPS(X)                                                                 \
    X(FA_SO3_HAT, so3_hat, ("3", "33"), lie_so3_hat)                                   \
    X(FA_SO3_VEE, so3_vee, ("33", "3"), lie_so3_vee)                                   \
    X(FA_SO3_EXP, so3_exp, ("3", "33"), lie_so3_exp)                                   \
    X(FA_SO3_LOG, so3_log, ("33", "3"), lie_so3_log)                                   \
    X(FA_SO3_LEFT_JACOBIAN, so3_left_jacobian, ("3", "33"), lie_so3_left_jacobian)     \
    X(FA_SO3_RIGHT_JACOBIAN, so3_right_jacobian, ("3", "33"), lie_so3_right_jacobian)  \
    X(FA_SO3_LEFT_JACOBIAN_INVERSE, so3_left_jacobian_inverse, ("3", "33"),            \
      lie_so3_left_jacobian_inverse)                                                   \
    X(FA_SO3_RIGHT_JACOBIAN_INVERSE, so3_right_jacobian_inverse, ("3", "33"),          \
      lie_so3_right_jacobian_inverse)                                                  \
    X(FA_SO3_CAYLEY, so3_cayley, ("3", "33"), lie_so3_cayley)                          \
    X(FA_SO3_CAYLEY_INVERSE, so3_cayley_inverse, ("33", "3"), lie_so3_cayley_inverse)  \
    X(FA_QUATERNION_FROM_ROTATION, quaternion_from_rotation, ("33", "4"),              \
      lie_quaternion_from_rotation)                                                    \
    X(FA_ROTATION_FROM_QUATERNION, rotation_from_quaternion, ("4", "33"),              \
      lie_rotation_from_quaternion)                                                    \
    X(FA_QUATERNION_PRODUCT, quaternion_product, ("4", "4", "4"),                      \
      lie_quaternion_product)                                                          \
    X(FA_QUATERNION_INVERSE, quaternion_inverse, ("4", "4"), lie_quaternion_inverse)   \
    X(FA_QUATERNION_EXP, quaternion_exp, ("3", "4"), lie_quaternion_of_vector)         \
    X(FA_QUATERNION_LOG, quaternion_log, ("4", "3"), lie_vector_of_quaternion)         \
    X(FA_SE3_HAT, hat, ("6", "44"), lie_se3_hat)                                       \
    X(FA_SE3_VEE, vee, ("44", "6"), lie_se3_vee)                                       \
    X(FA_SE3_EXP, exp, ("6", "44"), lie_se3_exp)                                       \
    X(FA_SE3_LOG, log, ("44", "6"), lie_se3_log)                                       \
    X(FA_SE3_POSE, pose, ("33", "3", "44"), lie_se3_pose)                              \
    X(FA_SE3_INVERSE, inverse, ("44", "44"), lie_se3_inverse)                          \
    X(FA_SE3_COMPOSE, compose, ("44", "44", "44"), lie_se3_compose)                    \
    X(FA_SE3_INTERPOLATE, interpolate, ("44", "44", "", "44"), lie_se3_interpolate)    \
    X(FA_SE3_ADJOINT, adjoint, ("44", "66"), lie_se3_adjoint)                          \
    X(FA_SE3_ADJOINT_INVERSE, adjoint_inverse, ("44", "66"), lie_se3_adjoint_inverse)  \
    X(FA_SE3_APPLY_ADJOINT, apply_adjoint, ("44", "6", "6"), lie_se3_apply_adjoint)    \
    X(FA_SE3_APPLY_ADJOINT_INVERSE, apply_adjoint_inverse, ("44", "6", "6"),           \
      lie_se3_apply_adjoint_inverse)                                                   \
    X(FA_SE3_APPLY_COADJOINT, apply_coadjoint, ("44", "6", "6"),                       \
      lie_se3_apply_coadjoint)                                                         \
    X(FA_SE3_APPLY_COADJOINT_INVERSE, apply_coadjoint_inverse, ("44", "6", "6"),       \
      lie_se3_apply_coadjoint_inverse)                                                 \
    X(FA_SE3_AD, ad, ("6", "66"), lie_se3_ad)                                          \
    X(FA_SE3_BRACKET, bracket, ("6", "6", "6"), lie_se3_bracket)                       \
    X(FA_SE3_LEFT_JACOBIAN, left_jacobian, ("6", "66"), lie_se3_left_jacobian)         \
    X(FA_SE3_RIGHT_JACOBIAN, right_jacobian, ("6", "66"), lie_se3_right_jacobian)      \
    X(FA_SE3_LEFT_JACOBIAN_INVERSE, left_jacobian_inverse, ("6", "66"),                \
      lie_se3_left_jacobian_inverse)                                                   \
    X(FA_SE3_RIGHT_JACOBIAN_INVERSE, right_jacobian_inverse, ("6", "66"),              \
      lie_se3_right_jacobian_inverse)                                                  \
    X(FA_SE3_LEFT_JACOBIAN_DERIVATIVE, left_jacobian_derivative, ("6", "6", "66"),     \
      lie_se3_left_derivative)                                                         \
    X(FA_SE3_RIGHT_JACOBIAN_DERIVATIVE, right_jacobian_derivative, ("6", "6", "66"),   \
      lie_se3_right_derivative)                                                        \
    X(FA_SE3_LEFT_JACOBIAN_INVERSE_DERIVATIVE, left_jacobian_inverse_derivative,       \
      ("6", "6", "66"), lie_se3_left_inverse_derivative)                               \
    X(FA_SE3_RIGHT_JACOBIAN_INVERSE_DERIVATIVE, right_jacobian_inverse_derivative,     \
      ("6", "6", "66"), lie_se3_right_inverse_derivative)                              \
    X(FA_SE3_CAYLEY, cayley, ("6", "44"), lie_se3_cayley)                              \
    X(FA_SE3_CAYLEY_INVERSE, cayley_inverse, ("44", "6"), lie_se3_cayley_inverse)      \
    X(FA_SE3_SCREW, screw, ("3", "3", "", "6"), lie_se3_screw)

/* dual numbers: pairs, real part first */
#define FA_SCREWS_MAPS(X)                                                              \
    X(FA_SCREWS_ROTATION_COMPOSE, rotation_compose, ("233", "233", "233"),             \
      dual_rotation_compose)                                                           \
    X(FA_SCREWS_ROTATION_INVERSE, rotation_inverse, ("233", "233"),                    \
      dual_rotation_inverse)                                                           \
    X(FA_SCREWS_ROTATION_APPLY, rotation_apply, ("233", "23", "23"),                   \
      dual_rotation_apply)                                                             \
    X(FA_SCREWS_ROTATION_BRACKET, rotation_bracket, ("23", "23", "23"),                \
      dual_rotation_bracket)                                                           \
    X(FA_SCREWS_ROTATION_EXP, rotation_exp, ("23", "233"), dual_rotation_exp)          \
    X(FA_SCREWS_ROTATION_LOG, rotation_log, ("233", "23"), dual_rotation_log)          \
    X(FA_SCREWS_ROTATION_LEFT_JACOBIAN, rotation_left_jacobian, ("23", "233"),         \
      dual_rotation_left_jacobian)                                                     \
    X(FA_SCREWS_ROTATION_LEFT_JACOBIAN_INVERSE, rotation_left_jacobian_inverse,        \
      ("23", "233"), dual_rotation_left_jacobian_inverse)                              \
    X(FA_SCREWS_COMPOSE, compose, ("244", "244", "244"), dual_pose_compose)            \
    X(FA_SCREWS_INVERSE, inverse, ("244", "244"), dual_pose_inverse)                   \
    X(FA_SCREWS_EXP, exp, ("26", "244"), dual_pose_exp)                                \
    X(FA_SCREWS_LOG, log, ("244", "26"), dual_pose_log)                                \
    X(FA_SCREWS_APPLY_ADJOINT, apply_adjoint, ("244", "26", "26"), dual_apply_adjoint) \
    X(FA_SCREWS_APPLY_ADJOINT_INVERSE, apply_adjoint_inverse, ("244", "26", "26"),     \
      dual_apply_adjoint_inverse)                                                      \
    X(FA_SCREWS_APPLY_COADJOINT, apply_coadjoint, ("244", "26", "26"),                 \
      dual_apply_coadjoint)                                                            \
    X(FA_SCREWS_APPLY_COADJOINT_INVERSE, apply_coadjoint_inverse, ("244", "26", "26"), \
      dual_apply_coadjoint_inverse)                                                    \
    X(FA_SCREWS_BRACKET, bracket, ("26", "26", "26"), dual_bracket)                    \
    X(FA_SCREWS_LEFT_JACOBIAN, left_jacobian, ("26", "266"), dual_left_jacobian)       \
    X(FA_SCREWS_LEFT_JACOBIAN_INVERSE, left_jacobian_inverse, ("26", "266"),           \
      dual_left_jacobian_inverse)

#define FA_MAPS(X) FA_SE3_MAPS(X) FA_SCREWS_MAPS(X)

#endif
