"""The desk's decisions about a project's memory: each command becomes facts of the book, or a refusal."""
