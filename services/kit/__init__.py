"""What rooms share; each outside library enters by one door."""
