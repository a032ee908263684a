"""The indexer: writes the index of search from the log, and requests the vectors for it."""
