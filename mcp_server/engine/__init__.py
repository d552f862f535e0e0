"""The engine process of a vault, and how bridges and the command line reach it."""
