"""Closed loops: a model inside the controller, or a law at samples; their record."""
