"""The types everything else is written in. Imports nothing of memvault but itself."""
