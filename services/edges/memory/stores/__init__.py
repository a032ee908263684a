"""The memories that other tools have written down, each store recognised by its content, and read without a change."""
