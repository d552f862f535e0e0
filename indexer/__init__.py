"""The application that keeps the indexes in step with the vault: watch, scan, index, rebuild."""
