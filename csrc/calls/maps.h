/*
 * maps.h -- maps of rotations, poses and screws, which need no model
 *
 * One row a map: its name and the core dimensions of its operands, one digit each, ""
 * for a scalar. The batch functions stand in the table of kernels (calls/kernels.h).
 * Twists and screws are [angular; linear], quaternions (w, x, y, z), matrices by rows.
 */
#ifndef FA_MAPS_H
#define FA_MAPS_H

enum { FA_MAP_OPERANDS = 4 };

typedef enum {
    FA_SO3_HAT,
    FA_SO3_VEE,
    FA_SO3_EXP,
    FA_SO3_LOG,
    FA_SO3_LEFT_JACOBIAN,
    FA_SO3_RIGHT_JACOBIAN,
    FA_SO3_LEFT_JACOBIAN_INVERSE,
    FA_SO3_RIGHT_JACOBIAN_INVERSE,
    FA_SO3_CAYLEY,
    FA_SO3_CAYLEY_INVERSE,
    FA_QUATERNION_FROM_ROTATION,
    FA_ROTATION_FROM_QUATERNION,
    FA_QUATERNION_PRODUCT,
    FA_QUATERNION_INVERSE,
    FA_QUATERNION_EXP,
    FA_QUATERNION_LOG,
    FA_SE3_HAT,
    FA_SE3_VEE,
    FA_SE3_EXP,
    FA_SE3_LOG,
    FA_SE3_POSE,
    FA_SE3_INVERSE,
    FA_SE3_COMPOSE,
    FA_SE3_INTERPOLATE,
    FA_SE3_ADJOINT,
    FA_SE3_ADJOINT_INVERSE,
    FA_SE3_APPLY_ADJOINT,
    FA_SE3_APPLY_ADJOINT_INVERSE,
    FA_SE3_APPLY_COADJOINT,
    FA_SE3_APPLY_COADJOINT_INVERSE,
    FA_SE3_AD,
    FA_SE3_BRACKET,
    FA_SE3_LEFT_JACOBIAN,
    FA_SE3_RIGHT_JACOBIAN,
    FA_SE3_LEFT_JACOBIAN_INVERSE,
    FA_SE3_RIGHT_JACOBIAN_INVERSE,
    FA_SE3_LEFT_JACOBIAN_DERIVATIVE,
    FA_SE3_RIGHT_JACOBIAN_DERIVATIVE,
    FA_SE3_LEFT_JACOBIAN_INVERSE_DERIVATIVE,
    FA_SE3_RIGHT_JACOBIAN_INVERSE_DERIVATIVE,
    FA_SE3_CAYLEY,
    FA_SE3_CAYLEY_INVERSE,
    FA_SE3_SCREW,
    /* dual numbers: pairs, real part first */
    FA_SCREWS_ROTATION_COMPOSE,
    FA_SCREWS_ROTATION_INVERSE,
    FA_SCREWS_ROTATION_APPLY,
    FA_SCREWS_ROTATION_BRACKET,
    FA_SCREWS_ROTATION_EXP,
    FA_SCREWS_ROTATION_LOG,
    FA_SCREWS_ROTATION_LEFT_JACOBIAN,
    FA_SCREWS_ROTATION_LEFT_JACOBIAN_INVERSE,
    FA_SCREWS_COMPOSE,
    FA_SCREWS_INVERSE,
    FA_SCREWS_EXP,
    FA_SCREWS_LOG,
    FA_SCREWS_APPLY_ADJOINT,
    FA_SCREWS_APPLY_ADJOINT_INVERSE,
    FA_SCREWS_APPLY_COADJOINT,
    FA_SCREWS_APPLY_COADJOINT_INVERSE,
    FA_SCREWS_BRACKET,
    FA_SCREWS_LEFT_JACOBIAN,
    FA_SCREWS_LEFT_JACOBIAN_INVERSE,
    FA_N_MAPS
} fa_map;

typedef struct {
    const char *name;
    const char *operands[FA_MAP_OPERANDS]; /* inputs, then the output, then NULL */
} fa_map_row;

extern const fa_map_row fa_map_rows[FA_N_MAPS];

/* module of flexarm that has the map: se3 or screws */
const char *fa_map_module(fa_map map);

/* number of inputs of a map */
int fa_map_inputs(fa_map map);

/* doubles of operand i */
int fa_map_size(fa_map map, int i);

#endif
