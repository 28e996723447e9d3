"""Motions between two states with the least of some cost."""
