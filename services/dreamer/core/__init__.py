"""The pure half of the dreamer: its schedule, its runs, and its tasks."""
