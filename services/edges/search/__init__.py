"""Searching from the command line: `annals search`, and `annals bench search`, which plays sets of questions."""
