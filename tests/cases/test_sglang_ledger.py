"""SGLang's lines of one rank -> its ledger: one line for each model, each pool and each capture."""

from analyzer.cases.sglang_ledger import sglang_items
from analyzer.facts.fact import Fact
from tests.cases.making import made

BEGIN = made("load_weight_begin", 1, free="78.50 GiB")
TARGET = made("load_weight_end", 2, free="14.20 GiB", weights="64.30 GiB")
DRAFT_BEGIN = made("load_weight_begin", 11, free="6.70 GiB")
DRAFT = made("load_weight_end", 12, free="4.20 GiB", weights="2.50 GiB")
POOL = made("kv_cache_allocated", 3, k_size="2.34 GiB", v_size="2.34 GiB")
POOL_END = made("memory_pool_end", 4, free="9.02 GiB")


def figures(*facts: Fact) -> dict[str, str]:
    return {name: item.size.text for name, item in sglang_items(facts).items()}


def test_one_model_and_one_pool() -> None:
    assert figures(BEGIN, TARGET, POOL, POOL_END) == {
        "free_at_start": "78.50 GiB",
        "free_after_load": "14.20 GiB",
        "weights": "64.30 GiB",
        "kv_cache": "4.68 GiB",
    }


def test_a_draft_model_after_the_pools_is_outside_their_budget() -> None:
    found = figures(BEGIN, TARGET, POOL, POOL_END, DRAFT_BEGIN, DRAFT)
    assert (found["free_at_start"], found["free_after_load"], found["weights"]) == ("78.50 GiB", "14.20 GiB", "66.80 GiB")


def test_a_draft_model_before_the_pools_is_inside_it() -> None:
    found = figures(BEGIN, TARGET, DRAFT_BEGIN, made("load_weight_end", 3, free="11.70 GiB", weights="2.50 GiB"), POOL)
    assert (found["free_after_load"], found["weights"]) == ("11.70 GiB", "66.80 GiB")


def test_free_memory_at_the_start_is_reconstructed() -> None:
    assert figures(TARGET)["free_at_start"] == "78.50 GiB"
    assert "free_at_start" not in figures(made("load_weight_end", free="14.20 GiB"))


def test_weights_of_releases_that_do_not_print_them() -> None:
    assert figures(BEGIN, made("load_weight_end", 2, free="14.20 GiB"))["weights"] == "64.30 GiB"


def test_the_summary_of_two_pools_is_not_added_to_them() -> None:
    full = made("kv_cache_allocated", 5, k_size="41.76 GiB", v_size="27.84 GiB")
    windows = made("kv_cache_allocated", 6, k_size="4.82 GiB", v_size="3.21 GiB")
    summary = made("kv_swa_usage", 7, kv_size="77.63 GiB")
    assert figures(full, windows, summary)["kv_cache"] == "77.63 GiB"
    assert figures(windows, summary)["kv_cache"] == "77.63 GiB", "a line of the pools is missing in this log"


def test_state_caches_count_as_pools() -> None:
    states = made("mamba_alloc", 5, conv_state="0.22 GiB", ssm_state="11.39 GiB")
    assert figures(POOL, states)["kv_cache"] == "16.29 GiB"


def test_a_reserved_address_range_is_no_pool() -> None:
    reserved = made("kv_cache_allocated", 5, virtual=True, k_size="60.00 GiB", v_size="60.00 GiB")
    assert "kv_cache" not in figures(reserved)
    assert figures(reserved, made("post_capture_kv", 9, kv_size="48.80 GiB"))["kv_cache"] == "48.80 GiB"


def test_a_range_that_is_not_called_one_is_known_by_the_pool_that_is_backed_later() -> None:
    reserved = made("kv_cache_allocated", 5, k_size="27.30 GiB", v_size="27.30 GiB", tokens=447000)
    backed = made("post_capture_kv", 9, kv_size="48.80 GiB", tokens=400000)
    draft = made("kv_cache_allocated", 6, k_size="0.70 GiB", v_size="0.70 GiB", tokens=447000)
    assert figures(reserved, backed)["kv_cache"] == "48.80 GiB"
    assert figures(reserved, draft, backed)["kv_cache"] == "50.20 GiB", "the draft's pool is not sized again before 0.5.22"
    assert figures(reserved, made("post_capture_kv", 9, tokens=400000))["kv_cache"] == "54.60 GiB", "0.5.16 prints no size"


def test_pools_of_releases_that_do_not_print_them() -> None:
    assert figures(BEGIN, TARGET, POOL_END)["kv_cache"] == "5.18 GiB"


def test_graphs_of_all_captures() -> None:
    decode, prefill = made("capture_graph_end", 5, cuda_graphs="2.10 GiB"), made("capture_graph_end", 6, cuda_graphs="0.40 GiB")
    assert figures(decode)["cuda_graphs"] == "2.10 GiB"
    assert figures(decode, prefill)["cuda_graphs"] == "2.50 GiB"


def test_nothing_printed_nothing_known() -> None:
    assert figures(made("decode_batch")) == {}
