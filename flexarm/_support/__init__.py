"""What every room uses: options, checks, printing, progress, optional packages."""
