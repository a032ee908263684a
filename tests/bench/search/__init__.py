"""`make bench-search`: how well and how fast messages are found, on sets that lie outside of this repository."""
