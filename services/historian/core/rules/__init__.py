"""Summaries without a model: what was asked, decided, changed, run and left open, in the words of those who said it."""
