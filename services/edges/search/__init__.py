"""What a person finds and looks at: `annals search`, `show`, `explain`; and `annals bench search`, which measures."""
