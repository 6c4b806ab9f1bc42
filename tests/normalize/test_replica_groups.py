import pytest

from hloscope.normalize.backend_config import without_noise
from hloscope.normalize.replica_groups import explicit_groups


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("{{0,1},{2,3}}", "{{0,1},{2,3}}"),
        ("{{2,3},{0,1}}", "{{0,1},{2,3}}"),
        ("{{1,0},{3,2}}", "{{1,0},{3,2}}"),
        ("[2,4]<=[8]", "{{0,1,2,3},{4,5,6,7}}"),
        ("[4,2]<=[2,4]T(1,0)", "{{0,4},{1,5},{2,6},{3,7}}"),
        ("mesh['fsdp'=4] {'fsdp'}", "{{0,1,2,3}}"),
        ("mesh['data'=2,'fsdp'=2] {'data'}", "{{0,2},{1,3}}"),
        ("mesh['data'=2,'fsdp'=2] {'data','fsdp'}", "{{0,1,2,3}}"),
        ("{}", "{}"),
        ("mesh['a'=4] {'b'}", "mesh['a'=4] {'b'}"),
        ("[2,4]<=[9]", "[2,4]<=[9]"),
        ("[2,1073741824]<=[2147483648]", "[2,1073741824]<=[2147483648]"),
    ],
)
def test_every_notation_comes_out_explicit(text: str, groups: str) -> None:
    assert explicit_groups(text) == groups


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            '{"window_config":{"estimated_cycles":"8","output_window_bounds":["4"]}}',
            '{"window_config":{"output_window_bounds":["4"]}}',
        ),
        ('{"b":1,"a":{"estimated_cycles":"8"}}', '{"a":{"estimated_cycles":"8"},"b":1}'),
        ('{"known_induction_variable":{"tuple_index":"3"}}', None),
        ('{"outer_dimension_partitions":["1","8"]}', None),
        ('{"flag_configs":[],"name":""}', None),
        ('{"zero":0,"no":false}', '{"no":false,"zero":0}'),
        ("not json", "not json"),
        ("{broken", "{broken"),
    ],
)
def test_noise_leaves_backend_config(text: str, kept: str | None) -> None:
    assert without_noise(text) == kept
