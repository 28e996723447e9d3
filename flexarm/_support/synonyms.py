"""Names that other packages, or earlier versions, have for the same thing.

A line has names, a `>`, and what is meant; lines that are indented more go on.
"""

import re


def _read(text: str) -> dict[str, str]:
    """Meaning of each name of a table."""
    lines = re.sub(r"\n {8}", " ", text).strip().splitlines()
    rows = [line.split(" > ", 1) for line in lines]
    return {word.strip(): text for words, text in rows for word in words.split(",")}


# words in small letters; of several names of this package the first that fits is
# meant
_SYNONYMS = """
    6-dof, 6dof, bushing, floating, freeflyer, freejoint > free
    aba, accel, dynamics, equations_of_motion, mj_forward, rhs > forward_dynamics
    abaqus, ansys, nastran > read_matrix_market, finite_elements
    actuator, actuators, elastic_joint, flexiblejoint, harmonic_drive, motor, motors,
        rotor, sea, serieselasticactuator, spring_joint > drive, Drive
    adaptive > AdaptiveControl, control.AdaptiveControl
    adaptive_control > AdaptiveControl
    adjoint, rotation > se3
    aluminium, aluminum > ALUMINIUM, beams.ALUMINIUM
    ancfcable2d, cable2d, flexiblebeam > beams.Beam
    animate, gif, movie, video > animate, plotting.animate
    animation, plot > plotting
    annulus, ring > tube
    armature_inertia > armature
    arms, examples, models, robots > library
    assumed_modes, craig_bampton, euler_bernoulli, eulerbernoulli, eulerbernoullibeam >
        flexible_link, beams.flexible_link
    at, attach, link > node
    axes, axis_name > axis
    axis, parent > joint
    b, w > width
    balanced, reduce > balanced_reduction, linearize
    ball, gimbal > spherical
    bang_bang, cubic, min_jerk, polynomial, reference_trajectory, trapezoidal >
        RestToRest, control.RestToRest
    bar, rect, rectangular, square > rectangle
    bending, motion, plane, planes > motions
    bending_moment > link_loads, loads
    bodies > links
    body > node, RigidBody
    bounds, constraints > Limits
    box, rectangle, tube > Section, beams.Section
    bricksolid, gripper, tool > RigidBody
    buildmodelfromurdf, erobot, from_urdf, load_urdf, parse_urdf, read_urdf >
        urdf.load
    c, computecoriolismatrix, coriolis, coriolis_forces, coriolis_matrix, nle,
        nonlinear_effects, nonlineareffects > bias_forces
    c2d > discretize, linearize
    calibrate, fit > identify, identification.identify
    camera, encoder, imu, sensors, strain_gauge, torque_sensor > outputs
    cantilever > planar_chain, Beam, beams.Beam
    cantilever_modes > clamped_beam_modes
    cardan > universal
    casadi > interop.casadi_function, casadi_function
    center_of_mass, cog, length > com
    chain > planar_chain
    change, copy, update > replace
    channel, polygon > from_outline
    circle, circular, cylinder, rod > round
    clamped, hold, locked > held
    closed_chain, constraint, four_bar, parallel_robot > Loop
    com > center_of_mass
    computed_torque, computedtorque, feedback_linearization, inverse_dynamics >
        Inversion, control.Inversion
    computeframejacobian, computejointjacobian, computejointjacobians, jac, jacob0,
        jacobe, mj_jac > jacobian
    computegeneralizedgravity, gravload > gravity_forces
    computeminverse > mass_matrix_inverse
    continuous, hinge, pin, rotary, rotational > revolute
    control, controller, disturbance, law, tau, torques, wrench > torque
    controllability, frequency_response, impulse_response, linear_model, observability,
        poles, state_space > linearize
    crba, inertia_matrix, mj_fullm > mass_matrix
    d > damping, damping_matrix, diameter
    damping > modal_damping, damping_ratio, damping_matrix
    damping_ratio, viscous_damping, viscous_friction > damping
    dataframe, to_dataframe, to_mat, to_pandas > to_xarray
    dataset, record > Record
    dcgain, gain > static_gain
    dc_motor, servomotor, voltage, volts > DCMotor
    de_luca > de_luca_siciliano
    degrees_of_freedom, dimension, dof, n_dof, ndof, size > nv
    density > mass_per_length, material, mass
    desired, goal, q_d, q_desired, q_ref, qd_ref, reference, setpoint > target,
        SetPointPD
    dh, dhlink, dhrobot, from_dh, mdh, prismaticdh, revolutedh, seriallink >
        descriptions.DenavitHartenberg, DenavitHartenberg
    direction > motions, axis
    double_pendulum, flexible_arm, one_link, single_link, two_link, two_link_arm >
        planar_chain, library.planar_chain
    dq0, v0 > qd0
    draw_arm > arm
    dt > sample_time, max_step, t
    duration, t_end, t_span, time, times, tspan > t
    e > material, bending_stiffness
    ee > tip
    effort, effort_limits, jnt_range, lower, max, min, range, torque_limits, torque_max,
        upper, velocity_limits > limits
    ei > bending_stiffness, sections
    eig, eigenvalues > poles, natural_frequencies
    eigenfrequencies, eigenfrequency, frequencies > natural_frequencies
    eigenmodes, modal_analysis, mode > vibration_modes
    eigs > poles
    elastic, gearbox, transmission > drive
    elements > n_elements
    end_effector, endeffector, tip_position > tip_pose, tip
    error, errors > estimated_error
    euler, rotation_x, rotation_y, rotation_z, rotx, roty, rotz > so3_exp, se3
    external_force, external_forces, f_ext > torque, wrench, wrench_forces
    fastest, min_time, minimize_time, minimum_time > time_optimal, optimize.time_optimal
    feedforward > inverse_dynamics, drive_feedforward
    fem, mesh > finite_elements, elements
    ffrf, objectffrf, objectffrfreducedorder > FlexibleBody
    filter > kalman_filter
    fk, fkine, forward_kinematics, forwardkinematics, framesforwardkinematics > tip_pose
    flexible > n_modes
    flexiblelink > FlexibleBody, beams.Beam
    fmu, matlab, ros, simulink > interop.export_fmu, export_fmu
    force, forces > torque, wrench, tau
    frame, frames, tip_frame > tip_pose, node_poses
    franka > panda
    friction > coulomb_friction, motor_friction
    frictionloss > coulomb_friction
    from_file, open, read > load
    from_quaternion > rotation_from_quaternion
    from_xml_path, load_mjcf, load_mujoco, mjmodel > mjcf.load
    g > gravity
    gear > gear_ratio, drive, Drive
    genericjoint > Joint
    gj > torsional_stiffness
    gradient, mass_matrix_derivative > inverse_dynamics_derivatives
    gramian > controllability, linearize
    gravity_compensation, gravitycompensation > gravity_forces, SetPointPD
    h > height, bias_forces
    hamiltonian > energy
    hollow, pipe > tube, Section
    home, q0, qz, zero, zeros > neutral
    i > inertia, i_beam, bending_stiffness
    iiwa, kuka > iiwa14
    ik, ikine, ikine_lm > inverse_kinematics
    impulse > impulse_response
    index > body_index
    inertia > rotor_inertia, tip_inertia, mass_matrix
    inertias > inertial_parameters
    inner, inner_diameter, wall, wall_thickness > thickness
    input_shaper, input_shaping > control.Shaper, Shaper
    integrator > method
    internal_forces, section_forces, stress > link_loads
    intervals, max_iterations, tolerance > search
    j > rotor_inertia, inertia, jacobian
    jacobian_dot > jacobian_derivatives
    jax > interop.jax_function, jax_function
    jit, numba, symbolic, sympy, tensorflow, torch > interop
    joint_type, type > kind
    joints > nj, bodies, q
    k > stiffness, stiffness_matrix
    kalman, kalmanfilter > kalman_filter, control.kalman_filter
    l > length
    lagrange, lagrangian > reference
    lead > pitch
    lead screw, spindle > helical
    linear, p, px, py, pz, slide, slider, translational > prismatic
    links > bodies
    load > wrench, RigidBody
    load_sdf > sdf.load
    loads > wrench
    lqg > lqg, control.lqg
    lqr > lqr, control.lqr
    lsim, simulate > response, simulate_loop
    m > mass_matrix, mass
    mainsystem, rigidarm, system, systemcontainer, tree > Arm
    manipulability, singularities, singularity, workspace > workspace_map
    mass > mass_per_length, Payload, bodies
    mat > material
    material > sections
    max_torque, torque_limit > effort_limit, limits
    max_velocity > velocity_limit, limits
    minimize, minimum_energy, optimal_control, plan, planner > trajectory,
        optimize.trajectory
    minimum_jerk, quintic > control.RestToRest, RestToRest
    mj_inverse, rne, rnea > inverse_dynamics
    mj_step, mjdata, ode45, odeint, rk4, run, solve, solve_ivp > simulate
    mobile > youbot
    modal > modes, vibration_modes
    mode_shapes > vibration_modes, node_translation
    model, robot > Arm, arm
    modes > n_modes, vibration_modes, mode_shapes
    modulus, young, young_modulus, youngs_modulus > E, material
    mpc > PredictiveControl, control.PredictiveControl
    mujoco > mjcf
    n > count, n_modes, n_states, nv
    n_actuators > nu
    n_elements > n
    n_joints, njoints, num_joints, number_of_joints > nj
    n_links > bodies, n
    names > coordinate_names
    node_position > node_pose
    nq > n_positions
    nu > poisson
    nx > n_states, nv
    nyquist > bode, plotting.bode
    observer > ObservedLaw, control.ObservedLaw
    obstacle, obstacles > obstacles, optimize.Sphere
    od, outer, outer_diameter > diameter
    ode > simulate, forward_dynamics
    offset, origin, pos, xyz > position
    order > n_states
    orientation, quat, rot > rotation
    parse > read, load
    payload > payload_mass, payloads, beams.Payload, bodies
    pd, pdcontroller, pid, pidcontroller > SetPointPD, control.SetPointPD
    pendulum > library.pendulum
    pieces > segments
    poe > SpatialScrews
    position > target, tip_pose
    position_limits, random, random_configuration, random_q, randomconfiguration >
        joint_limits
    positions, states, y > q
    power > dissipated_power
    puma > puma560
    puma560 > puma560, library.puma560
    pzmap > poles_zeros, plotting.poles_zeros
    qdot, rate, rates, velocities > qd
    qlim > limits, joint_limits
    quaternion > rotation, se3
    r > revolute, com
    radius > diameter, sections
    ratio > gear_ratio
    rho > mass_per_length, density, material
    rigid, weld > fixed
    rpy > so3_exp, rotation, se3
    rx, ry, rz > so3_exp, revolute
    sag, static_deflection > deflection
    section > sections, bending_stiffness
    sensitivity > trajectory_sensitivities
    shaper > Shaper
    snapshot > snapshots
    solver > method, search, simulate
    spring > stiffness
    springref > rest
    ss, to_ss > to_control, linearize
    start, x0 > q0
    state > q, neutral
    status > success, message
    steel > STEEL, beams.STEEL
    step > max_step, step_response, plotting.step_response
    stiffness > bending_stiffness, stiffness_matrix
    t > duration, thickness, kinetic_energy
    tf, transfer_function > frequency_response, linearize
    timoshenko, timoshenkobeam > finite_element_link, beams.finite_element_link
    tip > tip_pose, nodes
    tip_acceleration > node_acceleration
    tip_mass > payloads
    tip_velocity > node_velocity
    torque > tau, limits
    total_mass > mass
    trajectory > RestToRest, tip
    transform > se3, tip_pose
    u > torque, tau, potential_energy
    ur5 > ur5e
    v > potential_energy, qd
    velocity > qd, node_velocity
    x > states, q
    zeta > damping_ratio
    zv, zvd > control.Shaper, Shaper
"""
SYNONYMS = {word: (*text.split(", "),) for word, text in _read(_SYNONYMS).items()}

# names that one looks for in the package, its rooms, results, bodies and arms, and
# what does it
FUNCTIONS = _read("""
    a, acceleration, accelerations, qdd > flexarm.forward_dynamics(arm, q, qd, tau)
    A, B > those of flexarm.linearize(arm, q)
    acker, place, pole_placement > flexarm.control.lqr(model, Q, R), or
        scipy.signal.place_poles(model.A, model.B, poles)
    add, add_body, add_link > arm.replace(bodies=[*arm.bodies, body])
    add_payload, payload, set_payload, tool, with_payload > a flexarm.RigidBody on a
        Joint('fixed') after arm.bodies
    animate > flexarm.plotting.animate(run)
    backlash, hysteresis > flexarm.CoulombFriction, or a function as torque= of
        flexarm.simulate
    backstepping, passivity, sliding_mode > a law of flexarm.control, or a function
        law(t, q, qd)
    batch, parallel > arrays of states, q of shape (..., nq), and threads=
    bode, nyquist > flexarm.plotting.bode(model)
    buckling > flexarm.beams.buckling_load(link)
    carbon, titanium > flexarm.beams.Material(E, density)
    circle, line, path, spline > a function of flexarm.optimize.paths
    collision, contact > flexarm.Stops of a joint, or limits={'obstacles': ...} of
        flexarm.optimize
    config, set_threads, threads > threads= of a call
    control > a law of flexarm.control
    Damper, damper, Spring, spring > flexarm.Joint.revolute(axis, stiffness=...,
        damping=...)
    damping_ratio, rayleigh > damping_ratio= of a link
    deflection, deflections > flexarm.plotting.deflections(run), or
        flexarm.deflection(arm, q)
    crane_boom, loader_crane > flexarm.library.crane()
    deg2rad, pi, units > SI units and radians, as of numpy.deg2rad
    delay, disturbance, noise, sample_time, saturation > an argument of
        flexarm.control.simulate_loop
    demo > the command python3 -m flexarm demo
    describe, info, print, summary > print(arm)
    display, render, show, teach, view, viewer, visualize > flexarm.plotting.scene(arm,
        q)
    doc, docs, guide, help, tutorial > help(flexarm), where the guide begins
    draw > flexarm.plotting.arm(arm, q)
    env, Environment, gym, reset, set_state > flexarm.simulate(arm, q0, qd0, t): an arm
        has no state of its own
    export, save, to_dict, to_json, to_yaml, write > flexarm.save(made, path)
    fdyn, step > flexarm.simulate(arm, q0, qd0, t)
    I > I_y and I_z of a flexarm.beams.Section
    ik, ikine > flexarm.inverse_kinematics(arm, target)
    impedance > a function law(t, q, qd) with flexarm.jacobian, as torque= of
        flexarm.simulate
    Link, rigid_link, RigidLink > flexarm.RigidBody(name, mass=...), or a link that
        bends, flexarm.beams.Beam(section, length).elements(name)
    loads, strain, stress, stresses > flexarm.link_loads(arm, q, qd, qdd)
    lock > held='joints', or flexarm.lock_motors(arm)
    lqr > flexarm.control.lqr(flexarm.linearize(arm, q), Q, R)
    margin, margins > flexarm.robustness(make, ranges, q, controller)
    Mass, PointMass > flexarm.RigidBody(name, flexarm.Joint.fixed(), mass=...)
    no_gravity, set_gravity, with_gravity > arm.replace(gravity=...)
    plot > a function of flexarm.plotting, such as arm(arm, q), bode(model),
        mode_shapes(link)
    rigid, to_rigid > an arm of flexarm.RigidBody, such as
        flexarm.library.planar_chain(2)
    satellite, space_robot > flexarm.Joint.free() of the first body
    save_urdf, to_urdf > flexarm.urdf.save(arm, path)
    scara > flexarm.urdf.load(path) of its file
    shuttle_arm, srms > flexarm.library.canadarm()
    tip_velocity > flexarm.node_velocity(arm, q, qd)
    to_csv > to_xarray().to_dataframe().to_csv(path)
    torques > run.tau over run.t
    weight > 9.81 * arm.mass, or flexarm.gravity_forces(arm, q)
    workspace > flexarm.workspace_map(arm, q)
""")

# attributes of a class and of its objects, and arguments of a function, that one
# looks for, and what is meant
ON_CLASSES = _read("""
    Arm.base, Arm.base_frame > the joint of the first body, arm.bodies[0].joint
    Arm.body, Arm.get_body, Arm.get_link, Arm.link > arm[name], the body of that name
    Arm.body_names, Arm.link_names > [body.name for body in arm.bodies]
    Arm.children, Arm.graph, Arm.parent, Arm.root, Arm.tree > joint.parent of each body,
        or print(arm)
    Arm.drives, Arm.gear_ratios, Arm.motors > the drive of each body.joint
    Arm.effort_limits, Arm.torque_limits, Arm.velocity_limits > effort_limit and
        velocity_limit of each body.joint
    Arm.eta, Arm.q, Arm.qd, Arm.state, Arm.tau > states as arguments, such as
        arm.neutral, since an arm never changes
    Arm.flexible, Arm.is_flexible > arm.nv > arm.nj
    Arm.friction > damping and coulomb_friction of each body.joint
    Arm.from_dh > flexarm.descriptions.kinematic_arm(DenavitHartenberg(rows)), of
        flexarm.descriptions too
    Arm.from_file, Arm.load > flexarm.load(path), or flexarm.urdf.load(path)
    Arm.from_json > flexarm.load(path)
    Arm.from_mjcf > flexarm.mjcf.load(path)
    Arm.from_sdf > flexarm.sdf.load(path)
    Arm.from_urdf > flexarm.urdf.load(path)
    Arm.get_joint, Arm.joint > arm[name].joint
    Arm.length, Arm.lengths, Arm.reach > flexarm.tip_pose(arm, q)[:3, 3], the place of
        the tip
    Arm.n_modes > sum(body.n_modes for body in arm.bodies)
    Beam.bending_stiffness, Beam.ei, Beam.stiffness > beam.section.bending_stiffness
    Beam.body, Beam.link, Beam.to_link > beam.modes(name), beam.elements(name) or
        beam.segments(name, n)
    Beam.frequencies, Beam.natural_frequencies > beam.modes(name).frequencies()
    flexible_link.material, flexible_link.section, flexible_link.sections >
        flexarm.beams.Beam(section, length, material).modes(name)
    FlexibleBody.com > flexarm.center_of_mass(arm, q)
    FlexibleBody.ei, FlexibleBody.material, FlexibleBody.section > link.beam.sections
    FlexibleBody.length > link.node_position[-1], the place of its last node
    FlexibleBody.tip > its node 'tip', the last one
    Material.aluminium > the word 'aluminium', or flexarm.beams.ALUMINIUM
    Material.aluminum > the word 'aluminum', or flexarm.beams.ALUMINIUM
    Material.steel > the word 'steel', or flexarm.beams.STEEL
    Section.a > its area
    StateSpace.damping, StateSpace.natural_frequencies > its poles()
    StateSpace.g, StateSpace.num > its frequency_response(omega), or to_control()
    StateSpace.step > its step_response(t)
    Trajectory.at, Trajectory.interpolate, Trajectory.resample, Trajectory.sample > more
        times in flexarm.simulate, or numpy.interp over run.t
    Trajectory.bending, Trajectory.eta, Trajectory.modes > run.q[...,
        run.arm.mode_slice(body)]
    Trajectory.end, Trajectory.final > its q[-1] and qd[-1]
    Trajectory.len, Trajectory.n > len(run.t)
    Trajectory.show > run.plot(), or run.animate()
    Trajectory.to_numpy > its t, q, qd and tau, which are arrays
""")
