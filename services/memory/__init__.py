"""The memory of a project: its state, how it is decided on, how memories fade, and how they are rendered. Pure."""
