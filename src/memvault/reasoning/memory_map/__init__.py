"""A part of the graph, chosen to be looked at, and drawn as Mermaid, D3 or Graphviz."""
