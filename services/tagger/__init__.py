"""The tagger: turns what harnesses saw into canonical facts, and numbers what an agent may name."""
