"""What the desk decides about a project's memory: each command becomes facts of the book, or a sentence why not."""
