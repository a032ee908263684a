"""`make bench-search`: how well and how fast what was said is found, on sets that lie outside of this repository."""
