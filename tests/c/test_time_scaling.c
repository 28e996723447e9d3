/* test_time_scaling.c -- closed forms, corners of polygons by brute force, refusals */
#include "library/time_scaling.h"

#include "check.h"

enum { N = 101, M = 5, CORNERS = 400 };

static double s[N], a[N][M], b[N][M], lower[N][M], upper[N][M], x_max[N];
static double K[N][2], curve[N], x[N], u[N - 1], work[3 * (2 * M + 1)];

static fa_time_scaling problem_of(size_t n, size_t m, fa_scaling_scheme scheme)
{
    for (size_t i = 0; i < n; i++) {
        s[i] = (double)i / (double)(n - 1);
        x_max[i] = INFINITY;
    }
    return (fa_time_scaling){.n = n,
                             .m = m,
                             .s = s,
                             .a = &a[0][0],
                             .b = &b[0][0],
                             .lower = &lower[0][0],
                             .upper = &upper[0][0],
                             .x_max = x_max,
                             .scheme = scheme,
                             .controllable = &K[0][0],
                             .curve = curve,
                             .x = x,
                             .u = u};
}

/* the rows of a point stand one behind the other, m of them */
static void set(size_t i, size_t m, size_t k, double row_a, double row_b, double low,
                double high)
{
    (&a[0][0])[i * m + k] = row_a;
    (&b[0][0])[i * m + k] = row_b;
    (&lower[0][0])[i * m + k] = low;
    (&upper[0][0])[i * m + k] = high;
}

static double duration(size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i + 1 < n; i++) {
        sum += 2.0 * (s[i + 1] - s[i]) / (sqrt(x[i]) + sqrt(x[i + 1]));
    }
    return sum;
}

/* a mass on a slide: full force half the way, then full brakes, T = 2 sqrt(m / F) */
static void check_bang_bang(void)
{
    CHECK(fa_time_scaling_work_size(M) == sizeof work / sizeof *work);
    for (int scheme = 0; scheme < FA_SCALING_SCHEMES; scheme++) {
        fa_time_scaling p = problem_of(N, 1, (fa_scaling_scheme)scheme);
        for (size_t i = 0; i < N; i++) {
            set(i, 1, 0, 2.0, 0.0, -3.0, 3.0);
        }
        CHECK(fa_time_scaling_solve(&p, work) == FA_SCALING_SOLVED);
        CHECK_CLOSE(duration(N), 2.0 * sqrt(2.0 / 3.0), 1e-12);
        CHECK_CLOSE(u[0], 1.5, 1e-12);
        CHECK_CLOSE(u[N - 2], -1.5, 1e-12);
        CHECK(isinf(curve[N / 2]));
        CHECK_CLOSE(K[0][1], 3.0, 1e-12); /* v^2 / 2 a = 1 */

        /* a limit of speed: a trapezoid */
        for (size_t i = 0; i < N; i++) {
            x_max[i] = 0.36;
        }
        CHECK(fa_time_scaling_solve(&p, work) == FA_SCALING_SOLVED);
        CHECK_CLOSE(duration(N), 1.0 / 0.6 + 0.6 / 1.5, 1e-3);
        CHECK_CLOSE(curve[3], 0.36, 0.0);
    }
}

/* a row without a part in u bounds x from both sides; here the motion cannot rest */
static void check_rows_without_inertia(void)
{
    fa_time_scaling p = problem_of(N, 2, FA_SCALING_ENDS);

    p.x_start = p.x_end[0] = p.x_end[1] = 1.0;
    for (size_t i = 0; i < N; i++) {
        set(i, 2, 0, 1.0, 0.0, -2.0, 2.0);
        set(i, 2, 1, i == 50 ? 0.0 : 1e-3 * ((double)i - 50.0), -1.0, -2.25, -0.25);
    }
    CHECK(fa_time_scaling_solve(&p, work) == FA_SCALING_SOLVED);
    CHECK_CLOSE(curve[50], 2.25, 1e-14);
    CHECK(K[50][0] >= 0.25 && K[50][1] <= 2.25);
    CHECK(x[50] > 2.2 && x[50] <= 2.25);
    for (size_t i = 0; i + 1 < N; i++) { /* no oscillation around the point */
        CHECK(fabs(u[i]) <= 2.0 + 1e-12);
        CHECK(i < 50 ? u[i] >= -1e-12 : u[i] <= 1e-12);
        CHECK(i < 40 || i > 60 || fabs(u[i]) < 0.02);
    }
    p.x_start = 0.0;
    CHECK(fa_time_scaling_solve(&p, work) == FA_SCALING_START);
    CHECK(p.failed == 0);
    p.x_end[0] = p.x_end[1] = 3.0;
    CHECK(fa_time_scaling_solve(&p, work) == FA_SCALING_NO_POINT);
    CHECK(p.failed == N - 1);
}

static void check_refusals(void)
{
    fa_time_scaling p = problem_of(N, 1, FA_SCALING_ENDS);

    for (size_t i = 0; i < N; i++) {
        set(i, 1, 0, 1.0, 0.0, -1.0, 1.0);
    }
    set(40, 1, 0, 0.0, 0.0, 0.5, 1.0); /* no motion helps */
    CHECK(fa_time_scaling_solve(&p, work) == FA_SCALING_NO_POINT);
    CHECK(p.failed == 40);
    set(40, 1, 0, 1.0, 0.0, 0.5, 1.0); /* from a rest no way leads back to it */
    x_max[41] = 0.0;
    CHECK(fa_time_scaling_solve(&p, work) == FA_SCALING_NO_WAY);
    CHECK(p.failed == 40);
    p = problem_of(N, 0, FA_SCALING_ENDS); /* no rows at all */
    for (size_t i = 0; i < N; i++) {
        x_max[i] = 4.0;
    }
    CHECK(fa_time_scaling_solve(&p, work) == FA_SCALING_SOLVED);
    CHECK_CLOSE(x[50], 4.0, 0.0);
}

/* numbers of a fixed sequence in -1..1 */
static double draw(void)
{
    static unsigned long long state = 12345;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(state >> 11) / 4503599627370496.0 - 1.0;
}

/* least and largest x of a polygon in (x, u), by all crossings of pairs of its lines */
static int corners(const double line[][3], int count, double ends[2])
{
    int found = 0;
    ends[0] = INFINITY;
    ends[1] = -INFINITY;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++) {
            const double *p = line[i], *q = line[j];
            const double det = p[0] * q[1] - p[1] * q[0];
            if (fabs(det) < 1e-12) {
                continue;
            }
            const double cu = (p[2] * q[1] - p[1] * q[2]) / det;
            const double cx = (p[0] * q[2] - p[2] * q[0]) / det;
            int inside = 1;
            for (int k = 0; k < count; k++) {
                const double left = line[k][0] * cu + line[k][1] * cx;
                inside &= left <= line[k][2] + 1e-9;
            }
            if (inside) {
                found = 1;
                ends[0] = fmin(ends[0], cx);
                ends[1] = fmax(ends[1], cx);
            }
        }
    }
    return found;
}

/* one interval with random rows: K_0 is the polygon's shadow */
static void check_polygons(void)
{
    int solved = 0, empty = 0;

    for (int run = 0; run < CORNERS; run++) {
        fa_time_scaling p = problem_of(2, M, FA_SCALING_ENDS);
        double line[4 * M + 4][3], ends[2];
        int count = 0;

        p.x_end[0] = 0.5;
        p.x_end[1] = 0.5 + fabs(draw());
        p.x_start = 0.0;
        x_max[0] = 3.0;
        for (size_t i = 0; i < 2; i++) {
            for (size_t k = 0; k < M; k++) {
                const double middle = 0.9 * draw();
                set(i, M, k, k == 0 && run % 3 == 0 ? 0.0 : draw(), draw(),
                    middle - 0.8 - fabs(draw()), middle + 0.8 + fabs(draw()));
                const size_t at = i * M + k;
                const double bl = p.b[at], al = p.a[at] + (i ? 2.0 * bl : 0.0);
                const double hl[] = {p.upper[at], -p.lower[at]};
                for (int side = 0; side < 2; side++) {
                    const double sign = side ? -1.0 : 1.0;
                    line[count][0] = sign * al;
                    line[count][1] = sign * bl;
                    line[count++][2] = hl[side];
                }
            }
        }
        const fa_scaling_status status = fa_time_scaling_solve(&p, work);
        if (status == FA_SCALING_NO_POINT && p.failed == 1) {
            continue;
        }
        /* K_1 is what the rows of the last point leave of x_end */
        const double box[4][3] = {{2.0, 1.0, K[1][1]},
                                  {-2.0, -1.0, -K[1][0]},
                                  {0.0, 1.0, 3.0},
                                  {0.0, -1.0, 0.0}};
        for (int k = 0; k < 4; k++, count++) {
            for (int c = 0; c < 3; c++) {
                line[count][c] = box[k][c];
            }
        }
        const int exists = corners((const double (*)[3])line, count, ends);
        const int way = status == FA_SCALING_SOLVED || status == FA_SCALING_START;
        CHECK(exists == way);
        if (exists && way) {
            CHECK_CLOSE(K[0][0], ends[0], 1e-9);
            CHECK_CLOSE(K[0][1], ends[1], 1e-9);
            solved++;
        } else {
            empty++;
        }
    }
    CHECK(solved > 20 && empty > 20);
}

int main(void)
{
    check_bang_bang();
    check_rows_without_inertia();
    check_refusals();
    check_polygons();
    return check_report("time scaling");
}
