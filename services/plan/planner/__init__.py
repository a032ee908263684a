"""The planner: when a prompt changes, what of it changes, and whether a provider would accept the result."""
