"""The indexer: keeps the index of search as the log tells it, and has vectors made for it."""
