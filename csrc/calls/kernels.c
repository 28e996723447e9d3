/*
 * kernels.c -- what the kernels take, and to which arms they apply
 *
 * Checked by  tests/c/test_dispatch.c, tests/test_isa.py.
 */
#include "calls/kernels.h"

int fa_kernel_inputs(fa_kernel kernel)
{
    switch (kernel) {
    case FA_INVERSE_DYNAMICS:
    case FA_INVERSE_TANGENTS:
    case FA_FORWARD_DYNAMICS:
    case FA_FORWARD_BASIC:
    case FA_FORWARD_COMPOSITE:
    case FA_NODE_ACCELERATION:
    case FA_LINK_ACCELERATIONS:
    case FA_LINK_ACCELERATIONS_SPATIAL:
    case FA_LINK_ACCELERATIONS_HYBRID:
    case FA_LINK_ACCELERATIONS_MIXED:
    case FA_CONSTRAINT_FORCES:
    case FA_FORWARD_TANGENTS:
        return 3;
    case FA_INVERSE_JVP:
    case FA_FORWARD_JVP:
        return 6;
    case FA_INVERSE_VJP:
    case FA_FORWARD_VJP:
        return 4;
    case FA_BIAS_FORCES:
    case FA_APPLY_MASS:
    case FA_APPLY_MASS_INVERSE:
    case FA_KINETIC_ENERGY:
    case FA_DISSIPATED_POWER:
    case FA_NODE_VELOCITY:
    case FA_WRENCH_FORCES:
    case FA_INTEGRATE:
    case FA_POSITION_RATES:
    case FA_MOMENTUM:
    case FA_LINK_VELOCITIES:
    case FA_LINK_VELOCITIES_SPATIAL:
    case FA_LINK_VELOCITIES_HYBRID:
    case FA_LINK_VELOCITIES_MIXED:
    case FA_LINK_JACOBIAN_RATES:
    case FA_LINK_JACOBIAN_RATES_SPATIAL:
    case FA_LINK_JACOBIAN_RATES_HYBRID:
    case FA_LINK_JACOBIAN_RATES_MIXED:
    case FA_ENERGY_TANGENTS:
        return 2;
    default:
        return 1;
    }
}

int fa_kernel_applies(const fa_model *model, fa_kernel kernel)
{
    if (kernel == FA_FORWARD_TANGENTS || kernel == FA_FORWARD_JVP ||
        kernel == FA_FORWARD_VJP) {
        return model->n_constraints == 0;
    }
    return model->n_constraints > 0 || kernel < FA_CONSTRAINT_VIOLATION ||
           kernel > FA_CONSTRAINT_FORCES;
}

int fa_kernel_takes_pair(fa_kernel kernel)
{
    return kernel == FA_NODE_COMPLIANCE;
}

int fa_kernel_takes_tau(fa_kernel kernel)
{
    return kernel == FA_FORWARD_DYNAMICS || kernel == FA_FORWARD_BASIC ||
           kernel == FA_FORWARD_COMPOSITE || kernel == FA_CONSTRAINT_FORCES ||
           kernel == FA_FORWARD_TANGENTS || kernel == FA_FORWARD_JVP ||
           kernel == FA_FORWARD_VJP;
}
