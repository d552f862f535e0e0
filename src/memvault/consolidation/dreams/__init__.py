"""Dreams: what a vault could say or link but does not yet, proposed to the person."""
