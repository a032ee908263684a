"""`annals project`: which projects there are, under which names, and what a person says about that."""
