"""The historian: compresses what lies behind a session's newest messages, by rules or with a model."""
