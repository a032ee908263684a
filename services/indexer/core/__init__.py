"""The index's content, as values: the facts of a session or a project go in, rows come out."""
