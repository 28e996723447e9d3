/*
 * fa_model.h -- one arm as an immutable block of constants
 *
 * A tree of bodies in the order of the user, base to tip (the patent of Jain and
 * Rodriguez counts tip to base), every body after its parent. A model is built once,
 * never changed and may be shared by threads.
 *
 * Axes        inside the model each body has axes turned such that its joint moves
 *             along +z (identity where the user's axis is already +z): the motion
 *             subspace of every joint is then a unit vector. fa_body.frame takes
 *             these components back to those of the user.
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

#include "fa_driven.h"
#include "fa_fast.h"

#include <stddef.h>

enum { FA_MAX_MODES = 64, FA_MAX_BODIES = 4096 };
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
 * What deformation changes: everything, exactly; everything, to first order (fa_linear.h);
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
} fa_description;

/*
 * Modal integrals of a body with n modes (Jain and Rodriguez, appendix C.1, as
 * corrected in equations B1 to B4), sums over its nodes, or given.
 */
typedef struct {
    const double *E;   /* [n][3]     sum m (gamma_r - p x lambda_r) */
    const double *F0;  /* [n][3]     angular momentum of mode r about the frame */
    const double *F1;  /* [n][n][3]  its change with mode s */
    const double *mp1; /* [n][3]     sum m gamma_r */
    const double *G;   /* [n(n+1)/2] modal mass, lower triangle */
    const double *J1;  /* [n][6]     change of the inertia with mode r */
    const double *J2;  /* [n][n][6]  second derivative of the inertia */
    const double *K;   /* [n][n]     stiffness */
    const double *C;   /* [n][n]     damping */
} fa_modal;

typedef struct {
    int parent;       /* body, or -1 for the ground */
    int link;         /* number among the bodies of the user, -1 for a carrier */
    int parent_modes; /* modes of the parent */
    int attach;       /* node of the parent, over all bodies, or -1: its frame */
    int own_node;     /* floating: the node of its own on which it is carried */
    int drives;       /* body whose joint this rotor drives, or -1 */
    fa_joint joint;
    int wide; /* helical, spherical or pose */
    int n_modes, n_dof;
    int joint_at;       /* place of the first joint velocity, -1 if there is none */
    int position_at;    /* place of the first joint position in q */
    int mode_at;        /* place of the first modal velocity */
    int eta_at;         /* place of the first modal coordinate in q */
    int parent_mode_at; /* those of the parent */
    int parent_eta_at;
    int first_node, n_nodes;
    int node_is_offset; /* E != mp1: gravity needs a moment of its own (B4) */
    int F1_is_skew; /* F1(r,s) = -F1(s,r): no offsets, and no term of it in b_omega */
    /* places in the scratch arrays of all bodies, counted in modes */
    int hop_at;      /* modes of the parents (own ones if floating) before */
    int own_at;      /* modes of the bodies before */
    int tri_at;      /* triangles of modes of the bodies before */
    int wide_at;     /* freedoms of wide joints before, after all modes */
    int wide_tri_at; /* their triangles, after those of all modes */
    double rot[9];   /* joint frame in the axes of the parent's node, R_f */
    double pos[3];   /* its origin, x_f */
    double frame[9]; /* user components = frame * internal components */
    double damping[6];
    double S[36];               /* motion subspace of a wide joint, column by column */
    double mass, mp0[3], J0[6]; /* undeformed body about its frame */
    fa_modal modal;
    fa_driven driven;
    fa_fast fast; /* of bodies with many modes and one child at most */
} fa_body;

typedef struct {
    int body;
    const double *position; /* [3] */
    const double *gamma;    /* [n][3], mode by mode */
    const double *lambda;   /* [n][3] */
    const double *kappa;    /* [n][n][3], symmetric in the modes, or NULL */
} fa_node;

/*
 * One locked direction of a loop with frames A (axes a_1..3) and B: along axis i, or, a
 * rotation, up to two terms  weight a_p . b_q  that vanish (constraints.c).
 */
typedef struct {
    int axis; /* of a translation, or -1 */
    int n_terms, p[2], q[2];
    double weight[2];
} fa_lock;

typedef struct {
    int node[2]; /* or -1, the ground */
    double position[2][3], rotation[2][9];
    int n_rows;
    fa_lock locks[6];
} fa_loop;

/* a force inside of a joint on s = q_joint - ratio q_motor */
typedef struct {
    fa_passive_kind kind;
    int joint, motor;           /* velocities; motor -1: there is none */
    int joint_at, motor_at;     /* positions in q */
    int joint_move, motor_move; /* places in a displacement (positions.c) */
    double ratio, p[4];
} fa_passive;

typedef struct {
    int n_bodies, n_nodes;
    int n_links;          /* bodies of the user: all with nodes */
    int nu, nv, nq;       /* velocities of joints and motors, all, all positions */
    int n_motors;         /* the last bodies are their rotors */
    int n_actuators;      /* nu - n_motors: a motor acts in place of its joint */
    int n_modes;          /* nv - nu */
    int n_rows;           /* modes and freedoms of wide joints */
    int sum_parent_modes; /* totals of hop_at, wide_tri_at */
    int sum_triangles;
    int any_wide, any_pose, any_floating;
    int any_offset; /* some body has node_is_offset */
    double gravity[3];
    const fa_body *bodies;
    const fa_node *nodes;
    /* constraints: the rows of all loops, then the couplings sum c_i q_i = constant */
    int n_loops, n_couplings, n_constraints;
    const fa_loop *loops;
    const double *couplings; /* [n_couplings][nu + 1] */
    double stabilization;
    int n_passive; /* forces inside of joints */
    const fa_passive *passive;
    fa_fidelity fidelity;
} fa_model;

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
