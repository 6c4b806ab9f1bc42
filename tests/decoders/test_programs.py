"""`hloscope programs`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from hloscope.cli.programs import command
from hloscope.errors import HloscopeError

TINY = """\
program        layers  embed  heads  kv_heads  head_dim  mlp  vocab  positions  seq  experts  \
parameters
deepseek-tiny       3    256      8         8        48  512    512        256  128   2 of 8  \
 1,951,792

Each in :linen, :nnx. Parameters are counted with output tied or not as published.
  deepseek-tiny: hloscope's own, chosen so that a train step compiles in a few seconds
"""


def test_lists_names_sizes_and_counts() -> None:
    result = CliRunner().invoke(command, ["deepseek-t"])
    assert result.exit_code == 0
    listing, _, options = result.output.partition("\noption ")
    assert listing == TINY
    assert [line.split()[0] for line in options.splitlines()[1:]] == [
        *("step", "layers", "scan", "remat", "dropout", "tied", "dtype", "weights_dtype"),
        *("logits_dtype", "attention", "moe", "capacity_factor", "loss", "accumulate", "lora"),
        *("cache", "vocab", "batch", "seq", "data", "fsdp", "expert", "context", "tensor"),
        "donate",
    ]


def test_json_has_all_that_the_text_has() -> None:
    result = CliRunner().invoke(command, ["gpt3-175b", "--json"])
    document = json.loads(result.output)
    assert document["programs"] == [
        {
            "name": "gpt3-175b",
            "stacks": ["linen", "nnx"],
            "size": {
                "family": "gpt3",
                "layers": 96,
                "embed": 12288,
                "heads": 96,
                "kv_heads": 96,
                "head_dim": 128,
                "mlp": 49152,
                "vocab": 50304,
                "positions": 2048,
                "seq": 2048,
                "source": "Brown et al. 2020, Language Models are Few-Shot Learners, "
                "table 2.1 (GPT-3 175B)",
                "note": "the vocabulary of 50257 is padded to 50304, a multiple of 128",
                "reach": 0,
                "query_scale": 0,
                "rope_factor": 1.0,
                "qk_norm": "none",
                "experts": None,
                "latent": None,
            },
            "parameters": 174_604_836_864,
        }
    ]
    assert document["options"]["remat"] == {
        "values": "none or minimal or full",
        "default": "full",
        "meaning": "what the backward pass recomputes: nothing, all but weight matmuls, all",
    }


def test_unknown_prefix_is_refused() -> None:
    with pytest.raises(HloscopeError, match="no program starts with 'bert'"):
        CliRunner().invoke(command, ["bert"], catch_exceptions=False)
