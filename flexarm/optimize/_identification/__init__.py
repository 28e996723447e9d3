"""Parameters of an arm from measured motion."""
