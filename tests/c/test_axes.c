/*
 * test_axes.c -- internal axes of rigid arms, and hops that are known to be short (V1)
 *
 * Each kind of hop gives the results of the most general one, and it is recognized.
 */
#include "arm.h"
#include "check.h"

enum { AXES_BODIES = 4, AXES_STATES = 9 };

typedef struct {
    double alpha[2], turn[2], place[3]; /* sine and cosine of alpha, of a and delta */
    fa_hop_kind kind;
} axes_case;

static const axes_case cases[] = {
    {{0.0, 1.0}, {0.0, 1.0}, {0.3, 0.0, 0.0}, FA_HOP_PARALLEL_X},
    {{0.0, 1.0}, {1.0, 0.0}, {0.3, 0.0, 0.2}, FA_HOP_PARALLEL},
    {{1.0, 0.0}, {0.0, 1.0}, {0.0, 0.0, 0.0}, FA_HOP_SQUARE_O},
    {{1.0, 0.0}, {0.0, 1.0}, {0.3, 0.0, 0.0}, FA_HOP_SQUARE_X},
    {{-1.0, 0.0}, {0.0, -1.0}, {0.0, 0.3, 0.0}, FA_HOP_SQUARE_Y},
    {{1.0, 0.0}, {1.0, 0.0}, {0.0, 0.0, -0.3}, FA_HOP_SQUARE_Z},
    {{1.0, 0.0}, {0.6, 0.8}, {0.1, 0.2, 0.3}, FA_HOP_SQUARE},
    {{0.0, -1.0}, {0.0, 1.0}, {0.3, 0.0, 0.0}, FA_HOP_TWISTED},
    {{0.6, 0.8}, {0.8, -0.6}, {0.1, 0.2, 0.3}, FA_HOP_TWISTED},
};

/* rot_z rot_x rot_z, the angle of both turns about z the same */
static void axes_rotation(const axes_case *c, double *R)
{
    const double s = c->turn[0], t = c->turn[1], sa = c->alpha[0], ca = c->alpha[1];
    const double product[9] = {t * t - s * ca * s,
                               -t * s - s * ca * t,
                               s * sa,
                               s * t + t * ca * s,
                               -s * s + t * ca * t,
                               -t * sa,
                               sa * s,
                               sa * t,
                               ca};
    memcpy(R, product, sizeof product);
}

/* a chain of bodies without a symmetry, each on a node of the one before */
static fa_model *axes_chain(const axes_case *c, int is_general)
{
    int topology[AXES_BODIES * FA_TOPO_SIZE] = {0};
    double joints[AXES_BODIES * FA_JOINT_SIZE] = {0};
    double nodes[AXES_BODIES * FA_NODE_SIZE(0)] = {0};
    const double gravity[3] = {1.0, 2.0, -9.0};
    fa_model *built = NULL;

    for (int k = 0; k < AXES_BODIES; k++) {
        const int row[] = {k - 1, -1, FA_JOINT_REVOLUTE, 0, 1, 1};
        double *joint = joints + k * FA_JOINT_SIZE, *node = nodes + k * FA_NODE_SIZE(0);
        memcpy(topology + k * FA_TOPO_SIZE, row, sizeof row);
        joint[FA_AXIS + 2] = 1.0;
        joint[FA_DAMPING] = 0.1 * k;
        axes_rotation(c, joint + FA_ROTATION);
        memcpy(joint + FA_POSITION, c->place, sizeof c->place);
        test_arm_node(node, 1.0 + 0.3 * k, 0.2);
    }
    const fa_description description = {.n_bodies = AXES_BODIES,
                                        .topology = topology,
                                        .joints = joints,
                                        .nodes = nodes,
                                        .gravity = gravity,
                                        .nodes_size = sizeof nodes / sizeof *nodes,
                                        .is_general = is_general};
    CHECK(fa_model_build(&description, &built) == FA_OK);
    return built;
}

/* kinds, and R_f = rot_x(alpha) rot_z(delta) exactly */
static void check_hops(const axes_case *c, const fa_model *model, int is_general)
{
    CHECK(model->bodies[0].hop_kind == FA_HOP_GROUND && model->is_rigid);
    for (int k = 1; k < AXES_BODIES; k++) {
        const fa_body *b = model->bodies + k;
        CHECK(b->hop_kind == (is_general ? FA_HOP_TWISTED : c->kind));
        CHECK(b->alpha[0] >= 0.0);
        CHECK(b->rot[2] == 0.0 && b->rot[5] == -b->alpha[0] &&
              b->rot[8] == b->alpha[1]);
        CHECK(b->rot[0] == b->delta[1] && b->rot[1] == -b->delta[0]);
        CHECK(b->is_turned || (b->delta[0] == 0.0 && b->delta[1] == 1.0));
    }
}

/* forward and inverse dynamics of both models */
static void check_results(const fa_model *known, const fa_model *general)
{
    static const fa_kernel kernels[] = {FA_FORWARD_DYNAMICS, FA_INVERSE_DYNAMICS};
    const int sizes[4] = {AXES_BODIES, AXES_BODIES, AXES_BODIES, AXES_BODIES};
    double in[3][AXES_STATES * AXES_BODIES], out[2][AXES_STATES * AXES_BODIES];

    for (int i = 0; i < 3 * AXES_STATES * AXES_BODIES; i++) {
        in[i % 3][i / 3] = 2.0 * sin(0.5 + 1.3 * i);
    }
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        double *const first[4] = {in[0], in[1], in[2], out[0]};
        double *const second[4] = {in[0], in[1], in[2], out[1]};
        CHECK(test_batch(known, kernels[k], AXES_STATES, NULL, first, sizes).count ==
              0);
        CHECK(test_batch(general, kernels[k], AXES_STATES, NULL, second, sizes).count ==
              0);
        for (int i = 0; i < AXES_STATES * AXES_BODIES; i++) {
            CHECK_CLOSE(out[0][i], out[1][i], 1e-11 * (1.0 + fabs(out[1][i])));
        }
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fa_model *known = axes_chain(cases + i, 0), *general = axes_chain(cases + i, 1);
        check_hops(cases + i, known, 0);
        check_hops(cases + i, general, 1);
        check_results(known, general);
        fa_model_free(known);
        fa_model_free(general);
    }
    return check_report("axes");
}
