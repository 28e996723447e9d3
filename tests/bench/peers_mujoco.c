/* MuJoCo's engine in a loop of C over the rows of a batch: what it costs without any
   binding.  peers_native.py compiles this against the headers of the Python package. */

#include <mujoco/mujoco.h>
#include <string.h>

enum { JOB_FORWARD, JOB_INVERSE, JOB_MASS, JOB_JACOBIAN };

/* Does a job for `count` states, rows of q, v and a, and stores the results. */
void peer_run(const mjModel *model, mjData *data, int job, long count, const double *q,
              const double *v, const double *a, double *out)
{
    const long nq = model->nq, nv = model->nv;

    for (long i = 0; i < count; i++) {
        memcpy(data->qpos, q + i * nq, sizeof(double) * (size_t)nq);
        if (job == JOB_FORWARD || job == JOB_INVERSE) {
            memcpy(data->qvel, v + i * nv, sizeof(double) * (size_t)nv);
        }
        if (job == JOB_FORWARD) {
            memcpy(data->qfrc_applied, a + i * nv, sizeof(double) * (size_t)nv);
            mj_forward(model, data);
            memcpy(out + i * nv, data->qacc, sizeof(double) * (size_t)nv);
        } else if (job == JOB_INVERSE) {
            memcpy(data->qacc, a + i * nv, sizeof(double) * (size_t)nv);
            mj_inverse(model, data);
            memcpy(out + i * nv, data->qfrc_inverse, sizeof(double) * (size_t)nv);
        } else {
            mj_kinematics(model, data);
            mj_comPos(model, data);
            if (job == JOB_MASS) {
                mj_makeM(model, data);
                mj_fullM(model, data, out + i * nv * nv);
            } else {
                mj_jacBody(model, data, out + i * 6 * nv, out + (i * 6 + 3) * nv,
                           (int)model->nbody - 1);
            }
        }
    }
}
