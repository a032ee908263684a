"""Requests to remember in a harness's own summary: their grammar, and what they may do."""
