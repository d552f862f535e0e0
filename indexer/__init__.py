"""The application that keeps the indexes up to date with the vault: watch, scan, index, rebuild."""
