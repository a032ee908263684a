"""What the embedder decides, as values: whether a remote model is asked, and where it may be."""
