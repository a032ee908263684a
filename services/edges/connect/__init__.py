"""Connects a harness on this machine to this installation, and examines the connection."""
