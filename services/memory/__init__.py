"""The memory of a project: what it holds, how it is decided on, how memories fade, and how they are shown. Pure."""
