"""Torques that move the tip along a given trajectory."""
