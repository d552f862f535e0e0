"""What changes in memory by itself: it fades, learns from use, and dreams."""
