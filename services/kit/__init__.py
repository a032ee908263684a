"""Code that all rooms share; each outside library is imported in one place."""
