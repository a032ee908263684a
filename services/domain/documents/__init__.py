"""Documents of a project that changes are proposed to: their lines, edits of them, and what was decided on those."""
