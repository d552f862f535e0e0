"""The application that answers: engine, bridge, tools, resources, prompts."""
