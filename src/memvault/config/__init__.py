"""Settings, and the folders on disk where state is kept."""
