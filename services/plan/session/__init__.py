"""The state of a session in work, folded from its facts."""
