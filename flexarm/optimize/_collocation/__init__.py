"""Motions of an arm as unknowns of a nonlinear program."""
