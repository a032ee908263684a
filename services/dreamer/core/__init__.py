"""What the dreamer decides, without a clock, a disk or a broker."""
