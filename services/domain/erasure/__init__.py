"""Erasure: what of a fact is concerned when something must be forgotten, and what is put in its place."""
