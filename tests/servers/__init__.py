"""Real database servers for the tests, each a process of its own on a free port."""
