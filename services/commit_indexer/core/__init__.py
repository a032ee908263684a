"""The commit indexer's questions to git, how it reads the answers, and what it records."""
