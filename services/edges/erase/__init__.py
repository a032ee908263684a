"""`annals erase`: it takes something out of all stores of an installation, and looks for itself whether it is gone."""
