"""The times that questions and notes name."""
