"""A robot from a URDF file, rigid, and with a flexible link in place of a rigid one."""

import sys

import numpy as np

import flexarm as fa

ROBOT = """<robot name="crane"><link name="base"/>
  <link name="boom"><inertial><origin xyz="1 0 0"/><mass value="4"/>
    <inertia ixx="0" ixy="0" ixz="0" iyy="1.3" iyz="0" izz="1.3"/></inertial></link>
  <link name="load"><inertial><mass value="3"/>
    <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><axis xyz="0 1 0"/>
    <parent link="base"/><child link="boom"/></joint>
  <joint name="grip" type="fixed"><origin xyz="2 0 0"/>
    <parent link="boom"/><child link="load"/></joint></robot>"""
BEAM = {"length": 2.0, "mass_per_length": 2.0, "bending_stiffness": 900.0, "n_modes": 3}

rigid = fa.urdf.load(ROBOT)  # or the name of a file
flexible = fa.urdf.load(ROBOT, sidecar={"boom": BEAM})

sag = -fa.deflection(flexible, flexible.neutral)[5]
exact = 9.81 * (3.0 * 2.0**3 / 3 + 2.0 * 2.0**4 / 8) / 900.0  # P L^3/3EI + w L^4/8EI
print(f"the load sags by {sag:.5f} m, to first order {exact:.5f} m")
assert -5e-3 < sag / exact - 1.0 < 0.0  # a bent beam has a shorter lever

t, runs = np.linspace(0.0, 0.5, 1301), {}
lift = np.full((len(t), 1), -200.0)  # N m, about y
for name, arm in {"rigid": rigid, "flexible": flexible}.items():
    runs[name] = fa.simulate(arm, arm.neutral, 0.0 * arm.neutral, t, torque=lift)
    print(f"{name}: lifted by {runs[name].tip[-1, 2]:.3f} m in 0.5 s")
if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    plt.plot(t, np.transpose([run.tip[:, 2] for run in runs.values()]), label=[*runs])
    plt.gca().set(xlabel="time (s)", ylabel="height of the load (m)")
    plt.legend()
    plt.savefig(sys.argv[1])
