"""The application that keeps the indexes true: watch, scan, parse, diff, embed, commit; rebuild."""
