"""Summaries without a model: requests, decisions, changes, commands and open ends, in their authors' words."""
