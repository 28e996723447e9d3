/*
 * modal.c -- modal integrals of a body given by nodes
 *
 * Equations   (B1), (B2) with the sums of Jain and Rodriguez, US patent 5,546,508,
 *             appendix C.1, in the corrected form: for each node with mass m, offset p
 *             of its centre of mass, inertia J about the node, position l0, mode
 *             shapes gamma_r and slopes lambda_r
 *                 mp0    = sum m (p + l0)             mp1(r) = sum m gamma_r
 *                 E(r)   = sum m (gamma_r - p x lambda_r)
 *                 F0(r)  = sum J lambda_r + m (l0 + p) x gamma_r - m l0 x (p x lambda_r)
 *                 F1(r,s)= sum m gamma_s x (gamma_r - p x lambda_r)
 *                 G(r,s) = sum lambda_r.J lambda_s + m lambda_r.(p x gamma_s)
 *                              + m lambda_s.(p x gamma_r) + m gamma_r.gamma_s
 *                 J0     = sum J - m (l0~ l0~ + p~ l0~ + l0~ p~)
 *                 J1(r)  = -sum m gamma_r~ (l0 + p)~, symmetrized
 *                 J2(r,s)= -sum m gamma_r~ gamma_s~, symmetrized
 *             The inertia of a node without offset turns with it, to second order in the
 *             modes: its angular velocity is omega + phid + 1/2 phi x phid for the
 *             rotation phi = lambda eta, and with [a, J] = a~ J - J a~
 *                 J1(r) += [lambda_r, J],  J2(r,s) += [lambda_r, [lambda_s, J]], sym.
 *                 F1(r,s) += [lambda_s, J] lambda_r + 1/2 J (lambda_s x lambda_r)
 *             Heavy inertias and offset masses that turn are bodies of their own.
 * Checked by  tests/bodies/test_modal.py: kinetic energy of the nodes, the NumPy twin.
 */
#include "model/modal.h"

#include "model/kinds.h"

#include <math.h>
#include <string.h>

/* relative to inertia and rotation: change by turning about an axis of revolution */
#define ROUNDING 1e-13

typedef struct {
    double x[3];
} vec;

static vec vec_cross(const double *a, const double *b)
{
    return (vec){{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                  a[0] * b[1] - a[1] * b[0]}};
}

static double vec_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static vec vec_sym_mul(const double *S, const double *x)
{
    return (vec){{S[0] * x[0] + S[1] * x[1] + S[2] * x[2],
                  S[1] * x[0] + S[3] * x[1] + S[4] * x[2],
                  S[2] * x[0] + S[4] * x[1] + S[5] * x[2]}};
}

/* S += -w (a~ b~ + b~ a~) = w (2 a.b - a b' - b a') */
static void sym_add_pair(double *S, double w, const double *a, const double *b)
{
    const double d = 2.0 * vec_dot(a, b);
    S[0] += w * (d - 2.0 * a[0] * b[0]);
    S[1] -= w * (a[0] * b[1] + b[0] * a[1]);
    S[2] -= w * (a[0] * b[2] + b[0] * a[2]);
    S[3] += w * (d - 2.0 * a[1] * b[1]);
    S[4] -= w * (a[1] * b[2] + b[1] * a[2]);
    S[5] += w * (d - 2.0 * a[2] * b[2]);
}

/* [a, J] = a~ J - J a~, written to out; entries below `nothing` are rounding */
static void sym_turn(const double *a, const double *J, double nothing, double *out)
{
    out[0] = 2.0 * (a[1] * J[2] - a[2] * J[1]);
    out[1] = a[1] * J[4] - a[2] * J[3] + a[2] * J[0] - a[0] * J[2];
    out[2] = a[1] * J[5] - a[2] * J[4] + a[0] * J[1] - a[1] * J[0];
    out[3] = 2.0 * (a[2] * J[1] - a[0] * J[4]);
    out[4] = a[2] * J[2] - a[0] * J[5] + a[0] * J[3] - a[1] * J[1];
    out[5] = 2.0 * (a[0] * J[4] - a[1] * J[2]);
    for (int i = 0; i < 6; i++) {
        out[i] = fabs(out[i]) <= nothing ? 0.0 : out[i];
    }
}

/* largest absolute value of `count` numbers */
static double largest(const double *x, int count)
{
    double size = 0.0;
    for (int i = 0; i < count; i++) {
        size = fmax(size, fabs(x[i]));
    }
    return size;
}

size_t fa_modal_size(int n)
{
    const size_t m = (size_t)n;
    return 9 * m + 3 * m * m + m * (m + 1) / 2 + 6 * m + 6 * m * m + 2 * m * m;
}

/* the mode shapes of one node, mode by mode */
static void modal_shapes(int n, const double *node, double (*gamma)[3],
                         double (*lambda)[3])
{
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 3; i++) {
            gamma[r][i] = node[FA_NODE_GAMMA + i * n + r];
            lambda[r][i] = node[FA_NODE_GAMMA + (3 + i) * n + r];
        }
    }
}

static void modal_add_rigid(const double *node, fa_body *body)
{
    const double m = node[FA_NODE_MASS];
    const double *p = node + FA_NODE_COM, *l0 = node + FA_NODE_POSITION;

    body->mass += m;
    for (int i = 0; i < 3; i++) {
        body->mp0[i] += m * (p[i] + l0[i]);
    }
    for (int i = 0; i < 6; i++) {
        body->J0[i] += node[FA_NODE_INERTIA + i];
    }
    sym_add_pair(body->J0, 0.5 * m, l0, l0);
    sym_add_pair(body->J0, m, p, l0);
}

/* whether F1(r,s) + F1(s,r) is zero, up to the rounding of fused products */
int fa_modal_is_skew(int n, const double *F1)
{
    double largest = 0.0, sum = 0.0;

    for (int r = 0; r < n; r++) {
        for (int s = 0; s < n; s++) {
            for (int i = 0; i < 3; i++) {
                const double x = F1[3 * (r * n + s) + i], y = F1[3 * (s * n + r) + i];
                largest = fmax(largest, fabs(x));
                sum = fmax(sum, fabs(x + y));
            }
        }
    }
    return sum <= 1e-14 * largest;
}

/* inertia J of a node, which turns with it to second order */
static void modal_add_turned(int n, const double *J, double (*lambda)[3], double *F1,
                             double *J1, double *J2)
{
    double first[FA_MAX_MODES][6], second[6];
    const double size = largest(J, 6);

    for (int r = 0; r < n; r++) {
        sym_turn(lambda[r], J, ROUNDING * size * largest(lambda[r], 3), first[r]);
        for (int i = 0; i < 6; i++) {
            J1[6 * r + i] += first[r][i];
        }
    }
    for (int r = 0; r < n; r++) {
        for (int s = 0; s < n; s++) {
            const vec turn = vec_cross(lambda[s], lambda[r]);
            const vec own = vec_sym_mul(J, turn.x),
                      change = vec_sym_mul(first[s], lambda[r]);
            for (int i = 0; i < 3; i++) {
                F1[3 * (r * n + s) + i] += change.x[i] + 0.5 * own.x[i];
            }
            sym_turn(lambda[r], first[s], 0.0, second);
            for (int i = 0; i < 6; i++) {
                J2[6 * (r * n + s) + i] += 0.5 * second[i];
                J2[6 * (s * n + r) + i] += 0.5 * second[i];
            }
        }
    }
}

void fa_modal_integrals(int n, int n_nodes, const double *nodes, double *storage,
                        fa_body *body)
{
    double gamma[FA_MAX_MODES][3], lambda[FA_MAX_MODES][3];
    double *E = storage, *F0 = E + 3 * n, *mp1 = F0 + 3 * n, *F1 = mp1 + 3 * n;
    double *G = F1 + 3 * n * n, *J1 = G + n * (n + 1) / 2, *J2 = J1 + 6 * n;
    double *K = J2 + 6 * n * n;

    memset(storage, 0, sizeof(double) * (size_t)(K - storage));
    body->modal = (fa_modal){E, F0, F1, mp1, G, J1, J2, K, K + n * n};
    body->mass = 0.0;
    memset(body->mp0, 0, sizeof body->mp0);
    memset(body->J0, 0, sizeof body->J0);
    body->node_is_offset = 0;

    for (int j = 0; j < n_nodes; j++) {
        const double *node = nodes + (size_t)j * (size_t)FA_NODE_SIZE(n);
        const double m = node[FA_NODE_MASS], *J = node + FA_NODE_INERTIA;
        const double *p = node + FA_NODE_COM, *l0 = node + FA_NODE_POSITION;
        const double l0p[3] = {l0[0] + p[0], l0[1] + p[1], l0[2] + p[2]};

        modal_add_rigid(node, body);
        modal_shapes(n, node, gamma, lambda);
        if (largest(J, 6) > 0.0 && largest(p, 3) == 0.0) {
            modal_add_turned(n, J, lambda, F1, J1, J2);
        }
        for (int r = 0; r < n; r++) {
            const vec turned = vec_cross(p, lambda[r]);
            const vec momentum = vec_cross(l0p, gamma[r]);
            const vec lever = vec_cross(l0, turned.x);
            const vec spin = vec_sym_mul(J, lambda[r]);
            double centre[3];

            for (int i = 0; i < 3; i++) {
                centre[i] = gamma[r][i] - turned.x[i];
                E[3 * r + i] += m * centre[i];
                mp1[3 * r + i] += m * gamma[r][i];
                F0[3 * r + i] += spin.x[i] + m * (momentum.x[i] - lever.x[i]);
                body->node_is_offset |= m * turned.x[i] != 0.0;
            }
            sym_add_pair(J1 + 6 * r, m, gamma[r], l0p);
            for (int s = 0; s < n; s++) {
                const vec change = vec_cross(gamma[s], centre);
                for (int i = 0; i < 3; i++) {
                    F1[3 * (r * n + s) + i] += m * change.x[i];
                }
                sym_add_pair(J2 + 6 * (r * n + s), m, gamma[r], gamma[s]);
            }
            for (int s = 0; s <= r; s++) {
                const vec pr = vec_cross(p, gamma[r]), ps = vec_cross(p, gamma[s]);
                G[r * (r + 1) / 2 + s] +=
                    vec_dot(lambda[s], spin.x) +
                    m * (vec_dot(lambda[r], ps.x) + vec_dot(lambda[s], pr.x) +
                         vec_dot(gamma[r], gamma[s]));
            }
        }
    }
    body->F1_is_skew = fa_modal_is_skew(n, F1);
}
