"""Tools of all rooms: options, checks, printing, progress, optional packages."""
