"""The plan of a prompt: which edits it gets, when they change, and what they cost. Pure; the responder runs it."""
