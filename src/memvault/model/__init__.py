"""Types that all other packages share. Imports no other package of memvault."""
