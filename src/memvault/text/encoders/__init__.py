"""The models that embed texts and rerank results."""
