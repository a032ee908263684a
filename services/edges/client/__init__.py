"""The reference client: does to a recorded session what a harness adapter does to a live one."""
