"""The fastest motion along a path or between postures."""
