"""The fraction that SGLang's figures imply, and why it is not the printed one."""

from pathlib import Path

import pytest
import yaml
from packaging.version import Version

from analyzer.engines.sglang_default_fraction import default_fraction
from analyzer.engines.sglang_effective import effective_fraction, explanations, implied_fraction
from analyzer.engines.sglang_launch import Launch
from analyzer.engines.tokens import mla_bytes_per_token, pool_for
from analyzer.units import GIB, Size, parse_size
from tests.engines.cards import MI300X


def gib(amount: str) -> Size:
    return parse_size(f"{amount} GiB")


def corpus_log(fixtures_dir: Path, name: str) -> str:
    return str(yaml.safe_load((fixtures_dir / "corpus" / name).read_text(encoding="utf-8"))["log"])


def test_figures_that_agree_with_the_printed_value() -> None:
    # 0.85 x 78 - 60 = 6.3
    found = effective_fraction(0.85, gib("78.00"), gib("18.00"), gib("6.30"), Version("0.5.10"))
    assert found.implied == pytest.approx(0.85)
    assert found.low < 0.85 < found.high
    assert (found.differs, found.explanations) == (False, ())


def test_rounding_of_the_figures_alone_is_no_difference() -> None:
    """On a card of 2 GiB two decimals leave so much open that 0.87 and 0.85 cannot be told apart."""
    found = effective_fraction(0.868, gib("0.50"), gib("0.20"), gib("0.12"), Version("0.5.10"))
    assert found.implied == pytest.approx(0.84)
    assert found.high > 0.86
    assert not found.differs


def test_interval_covers_every_value_within_the_printed_decimals() -> None:
    nominal, low, high = implied_fraction(gib("44.17"), gib("36.61"), gib("14.52"))
    ends = [(pre - post + kv) / pre for pre in (44.165, 44.175) for post in (36.605, 36.615) for kv in (14.515, 14.525)]
    assert low == pytest.approx(min(ends), abs=1e-6)
    assert high == pytest.approx(max(ends), abs=1e-6)
    assert low < nominal < high


def test_a_pool_that_leaves_half_the_card_idle(fixtures_dir) -> None:
    """A 4B model with 7.56 GB of weights and a pool of 2 x 7.26 GB, of 44.17 GB free before loading."""
    log = corpus_log(fixtures_dir, "sglang-123-healthy-qwen3-4b-hicache-mooncake.yaml")
    assert "avail mem=36.61 GB, mem usage=7.56 GB" in log
    assert "#tokens: 105600, K size: 7.26 GB, V size: 7.26 GB" in log
    pre = gib("36.61") + gib("7.56")
    found = effective_fraction(0.85, pre, gib("36.61"), gib("7.26") * 2, Version("0.5.9"))
    assert found.implied == pytest.approx(0.5, abs=0.001)
    assert found.differs
    assert "max_total_tokens caps the pool" in [explanation.text for explanation in found.explanations]


def test_state_pools_count_too(fixtures_dir) -> None:
    """A hybrid model: states of 24.23 GB stand beside 26.86 GB of KV, and without them the fraction would seem to be 0.61."""
    log = corpus_log(fixtures_dir, "sglang-120-healthy-qwen36-27b-hybrid-mtp-fp8.yaml")
    figures = ["avail mem=62.26 GB, mem usage=28.47 GB", "conv_state size: 0.22GB, ssm_state size: 11.39GB", "K size: 13.43 GB"]
    assert all(text in log for text in figures)
    states = gib("0.22") + gib("11.39") + gib("12.38") + gib("0.24")
    nominal, low, high = implied_fraction(gib("62.26") + gib("28.47"), gib("62.26"), states + gib("13.43") * 2)
    assert nominal == pytest.approx((28.47 + 24.23 + 26.86) / 90.73)
    assert low < 0.8769 < high


def test_a_default_in_effect_where_another_value_was_told(fixtures_dir) -> None:
    """DeepSeek R1 on 8 MI300X, "started with 0.95": the negative number of tokens gives 0.69, which is the default x 0.85."""
    log = corpus_log(fixtures_dir, "sglang-006-mi300x-dsr1-dp-negative-profile.yaml")
    assert "avail mem=21.73 GB, mem usage=166.59 GB" in log
    assert "larger than the profiled value -561981" in log
    version = Version("0.4.8.post1")
    automatic = default_fraction(Launch(release=version, card_mib=MI300X, tp=8, dp=8, dp_attention=True, platform="rocm"))
    assert automatic == 0.812
    pools = pool_for(-561_981, mla_bytes_per_token(latent_rank=512, rope_size=64, layers=61))
    found = effective_fraction(0.95, gib("21.73") + gib("166.59"), gib("21.73"), pools, version, automatic)
    assert found.implied == pytest.approx(0.689, abs=5e-4)
    fitting = [explanation for explanation in found.explanations if explanation.fits]
    assert [explanation.text for explanation in fitting] == [f"the engine's own default was in effect; {AITER_UNSEEN}"]
    assert fitting[0].expected == pytest.approx(0.812 * 0.85)


MULTIMODAL = "a multimodal model: the runner scales even an explicit value, unseen in the arguments"
AITER_UNSEEN = "aiter attention with a context above 8192 tokens, unseen in the arguments"
AITER_SEEN = "aiter attention with a context above 8192 tokens scales what was asked for"
SPARSE = "DeepSeek sparse attention sets 0.8, whatever is asked"
NOT_IN_EFFECT = "a reduction for multimodal models is printed, but is not in effect"


@pytest.mark.parametrize(
    ("version", "printed", "implied", "fitting"),
    [
        ("0.3.4", 0.836, 0.88, [NOT_IN_EFFECT]),
        ("0.3.5", 0.836, 0.88, []),
        ("0.4.4.post3", 0.88, 0.836, [MULTIMODAL]),
        ("0.4.4.post4", 0.88, 0.79, [MULTIMODAL]),  # Gemma3 27B on a 4090: 0.88 printed, about 0.79 in effect
        ("0.4.9", 0.88, 0.79, []),
        ("0.4.6", 0.90, 0.765, []),
        ("0.5.4", 0.90, 0.765, [AITER_UNSEEN]),
        ("0.5.5", 0.90, 0.765, [AITER_SEEN]),
        ("0.5.3", 0.95, 0.80, [AITER_UNSEEN, SPARSE]),
        ("0.5.4", 0.95, 0.80, [AITER_UNSEEN]),
    ],
)
def test_reasons_by_release(version: str, printed: float, implied: float, fitting: list[str]) -> None:
    found = explanations(printed, implied, Version(version))
    assert sorted(explanation.text for explanation in found if explanation.fits) == sorted(fitting)
    assert [explanation.fits for explanation in found] == sorted((explanation.fits for explanation in found), reverse=True)


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        # the first release that has the reason, and the first that has it no more
        (NOT_IN_EFFECT, "0.2.14.post2", "0.3.5"),
        (MULTIMODAL, "0.3.5", "0.4.9"),
        (AITER_UNSEEN, "0.4.7", "0.5.4.post1"),
        (AITER_SEEN, "0.5.4.post1", None),
        ("the draft model's tokens were added to the pool after it was sized", "0.4.3.post3", "0.5.7"),
        ("max_total_tokens caps the pool", "0.2.8", None),
        ("another rank had less free memory: the smallest one sizes the pool of all", "0.1.26", None),
        ("something else took memory while the weights were loaded", "0.1.26", None),
        ("loading left temporary tensors behind when the pool was sized", "0.1.26", "0.5.19"),
        ("the draft model's weights count as static and are not in these figures", "0.5.14", None),
        ("pools were sized again after graph capture, which only shrinks them", "0.5.16", None),
        ("caches of a multimodal model were taken off the pool", "0.5.18", None),
        ("the wrapper that starts the engine passes another value than it shows", "0.1.26", None),
        (SPARSE, "0.5.3", "0.5.3.post1"),
    ],
)
def test_a_reason_starts_and_ends_with_its_release(text: str, first: str, after: str | None) -> None:
    earlier = "0.1.25 0.1.26 0.2.7 0.2.8 0.2.14.post1 0.2.14.post2 0.3.4.post2 0.3.5 0.4.3.post2 0.4.3.post3 0.4.4.post3 0.4.4.post4"
    between = "0.4.6.post5 0.4.7 0.4.8.post1 0.4.9 0.5.2 0.5.3 0.5.3.post1 0.5.4 0.5.4.post1 0.5.6.post2 0.5.7"
    later = "0.5.13.post1 0.5.14 0.5.15.post1 0.5.16 0.5.17 0.5.18 0.5.19 0.5.23"
    for release in (*earlier.split(), *between.split(), *later.split()):
        version = Version(release)
        named = {entry.text for implied in (0.7, 0.9) for entry in explanations(0.8, implied, version)}
        assert (text in named) is (Version(first) <= version and (after is None or version < Version(after))), release


@pytest.mark.parametrize(
    ("version", "factor"), [("0.4.4.post3", 0.95), ("0.4.4.post4", 0.90), ("0.5.4", 0.85), ("0.5.4.post1", 0.90), ("0.5.4.post2", 0.85)]
)
def test_a_factor_changes_with_its_release(version: str, factor: float) -> None:
    found = [entry.expected for entry in explanations(0.88, 0.8, Version(version)) if entry.text in (MULTIMODAL, AITER_UNSEEN, AITER_SEEN)]
    assert found == [pytest.approx(0.88 * factor)]


def test_direction_decides_which_reasons_are_named() -> None:
    down, up = ({entry.text for entry in explanations(0.8, implied, Version("0.5.6"))} for implied in (0.7, 0.9))
    assert "max_total_tokens caps the pool" in down - up
    assert "the draft model's tokens were added to the pool after it was sized" in up - down


def test_nothing_is_explained_for_an_unknown_release() -> None:
    found = effective_fraction(0.9, Size.exact(78 * GIB), Size.exact(18 * GIB), Size.exact(GIB), None)
    assert found.differs
    assert found.explanations == ()
