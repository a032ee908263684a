"""The rooms, what they share, and the reference client."""
