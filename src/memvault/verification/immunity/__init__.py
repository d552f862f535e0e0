"""Finds texts that try to give orders to the models that read them."""

from memvault.verification.immunity.check import Action, Assessment, Immunity, SuspectExcerpt
from memvault.verification.immunity.verdicts import Verdicts

__all__ = ["Action", "Assessment", "Immunity", "SuspectExcerpt", "Verdicts"]
