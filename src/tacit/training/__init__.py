"""What every system that trains shares: settings, the folder of a run, the loop that can be killed, TensorBoard events."""
