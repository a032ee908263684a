"""One reading of a tool call: what it did, to which files, and how it ended."""
