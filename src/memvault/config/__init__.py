"""Settings and the places on disk where state is kept."""
