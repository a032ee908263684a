"""The searcher: finds what was said, remembered, noted, compressed and committed, and says where it looked."""
