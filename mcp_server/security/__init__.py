"""Who may speak to the engine."""
