"""Descriptions of bodies, joints, drives, sections and materials."""

from .body import GROUND, Body, modal_integrals
from .dc_motor import DCMotor
from .drives import CoulombFriction, Drive, Stops
from .integrals import ModalIntegrals
from .joints import JOINT_KINDS, Joint
from .materials import Material
from .models import FlexibleBody, RigidBody
from .node_sums import nodal_integrals
from .sections import Section
from .segments import SegmentedLink

__all__ = [
    "GROUND",
    "JOINT_KINDS",
    "Body",
    "CoulombFriction",
    "DCMotor",
    "Drive",
    "FlexibleBody",
    "Joint",
    "Material",
    "ModalIntegrals",
    "RigidBody",
    "Section",
    "SegmentedLink",
    "Stops",
    "modal_integrals",
    "nodal_integrals",
]
