"""What follows from what the notes say: causes, generality, contradictions, and how to ask on."""
