/*
 * description.h -- one arm as plain arrays, from which a model is built
 *
 * The columns of these arrays are the layout that Python packs and export_c writes.
 */
#ifndef FA_DESCRIPTION_H
#define FA_DESCRIPTION_H

#include "model/kinds.h"

#include <stddef.h>

typedef enum {
    FA_OK = 0,
    FA_NO_MEMORY,
    FA_BAD_TOPOLOGY, /* parent not before its child, or a node of another body */
    FA_BAD_JOINT,
    FA_BAD_LOOP,
    FA_TOO_MANY_MODES,
    FA_BAD_SIZE, /* an array shorter or longer than the topology says */
    FA_NOT_FINITE,
    FA_TOO_LARGE /* more than one of the limits of kinds.h */
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
    FA_TOPO_STRAIN,    /* Gauss points of the strain energy of a beam, or 0 */
    FA_TOPO_IDLE,      /* 1: no actuator drives the joint */
    FA_TOPO_SIZE
};
enum {
    FA_AXIS = 0,
    FA_POSITION = 3,
    FA_ROTATION = 6,
    FA_DAMPING = 15,  /* [6] */
    FA_ARMATURE = 21, /* [6] inertia of the rate of each freedom alone (A4) */
    FA_SUBSPACE = 27, /* [6][6], column by column */
    FA_JOINT_SIZE = 63
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
 * Strain energy of a beam: its axis, then for each Gauss point the weight times GJ and EI
 * about the axes of the section y and z, and rows of n: rotation about x, y, z of the
 * section, then their rates along the beam.
 */
enum { FA_STRAIN_AXIS = 0, FA_STRAIN_POINTS = 3 };
enum { FA_STRAIN_STIFFNESS = 0, FA_STRAIN_ROWS = 3 };
#define FA_STRAIN_POINT(n) (FA_STRAIN_ROWS + 6 * (n))
#define FA_STRAIN_SIZE(n, p) ((p) > 0 ? FA_STRAIN_POINTS + (p) * FA_STRAIN_POINT(n) : 0)

/*
 * Description of a loop: two nodes (-1: the ground), which directions it locks, and a
 * frame on each node (position [3], rotation [9]). Bits of the directions: rotations
 * about x, y, z, then translations along them, in the axes of the first frame. Where the
 * second end slides on the line of a body, the number of nodes of this line follows, and
 * the nodes, the first end first.
 */
enum {
    FA_LOOP_FIRST,
    FA_LOOP_SECOND,
    FA_LOOP_DIRECTIONS,
    FA_LOOP_LINE, /* nodes of the line, or 0: none */
    FA_LOOP_NODES,
    FA_LOOP_SIZE = FA_LOOP_NODES + FA_MAX_LINE
};
enum { FA_FRAME_POSITION = 0, FA_FRAME_ROTATION = 3, FA_FRAME_SIZE = 12 };
/* modal integrals that are given: mass, first moment, inertia (xx xy xz yy yz zz) of the
 * undeformed body, then the arrays of fa_modal from E to J2, in the user's axes */
enum { FA_GIVEN_MASS = 0, FA_GIVEN_MP0 = 1, FA_GIVEN_J0 = 4, FA_GIVEN_MODAL = 10 };

/*
 * Description of a force inside of a joint of one freedom, with s = q_joint - ratio
 * q_motor (joint_forces.h):
 *   spring    parameters stiffness, s at rest, damping
 *   friction  Coulomb force, velocity that smooths it
 *   stop      bound of s, side (1: above it, -1: below), stiffness, damping in s/m
 */
enum {
    FA_PASSIVE_KIND,
    FA_PASSIVE_BODY,  /* whose joint it is */
    FA_PASSIVE_ROTOR, /* body of the motor, or -1 */
    FA_PASSIVE_RATIO,
    FA_PASSIVE_PARAMETERS, /* [4] */
    FA_PASSIVE_SIZE = 8
};

/*
 * Description of a joint of one freedom that follows another: its body, that of the
 * leader, and ratio and offset of q = ratio q_leader + offset.
 */
enum {
    FA_FOLLOWER_BODY,
    FA_FOLLOWER_LEADER,
    FA_FOLLOWER_RATIO,
    FA_FOLLOWER_OFFSET,
    FA_FOLLOWER_SIZE
};

typedef struct {
    int n_bodies;
    const int *topology;   /* [n_bodies][FA_TOPO_SIZE]; node counts over all bodies */
    const double *joints;  /* [n_bodies][FA_JOINT_SIZE] */
    const double *nodes;   /* body by body, [n_nodes][FA_NODE_SIZE(n_modes)] */
    const double *modal;   /* body by body, stiffness and damping [n_modes][n_modes],
                            * then FA_GIVEN_SIZE given integrals where there are any,
                            * then the arrays of fa_driven, then the strain energy, in
                            * the user's axes */
    const double *gravity; /* [3] */
    size_t nodes_size, modal_size; /* lengths of the two arrays above */
    int n_loops, n_couplings;
    const int *loops;        /* [n_loops][FA_LOOP_SIZE] */
    const double *frames;    /* [n_loops][2][FA_FRAME_SIZE] */
    const double *couplings; /* [n_couplings][nu + 1]: coefficients, constant */
    size_t couplings_size;
    int n_passive;
    const double *passive; /* [n_passive][FA_PASSIVE_SIZE] */
    int n_followers;
    const double *followers; /* [n_followers][FA_FOLLOWER_SIZE] */
    double stabilization;    /* rate at which violations decay, 1/s */
    fa_fidelity fidelity;
    /* 1: zeros and right angles of constants are not looked for; 2: nor joints without
     * armature */
    int is_general;
} fa_description;

#endif
