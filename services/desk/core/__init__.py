"""The pure half of the desk: states, and what follows from them."""
