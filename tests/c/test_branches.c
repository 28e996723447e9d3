/*
 * test_branches.c -- paths of trees, and the kernels that use them on exact-size memory
 *
 * Physics is checked in Python (tests/dynamics/test_branches.py); here paths, scratch, batch sizes.
 */
#include "arm.h"
#include "check.h"

enum { STAR = 17, FOLLOWERS = 3, COUNT = 11 };

typedef struct {
    int topology[STAR * FA_TOPO_SIZE];
    double joints[STAR * FA_JOINT_SIZE];
    double nodes[STAR * FA_NODE_SIZE(0)];
    double gravity[3], followers[FOLLOWERS * FA_FOLLOWER_SIZE];
    fa_description description;
} star;

/* rigid bodies, each on one of those before it; body 9 on the ground */
static void star_fill(star *s, int n_followers)
{
    static const int parents[STAR] = {-1, 0, 1, 1, 0, 4, 5,  0, 7,
                                      -1, 9, 9, 3, 3, 8, 12, 6};
    static const double followers[FOLLOWERS][FA_FOLLOWER_SIZE] = {
        {5, 2, -0.5, 0.1}, {14, 2, 2.0, 0.0}, {13, 12, 1.0, -0.3}};

    memset(s, 0, sizeof *s);
    for (int k = 0; k < STAR; k++) {
        int *t = s->topology + k * FA_TOPO_SIZE;
        double *joint = s->joints + k * FA_JOINT_SIZE;
        t[FA_TOPO_PARENT] = parents[k];
        t[FA_TOPO_NODE] = parents[k];
        t[FA_TOPO_JOINT] = k % 5 == 4 ? FA_JOINT_PRISMATIC : FA_JOINT_REVOLUTE;
        t[FA_TOPO_NODES] = t[FA_TOPO_DOF] = 1;
        joint[FA_AXIS + k % 3] = 1.0;
        joint[FA_POSITION] = 0.1 * (k % 4);
        joint[FA_POSITION + 1] = 0.3;
        joint[FA_ROTATION] = joint[FA_ROTATION + 4] = joint[FA_ROTATION + 8] = 1.0;
        joint[FA_DAMPING] = 0.05 * k;
        test_arm_node(s->nodes + k * FA_NODE_SIZE(0), 1.0 + 0.1 * k, 0.0);
    }
    memcpy(s->followers, followers, sizeof followers);
    s->gravity[2] = -9.81;
    s->description = (fa_description){.n_bodies = STAR,
                                      .topology = s->topology,
                                      .joints = s->joints,
                                      .nodes = s->nodes,
                                      .gravity = s->gravity,
                                      .nodes_size = STAR * FA_NODE_SIZE(0),
                                      .n_followers = n_followers,
                                      .followers = s->followers};
}

/* a path is that of the coordinate before, and a place has its pair */
static void check_paths(const fa_branches *b)
{
    const int width = b->n_tiles * FA_BRANCH_TILE;
    int numbers = 0;

    CHECK(b->first[0] == 0 && b->first[b->n] == b->n_pairs);
    for (int k = 0; k < b->n; k++) {
        const int *path = b->other + b->first[k];
        const int length = b->first[k + 1] - b->first[k];
        CHECK(path[length - 1] == k && path[0] == b->root[k]);
        for (int t = 0; t < length; t++) {
            const int i = path[t], pair = b->first[k] + t;
            CHECK(b->first[i + 1] - b->first[i] == t + 1);
            CHECK(memcmp(path, b->other + b->first[i], (size_t)(t + 1) * sizeof(int)) ==
                  0);
            CHECK(b->place[k * width + i] == pair);
            CHECK(i == k || b->place[i * width + k] == b->n_pairs + pair);
        }
        for (int j = 0; j < width; j++) {
            numbers += b->place[k * width + j] < 2 * b->n_pairs;
        }
    }
    CHECK(numbers == 2 * b->n_pairs - b->n);
}

static double *filled(int size, double phase)
{
    double *x = malloc((size_t)size * sizeof *x);
    for (int i = 0; i < size; i++) {
        x[i] = 0.7 * sin(phase + 1.3 * i);
    }
    return x;
}

/* each state alone and in a batch; M is symmetric, and M dqdd/dtau = 1 */
static void check_kernels(const fa_model *model)
{
    const int n = model->nv, square = n * n;
    double *q = filled(COUNT * n, 0.0), *qd = filled(COUNT * n, 1.0);
    double *tau = filled(COUNT * n, 2.0), *M = filled(COUNT * square, 0.0);
    double *D = filled(3 * COUNT * square, 0.0), *one = filled(3 * square, 0.0);
    const int sizes[2][4] = {{n, square}, {n, n, n, 3 * square}};
    double *const mass[2] = {q, M}, *const tangents[4] = {q, qd, tau, D};

    CHECK(test_batch(model, FA_MASS_MATRIX, COUNT, NULL, mass, sizes[0]).count == 0);
    CHECK(
        test_batch(model, FA_FORWARD_TANGENTS, COUNT, NULL, tangents, sizes[1]).count ==
        0);
    for (int k = 0; k < COUNT; k++) {
        const double *A = M + k * square, *W = D + (3 * k + 2) * square;
        double *const alone[2] = {q + k * n, one};
        double *const tangent[4] = {q + k * n, qd + k * n, tau + k * n, one};

        test_batch(model, FA_MASS_MATRIX, 1, NULL, alone, sizes[0]);
        CHECK(memcmp(one, A, (size_t)square * sizeof(double)) == 0);
        test_batch(model, FA_FORWARD_TANGENTS, 1, NULL, tangent, sizes[1]);
        /* equal bits, but for signs of zeros, which differ under valgrind with AVX2 */
        int same = 1;
        for (int i = 0; i < 3 * square; i++) {
            same &= one[i] == D[3 * k * square + i];
        }
        CHECK(same);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                double sum = 0.0;
                for (int t = 0; t < n; t++) {
                    sum += A[i * n + t] * W[t * n + j];
                }
                CHECK(A[i * n + j] == A[j * n + i]);
                CHECK_CLOSE(sum, i == j ? 1.0 : 0.0, 1e-10);
            }
        }
    }
    free(q);
    free(qd);
    free(tau);
    free(M);
    free(D);
    free(one);
}

int main(void)
{
    static star arm;

    if (!test_kernels()) {
        return 1;
    }
    for (int follow = 0; follow <= FOLLOWERS; follow += FOLLOWERS) {
        fa_model *model = NULL;
        star_fill(&arm, follow);
        CHECK(fa_model_build(&arm.description, &model) == FA_OK);
        CHECK(model->nv == STAR - follow && model->branches);
        CHECK(model->branches->is_split);
        check_paths(model->branches);
        check_kernels(model);
        if (model->tree) {
            CHECK(model->tree->branches);
        }
        fa_model_free(model);
    }
    return check_report("branches");
}
