"""Fields of knowledge, and how strongly relations act in each (core REQ-CORE-027, Marblestone)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class Domain(StrEnum):
    CODE = "code"  # source code, programming, technical implementation
    LEGAL = "legal"  # contracts, legal documents, compliance
    MEDICAL = "medical"  # medicine, clinical data, health
    CREATIVE = "creative"  # creative works, art, design
    RESEARCH = "research"  # academic research, papers, experiments
    GENERAL = "general"  # anything else


class NeurotransmitterWeights(BaseModel):
    """How an edge's weight is modulated; each in [0, 1].

    ``excitatory`` (glutamate-like) strengthens the edge, ``inhibitory`` (GABA-like) dampens it,
    ``modulatory`` (dopamine-like) says how much of their balance is let through.
    """

    model_config = ConfigDict(frozen=True)

    excitatory: float = Field(0.5, ge=0.0, le=1.0)
    inhibitory: float = Field(0.2, ge=0.0, le=1.0)
    modulatory: float = Field(0.3, ge=0.0, le=1.0)

    def net_activation(self) -> float:
        """The balance of the three, in [-1, 1] (core, appendix A)."""
        return (self.excitatory - self.inhibitory) * (0.5 + 0.5 * self.modulatory)

    @staticmethod
    def for_domain(domain: Domain) -> NeurotransmitterWeights:
        """The profile that edges of this domain begin with."""
        return _PROFILES[domain]


def _profile(excitatory: float, inhibitory: float, modulatory: float) -> NeurotransmitterWeights:
    return NeurotransmitterWeights(
        excitatory=excitatory, inhibitory=inhibitory, modulatory=modulatory
    )


_PROFILES = {
    Domain.CODE: _profile(0.7, 0.1, 0.4),
    Domain.LEGAL: _profile(0.5, 0.4, 0.2),
    Domain.MEDICAL: _profile(0.6, 0.3, 0.5),
    Domain.CREATIVE: _profile(0.8, 0.05, 0.7),
    Domain.RESEARCH: _profile(0.6, 0.2, 0.6),
    Domain.GENERAL: NeurotransmitterWeights(),
}
