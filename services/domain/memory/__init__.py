"""What a project remembers: how memories are classed and keyed, how they fade, and how they are shown."""
