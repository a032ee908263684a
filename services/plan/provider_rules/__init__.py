"""What a provider would refuse: pairs that are torn, and changes in front of signed thinking."""
