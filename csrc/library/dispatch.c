/*
 * dispatch.c -- the kernels this machine can run
 *
 * Checked by  tests/c/test_dispatch.c, tests/test_isa.py.
 */
#include "calls/kernels.h"

#include <string.h>

/* sets that were compiled: setup.py leaves out what was not asked for, or what the machine
 * that builds cannot run */
#if defined(__x86_64__) && !defined(FA_WITHOUT_AVX2)
#define DISPATCH_AVX2
extern const fa_kernels fa_kernels_avx2;
#endif
#if defined(__x86_64__) && !defined(FA_WITHOUT_AVX512)
#define DISPATCH_AVX512
extern const fa_kernels fa_kernels_avx512;
#endif
#if !defined(FA_WITHOUT_BASE)
#define DISPATCH_BASE
extern const fa_kernels fa_kernels_base;
#endif

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

int fa_stack_integrates(fa_method method)
{
    return method == FA_RK4 || method == FA_ROS34PW2;
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

const fa_kernels *fa_kernels_named(const char *name)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
#if defined(DISPATCH_AVX512)
    if (strcmp(name, "avx512") == 0) {
        const int has =
            __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
        return has ? &fa_kernels_avx512 : NULL;
    }
#endif
#if defined(DISPATCH_AVX2)
    if (strcmp(name, "avx2") == 0) {
        const int has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        return has ? &fa_kernels_avx2 : NULL;
    }
#endif
#if defined(DISPATCH_BASE)
    if (strcmp(name, "base") == 0) {
        return &fa_kernels_base;
    }
#endif
    return NULL;
}

const fa_kernels *fa_kernels_best(void)
{
    const char *const widest_first[] = {"avx512", "avx2", "base"};
    const fa_kernels *kernels = NULL;

    for (int i = 0; !kernels && i < 3; i++) {
        kernels = fa_kernels_named(widest_first[i]);
    }
    return kernels;
}

const fa_kernels *fa_kernels_for_few(const fa_kernels *kernels)
{
    const fa_kernels *narrow = fa_kernels_named("avx2");
    return narrow && strcmp(kernels->name, "avx512") == 0 ? narrow : kernels;
}
