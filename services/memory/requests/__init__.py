"""Requests of a person to remember something, found in their own words, in many languages."""
