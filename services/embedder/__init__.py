"""The embedder: texts become vectors here, in one process for all rooms, by a small model or a remote one."""
