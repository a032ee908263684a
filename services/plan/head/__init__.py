"""The head of a prompt: two synthetic user messages, the project and the history, rewritten only by a rebase."""
