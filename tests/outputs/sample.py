"""A result as the analyzer gives it for a failed start with a pinned KV cache, and the same with a hostile log."""

from analyzer.analysis import (
    Abstention,
    Advice,
    Analysis,
    Evidence,
    FactRecord,
    Finding,
    InputRecord,
    LadderRecord,
    Patch,
    Proof,
    RankRecord,
    RunRecord,
    SizeRecord,
    Tool,
    UnknownLine,
    Verdict,
)
from analyzer.units import Size, parse_size

OOM_LINE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 272.00 MiB. GPU 0 has a total capacity of 31.36 GiB of which 149.06 MiB "
    "is free. Process 3988 has 498.00 MiB memory in use. Process 3990 has 8.34 GiB memory in use. Including non-PyTorch memory, this "
    "process has 22.39 GiB memory in use. Of the allocated memory 21.58 GiB is allocated by PyTorch, and 63.30 MiB is reserved by PyTorch "
    "but unallocated."
)
KV_LINE = (
    "Initial free memory 23.0 GiB, reserved 4.84 GiB memory for KV Cache as specified by kv_cache_memory_bytes config and skipped memory "
    "profiling. This does not respect the gpu_memory_utilization config."
)
DIFF = """\
--- a/profiles.yaml
+++ b/profiles.yaml
@@ -13,7 +13,7 @@
     skip_mm_profiling: true
   long_393k:
     engine: vllm
-    requires_free_bytes: 24_053_735_802
+    requires_free_bytes: 25_572_315_586
     gpu_memory_utilization: 0.95
     kv_cache_memory_bytes: 5200000000    # 4.84 GiB
     max_model_len: 393216
"""


def printed(text: str, decimals: int = 2) -> SizeRecord:
    """A size as a log prints it."""
    return SizeRecord.of(parse_size(text, decimals=decimals))


def ledger() -> dict[str, SizeRecord]:
    """The ledger of the failed rank."""
    sizes = {
        "total": printed("31.36 GiB"),
        "free_at_start": printed("23.0 GiB"),
        "other_processes": SizeRecord.of(parse_size("8.34 GiB") + parse_size("498.00 MiB")),
        "weights": printed("16.44 GiB"),
        "kv_pinned": SizeRecord.of(Size.exact(5_200_000_000)),
        "allocated": printed("21.58 GiB"),
        "reserved_unallocated": printed("63.30 MiB"),
        "non_torch": SizeRecord.of(parse_size("22.39 GiB") - parse_size("21.58 GiB") - parse_size("63.30 MiB")),
        "allocation_refused": printed("272.00 MiB"),
        "free_at_failure": printed("149.06 MiB"),
    }
    named = ("other_processes", "weights", "kv_pinned", "non_torch", "free_at_failure")
    used = sum((Size(sizes[name].bytes, sizes[name].low, sizes[name].high) for name in named), Size.exact(0))
    return sizes | {"unaccounted": SizeRecord.of(parse_size("31.36 GiB") - used)}


BASIS = {
    "total": "measured, crash.log:19",
    "free_at_start": "measured, crash.log:12",
    "other_processes": "measured, crash.log:19",
    "weights": "measured, crash.log:11",
    "kv_pinned": "from the arguments, crash.log:4",
    "allocated": "measured, crash.log:19",
    "reserved_unallocated": "measured, crash.log:19",
    "non_torch": "computed: process minus PyTorch, crash.log:19",
    "allocation_refused": "measured, crash.log:19",
    "free_at_failure": "measured, crash.log:19",
    "unaccounted": "computed: total minus everything named",
}


def crash_analysis(text: str = "") -> Analysis:
    """The whole result; `text` is put wherever text of a log or settings file may appear."""
    evidence = [
        Evidence(input="crash.log", line=11, text=f"Model loading took 16.44 GiB memory and 28.352517 seconds{text}"),
        Evidence(input="crash.log", line=12, text=KV_LINE + text),
        Evidence(input="crash.log", line=19, text=OOM_LINE + text),
    ]
    advice = [
        Advice(
            knob="kv_cache_memory_bytes",
            direction="lower",
            value=3_600_000_000,
            low=2_900_000_000,
            high=4_300_000_000,
            why="the pinned arena of 4.84 GiB and the weights of 16.44 GiB leave less than the overhead of 1.72 to 2.42 GiB" + text,
        ),
        Advice(
            knob="gpu_memory_utilization",
            direction="none",
            why="a pinned KV cache makes the engine skip profiling and ignore the utilization",
        ),
    ]
    root = Finding(
        rule="vllm/pinned-arena-does-not-fit",
        severity="error",
        role="root",
        confidence="certain",
        title="The pinned KV cache does not fit beside the weights" + text,
        message="Weights 16.44 GiB + pinned KV cache 4.84 GiB need 21.28 GiB of the 23.0 GiB that were free; 1.72 GiB are too little for "
        "activations, kernels and graphs." + text,
        evidence=evidence,
        patches=[0],
        cause="pinned-kv-arena",
        advice=advice,
        not_proven="How much overhead this model needs on another card." + text,
    )
    bypass = Finding(
        rule="profiles/clamp-without-effect",
        severity="warning",
        role="contributing",
        confidence="certain",
        title="The utilization was clamped to 0.723, which changed nothing",
        message="kv_cache_memory_bytes bypasses gpu_memory_utilization.",
        advice=[
            advice[1],
            Advice(knob="max_num_seqs", direction="lower", value=64, high=128, why="fewer requests at once need a smaller pool" + text),
        ],
        evidence=[
            Evidence(input="crash.log", line=2, text="[profiles] long_393k просит долю 0.95, свободно 23.50 из 31.84 -> прижато до 0.723")
        ],
    )
    autotuner = Finding(
        rule="vllm/autotuner-fallback",
        severity="note",
        role="cascade",
        confidence="likely",
        title="The autotuner ran out of memory and fell back",
        message="Harmless by itself; it shows that the card was full.",
        evidence=[Evidence(input="crash.log", line=15, text="[Autotuner]: OOM detected, falling back to default tactic")],
    )
    patch = Patch(
        file="profiles.yaml",
        line=16,
        path=["profiles", "long_393k", "requires_free_bytes"],
        op="set",
        old=24_053_735_802,
        new=25_572_315_586,
        safety="safe",
        proof=Proof(
            holds=True,
            before="at 25 229 197 312 bytes free long_393k is chosen and fails",
            after="at 25 229 197 312 bytes free the selector goes on to long_262k",
        ),
        diff=DIFF + (f" # {text}\n" if text else ""),
    )
    return Analysis(
        tool=Tool(name="vram-postmortem", version="0.1.0"),
        inputs=[
            InputRecord(
                name="crash.log", bytes=3695, lines=20, sha256="ab" * 32, engine="vllm", engine_version="0.24.0", wrappers=["systemd"]
            )
        ],
        verdict=Verdict(
            outcome="failed",
            cause="pinned-kv-arena",
            phase="warmup",
            confidence="certain",
            summary="Weights (16.44 GiB) and the pinned KV cache (4.84 GiB) leave 1.72 GiB of the 23.0 GiB that were free, and warming up "
            "needs more: an allocation of 272.00 MiB was refused with 149.06 MiB free." + text,
            advice=advice,
        ),
        runs=[
            RunRecord(
                id="run-1",
                input="crash.log",
                engine="vllm",
                engine_version="0.24.0",
                release="0.24.0",
                outcome="failed",
                phase="warmup",
                args={"kv_cache_memory_bytes": 5_200_000_000, "max_model_len": 393_216, "served_model_name": f"/models/served{text}"},
                profile="long_393k",
                path="selected",
                ranks=[RankRecord(rank="TP0", pid=4021, device="cuda:0", ledger=ledger(), basis=BASIS)],
            )
        ],
        findings=[root, bypass, autotuner],
        patches=[patch],
        ladder=[
            LadderRecord(
                profile="long_393k",
                fails_at=[25_229_197_312, 25_371_803_648],
                passes_at=[25_571_033_088, 25_971_589_120],
                threshold={"low": 25_371_803_648, "high": 25_571_033_088},
                overhead={"low": 2_519_488_061, "high": 2_718_717_501},
                notes=["one profile, selected path" + text],
            )
        ],
        facts=[
            FactRecord(
                kind="WeightsLoaded",
                input="crash.log",
                line=11,
                run="run-1",
                rank="TP0",
                fields={"weights": printed("16.44 GiB").model_dump(), "seconds": 28.352517},
            ),
            FactRecord(kind="OutOfMemory", input="crash.log", line=19, run="run-1", rank="TP0", fields={"message": OOM_LINE + text}),
        ],
        file_diffs=[DIFF + (f" # {text}\n" if text else "")],
        unknown_lines=[UnknownLine(line=17, text="memory pool shrank by 12.5 GiB for no stated reason" + text)],
        abstentions=[
            Abstention(
                rule="vllm/graph-capture-too-large",
                missing=["cuda_graphs"],
                how_to_get="run with VLLM_LOGGING_LEVEL=INFO until graphs are captured" + text,
            )
        ],
        not_logged=["activation_peak", "cuda_graphs"],
    )


HOSTILE = (
    "<script>document.title='owned'</script><img src=http://evil.example/x onerror=alert(1)>"
    "\x1b[31mred\x1b]0;title\x07 \u202egnp.exe [bold red]markup[/] :boom: ]]> --> {{ 7*7 }} {% raw %} </pre></style></title>"
    " ```` ``` ~~~ | <!-- ::error::fake %0A $\\frac{1}{0}$ \x00\x9b \udc80"
)


def hostile_analysis() -> Analysis:
    """The same result of a log that tries to break out of every output."""
    return crash_analysis(HOSTILE)
