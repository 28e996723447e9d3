/*
 * unit.c -- kernels of one instruction set: all of them, or a part
 *
 *   FA_AVX512, FA_AVX2               the set; without one of them any machine
 *   FA_FORWARD, FA_INVERSE, FA_REST  the part: forward dynamics, inverse dynamics, all
 *                                    other kernels and the table of the set
 *   FA_ANY                           the part: steps on straight bodies of many modes,
 *                                    whose sizes are read when they run
 *   FA_STACK                         kernels of stacks: one constant per lane
 *
 * setup.py compiles all parts of all sets, each as a unit, since gcc takes as long for
 * each. Without the name of a part this file has all three, and the table no stacks: a
 * program that compiles the library needs no macro, and FA_AVX2 for all files to have
 * that set in place of any machine's.
 */
#if defined(__x86_64__) || !(defined(FA_AVX512) || defined(FA_AVX2))
#include "lanes/begin.h"

#if !defined(FA_FORWARD) && !defined(FA_INVERSE) && !defined(FA_REST) &&               \
    !defined(FA_ANY)
#define FA_ANY
#define FA_FORWARD
#define FA_INVERSE
#define FA_REST
#define FA_WHOLE
#endif

#if defined(FA_UNROLLED_MODES) && FA_UNROLLED_MODES == 0
#undef FA_ANY /* sizes of all bodies are read when the kernels run */
#elif defined(FA_ANY) && !defined(FA_WHOLE)
#define FA_UNROLLED_MODES 0
#endif

#if defined(FA_STACK)
#include "calls/stack_lanes.h"
#endif

#if defined(FA_ANY)
#include "kernels/dynamics/straight_any.c"
#endif

#if defined(FA_FORWARD)
#include "kernels/dynamics/forward_dynamics.c"
#if !defined(FA_STACK) /* which has no derivatives to fall back on */
#include "kernels/dynamics/local_steps.c"
#endif
#endif

#if defined(FA_INVERSE)
#include "kernels/dynamics/inverse_dynamics.c"
#endif

#if defined(FA_REST) && defined(FA_STACK)
/* kernels that a stack does not call */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels/batch/stack.c"
#pragma GCC diagnostic pop
#elif defined(FA_REST)
#include "kernels/batch/batch.c"
#include "kernels/batch/maps.c"
#include "kernels/batch/stack.h"
#include "kernels/inverse_kinematics/inverse_kinematics.c"
#include "kernels/time/rollout.c"
#include "lanes/lane.h"
#include "library/tables.h"

extern const fa_kernels FA_NAME(fa_kernels);
const fa_kernels FA_NAME(fa_kernels) = {
    .name = FA_ISA,
    .lanes = FA_LANES,
    .work_size = batch_work_size,
    .batch = batch_run,
    .map_work_size = map_work_size,
    .map = map_run,
    .ik_work_size = ik_work_size,
    .ik = ik_run,
#if !defined(FA_WHOLE)
    .stack_has = FA_NAME(fa_stack_has),
    .stack_work_size = FA_NAME(fa_stack_work_size),
    .stack_batch = FA_NAME(fa_stack_batch),
    .stack_rollout = FA_NAME(fa_stack_rollout),
#endif
    .rollout_work_size = roll_work_size,
    .rollout = roll_run,
};
#endif

#include "lanes/end.h"
#endif
typedef int fa_unit; /* a file needs a declaration, on other machines too */
