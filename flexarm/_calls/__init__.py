"""From functions to kernels: arguments, errors, batches, threads."""

from . import failures as failures  # C learns how it says what has failed
