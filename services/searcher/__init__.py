"""The searcher: finds messages, memories, notes, compressed history and commits, and reports where it looked."""
