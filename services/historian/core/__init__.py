"""The pure half of the historian: states, and what follows from them."""
