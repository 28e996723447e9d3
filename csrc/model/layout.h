/*
 * layout.h -- the structs of a model, whose constants are numbers or lanes
 *
 * For one arm fa_constant is a double. The kernels of stacks include this file
 * once more under other names, with fa_constant one number per lane (stack_lanes.h).
 * In a body, loop, force and model all whole numbers and flags stand first, up to the
 * first constant: stack_lanes.h copies them as one piece, and lists the constants.
 */
#ifndef FA_LAYOUT_H
#define FA_LAYOUT_H

#include "model/kinds.h"

#include <stddef.h>

#ifndef fa_constant
typedef double fa_constant; /* a constant of the model */
#endif

/*
 * Modal integrals of a body with n modes (Jain and Rodriguez, appendix C.1, as
 * corrected in equations B1 to B4), sums over its nodes, or given.
 */
typedef struct {
    const fa_constant *E;   /* [n][3]     sum m (gamma_r - p x lambda_r) */
    const fa_constant *F0;  /* [n][3]     angular momentum of mode r about the frame */
    const fa_constant *F1;  /* [n][n][3]  its change with mode s */
    const fa_constant *mp1; /* [n][3]     sum m gamma_r */
    const fa_constant *G;   /* [n(n+1)/2] modal mass, lower triangle */
    const fa_constant *J1;  /* [n][6]     change of the inertia with mode r */
    const fa_constant *J2;  /* [n][n][6]  second derivative of the inertia */
    const fa_constant *K;   /* [n][n]     stiffness */
    const fa_constant *C;   /* [n][n]     damping */
} fa_modal;

/* driven shapes, see model/driven_shapes.h */
typedef struct {
    int n;    /* p, zero for most bodies */
    int axis; /* along an internal axis, 0 to 2, or -1: shapes of any kind */
    const fa_constant *K;   /* [p][n][n]     second derivatives of zeta_k */
    const fa_constant *E;   /* [p][3] */
    const fa_constant *F0;  /* [p][3] */
    const fa_constant *Fkr; /* [p][n][3]     F1(k,r) */
    const fa_constant *Frk; /* [p][n][3]     F1(r,k) */
    const fa_constant *Fkl; /* [p][p][3]     F1(k,l), skew */
    const fa_constant *Gkr; /* [p][n] */
    const fa_constant *Gkl; /* [p][p] */
    const fa_constant *J1;  /* [p][6] */
    const fa_constant *Jkr; /* [p][n][6]     J2(k,r) */
    const fa_constant *Jkl; /* [p][p][6]     J2(k,l) */
    /*
     * Shapes g_k = h_k e along the internal axis e, orthonormal by mass, of a body whose
     * modes move no mass along e (straight beams): all integrals follow from these.
     */
    const fa_constant
        *w; /* [p][3]     sum m h_k (l0 + p): along e, and along the next two */
    const fa_constant *u; /* [p][n][2]  sum m h_k gamma_r along these two */
} fa_driven;

/* modes freed without factoring D_f, see model/fast.h */
typedef struct {
    int child;            /* the only body that hangs on this one, or -1 */
    int is_diagonal;      /* W */
    const fa_constant *W; /* [n(n+1)/2] lower triangle; NULL: D_f has to be factored */
    const fa_constant *E; /* [n][3] Q' W E */
    const fa_constant
        *h;            /* [6][n] reflections, in the order in which Q' applies them */
    fa_constant C[36]; /* [6][6] lower triangle */
} fa_fast;

/* modes along the two axes next to `axis`, or about it, see model/straight_bodies.h */
typedef struct {
    int kind, shape;    /* of FA_STRAIGHT_KINDS and _SHAPES, or 0: a body of any kind */
    int axis;           /* 0 to 2 */
    int driven, rotary; /* driven shapes; whether sections have rotary inertia */
    int at[3], count[3]; /* first mode and number of those along b, along c, twisting */
    int size;            /* number of constants */
    const fa_constant *constants;
} fa_straight;

/*
 * Strain energy beyond the quadratic one of a straight beam, see kernels/bodies/strain.h:
 * slopes along two axes across the beam, right-handed with it, and twist; of a straight
 * body the modes along b, along c and twisting. Constants of a point are weights times EI,
 * EI and GJ, then slopes or twist and their rates along the beam, [2][count] each.
 */
typedef struct {
    int n;                        /* Gauss points, or 0: the energy is quadratic */
    int at[3], count[3];          /* first mode and number of modes of each */
    int plane;                    /* in which alone it bends, 0 or 1; else -1 */
    int is_round;                 /* EI of each point are equal */
    const fa_constant *constants; /* [n] points */
    const fa_constant
        *forces; /* [FA_STRAIN_FORCES] polynomials of one or two modes in a
                                * plane, else NULL */
} fa_strain;

typedef struct {
    int parent;       /* body, or -1 for the ground */
    int link;         /* number among the bodies of the user, -1 for a carrier */
    int parent_modes; /* modes of the parent */
    int attach;       /* node of the parent, over all bodies, or -1: its frame */
    int own_node;     /* floating: the node of its own on which it is carried */
    int drives;       /* body whose joint this rotor drives, or -1 */
    int actuator_at;  /* place of the first force that acts on its joint, or -1 */
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
    int F1_is_skew;     /* F1(r,s) = -F1(s,r): no term of it in b_omega */
    /* places in the scratch arrays of all bodies, counted in modes */
    int hop_at;           /* modes of the parents (own ones if floating) before */
    int own_at;           /* modes of the bodies before */
    int tri_at;           /* triangles of modes of the bodies before */
    int wide_at;          /* freedoms of wide joints before, after all modes */
    int wide_tri_at;      /* their triangles, after those of all modes */
    fa_hop_kind hop_kind; /* what is known of the hop from the parent */
    int is_turned;        /* delta is not 0 */
    int is_shifted;       /* from the node: x_f is not 0, or the joint may shift it */
    int is_tilted;        /* R_f is not 1 */
    int is_armed;         /* its joint has armature */
    int kept; /* axes of A left when the joint is freed: 2 without z, or 3 */
    int n_children;
    fa_constant rot[9];   /* joint frame in the axes of the parent's node, R_f */
    fa_constant pos[3];   /* its origin, x_f */
    fa_constant frame[9]; /* user components = frame * internal components */
    fa_constant damping[6];
    fa_constant armature[6];
    fa_constant S[36]; /* motion subspace of a wide joint, column by column */
    fa_constant mass, mp0[3], J0[6]; /* undeformed body about its frame */
    fa_constant alpha[2];            /* sine and cosine, of hops with angles (V1) */
    fa_constant delta[2];            /* likewise */
    fa_constant arm[3];  /* from the parent's origin to the joint, both bodies rigid */
    fa_constant fall[3]; /* of bodies on the ground: -g in joint axes */
    fa_constant E0[6];   /* sum m x x' of the undeformed body (V3) */
    fa_modal modal;
    fa_driven driven;
    fa_fast fast; /* of bodies with many modes and one child at most */
    fa_straight straight;
    fa_strain strain;
} fa_body;

typedef struct {
    int body;
    const fa_constant *position; /* [3] */
    const fa_constant *gamma;    /* [n][3], mode by mode */
    const fa_constant *lambda;   /* [n][3] */
    const fa_constant *kappa;    /* [n][n][3], symmetric in the modes, or NULL */
    const fa_constant *axis;     /* [3] of a beam, see section_turn.h, or NULL */
    const fa_constant *straight; /* node of a straight body, or NULL: of any kind */
} fa_node;

typedef struct {
    int node[2]; /* or -1, the ground */
    int n_rows;
    int n_line, line[FA_MAX_LINE]; /* nodes of a line, or none (sliding.h) */
    fa_lock locks[6];
    fa_constant position[2][3], rotation[2][9];
    fa_constant station[FA_MAX_LINE]; /* distances of these nodes from the first one */
} fa_loop;

/* a force inside of a joint on s = q_joint - ratio q_motor */
typedef struct {
    fa_passive_kind kind;
    int joint, motor;           /* velocities; motor -1: there is none */
    int joint_at, motor_at;     /* positions in q */
    int joint_move, motor_move; /* places in a displacement (positions.c) */
    fa_constant ratio, p[4];
} fa_passive;

typedef struct fa_model {
    int n_bodies, n_nodes;
    int n_links;          /* bodies of the user: all with nodes */
    int nu, nv, nq;       /* velocities of joints and motors, all, all positions */
    int n_motors;         /* the last bodies are their rotors */
    int n_actuators;      /* none of idle joints; a motor acts in place of its joint */
    int n_modes;          /* nv - nu */
    int n_rows;           /* modes and freedoms of wide joints */
    int sum_parent_modes; /* totals of hop_at, wide_tri_at */
    int sum_triangles;
    int any_wide, any_pose, any_floating;
    int any_offset; /* some body has node_is_offset */
    int any_armature;
    int is_rigid; /* no modes, no constraints: the recursions of rigid.h */
    /* constraints: the rows of all loops, then the couplings sum c_i q_i = constant */
    int n_loops, n_couplings, n_constraints;
    int n_passive; /* forces inside of joints */
    int n_same; /* of arms with followers: first coordinates that are those of the tree */
    int n_constants;
    fa_fidelity fidelity;
    fa_constant gravity[3], stabilization;
    const fa_body *bodies;
    const fa_node *nodes;
    const fa_loop *loops;
    const fa_constant *couplings; /* [n_couplings][nu + 1] */
    const fa_passive *passive;
    const fa_constant *constants; /* [n_constants] all that bodies and nodes point to */
    /* of arms with followers: the tree, of its velocities and positions those of the
     * model; of a tree its groups if forward dynamics frees them */
    struct fa_model *tree;
    const fa_follow *velocities, *positions;
    const fa_grouping *grouping;
    const fa_branches *branches; /* or NULL */
} fa_model;

/*
 * Run number i of the constants that stand inside the structs: its start, and as result
 * its length, negative behind the last one.
 */
static inline int fa_model_inside(const fa_model *model, int i,
                                  const fa_constant **from)
{
    const size_t own = offsetof(fa_body, modal) - offsetof(fa_body, rot);
    const size_t base = offsetof(fa_model, bodies) - offsetof(fa_model, gravity);
    const size_t loop = sizeof(fa_loop) - offsetof(fa_loop, position);
    const size_t passive = sizeof(fa_passive) - offsetof(fa_passive, ratio);
    const char *at = (const char *)model + offsetof(fa_model, gravity);
    size_t size = base;

    if (i >= 1 && i <= 2 * model->n_bodies) {
        const fa_body *b = model->bodies + (i - 1) / 2;
        const int fast = (i - 1) % 2;
        at = (const char *)b + (fast ? offsetof(fa_body, fast) + offsetof(fa_fast, C)
                                     : offsetof(fa_body, rot));
        size = !fast ? own : b->fast.W ? sizeof b->fast.C : 0;
    }
    i -= 1 + 2 * model->n_bodies;
    if (i >= 0 && i < model->n_loops) {
        at = (const char *)(model->loops + i) + offsetof(fa_loop, position);
        size = loop;
    }
    i -= model->n_loops;
    if (i >= 0 && i < model->n_passive) {
        at = (const char *)(model->passive + i) + offsetof(fa_passive, ratio);
        size = passive;
    }
    *from = (const fa_constant *)(const void *)at;
    return i < model->n_passive ? (int)(size / sizeof(fa_constant)) : -1;
}

#endif
