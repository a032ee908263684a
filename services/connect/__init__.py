"""How a harness on this machine is connected to this house, and the doctor who looks whether it is."""
