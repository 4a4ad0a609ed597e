"""The reserve behind SGLang's automatic mem_fraction_static, term by term, in MiB; 0.4.7.post1 - 0.5.23.

    fraction = (card - reserve) / card, rounded to three decimals

Source: sglang/srt/server_args.py; from 0.5.19 arg_groups/memory_hook.py. Read at 0.5.2, 0.5.3, 0.5.6 - 0.5.10, 0.5.14 - 0.5.20, 0.5.23.
"""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.engines.release import value_since
from analyzer.engines.sglang_launch import Launch, filled
from analyzer.engines.sglang_prefill_graphs import captured_token_counts, captures_prefill_graphs, maximum_tokens

LARGE_CARD_MIB = 60 * 1024
FLOOR_MIB = 10 * 1024
SMALLEST_ACTIVATION_TOKENS = 2048

SPECULATIVE_MIB = (
    # first release, (STANDALONE, NGRAM, any other algorithm)
    ("0.4.7.post1", (6144, 2048, 2048)),
    ("0.5.3", (6144, 0, 2048)),
    ("0.5.10", (6144, 0, 4096)),
    ("0.5.14", (0, 0, 0)),  # the draft model counts as weights
)

POST_CAPTURE_BASE_MIB = (("0.5.16", 512), ("0.5.18", 1536))
"""Base of the reserve where pools are sized after graph capture (SGLANG_ENABLE_POST_CAPTURE_KV_SIZING)."""

PREFILL_GRAPH_MIB = 8
PREFILL_GRAPHS_OF_LATENT_ATTENTION_MIB = 1536


@dataclass(frozen=True, slots=True)
class Term:
    """One summand of the reserve; `because` is its arithmetic."""

    name: str
    mib: float
    because: str


@dataclass(frozen=True, slots=True)
class Reserve:
    """All summands, in the engine's order; zero ones are left out."""

    terms: tuple[Term, ...]

    @property
    def mib(self) -> float:
        return sum(term.mib for term in self.terms)


def reserve(launch: Launch) -> Reserve | None:
    """The reserve of a launch; None before 0.4.7.post1, for an unknown release, and by-card releases with an unknown card."""
    if not launch.is_within("0.4.7.post1"):
        return None
    launch = filled(launch)
    if not launch.is_within("0.5.3"):
        return _by_card(launch) if launch.card_mib is not None else None
    if launch.post_capture_sizing and launch.is_within("0.5.16"):
        base = value_since(POST_CAPTURE_BASE_MIB, launch.release) or 0
        return _without_zeros([Term("base", base, "pools are sized after graph capture"), _parallel(launch)])
    terms = [Term("base", 512, "constant"), _activations(launch), _parallel(launch), *_graphs(launch)]
    if launch.is_within("0.5.8"):
        terms.append(_prefill_graphs(launch))
    terms += [_floor(launch, sum(term.mib for term in terms)), *_beyond_the_floor(launch)]
    return _without_zeros(terms)


def activation_tokens(launch: Launch) -> int:
    """The tokens that the activation term counts: a chunk, a whole prefill where chunking is off, a decode batch on a decode server."""
    launch = filled(launch)
    if launch.role == "decode" and launch.is_within("0.5.15"):
        running = launch.max_running_requests or launch.graph_max_batch_size or 1
        return max(running * (launch.draft_tokens or 1), SMALLEST_ACTIVATION_TOKENS)
    chunk = launch.chunked_prefill_size or 0
    return max(chunk if chunk > 0 else launch.max_prefill_tokens, SMALLEST_ACTIVATION_TOKENS)


def _by_card(launch: Launch) -> Reserve:
    """0.4.7.post1 - 0.5.2."""
    card, ranks = launch.card_mib or 0, launch.tp * launch.pp
    if card < 35 * 1024:
        base, arithmetic = (2.8 + ranks / 10) * 1024, f"(2.8 + {ranks} / 10) GiB, card below 35 GiB"
    elif card < 90 * 1024:
        base, arithmetic = (9.5 + ranks / 2) * 1024, f"(9.5 + {ranks} / 2) GiB, card below 90 GiB"
    elif card < 160 * 1024:
        base, arithmetic = (12 + ranks / 2) * 1024, f"(12 + {ranks} / 2) GiB, card below 160 GiB"
    else:
        base, arithmetic = 32 * 1024.0, "32 GiB, card of 160 GiB and more"
    attention = 4096 if launch.dp_attention else 0
    return _without_zeros([Term("card", base, arithmetic), _speculative(launch), Term("data-parallel attention", attention, "constant")])


def _activations(launch: Launch) -> Term:
    tokens = activation_tokens(launch)
    return Term("activations", 1.5 * tokens, f"1.5 x {tokens} tokens")


def _parallel(launch: Launch) -> Term:
    return Term("parallel size", launch.tp * launch.pp / 8 * 1024, f"tp {launch.tp} x pp {launch.pp} / 8 GiB")


def _graphs(launch: Launch) -> list[Term]:
    """Decode graphs and, with data-parallel attention, the padding of their buffers."""
    by_phase = launch.is_within("0.5.15")
    if by_phase and launch.role == "prefill":
        return []
    batch = launch.graph_max_batch_size or 0
    terms = [] if by_phase and not launch.decode_graphs else [Term("decode graphs", 2 * batch, f"2 x batch {batch}")]
    if launch.dp_attention:
        ranks = _attention_ranks(launch)
        each = 4.5 if batch > 300 else 3
        terms.append(Term("data-parallel attention", each * batch * ranks, f"{each:g} x batch {batch} x {ranks} ranks"))
    return terms


def _attention_ranks(launch: Launch) -> int:
    """The ranks of data-parallel attention: dp_size, from 0.5.22 the size of the attention group."""
    own = launch.attention_dp if launch.is_within("0.5.22") else None
    return own if own is not None else launch.dp


def _prefill_graphs(launch: Launch) -> Term:
    """0.5.8 -: part of what the floor covers."""
    name = "prefill graphs"
    if not captures_prefill_graphs(launch) or (launch.role == "decode" and launch.is_within("0.5.15")):
        return Term(name, 0, "none")
    expert_buffers = 1024 if launch.deepep and launch.is_within("0.5.17") else 0
    if launch.mla and launch.is_within("0.5.10"):
        return Term(name, PREFILL_GRAPHS_OF_LATENT_ATTENTION_MIB + expert_buffers, "constant with latent attention")
    count = len(captured_token_counts(launch))
    return Term(name, PREFILL_GRAPH_MIB * count + expert_buffers, f"{PREFILL_GRAPH_MIB} x {count} graphs")


def _floor(launch: Launch, so_far: float) -> Term:
    raised = max(0.0, FLOOR_MIB - so_far) if launch.card_mib is not None and launch.card_mib > LARGE_CARD_MIB else 0
    return Term("floor", raised, "raised to 10 GiB on a card of more than 60 GiB")


def _beyond_the_floor(launch: Launch) -> list[Term]:
    """What comes on top of the floor."""
    terms = [_speculative(launch)]
    if launch.is_within("0.5.5.post1", "0.5.8") and captures_prefill_graphs(launch):
        share, tokens = 8 if launch.is_within("0.5.7") else 4, maximum_tokens(launch)
        terms.append(Term("prefill graphs", tokens // share, f"{tokens} tokens / {share}"))
    if launch.deepep and launch.decode_graphs and launch.role != "prefill" and launch.is_within("0.5.15"):
        terms.append(Term("expert all-to-all", 2048, "constant with DeepEP and decode graphs"))
    if launch.platform == "xpu" and launch.is_within("0.5.20"):
        terms.append(Term("matrix scratch", 2048, "constant on XPU"))
    return terms


def _speculative(launch: Launch) -> Term:
    name, algorithm = "speculative decoding", launch.speculative_algorithm
    row = value_since(SPECULATIVE_MIB, launch.release)
    if algorithm is None or row is None:
        return Term(name, 0, "none")
    standalone, ngram, other = row
    return Term(name, {"STANDALONE": standalone, "NGRAM": ngram}.get(algorithm.upper(), other), f"constant of {algorithm}")


def _without_zeros(terms: list[Term]) -> Reserve:
    return Reserve(tuple(term for term in terms if term.mib))
