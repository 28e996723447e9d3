/*
 * straight_hop.h -- from a straight body to the next one (M5 to M7)
 *
 * Modes move a node by few numbers: turning theta about a, b, c and shifts along them,
 * and a child follows by one 6 x 6 matrix, with J = J_l(phi) Dphi and x as in K2, K3:
 *
 * Equations   (theta; s)_r = lambda_r about a or the other direction; gamma_r along the
 *             own one and kappa(r,s) eta_s along a                              (M5)
 *             (Lambda; U) = T (theta; s),  T = [[J, 0], [-x~ J, 1]]             (M6)
 *             (Lambda; U)' f = (theta; s)' T' f,
 *             (Lambda; U)' Gamma (Lambda; U) = (theta; s)' (T' Gamma T) (theta; s)  (M7)
 *             T' Gamma T once for a child, where three numbers of a mode meet it.
 * Checked by  tests/beams/test_straight.py: the same arm without the structure.
 */
#ifndef FA_STRAIGHT_HOP_H
#define FA_STRAIGHT_HOP_H

#include "kernels/bodies/driven.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/straight.h"
#include "kernels/bodies/straight_turn.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"
#include "model/straight_bodies.h"

/* whether the node that carries a body belongs to a straight one */
FA_INLINE int straight_carries(const fa_model *model, const fa_body *b)
{
    return b->parent_modes > 0 && model->nodes[b->attach].straight != NULL;
}

/* what the way back needs of the node, beside `bent` [n]: kappa eta of each mode */
typedef struct {
    fa_real J[9], x[3];
} straight_node;

/* constants of the modes of direction d of a node, 2: twisting ones */
FA_INLINE const fa_constant *straight_lever(const fa_node *node, const straight_size z,
                                            const int d)
{
    return node->straight + (d > 0 ? FA_NODE_BEND_SIZE(z.bends[0]) : 0) +
           (d > 1 ? FA_NODE_BEND_SIZE(z.bends[1]) : 0);
}

/* sums over the modes: turning, and shift with `bent` along a (M5); axes of the body */
FA_INLINE void straight_gather(const fa_node *node, const straight_size z,
                               const fa_real *x, const fa_real *bent, fa_real *turn,
                               fa_real *shift)
{
    const driven_axes next = DRIVEN_AXES[z.axis];
    fa_real t[3], s[3];

    fa_zero(s, 3);
    FA_UNROLL
    for (int d = 0; d < 2; d++) {
        const int n = z.bends[d], at = z.at[d];
        const fa_constant *c = straight_lever(node, z, d);
        t[2 - d] = straight_sum(n, c + FA_NODE_SLOPE, x + at);
        s[1 + d] = straight_sum(n, c + FA_NODE_SHIFT(n), x + at);
        FA_UNROLL
        for (int r = 0; r < n; r++) {
            if (z.driven) {
                s[0] += bent[at + r] * x[at + r];
            }
        }
    }
    t[0] = straight_sum(z.twists, straight_lever(node, z, 2), x + z.at[2]);
    turn[z.axis] = t[0];
    turn[next.b] = t[1];
    turn[next.c] = t[2];
    shift[z.axis] = s[0];
    shift[next.b] = s[1];
    shift[next.c] = s[2];
}

/* kappa x of each mode (K3) */
FA_INLINE void straight_bend_node(const fa_node *node, const straight_size z,
                                  const fa_real *x, fa_real *bent)
{
    FA_UNROLL
    for (int d = 0; d < 2; d++) {
        const int n = z.bends[d], at = z.at[d];
        const fa_constant *c = straight_lever(node, z, d) + FA_NODE_KAPPA(n);
        FA_UNROLL
        for (int r = 0; r < n; r++) {
            if (z.driven) {
                bent[at + r] = straight_sum(n, c + r * n, x + at);
            }
        }
    }
}

/* hop_pose on a node of the straight body p; `bent` and `s` stand for the columns */
FA_INLINE void straight_pose(const fa_model *model, const fa_body *p, const fa_body *b,
                             const straight_size z, const fa_real *q, fa_hop *h,
                             fa_turn *t, straight_node *s, fa_real *bent)
{
    const fa_node *node = model->nodes + b->attach;
    const fa_real *eta = q + p->eta_at;
    fa_real Rn[9], base[9], arm[3], l[3];

    straight_bend_node(node, z, eta, bent);
    straight_gather(node, z, eta, bent, t->phi, l);
    l[z.axis] *= 0.5;
    if (straight_plane(z) >= 0) {
        straight_turn_plane(node, straight_plane(z), t, s->J, Rn);
    } else if (!node->axis) {
        node_turn(NULL, t, Rn);
        node_jacobian(t, s->J);
    } else if (z.twists > 0) {
        straight_turn_section(z, t, s->J, Rn);
    } else {
        straight_turn_bends(t, s->J, Rn);
    }
    fa_zero(t->x, 3);
    if (b->is_shifted) {
        hop_arm(b, q, arm);
        fa_rotate(t->x, Rn, arm);
    }
    for (int i = 0; i < 3; i++) {
        s->x[i] = t->x[i];
        h->r[i] = node->position[i] + l[i] + t->x[i];
    }
    if (b->is_tilted) {
        fa_mat_mul_const(base, Rn, b->rot);
    }
    hop_turn(b, q, b->is_tilted ? base : Rn, h->R);
}

/*
 * hop_velocity, and hop_motion with etadd if `what` is set: a is the acceleration (K7)
 * less that of the joint, or c without `what`.
 *   Vp, ap   [6]  of the parent
 */
FA_INLINE void straight_velocity(const fa_model *model, const fa_body *p,
                                 const fa_body *b, const straight_size z,
                                 const fa_hop *h, const fa_turn *t,
                                 const straight_node *s, const fa_real *bent,
                                 const fa_real *qd, const fa_real *Vp, const int what,
                                 const fa_real *ap, const fa_real *etadd, fa_real *V,
                                 fa_real *a)
{
    const fa_node *node = model->nodes + b->attach;
    const fa_real *rates = qd + p->mode_at;
    fa_real phid[3], u[3], w[3], turn[3], shift[3], v[6], y[3], beta[6];
    fa_real second[FA_MAX_MODES], none[3];

    straight_gather(node, z, rates, bent, phid, u);
    fa_rotate(w, s->J, phid);
    fa_zero(y, 3);
    if (b->is_shifted) {
        fa_cross(y, w, s->x);
    }
    for (int i = 0; i < 3; i++) { /* twist of the child */
        u[i] += y[i];
        v[i] = Vp[i] + w[i];
        v[3 + i] = Vp[3 + i] + u[i];
    }
    fa_cross_add(v + 3, Vp, h->r);
    fa_rotate_t(V, h->R, v);
    fa_rotate_t(V + 3, h->R, v + 3);
    for (int i = 0; i < 3; i++) { /* the bracket w x x - v of beta */
        y[i] -= v[3 + i];
    }
    straight_bend_node(node, z, rates, second);
    straight_gather(node, z, rates, second, none, beta + 3);
    straight_wdot(node, z, t, phid, beta);
    shift[0] = beta[3 + z.axis];
    fa_zero(beta + 3, 3);
    beta[3 + z.axis] = shift[0]; /* kappa etad etad */
    if (what) {
        straight_gather(node, z, etadd, bent, turn, shift);
        fa_rotate(none, s->J, turn);
        for (int i = 0; i < 3; i++) {
            beta[i] += none[i];
            beta[3 + i] += ap[3 + i] + shift[i];
        }
        fa_cross_add(beta + 3, ap, h->r);
    }
    if (b->is_shifted) {
        fa_cross_add(beta + 3, beta, s->x);
    }
    fa_cross_add(beta + 3, Vp, u);
    fa_cross_add(beta + 3, w, y);
    fa_cross_add(beta, Vp, w);
    for (int i = 0; i < (what ? 3 : 0); i++) {
        beta[i] += ap[i];
    }
    fa_rotate_t(a, h->R, beta);
    fa_rotate_t(a + 3, h->R, beta + 3);
    hop_joint(model, b, t, NULL, qd, V, a);
}

/* hop_motion with etadd, by M6 */
FA_INLINE void straight_accelerate(const fa_model *model, const fa_body *b,
                                   const straight_size z, const fa_hop *h,
                                   const straight_node *s, const fa_real *bent,
                                   const fa_real *ap, const fa_real *etadd, fa_real *a)
{
    fa_real theta[3], turn[3], y[6];

    straight_gather(model->nodes + b->attach, z, etadd, bent, theta, y + 3);
    fa_rotate(turn, s->J, theta);
    if (b->is_shifted) {
        fa_cross_add(y + 3, turn, s->x);
    }
    fa_cross_add(y + 3, ap, h->r);
    for (int i = 0; i < 3; i++) {
        y[i] = ap[i] + turn[i];
        y[3 + i] += ap[3 + i];
    }
    fa_rotate_t(a, h->R, y);
    fa_rotate_t(a + 3, h->R, y + 3);
}

/* hop_force_add by M7 */
FA_INLINE void straight_force_add(const fa_model *model, const fa_body *b,
                                  const straight_size z, const fa_hop *h,
                                  const straight_node *s, const fa_real *bent,
                                  const fa_real *f, fa_real *z_r, fa_real *z_f)
{
    const fa_node *node = model->nodes + b->attach;
    const int a = z.axis;
    const int axis[3] = {a, DRIVEN_AXES[a].b, DRIVEN_AXES[a].c};
    fa_real F[6], n[3], turned[3];

    fa_rotate(F, h->R, f);
    fa_rotate(F + 3, h->R, f + 3);
    for (int i = 0; i < 3; i++) {
        n[i] = F[i];
        z_r[i] += F[i];
        z_r[3 + i] += F[3 + i];
    }
    if (b->is_shifted) {
        fa_cross_add(n, s->x, F + 3);
    }
    fa_rotate_t(turned, s->J, n);
    fa_cross_add(z_r, h->r, F + 3);
    FA_UNROLL
    for (int d = 0; d < 2; d++) {
        const int count = z.bends[d], at = z.at[d];
        const fa_constant *c = straight_lever(node, z, d);
        FA_UNROLL
        for (int r = 0; r < count; r++) {
            z_f[at + r] += c[FA_NODE_SLOPE + r] * turned[axis[2 - d]] +
                           c[FA_NODE_SHIFT(count) + r] * F[3 + axis[1 + d]];
            if (z.driven) {
                z_f[at + r] += bent[at + r] * F[3 + a];
            }
        }
    }
    FA_UNROLL
    for (int r = 0; r < z.twists; r++) {
        z_f[z.at[2] + r] += straight_lever(node, z, 2)[r] * turned[a];
    }
}

/* axes of turning and shift of the modes of direction d, of a, b, c */
FA_INLINE int straight_about(const int d)
{
    return d == 2 ? 0 : 2 - d;
}

FA_INLINE int straight_along(const int d)
{
    return d == 2 ? 0 : 1 + d;
}

/* the three numbers of a mode (M5) */
typedef struct {
    fa_real turn, shift, bent;
} straight_column;

/* those of mode r of direction d */
FA_INLINE straight_column straight_column_at(const fa_node *node, const straight_size z,
                                             const fa_real *bent, const int d,
                                             const int r)
{
    const fa_constant *c = straight_lever(node, z, d);
    straight_column y;

    y.turn = fa_spread(c[FA_NODE_SLOPE + r]);
    fa_zero(&y.shift, 1);
    fa_zero(&y.bent, 1);
    if (d < 2) {
        y.shift = fa_spread(c[FA_NODE_SHIFT(z.bends[d]) + r]);
        if (z.driven) {
            y.bent = bent[z.at[d] + r];
        }
    }
    return y;
}

/* sum + a mode of direction d on what meets its turning, its shift and one along a */
FA_INLINE fa_real straight_meet(const straight_size z, const int d,
                                const straight_column *y, fa_real sum, fa_real turning,
                                fa_real shift, fa_real along)
{
    sum += y->turn * turning;
    if (d < 2) {
        sum += y->shift * shift;
    }
    if (d < 2 && z.driven) {
        sum += y->bent * along;
    }
    return sum;
}

/*
 * What a child answers to unit turnings of its node (those in `turns`) and unit shifts, on
 * a, b, c: forces on the frame of the straight body, and T' Gamma T (M7).
 */
FA_INLINE void straight_unit_forces(const int *axis, const int *turns,
                                    const int is_shifted, const straight_node *s,
                                    const fa_inertia *gamma, const fa_real *r,
                                    fa_real (*force)[6], fa_real (*gram)[6])
{
    fa_real screw[3][6];

    FA_UNROLL
    for (int i = 0; i < 3; i++) {
        fa_real *unit = force[3 + i];
        FA_UNROLL
        for (int j = 0; j < 3; j++) {
            screw[i][j] = s->J[3 * j + axis[i]];
            unit[j] = gamma->B[3 * j + axis[i]];
            unit[3 + j] = gamma->D[FA_SYM[j][axis[i]]];
            gram[3 + i][3 + j] = gamma->D[FA_SYM[axis[j]][axis[i]]];
        }
        if (turns[i]) {
            if (is_shifted) {
                fa_cross(screw[i] + 3, screw[i], s->x);
                fa_inertia_mul(force[i], gamma, screw[i]);
            } else { /* a turning alone */
                fa_sym_mul(force[i], gamma->A, screw[i]);
                fa_rotate_t(force[i] + 3, gamma->B, screw[i]);
            }
            FA_UNROLL
            for (int j = 0; j < 3; j++) {
                gram[i][3 + j] = gram[3 + j][i] = force[i][3 + axis[j]];
            }
            FA_UNROLL
            for (int j = 0; j <= i; j++) {
                if (turns[j]) {
                    gram[i][j] = fa_dot(screw[j], force[i]);
                    if (is_shifted) {
                        gram[i][j] += fa_dot(screw[j] + 3, force[i] + 3);
                    }
                    gram[j][i] = gram[i][j];
                }
            }
            fa_cross_add(force[i], r, force[i] + 3);
        }
        fa_cross_add(unit, r, unit + 3);
    }
}

/* M_ff between directions d and e, for all modes of them or, if they are one, the triangle */
FA_INLINE void straight_block_add(const straight_size z, const int d, const int e,
                                  const straight_column *y, const straight_column *o,
                                  fa_real (*gram)[6], fa_real *L)
{
    const int count[3] = {z.bends[0], z.bends[1], z.twists};
    const int from[3] = {straight_about(e), 3 + straight_along(e), 3};
    const fa_real *G = gram[straight_about(d)], *S = gram[3 + straight_along(d)];

    FA_UNROLL
    for (int k = 0; k < count[d]; k++) {
        fa_real meets[3];
        FA_UNROLL
        for (int i = 0; i < 3; i++) {
            meets[i] = straight_meet(z, d, y + k, (fa_real){0}, G[from[i]], S[from[i]],
                                     gram[3][from[i]]);
        }
        const int rows = d == e ? k + 1 : count[e];
        FA_UNROLL
        for (int m = 0; m < rows; m++) {
            const int i = z.at[d] + k, j = z.at[e] + m;
            fa_real *entry = L + (i > j ? fa_tri(i, j) : fa_tri(j, i));
            *entry = straight_meet(z, e, o + m, *entry, meets[0], meets[1], meets[2]);
        }
    }
}

/*
 * Adds the inertia of a child to M_ff and M_fr of a straight body by M7.
 *   gamma  inertia of the child about its origin, axes of p;  r  that origin
 *   L, Y   triangle and rows of that body
 */
FA_INLINE void straight_inertia_add(const fa_node *node, const straight_size z,
                                    const int is_shifted, const straight_node *s,
                                    const fa_real *bent, const fa_inertia *gamma,
                                    const fa_real *r, fa_real *L, fa_real *Y)
{
    const int axis[3] = {z.axis, DRIVEN_AXES[z.axis].b, DRIVEN_AXES[z.axis].c};
    const int count[3] = {z.bends[0], z.bends[1], z.twists};
    const int turns[3] = {z.twists > 0, z.bends[1] > 0, z.bends[0] > 0};
    fa_real force[6][6], gram[6][6];
    straight_column y[3][FA_MAX_UNROLLED];

    straight_unit_forces(axis, turns, is_shifted, s, gamma, r, force, gram);
    FA_UNROLL
    for (int d = 0; d < 3; d++) {
        const fa_real *turning = force[straight_about(d)];
        const fa_real *shift = force[3 + straight_along(d)];
        FA_UNROLL
        for (int k = 0; k < count[d]; k++) {
            fa_real *row = Y + 6 * (z.at[d] + k);
            y[d][k] = straight_column_at(node, z, bent, d, k);
            FA_UNROLL
            for (int i = 0; i < 6; i++) {
                row[i] = straight_meet(z, d, &y[d][k], row[i], turning[i], shift[i],
                                       force[3][i]);
            }
        }
        FA_UNROLL
        for (int e = 0; e <= d; e++) {
            straight_block_add(z, d, e, y[d], y[e], gram, L);
        }
    }
}

/* the columns themselves (M6), as node_columns gives them */
FA_INLINE void straight_columns(const fa_node *node, const straight_size z,
                                const straight_node *s, const fa_real *bent,
                                fa_real *slope, fa_real *shift)
{
    const int a = z.axis;
    const int axis[3] = {a, DRIVEN_AXES[a].b, DRIVEN_AXES[a].c};
    const int count[3] = {z.bends[0], z.bends[1], z.twists};

    FA_UNROLL
    for (int d = 0; d < 3; d++) {
        FA_UNROLL
        for (int k = 0; k < count[d]; k++) {
            const straight_column y = straight_column_at(node, z, bent, d, k);
            const int at = z.at[d] + k;
            fa_real *turn = slope + 3 * at, *move = shift + 3 * at;
            for (int i = 0; i < 3; i++) {
                turn[i] = s->J[3 * i + axis[straight_about(d)]] * y.turn;
            }
            fa_cross(move, turn, s->x);
            move[axis[straight_along(d)]] += y.shift;
            move[a] += y.bent;
        }
    }
}

#endif
