"""`annals dream`: runs of the dreamer, ordered and looked at from the command line."""
