"""What the commit indexer asks git, how it reads the answers, and what of them is recorded."""
