"""Rules of providers: what they would refuse, such as torn pairs, and changes in front of signed thinking."""
