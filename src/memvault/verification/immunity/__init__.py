"""Immunity: finding texts that try to give orders to the models that read them."""

from memvault.verification.immunity.check import Action, Evidence, Finding, Immunity
from memvault.verification.immunity.classifier import CLASSIFIED_MODEL

__all__ = ["CLASSIFIED_MODEL", "Action", "Evidence", "Finding", "Immunity"]
