"""Motion over time: methods, events, feedback at the joints, and their results."""

from .events import Event, Occurrence
from .joint_feedback import JointFeedback
from .methods import simulate
from .trajectory import Trajectory

__all__ = ["Event", "JointFeedback", "Occurrence", "Trajectory", "simulate"]
