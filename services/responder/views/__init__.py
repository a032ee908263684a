"""Tables and views over the log: the store, its tables, and one SQL file for each view."""
