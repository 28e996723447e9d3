"""Sparse nonlinear programs and their solvers."""
