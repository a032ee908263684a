"""The tasks of the dreamer. A module with a `TASK` is found by its place, and called as its task is."""
