/*
 * strain.c -- the strain energy of a beam, as kernels take it
 *
 * Slopes of a section are its rotations about its axes y and z; any two axes across the
 * beam that are right-handed with it will do: (y, z) or (z, -y). In a straight body the
 * first ones are those of the modes along b.
 *
 * Checked by  tests/beams/test_strain_energy.py
 */
#include "model/strain.h"

#include "model/description.h"
#include "model/kinds.h"

/* whether rotation i (0: twist, 1, 2) and its rate are zero but for modes of a range */
static int strain_within(int n, int p, const double *given, int i, int at, int count)
{
    int fits = 1;

    for (int g = 0; g < p; g++) {
        const double *rows =
            given + FA_STRAIN_POINTS + g * FA_STRAIN_POINT(n) + FA_STRAIN_ROWS;
        for (int r = 0; r < n; r++) {
            const int inside = r >= at && r < at + count;
            fits &= inside || (rows[i * n + r] == 0.0 && rows[(3 + i) * n + r] == 0.0);
        }
    }
    return fits;
}

/* whether the section axes first and second (1, 2) turn by the modes along b, along c */
static int strain_fits(int p, const double *given, const fa_body *b, int first)
{
    const fa_straight *s = &b->straight;
    const int of[3] = {first, 3 - first, 0};
    int fits = 1;

    for (int d = 0; d < 3; d++) {
        fits &= strain_within(b->n_modes, p, given, of[d], s->at[d], s->count[d]);
    }
    return fits;
}

/* a body of any kind */
static void strain_not_straight(fa_body *b, fa_node *nodes)
{
    b->straight.kind = 0;
    for (int j = b->first_node; j < b->first_node + b->n_nodes; j++) {
        nodes[j].straight = NULL;
    }
}

/* the plane in which alone a body bends, or -1 */
static int strain_plane(const fa_strain *s)
{
    const int *n = s->count;
    return n[2] > 0 || (n[0] > 0) == (n[1] > 0) ? -1 : n[0] == 0;
}

/* y += weight x z of homogeneous polynomials in two variables, of degrees m and n */
static void strain_product_add(double weight, int m, const double *x, int n,
                               const double *z, double *y)
{
    for (int i = 0; i <= m; i++) {
        for (int j = 0; j <= n; j++) {
            y[i + j] += weight * x[i] * z[j];
        }
    }
}

/* coefficients of a product at most */
enum { STRAIN_MAX_TERMS = 2 * FA_STRAIN_DEGREE + 3 };

/*
 * The polynomial 1/2 sum EI k^2 (x^2 + x^4 + 3/8 x^6 + 9/64 x^8) of two modes a and b, which
 * is 1/2 sum EI (kappa^2 - k^2) of strain.h: V[t][i] goes with a^(2 t + 2 - i) b^i.
 */
static void strain_polynomial(const fa_strain *s,
                              double V[FA_STRAIN_DEGREE + 1][STRAIN_MAX_TERMS])
{
    static const double weights[] = {0.0, 1.0, 1.0, 0.375, 9.0 / 64.0};
    const int n = s->count[s->plane];
    const int stride = 3 + 2 * (s->count[0] + s->count[1] + s->count[2]);
    const int at = 3 + (s->plane ? 2 * s->count[0] : 0);

    for (int g = 0; g < s->n; g++) {
        const double *c = s->constants + g * stride, *row = c + at;
        const double x[2] = {row[0], n > 1 ? row[1] : 0.0};
        const double k[2] = {row[n], n > 1 ? row[n + 1] : 0.0};
        double square[3] = {0.0}, all[STRAIN_MAX_TERMS] = {0.0};
        strain_product_add(1.0, 1, x, 1, x, square);
        strain_product_add(0.5 * c[s->plane], 1, k, 1, k, all);
        for (int t = 1; t <= FA_STRAIN_DEGREE; t++) {
            double next[STRAIN_MAX_TERMS] = {0.0};
            strain_product_add(1.0, 2 * t, all, 2, square, next);
            for (int i = 0; i <= 2 * t + 2; i++) {
                all[i] = next[i];
                V[t][i] += weights[t] * next[i];
            }
        }
    }
}

/* its derivatives by a and by b, in the order of the kernel */
static double *strain_forces(const fa_strain *s, double *forces)
{
    double V[FA_STRAIN_DEGREE + 1][STRAIN_MAX_TERMS] = {{0.0}};

    strain_polynomial(s, V);
    for (int r = 0; r < 2; r++) {
        for (int odd = 0; odd < 2; odd++) {
            for (int j = FA_STRAIN_DEGREE; j >= 0; j--) {
                for (int t = FA_STRAIN_DEGREE; t >= (j > 0 ? j : 1); t--) {
                    const int i = 2 * j + odd, D = 2 * t + 2;
                    *forces++ = r == 0 ? (D - i) * V[t][i] : (i + 1) * V[t][i + 1];
                }
            }
        }
    }
    return forces;
}

double *fa_strain_build(int p, const double *given, int is_general, fa_body *b,
                        fa_node *nodes, double *constants)
{
    const int n = b->n_modes;
    fa_strain *s = &b->strain;
    int first = 1;

    s->n = p;
    s->constants = constants;
    if (b->straight.kind > 0) {
        first = strain_fits(p, given, b, 1) ? 1 : 2;
        if (!strain_fits(p, given, b, first)) {
            strain_not_straight(b, nodes);
            first = 1;
        }
    }
    const int of[3] = {first, 3 - first, 0};
    for (int d = 0; d < 3; d++) {
        const int is_still = !is_general && strain_within(n, p, given, of[d], 0, 0);
        s->at[d] = b->straight.kind > 0 ? b->straight.at[d] : 0;
        s->count[d] = b->straight.kind > 0 ? b->straight.count[d] : is_still ? 0 : n;
    }
    s->is_round = !is_general;
    for (int g = 0; g < p; g++) {
        const double *point = given + FA_STRAIN_POINTS + g * FA_STRAIN_POINT(n);
        const double *rows = point + FA_STRAIN_ROWS;
        for (int d = 0; d < 3; d++) {
            *constants++ = point[FA_STRAIN_STIFFNESS + of[d]];
        }
        s->is_round &= constants[-3] == constants[-2];
        for (int d = 0; d < 3; d++) {
            const double sign = first == 2 && d == 1 ? -1.0 : 1.0;
            for (int k = 0; k < 2; k++) {
                const double *row = rows + (3 * k + of[d]) * n + s->at[d];
                for (int r = 0; r < s->count[d]; r++) {
                    *constants++ = sign * row[r];
                }
            }
        }
    }
    s->plane = strain_plane(s);
    if (s->plane >= 0 && s->count[s->plane] <= 2) {
        s->forces = constants;
        constants = strain_forces(s, constants);
    }
    return constants;
}
