"""The tasks of the dreamer, a module each: what each of them would change, read off one scene."""
