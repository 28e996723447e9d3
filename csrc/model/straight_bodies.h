/*
 * straight_bodies.h -- modes that bend across one axis, or twist about it
 *
 * What almost all beams are. With internal axes a (along), b and c (the next two, in
 * cyclic order) every mode moves nodes along b and turns them about c, or moves them
 * along c and turns them about b, or turns them about a; all masses are on the axis, and
 * driven shapes, if there are any, are the shift and the stretch of B6. Most integrals
 * of such a body are zero, and the others follow from these (M1): F0, J1, E, u_kr of a
 * bending mode (one number each), A = sum m gamma_r gamma_s of modes of one direction, X
 * the same of two modes of different directions, G, K, C by directions. The inertia of
 * sections that turn, diagonal on a, b, c, adds S to products of modes of one direction,
 * and other products of modes of different ones to F1 than to J2: kinds with rotary
 * inertia. With it twisting modes meet bending ones: T_F and T_R of F1, along the own
 * direction, and T_J of J2, on a and the other one. Kernels: kernels/bodies/straight.h.
 */
#ifndef FA_STRAIGHT_H
#define FA_STRAIGHT_H

#include "model/layout.h"

enum { FA_STRAIGHT_MOST = 8 }; /* modes of a direction of all kinds */

/* constants of the body: first moment along a; inertia aa, ab, ac, bb, bc, cc; w and E
 * of the driven shapes along a; then those of modes along b, along c, of twisting ones */
enum {
    FA_STRAIGHT_MP0 = 0,
    FA_STRAIGHT_J0 = 1,
    FA_STRAIGHT_W = 7,
    FA_STRAIGHT_E = 9,
    FA_STRAIGHT_MODES = 11
};

/* constants of n modes of one direction, m of the other one */
#define FA_BEND_F0 0           /* [n] about the other direction */
#define FA_BEND_J1(n) (n)      /* [n] product of inertia with a */
#define FA_BEND_E(n) (2 * (n)) /* [n] */
#define FA_BEND_U(n) (3 * (n)) /* [2][n] of the driven shapes */
#define FA_BEND_A(n) (5 * (n)) /* [n][n] */
#define FA_BEND_G(n) ((5 + (n)) * (n))
#define FA_BEND_K(n) ((5 + 2 * (n)) * (n))
#define FA_BEND_C(n) ((5 + 3 * (n)) * (n))
#define FA_BEND_N(n) ((5 + 4 * (n)) * (n)) /* [2][n][n] K_k of the driven shapes */
#define FA_BEND_X(n) ((5 + 6 * (n)) * (n)) /* [n][m] */
#define FA_BEND_PLAIN(n, m) (FA_BEND_X(n) + (n) * (m))

/* then, with rotary inertia: S [n][n], X_F and X_G [n][m] */
#define FA_BEND_S(n, m) FA_BEND_PLAIN(n, m)
#define FA_BEND_XF(n, m) (FA_BEND_S(n, m) + (n) * (n))
#define FA_BEND_XG(n, m) (FA_BEND_XF(n, m) + (n) * (m))
#define FA_BEND_SIZE(n, m, rotary)                                                     \
    (FA_BEND_PLAIN(n, m) + ((rotary) ? ((n) + 2 * (m)) * (n) : 0))

/* constants of n twisting modes, and with m bending modes of each direction */
#define FA_TWIST_F0 0      /* [n] about a */
#define FA_TWIST_J1(n) (n) /* [n] product of inertia of b and c */
#define FA_TWIST_G(n) (2 * (n))
#define FA_TWIST_K(n) ((2 + (n)) * (n))
#define FA_TWIST_C(n) ((2 + 2 * (n)) * (n))
#define FA_TWIST_D(n) ((2 + 3 * (n)) * (n)) /* [n][n] half of J2 on bb */
#define FA_TWIST_BENDS(n) ((2 + 4 * (n)) * (n))
#define FA_TWIST_TF 0 /* [n][m] */
#define FA_TWIST_TR(n, m) ((n) * (m))
#define FA_TWIST_TJ(n, m) (2 * (n) * (m))
#define FA_TWIST_BEND_SIZE(n, m) (3 * (n) * (m))

/* constants of a node: of each direction slope and shift [n] and kappa along a [n][n],
 * then the slopes of twisting modes */
#define FA_NODE_SLOPE 0
#define FA_NODE_SHIFT(n) (n)
#define FA_NODE_KAPPA(n) (2 * (n))
#define FA_NODE_BEND_SIZE(n) ((2 + (n)) * (n))

/*
 * Bodies that are treated so: number of modes along b, along c, twisting, of driven
 * shapes; whether modes along c come first; the axis a; whether sections have rotary
 * inertia. All are compile-time constants of the kernels, so that each kind takes seconds of
 * gcc. Of other bodies of more than FA_STRAIGHT_FEW modes, FA_STRAIGHT_ANY, they are read
 * when the kernels run: 1.06 to 1.3 times as fast as a body of any kind (inverse dynamics 1.3
 * to 2.0 times), with fewer modes no faster. The rest are bodies of any kind.
 */
enum { FA_STRAIGHT_ANY = 99, FA_STRAIGHT_FEW = 4 };
#define FA_STRAIGHT_KINDS(KIND, ...)                                                   \
    KIND(1, (2, 2, 0, 2, 0, 0, 0), __VA_ARGS__)                                        \
    KIND(2, (2, 2, 0, 2, 1, 0, 0), __VA_ARGS__)                                        \
    KIND(3, (2, 2, 0, 2, 0, 2, 0), __VA_ARGS__)                                        \
    KIND(4, (1, 1, 0, 1, 0, 0, 0), __VA_ARGS__)                                        \
    KIND(5, (1, 1, 0, 1, 1, 0, 0), __VA_ARGS__)                                        \
    KIND(6, (1, 1, 0, 1, 0, 2, 0), __VA_ARGS__)                                        \
    KIND(7, (2, 0, 0, 2, 0, 0, 0), __VA_ARGS__)                                        \
    KIND(8, (0, 2, 0, 2, 0, 0, 0), __VA_ARGS__)                                        \
    KIND(9, (2, 0, 0, 0, 0, 0, 0), __VA_ARGS__)                                        \
    KIND(10, (0, 2, 0, 0, 0, 0, 0), __VA_ARGS__)                                       \
    KIND(11, (1, 0, 0, 1, 0, 0, 0), __VA_ARGS__)                                       \
    KIND(12, (0, 1, 0, 1, 0, 0, 0), __VA_ARGS__)                                       \
    KIND(13, (2, 2, 0, 2, 0, 0, 1), __VA_ARGS__)                                       \
    KIND(14, (2, 2, 0, 2, 1, 0, 1), __VA_ARGS__)                                       \
    KIND(15, (2, 2, 0, 2, 0, 2, 1), __VA_ARGS__)                                       \
    KIND(16, (2, 0, 0, 2, 0, 0, 1), __VA_ARGS__)                                       \
    KIND(17, (0, 2, 0, 2, 0, 0, 1), __VA_ARGS__)                                       \
    KIND(18, (2, 2, 1, 2, 0, 0, 1), __VA_ARGS__)                                       \
    KIND(19, (2, 2, 1, 2, 1, 0, 1), __VA_ARGS__)                                       \
    KIND(20, (2, 2, 1, 2, 0, 2, 1), __VA_ARGS__)                                       \
    KIND(21, (2, 2, 2, 2, 0, 0, 1), __VA_ARGS__)

/*
 * The kinds by less, for kernels that seldom matter: number of modes along b, along c,
 * twisting, of driven shapes; the axis a.
 */
#define FA_STRAIGHT_SHAPES(SHAPE, ...)                                                 \
    SHAPE(1, (2, 2, 0, 2, 0), __VA_ARGS__)                                             \
    SHAPE(2, (2, 2, 0, 2, 2), __VA_ARGS__)                                             \
    SHAPE(3, (1, 1, 0, 1, 0), __VA_ARGS__)                                             \
    SHAPE(4, (1, 1, 0, 1, 2), __VA_ARGS__)                                             \
    SHAPE(5, (2, 0, 0, 2, 0), __VA_ARGS__)                                             \
    SHAPE(6, (0, 2, 0, 2, 0), __VA_ARGS__)                                             \
    SHAPE(7, (2, 0, 0, 0, 0), __VA_ARGS__)                                             \
    SHAPE(8, (0, 2, 0, 0, 0), __VA_ARGS__)                                             \
    SHAPE(9, (1, 0, 0, 1, 0), __VA_ARGS__)                                             \
    SHAPE(10, (0, 1, 0, 1, 0), __VA_ARGS__)                                            \
    SHAPE(11, (2, 2, 1, 2, 0), __VA_ARGS__)                                            \
    SHAPE(12, (2, 2, 1, 2, 2), __VA_ARGS__)                                            \
    SHAPE(13, (2, 2, 2, 2, 0), __VA_ARGS__)

/* most constants that a body and one of its nodes can have, of n modes */
size_t fa_straight_size(int n);
size_t fa_straight_node_size(int n);

/*
 * Looks whether a body is straight, its integrals and driven shapes given, and whether
 * its nodes move as such; b->straight and nodes[..].straight are set.
 *
 *   constants  [fa_straight_size + n_nodes * fa_straight_node_size] receives what is kept
 *
 * Zeros have to be exact. Returns the first unused constant.
 */
double *fa_straight_build(fa_body *b, fa_node *nodes, double *constants);

#endif
