"""The rules of the house as a program: who may import whom, how long a thing may be, what a name may not be."""
