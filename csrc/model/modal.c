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
 * Checked by  tests/test_modal.py: kinetic energy of the nodes, the NumPy twin.
 */
#include "model/modal.h"

#include "model/kinds.h"

#include <math.h>
#include <string.h>

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
