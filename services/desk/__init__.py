"""The desk: where commands are checked against the log and become facts, or are refused with a reason."""
