"""The commands `annals search`, `show` and `explain`; and `annals bench search`, which measures."""
