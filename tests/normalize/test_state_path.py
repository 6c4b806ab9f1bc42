# ruff: noqa: E501 - paths are long
import pytest

from hloscope.hlo import state_path

KERNEL = ("decoder", "layers", "mlp", "wi", "kernel")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("state.params['params']['decoder']['layers']['mlp']['wi']['kernel']", KERNEL),
        ("[0].params['params']['decoder']['layers']['mlp']['wi']['kernel']", KERNEL),
        ("params['params']['decoder']['layers']['mlp']['wi']['kernel']", KERNEL),
        ("args[0].params['decoder']['layers']['mlp']['wi']['kernel']", KERNEL),
        ("state['model']['decoder']['layers']['mlp']['wi']['kernel'].value", KERNEL),
        ("[0]['model']['decoder']['layers']['mlp']['wi']['kernel'].value", KERNEL),
        ("model.decoder.layers.mlp.wi.kernel.value", KERNEL),
        ("state.params[\\'params\\'][\\'decoder\\'][\\'layers\\'][\\'mlp\\'][\\'wi\\'][\\'kernel\\']", KERNEL),
        ("state.opt_state.mu['params']['decoder']['norm']", ("opt_state", "mu", "decoder", "norm")),
        ("state.opt_state[0].mu['params']['decoder']['norm']", ("opt_state", "mu", "decoder", "norm")),
        ("['optimizer']['opt_state']['mu']['decoder']['norm'].value", ("opt_state", "mu", "decoder", "norm")),
        ("state.opt_state[2].count", ("opt_state", "2", "count")),
        ("state['optimizer']['step'].value", ("step",)),
        ("state.step", ("step",)),
        ("state['model']['layers_3']['kernel'].value", ("layers", "3", "kernel")),
        ("state['model']['layers'][3]['kernel'].value", ("layers", "3", "kernel")),
        ("state['model']['dropout']['rngs']['params']['count'].value", ("dropout", "rngs", "params", "count")),
        ("data['inputs']", ("data", "inputs")),
        ("x", ("x",)),
        ("jit(f)/while/body/add", ()),
        ("", ()),
    ],
)  # fmt: skip
def test_linen_and_nnx_meet(text: str, path: tuple[str, ...]) -> None:
    assert state_path(text) == path
