"""Runs a model and writes down what happened; torch lives here. All is left as found."""
