"""The commit indexer: records the commits of each project's repository, and which sessions name them."""
