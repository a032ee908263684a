"""The commit indexer: tells the log what the history of each project's repository holds, and who speaks of it."""
