"""`annals memory`: what a person reads of a project's memory, and decides about it, from the command line."""
