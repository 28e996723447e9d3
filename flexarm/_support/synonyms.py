"""Names that other packages, or earlier versions, have for the same thing.

A line has names, a `>`, and what is meant; lines that are indented more go on.
"""

import re


def _read(text: str) -> dict[str, str]:
    """Meaning of each name of a table."""
    lines = re.sub(r"\n {8}", " ", text).strip().splitlines()
    rows = [line.split(" > ") for line in lines]
    return {word.strip(): text for words, text in rows for word in words.split(",")}


# words in small letters; of several names of this package the first that fits is
# meant
_SYNONYMS = """
    6-dof, 6dof, bushing, floating, freeflyer, freejoint > free
    aba, accel, dynamics, equations_of_motion, mj_forward, rhs > forward_dynamics
    actuator, actuators, motor, motors > drive, Drive
    adaptive > AdaptiveControl, control.AdaptiveControl
    aluminium, aluminum > ALUMINIUM, beams.ALUMINIUM
    ancfcable2d, cable2d, flexiblebeam > beams.Beam
    animate > animate, plotting.animate
    animation, plot > plotting
    annulus, ring > tube
    armature_inertia > armature
    arms, examples, models, robots > library
    at, attach, link > node
    axes, axis_name > axis
    axis, parent > joint
    b, w > width
    balanced, reduce > balanced_reduction, linearize
    ball, gimbal > spherical
    bar, rect, rectangular, square > rectangle
    bending, motion, plane, planes > motions
    bending_moment > link_loads, loads
    bodies > links
    body > node, RigidBody
    bounds, constraints > Limits
    box, rectangle, tube > Section, beams.Section
    bricksolid, gripper, tool > RigidBody
    buildmodelfromurdf, erobot, from_urdf, load_urdf, parse_urdf, read_urdf > urdf.load
    c, computecoriolismatrix, coriolis, coriolis_forces, coriolis_matrix, nle,
        nonlinear_effects, nonlineareffects > bias_forces
    c2d > discretize, linearize
    calibrate, fit > identify, optimize.identify
    cantilever > planar_chain, Beam, beams.Beam
    cantilever_modes > clamped_beam_modes
    cardan > universal
    casadi > interop.casadi_function, casadi_function
    center_of_mass, cog, length > com
    channel, polygon > from_outline
    circle, circular, cylinder, rod > round
    clamped, hold, locked > held
    closed_chain, constraint > Loop
    computed_torque, computedtorque, feedback_linearization, inverse_dynamics >
        Inversion, control.Inversion
    computeframejacobian, computejointjacobian, computejointjacobians, jacob0, jacobe,
        mj_jac > jacobian
    computegeneralizedgravity, gravload > gravity_forces
    computeminverse > mass_matrix_inverse
    continuous, hinge, pin, rotary, rotational > revolute
    control, controller, disturbance, law, tau, torques, wrench > torque
    controllability, frequency_response, impulse_response, linear_model, observability,
        poles, state_space > linearize
    copy > replace
    crba, inertia_matrix, mj_fullm > mass_matrix
    d > damping, damping_matrix, diameter
    damping > modal_damping, damping_ratio, damping_matrix
    damping_ratio, viscous_damping, viscous_friction > damping
    dataframe, to_dataframe, to_pandas > to_xarray
    de_luca > de_luca_siciliano
    degrees_of_freedom, dimension, dof, n_dof, ndof, size > nv
    density > mass_per_length, material, mass
    desired, goal, q_d, q_desired, q_ref, qd_ref, reference, setpoint > target
    dh, dhlink, dhrobot, from_dh, prismaticdh, revolutedh, seriallink >
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
    eigenmodes, modal_analysis > vibration_modes
    eigs > poles
    elastic, gearbox, transmission > drive
    elements > n_elements
    encoder, sensors, strain_gauge > outputs
    end_effector, endeffector, tip_position > tip_pose, tip
    euler, rotation_x, rotation_y, rotation_z, rotx, roty, rotz > so3_exp, se3
    euler_bernoulli, eulerbernoulli, eulerbernoullibeam > flexible_link,
        beams.flexible_link
    external_force, external_forces, f_ext > torque, wrench, wrench_forces
    fastest, min_time, minimize_time, minimum_time > time_optimal, optimize.time_optimal
    feedforward > inverse_dynamics, drive_feedforward
    fem, mesh > finite_elements, elements
    ffrf, objectffrf, objectffrfreducedorder > FlexibleBody
    fk, fkine, forward_kinematics, forwardkinematics, framesforwardkinematics > tip_pose
    flexible > n_modes
    flexiblelink > FlexibleBody, beams.Beam
    force, forces > torque, wrench
    franka > panda
    friction > coulomb_friction, motor_friction
    frictionloss > coulomb_friction
    from_quaternion > rotation_from_quaternion
    from_xml_path, load_mjcf, load_mujoco, mjmodel > mjcf.load
    g > gravity
    gear > gear_ratio, drive, Drive
    genericjoint > Joint
    gj > torsional_stiffness
    gradient, mass_matrix_derivative > inverse_dynamics_derivatives
    gramian > controllability, linearize
    gravity_compensation, gravitycompensation > gravity_forces, SetPointPD
    h > height
    hollow, pipe > tube, Section
    home, q0, qz, zero, zeros > neutral
    i > inertia, i_beam, bending_stiffness
    ik, ikine, ikine_lm > inverse_kinematics
    impulse > impulse_response
    index > body_index
    inertia > rotor_inertia, tip_inertia, mass_matrix
    inner, inner_diameter, wall, wall_thickness > thickness
    input_shaper, input_shaping > control.Shaper, Shaper
    integrator > method
    internal_forces, section_forces, stress > link_loads
    intervals, max_iterations, tolerance > search
    j > rotor_inertia, inertia, jacobian
    jacobian_dot > jacobian_derivatives
    jax > interop.jax_function, jax_function
    joint_type, type > kind
    joints > nj, bodies, q
    k > stiffness, stiffness_matrix
    kalman, kalmanfilter > kalman_filter, control.kalman_filter
    kuka > iiwa14
    l > length
    lagrange, lagrangian > reference
    lead > pitch
    lead screw, spindle > helical
    linear, p, px, py, pz, slide, slider, translational > prismatic
    links > bodies
    load > wrench, RigidBody
    load_sdf > sdf.load
    loads > wrench
    lqr > lqr, control.lqr
    m > mass_matrix, mass
    mainsystem, rigidarm, system, systemcontainer > Arm
    manipulability, singularities, singularity, workspace > workspace_map
    mass > mass_per_length, Payload, bodies
    mat > material
    material > sections
    max_torque, torque_limit > effort_limit, limits
    max_velocity > velocity_limit, limits
    min_jerk > RestToRest, control.RestToRest
    minimize, minimum_energy, optimal_control, plan, planner > trajectory,
        optimize.trajectory
    minimum_jerk, quintic > control.RestToRest, RestToRest
    mj_inverse, rne, rnea > inverse_dynamics
    mj_step, mjdata, odeint, run, solve_ivp > simulate
    modal > modes, vibration_modes
    mode_shapes > vibration_modes, node_translation
    model, robot > Arm, arm
    modes > n_modes, vibration_modes, mode_shapes
    modulus, young, young_modulus, youngs_modulus > E, material
    mpc > PredictiveControl, control.PredictiveControl
    mujoco > mjcf
    n > count, n_modes, nv
    n_elements > n
    n_joints, num_joints, number_of_joints > nj
    n_links > bodies, n
    names > coordinate_names
    node_position > node_pose
    nu > poisson
    nx > n_states, nv
    nyquist > bode, plotting.bode
    observer > ObservedLaw, control.ObservedLaw
    obstacle, obstacles > obstacles, optimize.Sphere
    od, outer, outer_diameter > diameter
    ode > simulate, forward_dynamics
    offset, origin, pos, xyz > position
    orientation, quat, rot > rotation
    parse > read, load
    payload > payload_mass, payloads, beams.Payload, bodies
    pd, pdcontroller, pid, pidcontroller > SetPointPD, control.SetPointPD
    pendulum > library.pendulum
    pieces > segments
    position > target, tip_pose
    position_limits, random, random_configuration, random_q, randomconfiguration >
        joint_limits
    positions, states, y > q
    power > dissipated_power
    puma > puma560
    puma560 > puma560, library.puma560
    pzmap > poles_zeros, plotting.poles_zeros
    qlim > limits, joint_limits
    quaternion > rotation, se3
    r > revolute, com
    radius > diameter, sections
    ratio > gear_ratio
    rho > mass_per_length, density, material
    rigid, weld > fixed
    rotation, transform > se3
    rpy > so3_exp, rotation, se3
    rx, ry, rz > so3_exp, revolute
    sag, static_deflection > deflection
    section > sections, bending_stiffness
    solver > method, search
    spring > stiffness
    springref > rest
    ss, to_ss > to_control, linearize
    start, x0 > q0
    state > q, neutral
    status > success, message
    steel > STEEL, beams.STEEL
    step > max_step, step_response, plotting.step_response
    stiffness > bending_stiffness, stiffness_matrix
    symbolic, sympy, torch > interop
    t > duration, thickness
    tf, transfer_function > frequency_response, linearize
    timoshenko, timoshenkobeam > finite_element_link, beams.finite_element_link
    tip > tip_pose, nodes
    tip_acceleration > node_acceleration
    tip_mass > payloads
    tip_velocity > node_velocity
    torque > tau, limits
    total_mass > mass
    trajectory > RestToRest, tip
    u > torque, tau
    velocities > qd
    velocity > qd, node_velocity
    x > states, q
    zeta > damping_ratio
    zv > zero_vibration
    zvd > zero_vibration_derivative
"""
SYNONYMS = {word: (*text.split(", "),) for word, text in _read(_SYNONYMS).items()}

# names that one looks for in the package, its rooms, results, bodies and arms, and
# what does it
FUNCTIONS = _read("""
    acceleration, accelerations, qdd > flexarm.forward_dynamics(arm, q, qd, tau)
    acker, place, pole_placement > flexarm.control.lqr(model, Q, R), or
        scipy.signal.place_poles(model.A, model.B, poles)
    add, add_body, add_link > arm.replace(bodies=[*arm.bodies, body])
    add_payload, payload, set_payload, tool, with_payload > a flexarm.RigidBody on a
        Joint('fixed') after arm.bodies
    animate > flexarm.plotting.animate(run)
    batch, parallel > arrays of states, q of shape (..., nq), and threads=
    bode > flexarm.plotting.bode(model)
    buckling > flexarm.beams.buckling_load(link)
    circle, line, path, spline > a function of flexarm.optimize.paths
    collision, contact > flexarm.Stops of a joint, or limits={'obstacles': ...} of
        flexarm.optimize
    control > a law of flexarm.control
    Damper, damper, Spring, spring > flexarm.Joint.revolute(axis, stiffness=...,
        damping=...)
    deflection, deflections > flexarm.plotting.deflections(run), or
        flexarm.deflection(arm, q)
    crane_boom, loader_crane > flexarm.library.crane()
    demo > the command python3 -m flexarm demo
    describe, info, print, summary > print(arm)
    display, render, show, teach, view, viewer, visualize > flexarm.plotting.scene(arm,
        q)
    doc, docs, guide, help, tutorial > help(flexarm), where the guide begins
    draw > flexarm.plotting.arm(arm, q)
    fdyn, step > flexarm.simulate(arm, q0, qd0, t)
    hinf > flexarm.linearize(arm, q).to_control(), for python-control
    I > I_y and I_z of a flexarm.beams.Section
    ik, ikine > flexarm.inverse_kinematics(arm, target)
    impedance > a function law(t, q, qd) with flexarm.jacobian, as torque= of
        flexarm.simulate
    Link, rigid_link, RigidLink > flexarm.RigidBody(name, mass=...), or a link that
        bends, flexarm.beams.Beam(section, length).elements(name)
    loads, stress, stresses > flexarm.link_loads(arm, q, qd, qdd)
    lock > held='joints', or flexarm.lock_motors(arm)
    Mass, PointMass > flexarm.RigidBody(name, flexarm.Joint.fixed(), mass=...)
    plot > a function of flexarm.plotting, such as arm(arm, q), bode(model),
        mode_shapes(link)
    rigid, to_rigid > an arm of flexarm.RigidBody, such as
        flexarm.library.planar_chain(2)
    save, to_dict, to_json, to_yaml, write > flexarm.save(made, path)
    set_gravity > arm.replace(gravity=...)
    shuttle_arm, srms > flexarm.library.canadarm()
    strain > flexarm.link_loads(arm, q, qd, qdd), or flexarm.outputs.strain
    tip_velocity > flexarm.node_velocity(arm, q, qd)
    to_csv > to_xarray().to_dataframe().to_csv(path)
    to_urdf > flexarm.urdf.save(arm, path)
    torques > run.tau over run.t
    weight > 9.81 * arm.mass, or flexarm.gravity_forces(arm, q)
    work > flexarm.plotting.energies(run)
    workspace > flexarm.workspace_map(arm, q)
""")

# attributes of a class and of its objects, and arguments of a function, that one
# looks for, and what is meant
ON_CLASSES = _read("""
    Arm.base, Arm.base_frame > the joint of the first body, arm.bodies[0].joint
    Arm.body_names, Arm.link_names > [body.name for body in arm.bodies]
    Arm.effort_limits, Arm.torque_limits, Arm.velocity_limits > effort_limit and
        velocity_limit of each body.joint
    Arm.from_dh > flexarm.descriptions.kinematic_arm(DenavitHartenberg(rows)), of
        flexarm.descriptions too
    Arm.from_file, Arm.load > flexarm.load(path), or flexarm.urdf.load(path)
    Arm.from_json > flexarm.load(path)
    Arm.from_mjcf > flexarm.mjcf.load(path)
    Arm.from_sdf > flexarm.sdf.load(path)
    Arm.from_urdf > flexarm.urdf.load(path)
    Arm.length, Arm.reach > flexarm.tip_pose(arm, q)[:3, 3], the place of the tip
    Arm.n_modes > sum(body.n_modes for body in arm.bodies)
    Beam.body, Beam.link, Beam.to_link > beam.modes(name), beam.elements(name) or
        beam.segments(name, n)
    Beam.ei > beam.section.bending_stiffness
    Beam.frequencies > beam.modes(name).frequencies()
    flexible_link.material, flexible_link.section, flexible_link.sections >
        flexarm.beams.Beam(section, length, material).modes(name)
    FlexibleBody.com > flexarm.center_of_mass(arm, q)
    FlexibleBody.ei, FlexibleBody.material, FlexibleBody.section > link.beam.sections
    FlexibleBody.length > link.node_position[-1], the place of its last node
    FlexibleBody.tip > its node 'tip', the last one
    Material.aluminium > the word 'aluminium', or flexarm.beams.ALUMINIUM
    Material.aluminum > the word 'aluminum', or flexarm.beams.ALUMINIUM
    Material.steel > the word 'steel', or flexarm.beams.STEEL
    StateSpace.step > its step_response(t)
    Trajectory.end, Trajectory.final > its q[-1] and qd[-1]
    Trajectory.show > run.plot(), or run.animate()
    Trajectory.to_numpy > its t, q, qd and tau, which are arrays
""")
