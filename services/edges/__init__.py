"""Everything outside the log: clients, the connection of harnesses, the launcher, the command line."""
