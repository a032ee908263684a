"""`annals keyfiles`: which files are proposed for the head of prompts, and what a person decides about them."""
