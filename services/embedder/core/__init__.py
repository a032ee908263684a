"""The embedder's decisions, as values: whether a remote model is asked, and where it may be."""
