"""From functions to kernels: arguments, errors, batches, threads."""
