/*
 * model.h -- one arm as an immutable block of constants
 *
 * A tree of bodies in the order of the user, base to tip (the patent of Jain and
 * Rodriguez counts tip to base), every body after its parent. A model is built once,
 * never changed and may be shared by threads.
 *
 * Axes        inside the model each body has axes turned such that its joint moves
 *             along +z (identity where the user's axis is already +z): the motion
 *             subspace of every joint is then a unit vector. fa_body.frame takes
 *             these components back to those of the user. The turn about z that is left
 *             free makes the hop to the first child a short one (V1, model/axes.c).
 * Coordinates joints in the order of the bodies, motors, then the modes body by body; q
 *             has more joint positions than qd has joint velocities where quaternions are.
 * Motors      the rotor of a flexible joint is a body without nodes on the node that
 *             carries the joint, after all others; what couples it to the joint is one of
 *             the forces inside joints (joint_forces.h). Its motor takes the force that
 *             an actuator of the joint would have.
 * Units       SI; modal coordinates have the unit their normalization gives them.
 */
#ifndef FA_MODEL_H
#define FA_MODEL_H

#include <stddef.h>

enum { FA_MAX_MODES = 64, FA_MAX_BODIES = 4096 };
enum { FA_MAX_DRIVEN = 12 }; /* all affine fields */
/* modes and what they drive, of one body */
enum { FA_MAX_SHAPES = FA_MAX_MODES + FA_MAX_DRIVEN };

/*
 * What a joint lets a body do. The first three are those of the fast paths; the wide
 * ones have a constant 6 x n_dof motion subspace S in the axes of the body:
 *   helical    one screw along z
 *   spherical  positions: a quaternion (w, x, y, z) of any length but zero
 *   pose       positions: a quaternion, and the origin of the body in joint axes
 * A floating body has no joint: its parent, a massless body without nodes, sits on one
 * of its own nodes, which its modes move (Jain and Rodriguez, Pi^d).
 */
typedef enum {
    FA_JOINT_FIXED,
    FA_JOINT_REVOLUTE,
    FA_JOINT_PRISMATIC,
    FA_JOINT_HELICAL,
    FA_JOINT_SPHERICAL,
    FA_JOINT_POSE,
    FA_JOINT_FLOATING
} fa_joint;

/*
 * What is known of the hop from a rigid body to the next one on a revolute joint, when
 * the parent's axes are turned about its own joint axis such that
 *             R = rot_x(alpha) rot_z(delta + q),  0 <= alpha <= pi                  (V1)
 * by the angle between the joint axes and by where the joint is: on which axis of the
 * parent, or anywhere. GENERAL hops have R and r alone: other joints, children after
 * the first, flexible parents.
 */
typedef enum {
    FA_HOP_GENERAL,
    FA_HOP_GROUND,     /* a revolute joint on the ground */
    FA_HOP_PARALLEL_X, /* alpha = 0 */
    FA_HOP_PARALLEL,
    FA_HOP_SQUARE_O, /* alpha = pi/2: at the parent's origin */
    FA_HOP_SQUARE_X,
    FA_HOP_SQUARE_Y,
    FA_HOP_SQUARE_Z,
    FA_HOP_SQUARE,
    FA_HOP_TWISTED /* any alpha */
} fa_hop_kind;

/*
 * What deformation changes: everything, exactly; everything, to first order (kernels/derivatives/linear_model.h);
 * nothing: ruthless linearization (Jain and Rodriguez, eq. 75), in which mass, velocity
 * forces and kinematics are those of undeformed bodies, and modes have inertia,
 * stiffness, damping, and rates that move what is outboard.
 */
typedef enum { FA_FULL, FA_LINEAR, FA_RUTHLESS } fa_fidelity;

typedef enum {
    FA_OK = 0,
    FA_NO_MEMORY,
    FA_BAD_TOPOLOGY, /* parent not before its child, or a node of another body */
    FA_BAD_JOINT,
    FA_BAD_LOOP,
    FA_TOO_MANY_MODES,
    FA_BAD_SIZE, /* an array shorter or longer than the topology says */
    FA_NOT_FINITE
} fa_status;

/* description of one body: columns of the topology, then of the joint table */
enum {
    FA_TOPO_PARENT,
    FA_TOPO_NODE, /* of the parent, or -1: its frame; of the body itself if floating */
    FA_TOPO_JOINT,
    FA_TOPO_MODES,
    FA_TOPO_NODES, /* 0: no link of the user's but a carrier, a stator or a rotor */
    FA_TOPO_DOF,
    FA_TOPO_INTEGRALS, /* 1: modal integrals are given, the nodes have no mass */
    FA_TOPO_SECOND,    /* 1: nodes have kappa, positions quadratic in the modes */
    FA_TOPO_SHAPES,    /* number of shapes that the modes drive (B6) */
    FA_TOPO_DRIVES,    /* a rotor: 1 + the body whose joint it drives; else 0 */
    FA_TOPO_SIZE
};
enum {
    FA_AXIS = 0,
    FA_POSITION = 3,
    FA_ROTATION = 6,
    FA_DAMPING = 15,  /* [6] */
    FA_SUBSPACE = 21, /* [6][6], column by column */
    FA_JOINT_SIZE = 57
};

/*
 * Description of one node with n modes; gamma and lambda are 3 x n by rows, and so is
 * kappa, 3 x n x n, after them with FA_TOPO_SECOND.
 */
enum {
    FA_NODE_MASS = 0,
    FA_NODE_COM = 1,
    FA_NODE_INERTIA = 4,
    FA_NODE_POSITION = 10,
    FA_NODE_GAMMA = 13
};
#define FA_NODE_SIZE(n) (FA_NODE_GAMMA + 6 * (n))
#define FA_SECOND_SIZE(n) (3 * (n) * (n))

/*
 * Description of a loop: two nodes (-1: the ground), which directions it locks, and a
 * frame on each node (position [3], rotation [9]). Bits of the directions: rotations
 * about x, y, z, then translations along them, in the axes of the first frame.
 */
enum { FA_LOOP_FIRST, FA_LOOP_SECOND, FA_LOOP_DIRECTIONS, FA_LOOP_SIZE };
enum { FA_FRAME_POSITION = 0, FA_FRAME_ROTATION = 3, FA_FRAME_SIZE = 12 };
/* modal integrals that are given: mass, first moment, inertia (xx xy xz yy yz zz) of the
 * undeformed body, then the arrays of fa_modal from E to J2, in the user's axes */
enum { FA_GIVEN_MASS = 0, FA_GIVEN_MP0 = 1, FA_GIVEN_J0 = 4, FA_GIVEN_MODAL = 10 };
#define FA_GIVEN_SIZE(n) (FA_GIVEN_MODAL + fa_modal_size(n) - 2 * (size_t)((n) * (n)))

/*
 * Description of a force inside of a joint of one freedom, with s = q_joint - ratio
 * q_motor (joint_forces.h):
 *   spring    parameters stiffness, s at rest, damping
 *   friction  Coulomb force, velocity that smooths it
 *   stop      bound of s, side (1: above it, -1: below), stiffness, damping in s/m
 */
typedef enum { FA_SPRING, FA_FRICTION, FA_STOP, FA_PASSIVE_KINDS } fa_passive_kind;
enum {
    FA_PASSIVE_KIND,
    FA_PASSIVE_BODY,  /* whose joint it is */
    FA_PASSIVE_ROTOR, /* body of the motor, or -1 */
    FA_PASSIVE_RATIO,
    FA_PASSIVE_PARAMETERS, /* [4] */
    FA_PASSIVE_SIZE = 8
};

typedef struct {
    int n_bodies;
    const int *topology;   /* [n_bodies][FA_TOPO_SIZE]; node counts over all bodies */
    const double *joints;  /* [n_bodies][FA_JOINT_SIZE] */
    const double *nodes;   /* body by body, [n_nodes][FA_NODE_SIZE(n_modes)] */
    const double *modal;   /* body by body, stiffness and damping [n_modes][n_modes],
                            * then FA_GIVEN_SIZE given integrals where there are any,
                            * then the arrays of fa_driven, in the user's axes */
    const double *gravity; /* [3] */
    size_t nodes_size, modal_size; /* lengths of the two arrays above */
    int n_loops, n_couplings;
    const int *loops;        /* [n_loops][FA_LOOP_SIZE] */
    const double *frames;    /* [n_loops][2][FA_FRAME_SIZE] */
    const double *couplings; /* [n_couplings][nu + 1]: coefficients, constant */
    size_t couplings_size;
    int n_passive;
    const double *passive; /* [n_passive][FA_PASSIVE_SIZE] */
    double stabilization;  /* rate at which violations decay, 1/s */
    fa_fidelity fidelity;
    int is_general; /* zeros and right angles of constants are not looked for */
} fa_description;

/*
 * One locked direction of a loop with frames A (axes a_1..3) and B: along axis i, or, a
 * rotation, up to two terms  weight a_p . b_q  that vanish (constraints.c).
 */
typedef struct {
    int axis; /* of a translation, or -1 */
    int n_terms, p[2], q[2];
    double weight[2];
} fa_lock;

#include "model/layout.h"

/*
 * Builds a model from a description.
 *
 *   description  arrays as above, copied, not kept
 *   model        on FA_OK the new model, to be freed with fa_model_free
 *
 * Checks what memory safety needs; physics (masses, symmetry) is checked by the
 * Python layer. Returns FA_OK or the reason of the refusal.
 */
fa_status fa_model_build(const fa_description *description, fa_model **model);
void fa_model_free(fa_model *model);

/* whether F1(r,s) = -F1(s,r), to rounding of their size */
int fa_modal_is_skew(int n, const double *F1);

/* number of doubles of the modal integrals of a body with n modes */
size_t fa_modal_size(int n);

/*
 * Modal integrals of one body from its nodes (equations B1, B2).
 *
 *   n, n_nodes   modes and nodes
 *   nodes        [n_nodes][FA_NODE_SIZE(n)]
 *   storage      [fa_modal_size(n)]  receives the integrals; K and C are left as is
 *   body         mass, mp0, J0, modal, node_is_offset and F1_is_skew are set
 */
void fa_modal_integrals(int n, int n_nodes, const double *nodes, double *storage,
                        fa_body *body);

#endif
