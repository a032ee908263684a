"""Generated pages and schemas: everything about the language and the house that can be read off the code."""
