"""Dreams: find missing links, summaries and open questions, and propose them to the person."""
