"""Finds texts that try to give orders to the models that read them."""

from memvault.verification.immunity.check import Action, Assessment, Immunity, SuspectExcerpt

__all__ = ["Action", "Assessment", "Immunity", "SuspectExcerpt"]
