"""History: what was said, read in pieces, and the compartments that stand for it."""
