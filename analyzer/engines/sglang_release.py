"""SGLang prints no release number; which arguments its dump of all server arguments has tells it.

Source: the fields of ServerArgs, sglang/srt/server_args.py, from 0.5.20 arg_groups/field_order.py, of 54 releases 0.2.0 - 0.5.23. A
boundary between two of them lies somewhere between; it stands at the later one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from packaging.version import Version

from analyzer.engines.release import is_within

ADDED = (
    # first release, some of the arguments that are new in it and have stayed
    ("0.1.26", ""),
    ("0.2.9", "max_total_tokens schedule_policy served_model_name"),
    ("0.2.13", "skip_tokenizer_init"),
    ("0.2.15", "disable_cuda_graph_padding kv_cache_dtype triton_attention_reduce_in_fp32"),
    ("0.3.3", "attention_backend lora_paths max_loras_per_batch"),
    ("0.3.5", "device enable_cache_report torch_compile_max_bs"),
    ("0.3.6", "base_gpu_id enable_dp_attention enable_metrics"),
    ("0.4.0", "cpu_offload_gb disable_outlines_disk_cache revision"),
    ("0.4.1", "ep_size triton_attention_num_kv_splits"),
    ("0.4.2", "enable_memory_saver speculative_algorithm speculative_num_steps"),
    ("0.4.3", "enable_hierarchical_cache enable_nccl_nvls lora_backend"),
    ("0.4.4", "speculative_accept_threshold_acc speculative_accept_threshold_single speculative_token_map"),
    ("0.4.5", "disaggregation_bootstrap_port disaggregation_mode hicache_ratio"),
    ("0.4.5.post2", "disaggregation_ib_device disaggregation_transfer_backend moe_dense_tp_size"),
    ("0.4.5.post3", "enable_tokenizer_batch_encode hicache_size hicache_write_policy"),
    ("0.4.6", "enable_multimodal"),
    ("0.4.6.post2", "pp_size"),
    ("0.4.6.post3", "mm_attention_backend"),
    ("0.4.6.post5", "enable_dp_lm_head enable_eplb kv_events_config"),
    ("0.4.7", "enable_mscclpp enable_two_batch_overlap eplb_algorithm"),
    ("0.4.7.post1", "enable_profile_cuda_graph enable_return_hidden_states sleep_on_idle"),
    ("0.4.8", "custom_weight_loader weight_loader_disable_mmap"),
    ("0.4.9", "crash_dump_folder enable_flashinfer_allreduce_fusion nccl_port"),
    ("0.4.9.post3", "disable_hybrid_swa_memory hicache_io_backend hicache_storage_backend"),
    ("0.4.10", "decode_attention_backend max_queued_requests prefill_attention_backend"),
    ("0.5.1", "enable_symm_mem hicache_mem_layout moe_a2a_backend"),
    ("0.5.2", "hicache_storage_backend_extra_config speculative_attention_mode speculative_draft_model_revision"),
    ("0.5.3", "enable_priority_scheduling enable_torch_symm_mem speculative_ngram_capacity"),
    ("0.5.3.post3", "lora_eviction_policy mamba_full_memory_ratio speculative_draft_load_format"),
    ("0.5.4", "abort_on_priority_when_disabled kt_cpuinfer quantize_and_serve"),
    ("0.5.4.post3", "otlp_traces_endpoint rl_on_policy_target speculative_moe_runner_backend"),
    ("0.5.5", "kt_max_deferred_experts_per_token"),
    ("0.5.5.post2", "kt_method kt_weight_path"),
    ("0.5.5.post3", "enable_attn_tp_input_scattered enable_draft_weights_cpu_backup enable_layerwise_nvtx_marker"),
    ("0.5.6", "dllm_algorithm mm_enable_dp_encoder mm_process_config"),
    ("0.5.7", "speculative_draft_attention_backend speculative_draft_model_quantization speculative_moe_a2a_backend"),
    ("0.5.8", "enable_lora_overlap_loading enable_prefill_delayer prefill_delayer_max_delay_passes"),
    ("0.5.9", "attn_cp_size mamba_backend moe_dp_size"),
    ("0.5.10", "enable_fused_moe_sum_all_reduce experts_shared_outer_loras speculative_ngram_max_trie_depth"),
    ("0.5.11", "debug_cuda_graph enable_dp_attention_local_control_broadcast speculative_adaptive"),
    ("0.5.12", "lora_drain_wait_threshold prefill_only_disable_kv_cache speculative_draft_window_size"),
    ("0.5.13", "kv_canary kv_canary_real_data kv_canary_sweep_interval"),
    ("0.5.14", "cuda_graph_bs_decode cuda_graph_bs_prefill cuda_graph_config"),
    ("0.5.15", "enable_page_major_kv_layout enable_unified_memory uses_mamba_radix_cache"),
    ("0.5.16", "speculative_dspark_block_size speculative_dspark_confidence_sts_path speculative_dspark_sps_table_path"),
    ("0.5.17", "enable_cp_decode_attn_tp enable_linear_replayssm_spec mamba_max_states_per_path"),
    ("0.5.18", "disaggregation_decode_retraction_backup mlx_enable_sampling speculative_draft_kv_cache_dtype"),
    ("0.5.19", "enable_lean_attention enable_w4a4_mxfp4_megamoe hicache_host_memory_mode"),
    ("0.5.20", "enable_unified_cache_external_linker sampling_mask_max_tokens uno_lora_path"),
    ("0.5.21", "cuda_graph_max_seq_len_prefill cuda_graph_prefill_max_context hicache_host_memory_fraction"),
    ("0.5.22", "attn_dp_size enable_kv_cache_sharding speculative_enable_w4a4_mxfp4_megamoe"),
    ("0.5.23", "enable_megamoe_for_layernorm_sp speculative_boundary_reduction speculative_draft_sink_size"),
)

REMOVED = (
    # first release without them, some of the arguments that are gone for good
    ("0.2.9", "schedule_heuristic"),
    ("0.2.15", "attention_reduce_in_fp32 efficient_weight_load"),
    ("0.3.3", "enable_mla max_num_reqs nccl_init_addr"),
    ("0.3.5", "max_torch_compile_bs"),
    ("0.3.6", "disable_flashinfer disable_penalizer enable_overlap_schedule"),
    ("0.4.0", "disable_disk_cache"),
    ("0.4.4", "disable_jump_forward file_storage_pth return_hidden_states"),
    ("0.4.5.post2", "disable_mla enable_flashinfer_mla enable_flashmla"),
    ("0.4.6", "enable_llama4_multimodal"),
    ("0.4.7", "n_share_experts_fusion"),
    ("0.4.9.post3", "disable_overlap_cg_plan impl"),
    ("0.4.10", "enable_flashinfer_moe"),
    ("0.5.2", "pdlb_url"),
    ("0.5.3", "enable_deepep_moe enable_ep_moe enable_triton_kernel_moe"),
    ("0.5.3.post3", "debug_tensor_dump_prefill_only max_micro_batch_size"),
    ("0.5.4", "crash_on_nan nsa_decode nsa_prefill"),
    ("0.5.4.post3", "enable_beta_spec oltp_traces_endpoint"),
    ("0.5.5.post2", "kt_amx_method kt_amx_weight_path"),
    ("0.5.7", "dllm_block_size enable_flashinfer_autotune load_watch_interval"),
    ("0.5.8", "hybrid_kvcache_ratio prefill_round_robin_balance"),
    ("0.5.9", "disaggregation_decode_enable_fake_auto"),
    ("0.5.10", "enable_piecewise_cuda_graph hierarchical_sparse_attention_extra_config speculative_ngram_branch_length"),
    ("0.5.11", "ds_heavy_channel_num ds_heavy_token_num enable_double_sparsity"),
    ("0.5.12", "speculative_dflash_draft_window_size"),
    ("0.5.13", "enable_nan_detection enable_nsa_prefill_context_parallel record_nolora_graph"),
    ("0.5.14", "cuda_graph_bs cuda_graph_max_bs piecewise_cuda_graph_tokens"),
    ("0.5.16", "enable_deepep_waterfill grpc_http_sidecar_port optimistic_prefill_retries"),
    ("0.5.17", "enable_gdn_replayssm_spec"),
    ("0.5.18", "enable_expert_distribution_metrics torchao_config"),
    ("0.5.20", "dsa_prefill_cp_mode enable_dsa_prefill_context_parallel enable_prefill_context_parallel"),
    ("0.5.21", "elastic_ep_rejoin keep_mm_feature_on_device"),
    ("0.5.22", "cuda_graph_tc_compiler"),
    ("0.5.23", "speculative_skip_dp_mlp_sync"),
)

IN_EVERY_RELEASE = frozenset({
    "api_key", "chat_template", "context_length", "disable_cuda_graph", "disable_radix_cache", "dp_size", "dtype", "enable_p2p_check",
    "enable_torch_compile", "host", "load_balance_method", "load_format", "log_level", "log_level_http", "log_requests",
    "max_prefill_tokens", "max_running_requests", "mem_fraction_static", "model_path", "nnodes", "node_rank", "port", "quantization",
    "random_seed", "schedule_conservativeness", "show_time_cost", "stream_interval", "tokenizer_mode", "tokenizer_path", "tp_size",
    "trust_remote_code",
})  # fmt: skip
"""A dump that has all of these was not shortened: what it lacks, the release lacks."""


@dataclass(frozen=True, slots=True)
class Releases:
    """The releases from `since` on and before `before` (None: no end is known)."""

    since: str
    before: str | None

    @property
    def sampled(self) -> tuple[Version, ...]:
        """Those of them whose arguments were read, oldest first. Never empty."""
        return tuple(Version(first) for first, _ in ADDED if is_within(Version(first), self.since, self.before))

    def __str__(self) -> str:
        first, last = self.sampled[0], self.sampled[-1]
        if self.before is None:
            return f"{first} or later"
        return str(first) if first == last else f"{first} to {last}"


def releases_of(names: Collection[str]) -> Releases | None:
    """The releases whose dump of all server arguments can have these names; None where no release fits, such as a build between two."""
    present = set(names)
    since = max((first for first, added in ADDED if not added or present & set(added.split())), key=Version)
    ends = [gone for gone, removed in REMOVED if present & set(removed.split())]
    if present >= IN_EVERY_RELEASE:
        ends += [first for first, added in ADDED if set(added.split()) - present]
    before = min(ends, key=Version, default=None)
    return Releases(since, before) if before is None or Version(since) < Version(before) else None
