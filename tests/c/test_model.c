/* test_model.c -- building models: sizes, places, axes, refusals */
#include "arm.h"
#include "check.h"

static void check_places(void)
{
    test_arm arm;
    fa_model *model = NULL;

    test_arm_fill(&arm);
    CHECK(fa_model_build(&arm.description, &model) == FA_OK);
    CHECK(model->nu == ARM_NU && model->nv == ARM_NV && model->nq == ARM_NQ);
    CHECK(model->n_nodes == ARM_NODES && model->n_links == ARM_LINKS);
    CHECK(model->bodies[2].joint_at == 2 && model->bodies[1].mode_at == ARM_NU);
    CHECK(model->bodies[3].position_at == 3 && model->bodies[6].position_at == 14);
    CHECK(model->bodies[1].eta_at == 15 && model->bodies[5].eta_at == 17);
    CHECK(model->bodies[4].link == -1 && model->bodies[5].own_node == 9);
    CHECK(model->bodies[2].parent_modes == 2 && model->bodies[2].attach == 3);
    CHECK(model->any_offset && model->bodies[1].node_is_offset);
    CHECK_CLOSE(model->bodies[0].mass, 3.0, 0.0);
    for (int k = 0; k < ARM_BODIES; k++) {
        /* frames are rotations whose third column is the axis, exactly */
        const double *C = model->bodies[k].frame,
                     *axis = arm.joints + k * FA_JOINT_SIZE;
        for (int i = 0; i < 3; i++) {
            CHECK(C[3 * i + 2] == axis[i]);
            for (int j = 0; j < 3; j++) {
                CHECK_CLOSE(C[i] * C[j] + C[3 + i] * C[3 + j] + C[6 + i] * C[6 + j],
                            i == j, 0.0);
            }
        }
    }
    /* the description may go away */
    memset(&arm, 0xff, sizeof arm);
    CHECK_CLOSE(model->gravity[2], -9.81, 0.0);
    fa_model_free(model);
}

/* integrals that a body has from its nodes, given to it, make the same body */
static void check_given_integrals(void)
{
    test_arm arm;
    fa_model *model = NULL, *given = NULL;
    fa_body body;
    const size_t size = FA_GIVEN_SIZE(2), end = 16 + size, node0 = 2 * FA_NODE_SIZE(0);
    double storage[256], modal[256];

    test_arm_fill(&arm);
    CHECK(fa_model_build(&arm.description, &model) == FA_OK);
    CHECK(fa_modal_size(2) <= 256 && end <= 256);
    fa_modal_integrals(2, 2, arm.nodes + node0, storage, &body);
    memcpy(modal, arm.modal, 8 * sizeof(double));
    modal[8 + FA_GIVEN_MASS] = body.mass;
    memcpy(modal + 8 + FA_GIVEN_MP0, body.mp0, sizeof body.mp0);
    memcpy(modal + 8 + FA_GIVEN_J0, body.J0, sizeof body.J0);
    memcpy(modal + 8 + FA_GIVEN_MODAL, storage,
           (size - FA_GIVEN_MODAL) * sizeof(double));
    memcpy(modal + 8 + size, arm.modal + 8, 8 * sizeof(double)); /* the other body */
    for (size_t j = 0; j < 2; j++) { /* what the nodes weigh is in them */
        double *node = arm.nodes + node0 + j * FA_NODE_SIZE(2);
        memset(node, 0, FA_NODE_POSITION * sizeof(double));
    }
    arm.topology[FA_TOPO_SIZE + FA_TOPO_INTEGRALS] = 1;
    arm.description.modal = modal;
    arm.description.modal_size = end;
    CHECK(fa_model_build(&arm.description, &given) == FA_OK);

    const fa_body *a = model->bodies + 1, *b = given->bodies + 1;
    CHECK_CLOSE(b->mass, a->mass, 0.0);
    CHECK(b->node_is_offset == a->node_is_offset);
    for (size_t i = 0; i < fa_modal_size(2); i++) { /* E is the first array of all */
        CHECK_CLOSE(b->modal.E[i], a->modal.E[i], 1e-15);
    }
    fa_model_free(model);
    fa_model_free(given);
}

/* the arm of the tests is refused, or built, after a change */
#define CHECK_STATUS(expected, change)                                                 \
    do {                                                                               \
        test_arm arm;                                                                  \
        test_arm_fill(&arm);                                                           \
        change;                                                                        \
        CHECK(test_status(&arm.description) == (expected));                            \
    } while (0)

/* the arm closed, with its first loop a point of the ground on the line of body 1 */
static void check_line(test_arm *arm, int n)
{
    test_arm_close(arm);
    arm->loops[FA_LOOP_FIRST] = arm->loops[FA_LOOP_NODES] = 2;
    arm->loops[FA_LOOP_NODES + 1] = 3;
    arm->loops[FA_LOOP_DIRECTIONS] = 16 | 32; /* y and z */
    arm->loops[FA_LOOP_LINE] = n;
}

static void check_refusals(void)
{
    CHECK_STATUS(FA_BAD_TOPOLOGY, arm.topology[FA_TOPO_SIZE + FA_TOPO_PARENT] = 1);
    CHECK_STATUS(FA_BAD_TOPOLOGY, arm.topology[FA_TOPO_SIZE + FA_TOPO_NODE] = 2);
    CHECK_STATUS(FA_BAD_JOINT, arm.topology[FA_TOPO_JOINT] = FA_JOINT_FLOATING + 1);
    CHECK_STATUS(FA_BAD_JOINT, arm.topology[4 * FA_TOPO_SIZE + FA_TOPO_DOF] = 7);
    /* a floating body on a node of another one */
    CHECK_STATUS(FA_BAD_TOPOLOGY, arm.topology[5 * FA_TOPO_SIZE + FA_TOPO_NODE] = 3);
    /* modes without nodes */
    CHECK_STATUS(FA_BAD_SIZE, arm.topology[4 * FA_TOPO_SIZE + FA_TOPO_MODES] = 1);
    CHECK_STATUS(FA_TOO_MANY_MODES, arm.topology[FA_TOPO_MODES] = FA_MAX_MODES + 1);
    CHECK_STATUS(FA_BAD_SIZE, arm.description.nodes_size--);
    CHECK_STATUS(FA_BAD_SIZE, arm.description.n_bodies = 0);
    /* says that there are integrals */
    CHECK_STATUS(FA_BAD_SIZE, arm.topology[FA_TOPO_SIZE + FA_TOPO_INTEGRALS] = 1);
    CHECK_STATUS(FA_NOT_FINITE, arm.nodes[3] = (double)NAN);
    CHECK_STATUS(FA_OK, test_arm_close(&arm));
    CHECK_STATUS(FA_BAD_LOOP, test_arm_close(&arm);
                 arm.loops[FA_LOOP_SECOND] = ARM_NODES);
    /* lines: of one node, too many, beginning elsewhere, of nodes at one place or of
     * none; a locked turn across the line */
    CHECK_STATUS(FA_OK, check_line(&arm, 2));
    CHECK_STATUS(FA_BAD_LOOP, check_line(&arm, 1));
    CHECK_STATUS(FA_BAD_LOOP, check_line(&arm, FA_MAX_LINE + 1));
    CHECK_STATUS(FA_BAD_LOOP, check_line(&arm, 2); arm.loops[FA_LOOP_NODES]--);
    CHECK_STATUS(FA_BAD_LOOP, check_line(&arm, 2);
                 arm.loops[FA_LOOP_NODES + 1] = arm.loops[FA_LOOP_FIRST]);
    CHECK_STATUS(FA_BAD_LOOP, check_line(&arm, 2);
                 arm.loops[FA_LOOP_NODES + 1] = ARM_NODES);
    CHECK_STATUS(FA_BAD_LOOP, check_line(&arm, 2); arm.loops[FA_LOOP_DIRECTIONS] = 2);
    CHECK_STATUS(FA_BAD_LOOP, check_line(&arm, 2);
                 arm.loops[FA_LOOP_NODES + 1] = 1); /* of another body */
    CHECK_STATUS(FA_BAD_SIZE, test_arm_close(&arm); arm.description.couplings_size--);
    fa_model_free(NULL);
}

int main(void)
{
    check_places();
    check_given_integrals();
    check_refusals();
    return check_report("model");
}
