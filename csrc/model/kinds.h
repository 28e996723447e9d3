/*
 * kinds.h -- limits of a model, and what its parts may be
 *
 * Checked by  tests/c/test_sizes.c, tests/calls/test_sizes.py (limits).
 */
#ifndef FA_KINDS_H
#define FA_KINDS_H

#include <limits.h>

enum { FA_MAX_MODES = 64, FA_MAX_BODIES = 4096 };
enum { FA_MAX_DRIVEN = 12 }; /* all affine fields */
enum { FA_MAX_LOOPS = FA_MAX_BODIES, FA_MAX_COUPLINGS = FA_MAX_BODIES };
enum { FA_MAX_PASSIVE = 8 * FA_MAX_BODIES };
/*
 * Sizes of a whole arm: kernels count entries of operands and of scratch in int, of which
 * the longest are those of the derivatives of a Jacobian. What they allocate is a size_t.
 */
enum { FA_MAX_VELOCITIES = 1 << 14, FA_MAX_NODES = 1 << 24 };
enum { FA_MAX_CONSTANTS = 1 << 30 };
enum { FA_MAX_CONSTRAINTS = 6 * FA_MAX_LOOPS + FA_MAX_COUPLINGS };
/* nodes of a line on which something slides */
enum { FA_MAX_LINE = 64 };
_Static_assert(6LL * FA_MAX_VELOCITIES * FA_MAX_VELOCITIES <= INT_MAX, "6VV");
_Static_assert(6LL * FA_MAX_BODIES * FA_MAX_VELOCITIES <= INT_MAX, "B6V");
_Static_assert(16LL * FA_MAX_NODES <= INT_MAX, "N44");
_Static_assert(1LL * FA_MAX_CONSTRAINTS * FA_MAX_VELOCITIES <= INT_MAX, "CV");
_Static_assert(1LL * FA_MAX_CONSTRAINTS * FA_MAX_CONSTRAINTS <= INT_MAX, "CC");
_Static_assert(1LL * FA_MAX_COUPLINGS * (FA_MAX_VELOCITIES + 1) <= INT_MAX,
               "couplings");
/* of driven shapes, whose arrays are the longest of a body */
_Static_assert(6LL * FA_MAX_DRIVEN * FA_MAX_MODES * FA_MAX_MODES <= INT_MAX, "Jkr");
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
 * What deformation changes: everything, exactly; everything, to first order
 * (linear_model.h); nothing: ruthless linearization (Jain and Rodriguez, eq. 75), in
 * which mass, velocity forces and kinematics are those of undeformed bodies, and modes
 * have inertia, stiffness, damping, and rates that move what is outboard.
 */
typedef enum { FA_FULL, FA_LINEAR, FA_RUTHLESS } fa_fidelity;

/* a force inside of a joint (joint_forces.h); its parameters are in description.h */
typedef enum { FA_SPRING, FA_FRICTION, FA_STOP, FA_PASSIVE_KINDS } fa_passive_kind;
/*
 * One locked direction of a loop with frames A (axes a_1..3) and B: along axis i, or, a
 * rotation, up to two terms  weight a_p . b_q  that vanish (constraints.c).
 */
typedef struct {
    int axis; /* of a translation, or -1 */
    int n_terms, p[2], q[2];
    double weight[2];
} fa_lock;

/* coefficients of the strain forces (strain.h) of two modes: each a P(a^2, b^2) + b Q(a^2, b^2), of powers of
 * a^2 (below) and b^2 (above) from 1 to 4 together, the highest first */
enum { FA_STRAIN_DEGREE = 4, FA_STRAIN_TERMS = 14, FA_STRAIN_FORCES = 56 };

/* a coordinate of a tree, ratio times that at `at` of the model before it, and offset */
typedef struct {
    int at;
    int follows; /* whether its joint is a follower */
    double ratio, offset;
} fa_follow;

/*
 * Columns of groups in one body of a tree, see model/followers.h. Its groups stand in a
 * list: first those that are freed before its joint, the last one may be that of its
 * joint.
 */
typedef struct {
    int first, count; /* of the list, in `groups` of fa_grouping */
    int before;       /* how many are freed before the joint */
    int own;          /* place of the group of its joint in the list, or -1 */
    int frees_own;    /* this group ends here, after the joint */
    double ratio;     /* of the joint, if it belongs to a group */
} fa_columns;

typedef struct {
    int n_groups, n_columns;
    int n_last;                /* groups that end at the ground */
    const fa_columns *columns; /* [n_bodies] */
    const int *groups;         /* [n_columns] */
    const int *to;             /* [n_columns] column of the parent, or -1 */
    const int *last;           /* [n_last] */
    const int *leader;         /* [n_groups] velocity of the leader, in the tree */
} fa_grouping;

/* columns of a matrix that are solved for side by side; coordinates of an arm with paths at
 * most; the part of a triangle, one of so many, that paths have to leave empty */
enum { FA_BRANCH_TILE = 8, FA_MAX_BRANCHED = 256, FA_BRANCH_PARTS = 4 };

/*
 * Paths of coordinates, see model/branches.h: entries (k, i) of k and all i on its path are
 * the pairs of k, side by side. A matrix is one number for each pair, its lower triangle;
 * or these, then the upper one, then a zero.
 */
typedef struct {
    int n, n_pairs, n_tiles;
    int is_split;     /* into trees that share no entry */
    const int *first; /* [n + 1] first pair of a coordinate */
    const int *other; /* [n_pairs] the coordinates i, ascending */
    const int *root;  /* [n] the first one of a path */
    const int
        *place; /* [n][n_tiles FA_BRANCH_TILE] of an entry: pair, or n_pairs + pair
                           * above the diagonal, or 2 n_pairs: always zero */
    const int *n_rows;    /* [n_tiles] rows of a tile of columns with an entry, */
    const int *n_reached; /* [n_tiles] and those of the same trees */
    const int *rows;      /* [n_tiles][n], descending */
    /* of each of these rows, the pairs with rows outboard of it that are among them, and
     * their coordinates, two by two */
    const int *outboard, *n_outboard; /* of a tile behind each other; [n_tiles][n] */
    const int *first_outboard;        /* [n_tiles] */
    const int *reached;               /* [n_tiles][n], ascending */
} fa_branches;

#endif
