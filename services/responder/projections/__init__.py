"""What the responder folds in memory: one module for each projection, which registers itself by defining it."""
