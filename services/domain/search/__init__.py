"""Search: what a row of the index is, how texts become words, and how what was found is ranked and printed."""
