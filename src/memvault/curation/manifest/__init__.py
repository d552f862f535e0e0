"""``manifest.md``: what the memory holds, written for a person to set right and read back."""
