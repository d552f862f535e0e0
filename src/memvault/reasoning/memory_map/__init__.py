"""A part of the graph, selected for viewing and drawn as Mermaid, D3 or Graphviz."""
