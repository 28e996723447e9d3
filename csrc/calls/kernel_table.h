/*
 * kernel_table.h -- the kernels: one row each, from which all else is made
 *
 * FA_KERNELS(X) is X of every row, X a macro of these columns:
 *
 *   kernel     of the enum fa_kernel
 *   name       of the gufunc
 *   function   of flexarm that it belongs to
 *   doc        what it computes, in one line: names of the arguments in Python, formula;
 *              M^-1 or det M in it: it fails where the mass matrix is singular
 *   node       whether a node, or a pair of them, is its first operand
 *   arms       to which arms it applies
 *   reads      which constants of an arm it reads, for stacks; 0: it has none; whether
 *              bodies that never move matter to it (FA_READS_RESTING)
 *   operands   core dimensions of the inputs, then of the output, one letter each, ""
 *              for a scalar: Q nq, V nv, T n_actuators or nv, N nodes, B links,
 *              C constraints, or a digit
 *   run        what computes FA_LANES states
 *   size       its scratch in fa_real
 *   linear, linear_size   these two for arms of linear fidelity; NULL: the same
 *
 * A new kernel is a row here and a file in csrc/kernels, which kernels/batch/batch.c
 * includes.
 */
#ifndef FA_KERNEL_TABLE_H
#define FA_KERNEL_TABLE_H

/* twists of the links: body-fixed, then spatial, hybrid and mixed, which arms of linear
 * fidelity have without modes alone */
#define FA_FORMS(X, kernel, name, doc, reads, operands, run, size, linear,             \
                 linear_size)                                                          \
    X(kernel, name, name, doc, FA_NO_NODE, FA_ALL_ARMS, reads, operands, run, size,    \
      linear, linear_size)                                                             \
    X(kernel##_SPATIAL, name##_spatial, name, doc, FA_NO_NODE, FA_ALL_ARMS, reads,     \
      operands, run##_spatial, size, NULL, NULL)                                       \
    X(kernel##_HYBRID, name##_hybrid, name, doc, FA_NO_NODE, FA_ALL_ARMS, reads,       \
      operands, run##_hybrid, size, NULL, NULL)                                        \
    X(kernel##_MIXED, name##_mixed, name, doc, FA_NO_NODE, FA_ALL_ARMS, reads,         \
      operands, run##_mixed, size, NULL, NULL)

/* clang-format off */

/* of arms and stacks */
#define FA_STACK_KERNELS(X)                                                            \
    X(FA_INVERSE_DYNAMICS, inverse_dynamics, inverse_dynamics,                         \
      "q, qd, qdd -> tau", FA_NO_NODE, FA_ALL_ARMS,                                    \
      FA_READS_MOTION, ("Q", "V", "V", "V"),                                           \
      id_inverse_dynamics, id_work, li_inverse_dynamics, li_work_size)                 \
    X(FA_BIAS_FORCES, bias_forces, bias_forces,                                        \
      "q, qd -> tau without accelerations", FA_NO_NODE, FA_ALL_ARMS,                   \
      FA_READS_MOTION, ("Q", "V", "V"),                                                \
      id_bias_forces, id_work, li_bias_forces, li_work_size)                           \
    X(FA_GRAVITY_FORCES, gravity_forces, gravity_forces,                               \
      "q -> tau at rest", FA_NO_NODE, FA_ALL_ARMS,                                     \
      FA_READS_MOTION | FA_READS_BODIES, ("Q", "V"),                                   \
      id_gravity_forces, id_work, li_gravity_forces, li_work_size)                     \
    X(FA_FORWARD_DYNAMICS, forward_dynamics, forward_dynamics,                         \
      "q, qd, tau -> qdd", FA_NO_NODE, FA_ALL_ARMS,                                    \
      FA_READS_MOTION | FA_READS_BODIES_IF_CLOSED, ("Q", "V", "T", "V"),               \
      cn_forward_dynamics, cn_forward_work_size, li_forward_dynamics, li_work_size)    \
    X(FA_MASS_MATRIX, mass_matrix, mass_matrix,                                        \
      "q -> M", FA_NO_NODE, FA_ALL_ARMS,                                               \
      FA_READS_MOTION | FA_READS_BODIES, ("Q", "VV"),                                  \
      mm_mass_matrix, mm_work_size, li_mass_matrix, li_work_size)                      \
    X(FA_MASS_INVERSE, mass_matrix_inverse, mass_matrix_inverse,                       \
      "q -> M^-1", FA_NO_NODE, FA_ALL_ARMS,                                            \
      FA_READS_BODIES, ("Q", "VV"),                                                    \
      mi_inverse, mi_work_size, li_mass_inverse, li_work_size)                         \
    X(FA_APPLY_MASS, apply_mass_matrix, apply_mass_matrix,                             \
      "q, x -> M x", FA_NO_NODE, FA_ALL_ARMS,                                          \
      FA_READS_MOTION | FA_READS_BODIES, ("Q", "V", "V"),                              \
      mi_apply, id_work, li_apply, li_work_size)                                       \
    X(FA_APPLY_MASS_INVERSE, apply_mass_matrix_inverse, apply_mass_matrix_inverse,     \
      "q, x -> M^-1 x", FA_NO_NODE, FA_ALL_ARMS,                                       \
      FA_READS_BODIES, ("Q", "V", "V"),                                                \
      mi_apply_inverse, mi_work_size, li_apply_inverse, li_work_size)                  \
    X(FA_LOG_DET_MASS, log_det_mass_matrix, log_det_mass_matrix,                       \
      "q -> log det M", FA_NO_NODE, FA_ALL_ARMS,                                       \
      FA_READS_BODIES, ("Q", ""),                                                      \
      mi_log_det, mi_work_size, li_log_det, li_work_size)                              \
    X(FA_KINETIC_ENERGY, kinetic_energy, kinetic_energy,                               \
      "q, qd -> kinetic energy", FA_NO_NODE, FA_ALL_ARMS,                              \
      FA_READS_BODIES, ("Q", "V", ""),                                                 \
      en_kinetic, en_work_size, li_kinetic, li_work_size)                              \
    X(FA_POTENTIAL_ENERGY, potential_energy, potential_energy,                         \
      "q -> potential energy", FA_NO_NODE, FA_ALL_ARMS,                                \
      FA_READS_BODIES | FA_READS_RESTING, ("Q", ""),                                   \
      en_potential, en_work_size, NULL, NULL)                                          \
    X(FA_DISSIPATED_POWER, dissipated_power, dissipated_power,                         \
      "q, qd -> dissipated power", FA_NO_NODE, FA_ALL_ARMS,                            \
      FA_READS_BODIES, ("Q", "V", ""),                                                 \
      en_dissipation, en_no_work, NULL, NULL)                                          \
    X(FA_LINK_POSES, link_poses, link_poses,                                           \
      "q -> poses of the links", FA_NO_NODE, FA_ALL_ARMS,                              \
      FA_READS_PLACES, ("Q", "B44"),                                                   \
      kin_link_poses, kin_poses_work_size, NULL, NULL)                                 \
    X(FA_NODE_POSES, node_poses, node_poses,                                           \
      "q -> poses of the nodes", FA_NO_NODE, FA_ALL_ARMS,                              \
      FA_READS_PLACES | FA_READS_ALL_NODES, ("Q", "N44"),                              \
      kin_node_poses, kin_poses_work_size, NULL, NULL)                                 \
    X(FA_NODE_POSE, node_pose, node_pose,                                              \
      "node, q -> pose", FA_ONE_NODE, FA_ALL_ARMS,                                     \
      FA_READS_PLACES | FA_READS_ONE_NODE, ("Q", "44"),                                \
      kin_node_pose, kin_node_work_size, NULL, NULL)                                   \
    X(FA_NODE_VELOCITY, node_velocity, node_velocity,                                  \
      "node, q, qd -> twist", FA_ONE_NODE, FA_ALL_ARMS,                                \
      FA_READS_PLACES | FA_READS_ONE_NODE, ("Q", "V", "6"),                            \
      kin_node_velocity, kin_node_work_size, li_node_velocity, li_work_size)           \
    X(FA_NODE_VELOCITY_BASE, node_velocity_base, node_velocity,                        \
      "node, q, qd -> twist in the base", FA_ONE_NODE, FA_ALL_ARMS,                    \
      FA_READS_PLACES | FA_READS_ONE_NODE, ("Q", "V", "6"),                            \
      kin_node_velocity_base, kin_node_work_size,                                      \
      li_node_velocity_base, li_base_work_size)                                        \
    X(FA_JACOBIAN, jacobian, jacobian,                                                 \
      "node, q -> J", FA_ONE_NODE, FA_ALL_ARMS,                                        \
      FA_READS_PLACES | FA_READS_ONE_NODE, ("Q", "6V"),                                \
      kin_jacobian, kin_node_work_size, li_jacobian, li_work_size)                     \
    X(FA_JACOBIAN_BASE, jacobian_base, jacobian,                                       \
      "node, q -> J in the base", FA_ONE_NODE, FA_ALL_ARMS,                            \
      FA_READS_PLACES | FA_READS_ONE_NODE, ("Q", "6V"),                                \
      kin_jacobian_base, kin_node_work_size, li_jacobian_base, li_base_work_size)      \
    X(FA_WRENCH_FORCES, wrench_forces, wrench_forces,                                  \
      "node, q, wrench -> J' wrench", FA_ONE_NODE, FA_ALL_ARMS,                        \
      FA_READS_PLACES | FA_READS_ONE_NODE, ("Q", "6", "V"),                            \
      kin_wrench_forces, kin_node_work_size, li_wrench_forces, li_work_size)           \
    X(FA_WRENCH_FORCES_BASE, wrench_forces_base, wrench_forces,                        \
      "node, q, wrench -> J' wrench of the base", FA_ONE_NODE, FA_ALL_ARMS,            \
      FA_READS_PLACES | FA_READS_ONE_NODE, ("Q", "6", "V"),                            \
      kin_wrench_forces_base, kin_node_work_size,                                      \
      li_wrench_forces_base, li_base_work_size)                                        \
    X(FA_NODE_ACCELERATION, node_acceleration, node_acceleration,                      \
      "node, q, qd, qdd -> rate of the twist", FA_ONE_NODE, FA_ALL_ARMS,               \
      FA_READS_PLACES | FA_READS_ONE_NODE, ("Q", "V", "V", "6"),                       \
      mo_node_acceleration, mo_work_size, NULL, NULL)                                  \
    X(FA_NODE_ACCELERATION_BASE, node_acceleration_base, node_acceleration,            \
      "node, q, qd, qdd -> rate of the twist in the base", FA_ONE_NODE, FA_ALL_ARMS,   \
      FA_READS_PLACES | FA_READS_ONE_NODE, ("Q", "V", "V", "6"),                       \
      mo_node_acceleration_base, mo_base_work_size, NULL, NULL)                        \
    X(FA_MOMENTUM, momentum, momentum,                                                 \
      "q, qd -> momentum", FA_NO_NODE, FA_ALL_ARMS,                                    \
      FA_READS_BODIES, ("Q", "V", "6"),                                                \
      mo_momentum, mo_work_size, NULL, NULL)                                           \
    X(FA_CENTER_OF_MASS, center_of_mass, center_of_mass,                               \
      "q -> centre of mass", FA_NO_NODE, FA_ALL_ARMS,                                  \
      FA_READS_BODIES | FA_READS_RESTING, ("Q", "3"),                                  \
      mo_center_of_mass, kin_poses_work_size, NULL, NULL)                              \
    X(FA_INTEGRATE, integrate, integrate,                                              \
      "q, dq -> q after a step", FA_NO_NODE, FA_ALL_ARMS,                              \
      FA_READS_PLACES, ("Q", "V", "Q"),                                                \
      pos_integrate, pos_work_size, NULL, NULL)                                        \
    X(FA_POSITION_RATES, position_rates, position_rates,                               \
      "q, qd -> dq/dt", FA_NO_NODE, FA_ALL_ARMS,                                       \
      FA_READS_PLACES, ("Q", "V", "Q"),                                                \
      pos_position_rates, pos_work_size, NULL, NULL)                                   \
    FA_FORMS(X, FA_LINK_VELOCITIES, link_velocities,                                   \
      "q, qd -> twists of the links",                                                  \
      FA_READS_PLACES, ("Q", "V", "B6"),                                               \
      mo_link_velocities, mo_work_size, li_link_velocities, li_links_work_size)        \
    FA_FORMS(X, FA_LINK_ACCELERATIONS, link_accelerations,                             \
      "q, qd, qdd -> rates of the twists of the links",                                \
      FA_READS_PLACES, ("Q", "V", "V", "B6"),                                          \
      mo_link_accelerations, mo_work_size, li_link_accelerations, li_links_work_size)  \
    FA_FORMS(X, FA_LINK_JACOBIANS, link_jacobians,                                     \
      "q -> Jacobians of the links",                                                   \
      FA_READS_PLACES, ("Q", "B6V"),                                                   \
      lj_link_jacobians, lj_work_size, li_link_jacobians, li_links_work_size)          \
    FA_FORMS(X, FA_LINK_JACOBIAN_RATES, link_jacobian_rates,                           \
      "q, qd -> rates of the Jacobians of the links",                                  \
      FA_READS_PLACES, ("Q", "V", "B6V"),                                              \
      lj_link_jacobian_rates, lj_rates_work_size,                                      \
      li_link_jacobian_rates, li_links_work_size)                                      \
    X(FA_CONSTRAINT_VIOLATION, constraint_violation, constraint_violation,             \
      "q -> violation of each constraint", FA_NO_NODE, FA_CLOSED_ARMS,                 \
      FA_READS_PLACES, ("Q", "C"),                                                     \
      cn_violation, cn_work_size, NULL, NULL)                                          \
    X(FA_CONSTRAINT_JACOBIAN, constraint_jacobian, constraint_jacobian,                \
      "q -> Jacobian of the constraints", FA_NO_NODE, FA_CLOSED_ARMS,                  \
      FA_READS_PLACES, ("Q", "CV"),                                                    \
      cn_jacobian, cn_work_size, NULL, NULL)                                           \
    X(FA_CONSTRAINT_FORCES, constraint_forces, constraint_forces,                      \
      "q, qd, tau -> forces of the constraints", FA_NO_NODE, FA_CLOSED_ARMS,           \
      FA_READS_MOTION | FA_READS_BODIES, ("Q", "V", "T", "C"),                         \
      cn_forces, cn_forces_work_size, li_constraint_forces, li_work_size)

/* of arms alone */
#define FA_ARM_KERNELS(X)                                                              \
    X(FA_INVERSE_TANGENTS, inverse_dynamics_derivatives, inverse_dynamics_derivatives, \
      "q, qd, qdd -> dtau/dq, dtau/dqd", FA_NO_NODE, FA_ALL_ARMS,                      \
      0, ("Q", "V", "V", "2VV"),                                                       \
      tg_derivatives, tg_work_size, NULL, NULL)                                        \
    X(FA_FORWARD_BASIC, forward_dynamics_basic, forward_dynamics,                      \
      "q, qd, tau -> qdd, modes and joint of a body at once", FA_NO_NODE, FA_ALL_ARMS, \
      0, ("Q", "V", "T", "V"),                                                         \
      ba_forward_dynamics, ba_work_size, li_forward_dynamics, li_work_size)            \
    X(FA_FORWARD_COMPOSITE, forward_dynamics_composite, forward_dynamics,              \
      "q, qd, tau -> qdd by the mass matrix", FA_NO_NODE, FA_ALL_ARMS,                 \
      0, ("Q", "V", "T", "V"),                                                         \
      co_forward_dynamics, co_work_size, li_forward_dynamics, li_work_size)            \
    X(FA_INNOVATIONS, innovations_factors, innovations_factors,                        \
      "q -> L, D of M^-1, rows by bodies", FA_NO_NODE, FA_ARMS_BY_BODIES,              \
      0, ("Q", "2VV"),                                                                 \
      inn_factors, inn_work_size, NULL, NULL)                                          \
    X(FA_INVERSE_BLOCKS, mass_matrix_inverse_blocks, mass_matrix_inverse_blocks,       \
      "q -> blocks of M^-1, rows by bodies", FA_NO_NODE, FA_ARMS_BY_BODIES,            \
      0, ("Q", "VV"),                                                                  \
      inn_inverse_blocks, inn_work_size, NULL, NULL)                                   \
    X(FA_NODE_COMPLIANCE, operational_space_compliance, operational_space_compliance,  \
      "pair of nodes, q -> J M^-1 J'", FA_NODE_PAIR, FA_ALL_ARMS,                      \
      0, ("Q", "66"),                                                                  \
      cp_compliance, cp_work_size, NULL, NULL)                                         \
    X(FA_FORWARD_TANGENTS, forward_dynamics_derivatives, forward_dynamics_derivatives, \
      "q, qd, tau -> dqdd/dq, dqdd/dqd, dqdd/dtau", FA_NO_NODE, FA_OPEN_ARMS,          \
      0, ("Q", "V", "T", "3VV"),                                                       \
      ft_derivatives, ft_work_size, NULL, NULL)                                        \
    X(FA_INVERSE_JVP, inverse_dynamics_jvp, inverse_dynamics_jvp,                      \
      "q, qd, qdd, dq, dqd, dqdd -> change of tau", FA_NO_NODE, FA_ALL_ARMS,           \
      0, ("Q", "V", "V", "V", "V", "V", "V"),                                          \
      ft_inverse_jvp, ft_work_size, NULL, NULL)                                        \
    X(FA_FORWARD_JVP, forward_dynamics_jvp, forward_dynamics_jvp,                      \
      "q, qd, tau, dq, dqd, dtau -> change of qdd", FA_NO_NODE, FA_OPEN_ARMS,          \
      0, ("Q", "V", "T", "V", "V", "T", "V"),                                          \
      ft_forward_jvp, ft_work_size, NULL, NULL)                                        \
    X(FA_INVERSE_VJP, inverse_dynamics_vjp, inverse_dynamics_vjp,                      \
      "q, qd, qdd, cotangent -> three cotangents", FA_NO_NODE, FA_ALL_ARMS,            \
      0, ("Q", "V", "V", "V", "3V"),                                                   \
      ft_inverse_vjp, ft_work_size, NULL, NULL)                                        \
    X(FA_FORWARD_VJP, forward_dynamics_vjp, forward_dynamics_vjp,                      \
      "q, qd, tau, cotangent -> three cotangents", FA_NO_NODE, FA_OPEN_ARMS,           \
      0, ("Q", "V", "T", "V", "3V"),                                                   \
      ft_forward_vjp, ft_work_size, NULL, NULL)                                        \
    X(FA_JACOBIAN_TANGENTS, jacobian_derivatives, jacobian_derivatives,                \
      "node, q -> dJ/dq", FA_ONE_NODE, FA_ALL_ARMS,                                    \
      0, ("Q", "6VV"),                                                                 \
      jt_run, jt_work_size, li_jacobian_tangents, li_jacobian_tangents_work_size)      \
    X(FA_ENERGY_TANGENTS, energy_derivatives, energy_derivatives,                      \
      "q, qd -> dE/dq, dE/dqd", FA_NO_NODE, FA_ALL_ARMS,                               \
      0, ("Q", "V", "2V"),                                                             \
      et_energy, et_work_size, NULL, NULL)

/* clang-format on */

#define FA_KERNELS(X) FA_STACK_KERNELS(X) FA_ARM_KERNELS(X)

#endif
