from __future__ import annotations

import json
import math
import platform as machine
import subprocess
import sys
from importlib import metadata

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from hloscope.capture import targets as targets_package
from hloscope.capture.targets import (
    Toolchain,
    child_environment,
    default_compile_options,
    gpu_chips,
    is_target,
    parse_target,
    require_toolchain,
    target_devices,
    toolchain,
    tpu_chips,
)
from hloscope.capture.targets.chips import gpu_description
from hloscope.cli.targets import command
from hloscope.errors import HloscopeError
from hloscope.model.units import Bytes, Measured


@pytest.mark.parametrize(
    ("spec", "chip", "topology", "devices"),
    [
        ("tpu:v2:16x16", "v2", "16x16", 512),
        ("tpu:v3:32x32", "v3", "32x32", 2048),
        ("tpu:v4:16x16x16", "v4", "16x16x16", 4096),
        ("tpu:v5e:1x1", "v5e", "1x1", 1),
        ("tpu:v5e:16x16", "v5e", "16x16", 256),
        ("tpu:v5p:2x2x2", "v5p", "2x2x2", 8),
        ("tpu:v5p:16x20x28", "v5p", "16x20x28", 8960),
        ("tpu:v6e:4x4", "v6e", "4x4", 16),
        ("tpu:tpu7x:2x2x1", "tpu7x", "2x2x1", 8),
        ("tpu:tpu7x:16x16x36", "tpu7x", "16x16x36", 18432),
        ("gpu:h100:8", "h100", "8", 8),
        ("gpu:b200:1", "b200", "1", 1),
        ("gpu:a100:16", "a100", "16", 16),
        ("cpu:8", "host", "", 8),
    ],
)
def test_a_name_is_read(spec: str, chip: str, topology: str, devices: int) -> None:
    target = parse_target(spec)
    assert (target.spec, target.chip.name, target.topology, target.device_count) == (
        spec,
        chip,
        topology,
        devices,
    )


@pytest.mark.parametrize(
    ("spec", "problem", "remedy"),
    [
        ("v5p:2x2x2", "unknown platform 'v5p' in target 'v5p:2x2x2'", "tpu:v5p:2x2x2"),
        ("h100:8", "unknown platform 'h100' in target 'h100:8'", "gpu:h100:8"),
        ("cuda:h100:8", "unknown platform 'cuda' in target 'cuda:h100:8'", "gpu:h100:8"),
        (
            "rocm",
            "unknown platform 'rocm' in target 'rocm'",
            "tpu:GENERATION:TOPOLOGY, gpu:CHIP:COUNT or cpu:COUNT; hloscope targets lists them",
        ),
        (
            "tpu",
            "target 'tpu' names no generation",
            "one of v2, v3, v4, v5e, v5p, v6e, tpu7x; hloscope targets tpu lists them",
        ),
        (
            "tpu:v7x:2x2x1",
            "unknown generation 'v7x' in target 'tpu:v7x:2x2x1'",
            "tpu:tpu7x:2x2x1; hloscope targets tpu lists them",
        ),
        (
            "tpu:V5P:2X2X2",
            "unknown generation 'V5P' in target 'tpu:V5P:2X2X2'",
            "tpu:v5p:2x2x2; hloscope targets tpu lists them",
        ),
        (
            "tpu:v5p-16",
            "unknown generation 'v5p-16' in target 'tpu:v5p-16'",
            "tpu:v5p:2x2x2; hloscope targets tpu lists them",
        ),
        (
            "tpu:v5litepod-16",
            "unknown generation 'v5litepod-16' in target 'tpu:v5litepod-16'",
            "tpu:v5e:4x4; hloscope targets tpu lists them",
        ),
        (
            "tpu:v5p",
            "target 'tpu:v5p' names no topology",
            "tpu:v5p:2x2x1 or tpu:v5p:2x2x2 or tpu:v5p:2x4x4; hloscope targets tpu:v5p lists more",
        ),
        (
            "tpu:v5p:9x9",
            "unknown topology 'v5p:9x9' in target 'tpu:v5p:9x9': it has 2 sides, not 3",
            "tpu:v5p:4x4x4 or tpu:v5p:4x4x8 or tpu:v5p:2x4x4; hloscope targets tpu:v5p lists more",
        ),
        (
            "tpu:v5p:2x2",
            "unknown topology 'v5p:2x2' in target 'tpu:v5p:2x2': it has 2 sides, not 3",
            "tpu:v5p:2x2x1; hloscope targets tpu:v5p lists more",
        ),
        (
            "tpu:v5e:2x16",
            "unknown topology 'v5e:2x16' in target 'tpu:v5e:2x16': "
            "the compiler has no routes for it",
            "tpu:v5e:4x8 or tpu:v5e:8x8 or tpu:v5e:4x4; hloscope targets tpu:v5e lists more",
        ),
        (
            "tpu:v5e:32x32",
            "unknown topology 'v5e:32x32' in target 'tpu:v5e:32x32': "
            "1024 chips are more than a full pod of 256",
            "tpu:v5e:16x16 or tpu:v5e:8x16 or tpu:v5e:8x8; hloscope targets tpu:v5e lists more",
        ),
        (
            "gpu:h1000:8",
            "unknown chip 'h1000' in target 'gpu:h1000:8'",
            "gpu:h100:8; hloscope targets gpu lists them",
        ),
        ("gpu:h100", "target 'gpu:h100' does not say how many devices", "gpu:h100:8"),
        (
            "gpu:h100:12",
            "'12' GPUs in target 'gpu:h100:12' are not whole machines of 8",
            "gpu:h100:16",
        ),
        ("cpu:0", "'0' in target 'cpu:0' is not a count of devices", "cpu:8"),
        ("cpu:9999", "'9999' devices in target 'cpu:9999' are more than 1024", "cpu:8"),
    ],
)
def test_a_wrong_name_says_what_would_be_right(spec: str, problem: str, remedy: str) -> None:
    with pytest.raises(HloscopeError) as caught:
        parse_target(spec)
    assert (caught.value.problem, caught.value.remedy) == (problem, remedy)


# libtpu divides by zero on 0x2, aborts on 2x128 and takes text that is no number
@pytest.mark.parametrize(
    "topology", ["0x2", "-2x2", "2x2_twisted", "2x128", "02x2", "\u0662x2", "2x", "2x2\n", "1e9x1"]
)
def test_no_text_reaches_the_compiler_that_it_chokes_on(topology: str) -> None:
    assert not is_target(f"tpu:v6e:{topology}")


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.text(max_size=20) | st.from_regex(r"(tpu|gpu|cpu):[a-z0-9:x-]{0,20}", fullmatch=True))
def test_any_text_is_a_target_or_a_clear_error(spec: str) -> None:
    if is_target(spec):
        assert parse_target(spec).spec == spec
        return
    with pytest.raises(HloscopeError) as caught:
        parse_target(spec)
    assert caught.value.remedy


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.sampled_from(sorted(tpu_chips())), st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_a_topology_is_whole_hosts_within_a_pod(generation: str, sides: list[int]) -> None:
    spec = f"tpu:{generation}:{'x'.join(map(str, sides))}"
    rule = tpu_chips()[generation].topologies
    assert rule is not None
    if not is_target(spec):
        return
    assert math.prod(sides) <= rule.max_chips
    assert set(sides) == {1} or (sides[0] % 2 == 0 and sides[1] % 2 == 0)


def test_every_example_and_every_remedy_is_a_target() -> None:
    for name, entry in tpu_chips().items():
        assert entry.topologies is not None
        for topology in entry.topologies.example_names:
            assert is_target(f"tpu:{name}:{topology}")
        assert math.prod(entry.topologies.examples[-1]) == entry.topologies.max_chips
    assert all(is_target(f"gpu:{name}:8") for name in gpu_chips())


def test_figures_are_of_one_device() -> None:
    ironwood = parse_target("tpu:tpu7x:2x2x1").chip
    assert ironwood.devices_per_chip == 2
    assert ironwood.memory == Measured(Bytes(96 << 30))
    assert ironwood.peak_flops == {"bf16": 1153.5e12, "fp8": 2307e12}
    assert ironwood.memory_bandwidth == Measured(3690e9)
    assert ironwood.interconnect_bandwidth == Measured(300e9)
    assert parse_target("gpu:h100:8").chip.peak_flops["bf16"] == 989.4e12


def test_the_compiler_leaves_less_than_the_chip_has_except_where_more_is_there() -> None:
    for name, entry in tpu_chips().items():
        memory, usable = entry.chip.memory, entry.chip.usable_memory
        assert isinstance(memory, Measured)
        assert isinstance(usable, Measured)
        # v5p's published 95 GiB are less than what its compiler hands out
        assert (0.93 if name != "v5p" else 1) < usable.value / memory.value < 1.01
    for entry in gpu_chips().values():
        assert isinstance(entry.chip.usable_memory, Measured)
        size = f"device_memory_size: {entry.chip.usable_memory.value}\n"
        assert size in gpu_description(entry.chip.name)


def test_every_figure_has_a_source() -> None:
    assert all(e.chip.source for e in (*tpu_chips().values(), *gpu_chips().values()))


# --- the process that compiles ------------------------------------------------------------------


def test_a_tpu_compile_keeps_away_from_machines_and_other_processes() -> None:
    assert child_environment(parse_target("tpu:v5e:2x2"), {"XLA_FLAGS": ""}) == {
        "JAX_PLATFORMS": "cpu",
        "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
        "TPU_SKIP_MDS_QUERY": "1",
        "TPU_LOG_DIR": "disabled",
    }


def test_a_cpu_compile_keeps_the_users_flags_but_not_his_count() -> None:
    inherited = {"XLA_FLAGS": "--xla_force_host_platform_device_count=3 --xla_cpu_foo=1"}
    assert child_environment(parse_target("cpu:8"), inherited) == {
        "JAX_PLATFORMS": "cpu",
        "JAX_NUM_CPU_DEVICES": "-1",
        "XLA_FLAGS": "--xla_cpu_foo=1 --xla_force_host_platform_device_count=8",
    }


def test_only_gpus_need_compile_options() -> None:
    assert default_compile_options(parse_target("gpu:h100:8")) == {
        "xla_gpu_autotune_level": "0",
        "xla_gpu_enable_triton_gemm": "False",
    }
    assert default_compile_options(parse_target("tpu:v5e:2x2")) == {}
    assert default_compile_options(parse_target("cpu:8")) == {}


def test_naming_targets_needs_no_jax() -> None:
    code = (
        "import sys; from hloscope.capture.targets import parse_target, toolchain; "
        "parse_target('tpu:v5p:2x2x2'); toolchain('tpu'); sys.exit('jax' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- toolchains ---------------------------------------------------------------------------------


def _installed(monkeypatch: pytest.MonkeyPatch, versions: dict[str, str]) -> None:
    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)


def _on(monkeypatch: pytest.MonkeyPatch, system: str, processor: str) -> None:
    monkeypatch.setattr(machine, "system", lambda: system)
    monkeypatch.setattr(machine, "machine", lambda: processor)


def test_a_missing_libtpu_names_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    _on(monkeypatch, "Linux", "x86_64")
    _installed(monkeypatch, {"jaxlib": "0.10.2"})
    with pytest.raises(HloscopeError) as caught:
        target_devices(parse_target("tpu:v5p:2x2x2"))
    assert str(caught.value) == (
        "cannot compile for 'tpu:v5p:2x2x2': libtpu is not installed\n"
        "  try: pip install 'hloscope[tpu]'"
    )


@pytest.mark.parametrize(("system", "processor"), [("Darwin", "arm64"), ("Linux", "aarch64")])
def test_where_libtpu_has_no_wheel_the_cpu_is_offered(
    monkeypatch: pytest.MonkeyPatch, system: str, processor: str
) -> None:
    _on(monkeypatch, system, processor)
    _installed(monkeypatch, {"jaxlib": "0.10.2"})
    with pytest.raises(HloscopeError) as caught:
        require_toolchain("tpu", "tpu:v5p:2x2x2")
    assert str(caught.value) == (
        f"cannot compile for 'tpu:v5p:2x2x2': libtpu has no wheel for {system} {processor}, "
        "only for Linux x86_64\n  try: --target cpu:8"
    )


def test_a_missing_cuda_plugin_names_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    _on(monkeypatch, "Linux", "x86_64")
    _installed(monkeypatch, {"jaxlib": "0.10.2", "jax-cuda12-plugin": "0.10.2"})
    found = toolchain("gpu")
    assert (found.problem, found.remedy) == (
        "the CUDA plugin is not installed",
        "pip install 'hloscope[gpu]'",
    )


def test_a_cuda_plugin_of_another_release_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"jax-cuda13-pjrt": "0.12.0", "jax-cuda13-plugin": "0.12.0"}
    _installed(monkeypatch, {"jaxlib": "0.10.2", **versions})
    assert toolchain("gpu") == Toolchain(
        platform="gpu",
        versions=versions,
        problem="jax-cuda13-pjrt 0.12.0 is not of jaxlib 0.10.2",
        remedy="pip install 'jax-cuda13-pjrt==0.10.2.*' 'jax-cuda13-plugin==0.10.2.*'",
    )
    _installed(monkeypatch, {"jaxlib": "0.12.0.1", **versions})
    assert toolchain("gpu") == Toolchain(platform="gpu", versions=versions)


# --- hloscope targets ---------------------------------------------------------------------------


def _listing(*arguments: str) -> str:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_the_listing_fits_a_terminal_and_names_every_chip() -> None:
    text = _listing()
    assert max(map(len, text.splitlines())) <= 80
    for platform, chips in (("tpu", tpu_chips()), ("gpu", gpu_chips())):
        assert all(f"\n{platform}:{name} " in text for name in chips)


def test_a_prefix_narrows_the_listing(monkeypatch: pytest.MonkeyPatch) -> None:
    _on(monkeypatch, "Linux", "x86_64")
    _installed(monkeypatch, {"jaxlib": "0.10.2"})
    lines = [line.rstrip() for line in _listing("gpu:h").splitlines()]
    assert lines == [
        "tpu:GENERATION:TOPOLOGY, gpu:CHIP:COUNT or cpu:COUNT",
        "Figures are per chip; hloscope targets gpu:h200 shows one chip and its sources.",
        "",
        "GPU",
        "cannot compile here: the CUDA plugin is not installed",
        "try: pip install 'hloscope[gpu]'",
        "target    memory      peak bf16  bandwidth     links  count",
        "gpu:h100   80 GB  989.4 TFLOP/s  3352 GB/s  450 GB/s  1..8, or 8 x hosts",
        "gpu:h200  141 GB  989.4 TFLOP/s  4800 GB/s  450 GB/s  1..8, or 8 x hosts",
        "sources",
        "  h100: NVIDIA H100 Tensor Core GPU architecture whitepaper,",
        "  https://www.nvidia.com/en-us/data-center/h100/",
        "  h200: NVIDIA H200 Tensor Core GPU datasheet,",
        "  https://www.nvidia.com/en-us/data-center/h200/",
    ]


@pytest.mark.parametrize("prefix", ["tpu:tpu7x", "tpu:tpu7x:2x2", "tpu:tpu7x:2x2x3"])
def test_one_chip_is_shown_with_both_of_its_devices(prefix: str) -> None:
    text = _listing(prefix)
    assert "tpu:tpu7x  TPU7x (Ironwood)" in text
    assert "peak fp8   4614 TFLOP/s  2307 TFLOP/s" in text
    assert "figures: https://cloud.google.com/tpu/docs/tpu7x" in text


@pytest.mark.parametrize(
    ("prefix", "problem", "remedy"),
    [
        ("v5p", "no target starts with 'v5p'", "hloscope targets tpu:v5p"),
        ("ironwood", "no target starts with 'ironwood'", "hloscope targets tpu:tpu7x"),
        ("zzz", "no target starts with 'zzz'", "hloscope targets"),
        (
            "tpu:v5p:9x9",
            "unknown topology 'v5p:9x9' in target 'tpu:v5p:9x9': it has 2 sides, not 3",
            "tpu:v5p:4x4x4 or tpu:v5p:4x4x8 or tpu:v5p:2x4x4; hloscope targets tpu:v5p lists more",
        ),
    ],
)
def test_a_prefix_of_nothing_is_an_error(prefix: str, problem: str, remedy: str) -> None:
    with pytest.raises(HloscopeError) as caught:
        CliRunner().invoke(command, [prefix], catch_exceptions=False)
    assert (caught.value.problem, caught.value.remedy) == (problem, remedy)


def test_json_gives_figures_of_one_device_in_base_units() -> None:
    listed = json.loads(_listing("tpu:v4", "--json"))
    assert set(listed) == {"chips", "toolchains"}
    assert listed["chips"] == [
        {
            "target": "tpu:v4",
            "product": "TPU v4",
            "devices_per_chip": 1,
            "memory": 32 << 30,
            "usable_memory": 33014349824,
            "peak_flops": {"bf16": 275e12, "int8": 275e12},
            "memory_bandwidth": 1.2e12,
            "interconnect_bandwidth": 3e11,
            "source": tpu_chips()["v4"].chip.source,
            "examples": [
                "tpu:v4:2x2x1",
                "tpu:v4:2x2x2",
                "tpu:v4:2x2x4",
                "tpu:v4:4x4x4",
                "tpu:v4:8x8x8",
                "tpu:v4:16x16x16",
            ],
            "topologies": "AxBxC, sides in steps of 2x2x1 up to 256, at most 4096 chips; or 1x1x1",
            "max_chips": 4096,
        }
    ]


def test_the_face_of_the_package_is_what_it_says() -> None:
    assert all(hasattr(targets_package, name) for name in targets_package.__all__)
