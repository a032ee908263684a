"""What the console answers, as values: how a row is written as JSON, and how rows become pages."""
