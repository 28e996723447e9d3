/*
 * straight_bodies.c -- recognizes straight bodies when a model is built (M1)
 *
 * Equations   modes r, s along b, c (p = +1 along b, -1 along c; o the other direction):
 *                 E_r = mp1_r = E e_own,  F0_r = F0 e_o,  J1_r = J1 (e_a e_own' + ..)
 *                 F1(r,s) = -p X(r,s) e_a for s of the other direction, else 0
 *                 J2(r,s) = 2 A(r,s) (1 - e_own e_own') for s of the same direction,
 *                           -X(r,s) (e_b e_c' + e_c e_b') for one of the other
 *             with rotary inertia, S(r,s) = sum (J_a - J_own) lambda_r lambda_s over the
 *             sections, J diagonal on a, b, c:
 *                 J2(r,s) -= 2 S(r,s) (e_a e_a' - e_own e_own') of the same direction;
 *                 F1(r,s) = -p X_F(r,s) e_a with X_F apart from X of J2     (M1a)
 *             twisting modes t, u: F0_t = F0 e_a, J1_t = J1 (e_b e_c' + e_c e_b'),
 *                 J2(t,u) = 2 D(t,u) (e_b e_b' - e_c e_c'), and with a bending mode r
 *                 F1(r,t) = T_F(t,r) e_own, F1(t,r) = T_R(t,r) e_own,
 *                 J2(r,t) = T_J(t,r) (e_a e_o' + e_o e_a')
 *             G, K, C, K_k couple modes of one direction alone                    (M1)
 * Checked by  tests/beams/test_straight.py: bodies with and without the structure.
 */
#include "model/straight_bodies.h"

#include "model/kinds.h"

#include <math.h>
#include <string.h>

/* places of products of two axes in a symmetric matrix */
static const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

enum { ALONG_B, ALONG_C, TWIST, DIRECTIONS };

size_t fa_straight_size(int n)
{
    const size_t m = (size_t)n;
    return m > 0 ? FA_STRAIGHT_MODES + 5 * m + 7 * m * m : 0;
}

size_t fa_straight_node_size(int n)
{
    const size_t m = (size_t)n;
    return 2 * m + m * m;
}

/* whether x [count] is zero, but for entry `but` */
static int zero_but(const double *x, int count, int but)
{
    for (int i = 0; i < count; i++) {
        if (x[i] != 0.0 && i != but) {
            return 0;
        }
    }
    return 1;
}

/* kind and shape of these numbers of modes and driven shapes, or 0 */
static void set_kind(fa_straight *s)
{
#define STRAIGHT_HAS(nb, nc, nt, p, a)                                                 \
    (s->count[ALONG_B] == (nb) && s->count[ALONG_C] == (nc) &&                         \
     s->count[TWIST] == (nt) && s->driven == (p) && s->axis == (a))
#define STRAIGHT_IS(nb, nc, nt, p, c_first, a, with_rotary)                            \
    (STRAIGHT_HAS(nb, nc, nt, p, a) && s->rotary == (with_rotary) &&                   \
     (s->at[ALONG_B] > s->at[ALONG_C]) == (c_first) &&                                 \
     ((nt) == 0 || s->at[TWIST] == (nb) + (nc)))
#define STRAIGHT_KIND(number, sizes, s) s->kind = STRAIGHT_IS sizes ? number : s->kind;
#define STRAIGHT_SHAPE(number, sizes, s)                                               \
    s->shape = STRAIGHT_HAS sizes ? number : s->shape;
    FA_STRAIGHT_KINDS(STRAIGHT_KIND, s)
    FA_STRAIGHT_SHAPES(STRAIGHT_SHAPE, s)
    const int b = s->count[ALONG_B], c = s->count[ALONG_C], twists = s->count[TWIST];
    if (s->kind == 0 && b + c + twists > FA_STRAIGHT_FEW && b <= FA_STRAIGHT_MOST &&
        c <= FA_STRAIGHT_MOST && twists <= FA_STRAIGHT_MOST) {
        s->kind = s->shape = FA_STRAIGHT_ANY;
    }
}

static int nearly(double x, double y, double scale)
{
    return fabs(x - y) <= 1e-13 * scale;
}

/* direction of a mode by its momentum or, if it has none, by its second derivative of the
 * inertia, or -1: across it, and with rotary inertia along it too, but less */
static int direction(const fa_body *b, int a, int r, int rotary)
{
    const double *J = b->modal.J2 + 6 * (r * b->n_modes + r);

    for (int d = 0; d < 2; d++) {
        const int own = (a + 1 + d) % 3, other = (a + 2 - d) % 3;
        if (b->modal.E[3 * r + own] != 0.0 || b->modal.F0[3 * r + other] != 0.0) {
            return d;
        }
    }
    if (J[place[a][a]] == 0.0) {
        return TWIST;
    }
    for (int d = 0; d < 2; d++) {
        const int own = (a + 1 + d) % 3, other = (a + 2 - d) % 3;
        const double least = rotary ? fabs(J[place[other][other]]) : 0.0;
        if (fabs(J[place[own][own]]) <= least) {
            return d;
        }
    }
    return -1;
}

/* number and first mode of each direction; false unless they stand side by side */
static int directions(const fa_body *b, int a, int rotary, fa_straight *s, int *of)
{
    for (int r = 0; r < b->n_modes; r++) {
        const int d = of[r] = direction(b, a, r, rotary);
        if (d < 0 || (s->count[d] > 0 && of[r - 1] != d)) {
            return 0;
        }
        if (s->count[d]++ == 0) {
            s->at[d] = r;
        }
    }
    set_kind(s);
    return s->kind > 0;
}

/* what one mode of direction d has */
static int mode_fits(const fa_body *b, int a, int d, int r)
{
    const fa_modal *m = &b->modal;
    const int own = (a + 1 + d) % 3, other = (a + 2 - d) % 3;

    if (d == TWIST) {
        return zero_but(m->E + 3 * r, 3, -1) && zero_but(m->mp1 + 3 * r, 3, -1) &&
               zero_but(m->F0 + 3 * r, 3, a) &&
               zero_but(m->J1 + 6 * r, 6, place[(a + 1) % 3][(a + 2) % 3]);
    }
    return zero_but(m->E + 3 * r, 3, own) && zero_but(m->F0 + 3 * r, 3, other) &&
           zero_but(m->J1 + 6 * r, 6, place[a][own]) &&
           m->E[3 * r + own] == m->mp1[3 * r + own];
}

/* what twisting modes have with others, two of directions d and e */
static int twist_fits(int a, int d, int e, const double *F1, const double *J2,
                      double scale)
{
    const int bend = d == TWIST ? e : d, b = (a + 1) % 3, c = (a + 2) % 3;

    if (bend == TWIST) {
        double rest[6];
        memcpy(rest, J2, sizeof rest);
        rest[place[b][b]] = rest[place[c][c]] = 0.0;
        return zero_but(F1, 3, -1) && zero_but(rest, 6, -1) &&
               nearly(J2[place[b][b]], -J2[place[c][c]], scale);
    }
    return zero_but(F1, 3, (a + 1 + bend) % 3) &&
           zero_but(J2, 6, place[a][(a + 2 - bend) % 3]);
}

/* what two modes of directions d and e have; scale: the size of sum m gamma gamma */
static int pair_fits(const fa_body *b, int a, int rotary, int d, int e, int r, int s,
                     double scale)
{
    const fa_modal *m = &b->modal;
    const int n = b->n_modes, rs = r * n + s, own = (a + 1 + d) % 3;
    const int other = (a + 2 - d) % 3, pair = r > s ? r * (r + 1) / 2 + s : 0;
    const double *F1 = m->F1 + 3 * rs, *J2 = m->J2 + 6 * rs;

    if (d != e &&
        (m->K[rs] != 0.0 || m->C[rs] != 0.0 || (r > s && fabs(m->G[pair]) != 0.0))) {
        return 0;
    }
    for (int k = 0; k < b->driven.n && (d != e || d == TWIST); k++) {
        if (b->driven.K[k * n * n + rs] != 0.0) {
            return 0;
        }
    }
    if (d == e && d != TWIST) {
        double rest[6];
        memcpy(rest, J2, sizeof rest);
        rest[place[a][a]] = rest[place[other][other]] = 0.0;
        if (rotary) {
            rest[place[own][own]] = 0.0;
        }
        return zero_but(F1, 3, -1) && zero_but(rest, 6, -1) &&
               nearly(J2[place[a][a]] + J2[place[own][own]], J2[place[other][other]],
                      scale);
    }
    if (d != TWIST && e != TWIST) {
        const int bc = place[own][other];
        return zero_but(F1, 3, a) && zero_but(J2, 6, bc) &&
               (rotary || nearly(F1[a], d == ALONG_B ? J2[bc] : -J2[bc], scale));
    }
    return twist_fits(a, d, e, F1, J2, scale);
}

/* driven shapes: none, or up to two along axis a of a body whose masses are on it */
static int driven_fits(const fa_body *b, int a, const int *of)
{
    const fa_driven *d = &b->driven;

    if (d->n == 0) {
        return 1;
    }
    if (d->n > 2 || d->axis != a) {
        return 0;
    }
    for (int k = 0; k < d->n; k++) {
        if (!zero_but(d->w + 3 * k, 3, 0)) {
            return 0;
        }
        for (int r = 0; r < b->n_modes; r++) {
            if (!zero_but(d->u + 2 * (k * b->n_modes + r), 2, of[r])) {
                return 0;
            }
        }
    }
    return 1;
}

static int body_fits(const fa_body *b, int a, int rotary, fa_straight *s, int *of)
{
    const int n = b->n_modes;
    double scale = 0.0;

    *s = (fa_straight){.axis = a, .driven = b->driven.n, .rotary = rotary};
    if (!directions(b, a, rotary, s, of) || !driven_fits(b, a, of) ||
        !zero_but(b->mp0, 3, a)) {
        return 0;
    }
    for (int i = 0; i < 6 * n * n; i++) {
        scale = fmax(scale, fabs(b->modal.J2[i]));
    }
    for (int r = 0; r < n; r++) {
        if (!mode_fits(b, a, of[r], r)) {
            return 0;
        }
        for (int t = 0; t < n; t++) {
            if (!pair_fits(b, a, rotary, of[r], of[t], r, t, scale)) {
                return 0;
            }
        }
    }
    return 1;
}

/* block of modes [at, at + n) of a matrix, or of a triangle if `rows` is 0 */
static double *keep_block(const double *x, int rows, int at, int n, double *out)
{
    for (int i = at; i < at + n; i++) {
        for (int j = at; j < at + n; j++) {
            const int high = i > j ? i : j, low = i > j ? j : i;
            *out++ = x[rows > 0 ? i * rows + j : high * (high + 1) / 2 + low];
        }
    }
    return out;
}

/* what rotary inertia adds to the constants of the modes along direction d (M1a) */
static double *keep_rotary(const fa_body *b, const fa_straight *s, int d, double *out)
{
    const int n = b->n_modes, a = s->axis, own = (a + 1 + d) % 3;
    const int at = s->at[d], end = at + s->count[d];
    const int from = s->at[!d], to = from + s->count[!d];
    const double p = d ? -1.0 : 1.0, *F1 = b->modal.F1 + a;

    for (int r = at; r < end; r++) {
        for (int t = at; t < end; t++) {
            *out++ = 0.5 * b->modal.J2[6 * (r * n + t) + place[own][own]];
        }
    }
    for (int r = at; r < end; r++) {
        for (int t = from; t < to; t++) {
            *out++ = -p * F1[3 * (r * n + t)];
        }
    }
    for (int r = at; r < end; r++) {
        for (int t = from; t < to; t++) {
            *out++ = 0.5 * p * (F1[3 * (t * n + r)] - F1[3 * (r * n + t)]);
        }
    }
    return out;
}

/* constants of the modes along direction d */
static double *keep_bends(const fa_body *b, const fa_straight *s, int d, int rotary,
                          double *out)
{
    const fa_modal *m = &b->modal;
    const fa_driven *driven = &b->driven;
    const int n = b->n_modes, a = s->axis, own = (a + 1 + d) % 3, at = s->at[d];
    const int other = (a + 2 - d) % 3, count = s->count[d];

    for (int r = at; r < at + count; r++, out++) {
        out[FA_BEND_F0] = m->F0[3 * r + other];
        out[FA_BEND_J1(count)] = m->J1[6 * r + place[a][own]];
        out[FA_BEND_E(count)] = m->E[3 * r + own];
        for (int k = 0; k < 2; k++) {
            out[FA_BEND_U(count) + k * count] =
                k < driven->n ? driven->u[2 * (k * n + r) + d] : 0.0;
        }
    }
    out += FA_BEND_A(count) - count;
    for (int r = at; r < at + count; r++) {
        for (int t = at; t < at + count; t++) {
            *out++ =
                0.5 *
                m->J2[6 * (r * n + t) + (rotary ? place[other][other] : place[a][a])];
        }
    }
    out = keep_block(m->G, 0, at, count, out);
    out = keep_block(m->K, n, at, count, out);
    out = keep_block(m->C, n, at, count, out);
    for (int k = 0; k < 2; k++) {
        if (k < driven->n) {
            keep_block(driven->K + k * n * n, n, at, count, out);
        }
        out += count * count;
    }
    for (int r = at; r < at + count; r++) {
        for (int t = s->at[!d]; t < s->at[!d] + s->count[!d]; t++) {
            *out++ = -m->J2[6 * (r * n + t) + place[own][other]];
        }
    }
    return rotary ? keep_rotary(b, s, d, out) : out;
}

/* constants of the twisting modes */
static double *keep_twists(const fa_body *b, const fa_straight *s, double *out)
{
    const fa_modal *m = &b->modal;
    const int n = b->n_modes, a = s->axis, at = s->at[TWIST],
              end = at + s->count[TWIST];
    const int second = (a + 1) % 3, third = (a + 2) % 3;

    for (int t = at; t < end; t++) {
        *out++ = m->F0[3 * t + a];
    }
    for (int t = at; t < end; t++) {
        *out++ = m->J1[6 * t + place[second][third]];
    }
    out = keep_block(m->G, 0, at, end - at, out);
    out = keep_block(m->K, n, at, end - at, out);
    out = keep_block(m->C, n, at, end - at, out);
    for (int t = at; t < end; t++) {
        for (int u = at; u < end; u++) {
            *out++ = 0.5 * m->J2[6 * (t * n + u) + place[second][second]];
        }
    }
    for (int d = 0; d < 2; d++) {
        const int own = (a + 1 + d) % 3, other = (a + 2 - d) % 3, from = s->at[d];
        const int size = (end - at) * s->count[d];
        for (int t = at; t < end; t++) {
            for (int r = from; r < from + s->count[d]; r++, out++) {
                out[0] = m->F1[3 * (r * n + t) + own];
                out[size] = m->F1[3 * (t * n + r) + own];
                out[2 * size] = m->J2[6 * (r * n + t) + place[a][other]];
            }
        }
        out += 2 * size;
    }
    return out;
}

/* constants of the body */
static double *keep_body(const fa_body *b, fa_straight *s, int rotary, double *out)
{
    const int a = s->axis;

    s->constants = out;
    out[FA_STRAIGHT_MP0] = b->mp0[a];
    for (int i = 0, k = 0; i < 3; i++) {
        for (int j = i; j < 3; j++, k++) {
            out[FA_STRAIGHT_J0 + k] = b->J0[place[(a + i) % 3][(a + j) % 3]];
        }
    }
    for (int k = 0; k < b->driven.n; k++) {
        out[FA_STRAIGHT_W + k] = b->driven.w[3 * k];
        out[FA_STRAIGHT_E + k] = b->driven.E[3 * k + a];
    }
    out = keep_bends(b, s, ALONG_B, rotary, out + FA_STRAIGHT_MODES);
    out = keep_bends(b, s, ALONG_C, rotary, out);
    return keep_twists(b, s, out);
}

/* constants of a node that moves as those of straight bodies, or nothing */
static double *keep_node(const fa_body *b, fa_node *node, double *out)
{
    const fa_straight *s = &b->straight;
    const int n = b->n_modes, a = s->axis;
    double *start = out;

    for (int d = 0; d < DIRECTIONS; d++) {
        const int own = d == TWIST ? -1 : (a + 1 + d) % 3;
        const int about = d == TWIST ? a : (a + 2 - d) % 3, at = s->at[d];
        const int count = s->count[d];
        for (int r = at; r < at + count; r++) {
            if (!zero_but(node->gamma + 3 * r, 3, own) ||
                !zero_but(node->lambda + 3 * r, 3, about)) {
                return start;
            }
            for (int t = 0; t < n && node->kappa; t++) {
                const int same = t >= at && t < at + count && d != TWIST;
                const double *k = node->kappa + 3 * (r * n + t);
                if (!zero_but(k, 3, same ? a : -1)) {
                    return start;
                }
                if (same) {
                    out[FA_NODE_KAPPA(count) + (r - at) * count + t - at] = k[a];
                }
            }
            out[FA_NODE_SLOPE + r - at] = node->lambda[3 * r + about];
            if (d != TWIST) {
                out[FA_NODE_SHIFT(count) + r - at] = node->gamma[3 * r + own];
            }
        }
        out += d == TWIST ? count : FA_NODE_BEND_SIZE(count);
    }
    node->straight = start;
    return out;
}

double *fa_straight_build(fa_body *b, fa_node *nodes, double *constants)
{
    int of[FA_MAX_MODES], way = 0; /* axes, then axes with rotary inertia */
    fa_straight s;

    b->straight = (fa_straight){.kind = 0};
    if (b->n_modes == 0 || b->node_is_offset || b->joint == FA_JOINT_FLOATING) {
        return constants;
    }
    while (way < 6 && !body_fits(b, way % 3, way / 3, &s, of)) {
        way++;
    }
    if (way == 6) {
        return constants;
    }
    constants = keep_body(b, &s, way / 3, constants);
    s.size = (int)(constants - s.constants);
    b->straight = s;
    for (int j = 0; j < b->n_nodes; j++) {
        constants = keep_node(b, nodes + b->first_node + j, constants);
    }
    return constants;
}
