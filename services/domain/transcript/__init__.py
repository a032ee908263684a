"""A conversation as a transcript: cleaned, cut into blocks, and read within a budget."""
