"""Finds texts that try to give orders to the models that read them."""

from memvault.verification.immunity.check import Action, Evidence, Finding, Immunity

__all__ = ["Action", "Evidence", "Finding", "Immunity"]
