"""Plants faults into models that run, and judges what is said about them."""
