"""How a harness on this machine is connected to this installation, and the doctor who looks whether it is."""
