/*
 * straight.h -- one straight body: mass distribution and modal mass matrix (M1, M2)
 *
 * What body.h and driven.h compute, for the bodies of straight_bodies.h, from the
 * integrals that are not zero. Axes a, b, c; both directions have the same formulas,
 * with o the other direction, p = +1 for modes along b, -1 along c, e = etad:
 *
 * Equations   X_r = X(r,s) eta_s, A_r = A(r,s) eta_s, U_r = u_kr zeta_k,
 *             w_k' = w_k + zeta_k, W_k = u_kr eta_r (one for each direction)
 *             F_r = (-p X_r; F0_r + p U_r along o),  J_r = A_r, A_r on aa and oo twice,
 *             J1_r - U_r on a and own, -X_r on bc                               (M2)
 *             with rotary inertia, S_r = S(r,s) eta_s: J_r on aa -2 S_r, on own +2 S_r, and
 *             X_F of F1 in place of X in F_r                                    (M2a)
 *             with twisting modes t of sum theta = eta_t
 *             F_r on own T_F(t,r) theta, J_r on a and o T_J(t,r) theta,
 *             F_t = (F0_t; T_R(t,r) eta_r on own), J_t = T_J(t,r) eta_r on a and o,
 *             J1_t on bc, 2 D(t,u) eta_u on bb, -2 D(t,u) eta_u on cc           (M2b)
 * Checked by  tests/beams/test_straight.py: the same body without its flag;
 *             Lagrangian, twin.
 */
#ifndef FA_KERNELS_STRAIGHT_H
#define FA_KERNELS_STRAIGHT_H

#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"
#include "model/straight_bodies.h"

/* how many modes there are along b, along c, twisting, how many driven shapes; the first
 * mode of each direction; the axis a of the body; whether sections have rotary inertia */
typedef struct {
    int bends[2], twists, driven, at[3], axis, rotary;
} straight_size;

/* modes of one direction in a deformed body (M2) */
typedef struct {
    const fa_constant *c;
    fa_real X[FA_STRAIGHT_MOST], A[FA_STRAIGHT_MOST], U[FA_STRAIGHT_MOST];
    fa_real F[FA_STRAIGHT_MOST],
        S[FA_STRAIGHT_MOST]; /* X_F and S, with rotary inertia */
    fa_real N[2 * FA_STRAIGHT_MOST], W[2];
    fa_real T[FA_STRAIGHT_MOST],
        H[FA_STRAIGHT_MOST]; /* by twist: F on own, J on a, o */
} straight_bends;

typedef struct {
    straight_bends of[2];
    fa_real along[2]; /* w_k' */
    /* of twisting modes by modes of each direction: F on own, J on a and o; D eta */
    fa_real T[2][FA_STRAIGHT_MOST], H[2][FA_STRAIGHT_MOST], D[FA_STRAIGHT_MOST];
    fa_real mp[3], J[6]; /* on a, b, c */
} straight_shape;

/* sum of x_s y_s */
FA_INLINE fa_real straight_sum(const int n, const fa_constant *x, const fa_real *y)
{
    fa_real sum = {0};
    FA_UNROLL
    for (int s = 0; s < n; s++) {
        sum += x[s] * y[s];
    }
    return sum;
}

/* the place of direction d among its own modes: the constants of the other one follow */
FA_INLINE const fa_constant *straight_bend(const fa_body *b, const straight_size z,
                                           const int d)
{
    return b->straight.constants + FA_STRAIGHT_MODES +
           (d ? FA_BEND_SIZE(z.bends[0], z.bends[1], z.rotary) : 0);
}

FA_INLINE const fa_constant *straight_twist(const fa_body *b, const straight_size z)
{
    return straight_bend(b, z, 1) + FA_BEND_SIZE(z.bends[1], z.bends[0], z.rotary);
}

/* constants of twisting modes with those that bend along d */
FA_INLINE const fa_constant *straight_mixed(const fa_body *b, const straight_size z,
                                            const int d)
{
    return straight_twist(b, z) + FA_TWIST_BENDS(z.twists) +
           (d ? FA_TWIST_BEND_SIZE(z.twists, z.bends[0]) : 0);
}

/* U_r of all modes (M2) */
FA_INLINE void straight_slopes(const straight_size z, const fa_real *zeta,
                               straight_shape *s)
{
    FA_UNROLL
    for (int d = 0; d < 2; d++) {
        const int n = z.bends[d];
        FA_UNROLL
        for (int r = 0; r < n; r++) {
            s->of[d].U[r] = (fa_real){0};
            FA_UNROLL
            for (int k = 0; k < z.driven; k++) {
                s->of[d].U[r] += s->of[d].c[FA_BEND_U(n) + k * n + r] * zeta[k];
            }
        }
    }
}

/* what twisting modes change in it (M2b) */
FA_INLINE void straight_twisted(const fa_body *b, const straight_size z,
                                const fa_real *eta, straight_shape *s)
{
    const int n = z.twists;
    const fa_constant *c = straight_twist(b, z);
    const fa_real *angle = eta + z.at[2];

    FA_UNROLL
    for (int t = 0; t < n; t++) {
        s->D[t] = straight_sum(n, c + FA_TWIST_D(n) + t * n, angle);
        s->J[3] += s->D[t] * angle[t];
        s->J[4] += c[FA_TWIST_J1(n) + t] * angle[t];
        s->J[5] -= s->D[t] * angle[t];
    }
    FA_UNROLL
    for (int d = 0; d < 2; d++) {
        const int m = z.bends[d], o = 2 - d;
        const fa_constant *with = straight_mixed(b, z, d);
        fa_zero(s->of[d].T, m);
        fa_zero(s->of[d].H, m);
        FA_UNROLL
        for (int t = 0; t < n; t++) {
            const fa_constant *TF = with + FA_TWIST_TF + t * m;
            const fa_constant *TJ = with + FA_TWIST_TJ(n, m) + t * m;
            s->T[d][t] =
                straight_sum(m, with + FA_TWIST_TR(n, m) + t * m, eta + z.at[d]);
            s->H[d][t] = straight_sum(m, TJ, eta + z.at[d]);
            s->J[o] += s->H[d][t] * angle[t];
            FA_UNROLL
            for (int r = 0; r < m; r++) {
                s->of[d].T[r] += TF[r] * angle[t];
                s->of[d].H[r] += TJ[r] * angle[t];
            }
        }
    }
}

/* mass distribution of the deformed body (M2) */
FA_INLINE void straight_deform(const fa_body *b, const straight_size z,
                               const fa_real *eta, straight_shape *s)
{
    const fa_constant *body = b->straight.constants;
    fa_real zeta[2], across[2], spun[2], slanted = {0}, stretched = {0};

    fa_zero(zeta, 2);
    fa_zero(spun, 2);
    for (int i = 0; i < 6; i++) {
        s->J[i] = fa_spread(body[FA_STRAIGHT_J0 + i]);
    }
    s->mp[0] = fa_spread(body[FA_STRAIGHT_MP0]);
    FA_UNROLL
    for (int d = 0; d < 2; d++) {
        const int n = z.bends[d], m = z.bends[!d];
        const fa_real *own = eta + z.at[d], *other = eta + z.at[!d];
        straight_bends *g = s->of + d;
        const fa_constant *c = g->c = straight_bend(b, z, d);

        across[d] = s->mp[1 + d] = (fa_real){0};
        FA_UNROLL
        for (int r = 0; r < n; r++) {
            g->A[r] = straight_sum(n, c + FA_BEND_A(n) + r * n, own);
            g->X[r] = straight_sum(m, c + FA_BEND_X(n) + r * m, other);
            if (z.rotary) {
                g->F[r] = straight_sum(m, c + FA_BEND_XF(n, m) + r * m, other);
                g->S[r] = straight_sum(n, c + FA_BEND_S(n, m) + r * n, own);
                spun[d] += g->S[r] * own[r];
            }
            across[d] += g->A[r] * own[r];
            s->mp[1 + d] += c[FA_BEND_E(n) + r] * own[r];
            s->J[1 + d] += c[FA_BEND_J1(n) + r] * own[r];
            if (d == 0) {
                slanted += g->X[r] * own[r];
            }
        }
        FA_UNROLL
        for (int k = 0; k < z.driven; k++) {
            const fa_constant *K = c + FA_BEND_N(n) + k * n * n;
            g->W[k] = straight_sum(n, c + FA_BEND_U(n) + k * n, own);
            FA_UNROLL
            for (int r = 0; r < n; r++) {
                g->N[k * n + r] = straight_sum(n, K + r * n, own);
                zeta[k] += 0.5 * g->N[k * n + r] * own[r];
            }
        }
    }
    FA_UNROLL
    for (int k = 0; k < z.driven; k++) {
        s->along[k] = body[FA_STRAIGHT_W + k] + zeta[k];
        stretched += (s->along[k] + body[FA_STRAIGHT_W + k]) * zeta[k];
        s->mp[0] += body[FA_STRAIGHT_E + k] * zeta[k];
        s->J[1] -= s->of[0].W[k] * zeta[k];
        s->J[2] -= s->of[1].W[k] * zeta[k];
    }
    straight_slopes(z, zeta, s);
    s->J[0] += across[0] + across[1];
    s->J[3] += across[1] + stretched;
    s->J[4] -= slanted;
    s->J[5] += across[0] + stretched;
    if (z.rotary) {
        s->J[0] -= spun[0] + spun[1];
        s->J[3] += spun[0];
        s->J[5] += spun[1];
    }
    if (z.twists > 0) {
        straight_twisted(b, z, eta, s);
    }
}

/* M_ff between the two directions, and all rows of the twisting modes */
FA_INLINE void straight_inertia_rest(const fa_body *b, const straight_size z,
                                     const straight_shape *s, const int axis,
                                     fa_real *Y, fa_real *L)
{
    FA_UNROLL
    for (int r = 0; r < z.bends[0]; r++) {
        FA_UNROLL
        for (int t = 0; t < z.bends[1]; t++) {
            const int i = z.at[0] + r, j = z.at[1] + t;
            fa_real *entry = L + (i > j ? fa_tri(i, j) : fa_tri(j, i));
            FA_UNROLL
            for (int k = 0; k < z.driven; k++) {
                *entry +=
                    s->of[0].N[k * z.bends[0] + r] * s->of[1].N[k * z.bends[1] + t];
            }
        }
    }
    FA_UNROLL
    for (int r = 0; r < z.twists; r++) {
        const int at = z.at[2];
        const fa_constant *c = straight_twist(b, z);
        fa_zero(Y + 6 * (at + r), 6);
        Y[6 * (at + r) + axis] = fa_spread(c[FA_TWIST_F0 + r]);
        Y[6 * (at + r) + DRIVEN_AXES[axis].b] = s->T[0][r];
        Y[6 * (at + r) + DRIVEN_AXES[axis].c] = s->T[1][r];
        FA_UNROLL
        for (int t = 0; t <= r; t++) {
            L[fa_tri(at + r, at + t)] =
                fa_spread(c[FA_TWIST_G(z.twists) + r * z.twists + t]);
        }
    }
}

/* first moment and inertia about the origin in the axes of the body (M2) */
FA_INLINE void straight_rigid(const straight_size z, const straight_shape *s,
                              fa_real *mp, fa_real *J)
{
    const int axis[3] = {z.axis, DRIVEN_AXES[z.axis].b, DRIVEN_AXES[z.axis].c};

    for (int i = 0, k = 0; i < 3; i++) {
        mp[axis[i]] = s->mp[i];
        for (int j = i; j < 3; j++, k++) {
            J[FA_SYM[axis[i]][axis[j]]] = s->J[k];
        }
    }
}

/* M_fr row by row (angular; linear) [n][6] and the triangle of M_ff (B2, B6) */
FA_INLINE void straight_modal_inertia(const fa_body *b, const straight_size z,
                                      const straight_shape *s, fa_real *Y, fa_real *L)
{
    const int axis[3] = {z.axis, DRIVEN_AXES[z.axis].b, DRIVEN_AXES[z.axis].c};
    const int n = z.bends[0] + z.bends[1] + z.twists;
    const fa_real zero = {0};

    fa_zero(L, n * (n + 1) / 2);
    FA_UNROLL
    for (int d = 0; d < 2; d++) {
        const int count = z.bends[d], at = z.at[d];
        const straight_bends *g = s->of + d;
        FA_UNROLL
        for (int r = 0; r < count; r++) {
            const double p = d ? -1.0 : 1.0;
            fa_real row[4] = {-p * (z.rotary ? g->F[r] : g->X[r]), zero, zero, zero},
                    *y = Y + 6 * (at + r);
            row[2 - d] = g->c[FA_BEND_F0 + r] + p * g->U[r];
            if (z.twists > 0) {
                row[1 + d] = g->T[r];
            }
            FA_UNROLL
            for (int k = 0; k < z.driven; k++) {
                row[1] += g->N[k * count + r] * s->of[1].W[k];
                row[2] -= g->N[k * count + r] * s->of[0].W[k];
                row[3] +=
                    b->straight.constants[FA_STRAIGHT_E + k] * g->N[k * count + r];
            }
            for (int i = 0; i < 3; i++) {
                y[axis[i]] = row[i];
            }
            y[3 + axis[0]] = row[3];
            y[3 + axis[1 + d]] = fa_spread(g->c[FA_BEND_E(count) + r]);
            y[3 + axis[2 - d]] = zero;
            FA_UNROLL
            for (int t = 0; t <= r; t++) {
                L[fa_tri(at + r, at + t)] =
                    fa_spread(g->c[FA_BEND_G(count) + r * count + t]);
                FA_UNROLL
                for (int k = 0; k < z.driven; k++) {
                    L[fa_tri(at + r, at + t)] +=
                        g->N[k * count + r] * g->N[k * count + t];
                }
            }
        }
    }
    straight_inertia_rest(b, z, s, axis[0], Y, L);
}

/* the same with M_rr */
FA_INLINE void straight_inertia(const fa_body *b, const straight_size z,
                                const straight_shape *s, fa_inertia *P, fa_real *Y,
                                fa_real *L)
{
    fa_shape whole;

    straight_rigid(z, s, whole.mp, whole.J);
    body_rigid_inertia(b, &whole, P);
    straight_modal_inertia(b, z, s, Y, L);
}

/* the sizes of a kind */
#define FA_STRAIGHT_SIZE(nb, nc, nt, p, c_first, a, rotary)                            \
    {{nb, nc}, nt, p, {(c_first) ? nc : 0, (c_first) ? 0 : nb, nb + nc}, a, rotary}

/* those of a body, and of a shape; with one direction alone its modes are the first */
FA_INLINE straight_size straight_sizes(const fa_body *b)
{
    const fa_straight *s = &b->straight;
    return (straight_size){{s->count[0], s->count[1]},     s->count[2], s->driven,
                           {s->at[0], s->at[1], s->at[2]}, s->axis,     s->rotary};
}
#define FA_STRAIGHT_SHAPE(nb, nc, nt, p, a)                                            \
    {nb, nc}, nt, p, {(nc) ? at[0] : 0, (nb) ? at[1] : 0, nb + nc}, a

/*
 * A step with sizes that are read when it runs, in a unit of its own (straight_any.c) whose
 * loops are not unrolled. FA_STRAIGHT_STEP declares or begins it.
 */
#define FA_STRAIGHT_ANY_OF(step) FA_SHARED(step##_any)
#define FA_STRAIGHT_STEP(step, ...)                                                    \
    void FA_STRAIGHT_ANY_OF(step)(const fa_model *model, const fa_body *b,             \
                                  straight_size z, __VA_ARGS__)

/* calls step(model, b, sizes, ...) with the sizes of a straight body */
#define FA_SWITCH_SIZES(of, step, model, b, ...)                                       \
    step(model, b, straight_sizes(of), __VA_ARGS__);

/* the same with compile-time constants, but for kind and shape FA_STRAIGHT_ANY */
#if FA_UNROLLED_MODES > 0
#define FA_CASE_STRAIGHT_ANY(of, step, model, b, ...)                                  \
    default:                                                                           \
        FA_STRAIGHT_ANY_OF(step)(model, b, straight_sizes(of), __VA_ARGS__);           \
        break;
#define FA_CASE_STRAIGHT(kind, sizes, step, model, b, ...)                             \
    case kind:                                                                         \
        step(model, b, ((straight_size)FA_STRAIGHT_SIZE sizes), __VA_ARGS__);          \
        break;
#define FA_SWITCH_STRAIGHT(of, ...)                                                    \
    switch ((of)->straight.kind) {                                                     \
        FA_STRAIGHT_KINDS(FA_CASE_STRAIGHT, __VA_ARGS__)                               \
        FA_CASE_STRAIGHT_ANY(of, __VA_ARGS__)                                          \
    }
#define FA_CASE_SHAPE(shape, sizes, of, step, model, b, ...)                           \
    case shape: {                                                                      \
        const int *at = (of)->straight.at;                                             \
        step(model, b,                                                                 \
             ((straight_size){FA_STRAIGHT_SHAPE sizes, (of)->straight.rotary}),        \
             __VA_ARGS__);                                                             \
        break;                                                                         \
    }
#define FA_SWITCH_SHAPE(of, ...)                                                       \
    switch ((of)->straight.shape) {                                                    \
        FA_STRAIGHT_SHAPES(FA_CASE_SHAPE, of, __VA_ARGS__)                             \
        FA_CASE_STRAIGHT_ANY(of, __VA_ARGS__)                                          \
    }
#else
#define FA_SWITCH_STRAIGHT FA_SWITCH_SIZES
#define FA_SWITCH_SHAPE FA_SWITCH_SIZES
#endif

/*
 * A step of a sweep on body b: step(model, b, n, ...) with n modes, or, where a body is
 * straight, step_straight(model, b, sizes, ...). FA_BODY_STEP has n or the sizes of the
 * body itself, FA_HOP_STEP, for a step between it and its parent, those of the parent. By
 * FA_SWITCH_SHAPE the compiler knows less of them.
 */
#define FA_STEP(SWITCH, is_straight, of, n, step, ...)                                 \
    if (is_straight) {                                                                 \
        SWITCH(of, step##_straight, __VA_ARGS__)                                       \
    } else {                                                                           \
        FA_SWITCH_MODES(n, step, __VA_ARGS__)                                          \
    }
#define FA_BODY_STEP(SWITCH, is_straight, step, model, b, ...)                         \
    FA_STEP(SWITCH, is_straight, b, (b)->n_modes, step, model, b, __VA_ARGS__)
#define FA_HOP_STEP(SWITCH, is_straight, step, model, b, ...)                          \
    FA_STEP(SWITCH, is_straight, (model)->bodies + (b)->parent, (b)->parent_modes,     \
            step, model, b, __VA_ARGS__)

#endif
