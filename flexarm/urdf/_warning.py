"""The category of warnings on robot descriptions."""


class UrdfWarning(UserWarning):
    """A part of a robot description, or of an arm, that is left out."""


UrdfWarning.__module__ = "flexarm.urdf"  # its public place
