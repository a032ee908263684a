"""The desk: where wishes are checked against the log and become facts, or are refused with a reason."""
