"""Texts of messages: what they hold, bounded, and without what harnesses put around them."""
