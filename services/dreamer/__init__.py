"""The dreamer: works on what is remembered of a project while nobody works on it, task by task, on a schedule."""
