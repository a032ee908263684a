"""What a harness's own summary asks to be remembered: its grammar, and what its commands may do."""
