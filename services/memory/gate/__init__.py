"""The gate: whether a text is worth remembering of a project, and every reason why it is not."""
