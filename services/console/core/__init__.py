"""The console's answers, as values: rows as JSON, and rows divided into pages."""
