"""Edits of donation and of what devices say to each other."""

from __future__ import annotations

from benchmarks import header
from benchmarks.colours import alike
from benchmarks.draft import Body, Draft, Node
from benchmarks.edit_site import TRIES, Site, Truth, may_be_copied, redirect, truth
from benchmarks.rewrites import groups_text, iota_groups
from hloscope.model.hlo import Layout, Shape

_FLOATS = frozenset({"f32", "bf16", "f16", "f64"})


def drop_donation(site: Site) -> Truth | None:
    """Drops one entry of `input_output_alias` or `buffer_donor`."""
    names = [n for n in ("input_output_alias", "buffer_donor") if n in site.draft.header]
    if not names or site.draft.entry is None:
        return None
    name = site.rng.choice(names)
    entries = header.alias_entries(site.draft.header[name])
    gone = entries.pop(site.rng.randrange(len(entries)))
    if entries:
        site.draft.header[name] = header.join_entries(entries)
    else:
        del site.draft.header[name]
    number = int(gone.split("(")[1].split(",")[0])
    touched = [site.draft.entry.parameters()[number]]
    return truth("drop a donation", touched, [name])


def add_collective(site: Site) -> Truth | None:
    """Sums a value over all devices before its users read it."""
    reducers = site.reducers()
    for body, node in site.nodes()[:TRIES]:
        users = list(dict.fromkeys(body.users()[node]))
        if body in reducers:
            continue
        if node.shape.dtype not in _FLOATS or not users or node.opcode == "all-reduce":
            continue
        if not may_be_copied(node, users):
            continue
        reducer = _reducer(site, node.shape.dtype)
        added = site.new(body, "all-reduce", node.shape, [node])
        added.called = [("to_apply", reducer)]
        devices = range(_device_count(site.draft))
        added.attrs = {"replica_groups": groups_text([devices]), "use_global_device_ids": "true"}
        added.attrs["channel_id"] = str(1 + _last_channel(site.draft))
        redirect(users, node, added)
        return truth("add a collective", [added, *reducer.nodes])
    return None


def change_group(site: Site) -> Truth | None:
    """Groups the devices of a collective otherwise."""
    for _, node in site.nodes()[:]:
        groups = _groups(node.attrs.get("replica_groups", ""))
        changed = groups and _regrouped(groups)
        if changed:
            touched = alike(node, site.colour)
            node.attrs["replica_groups"] = groups_text(changed)
            return truth("change a replica group", touched)
    return None


def _reducer(site: Site, dtype: str) -> Body:
    scalar = Shape(dtype, (), Layout(()))
    body = Body(f"add.new.{site.next_id}", [], Node("", 0, "", scalar), "main")
    left, right = (site.new(body, "parameter", scalar, []) for _ in range(2))
    body.nodes = [left, right]
    left.parameter, right.parameter = 0, 1
    body.root = site.new(body, "add", scalar, [left, right])
    site.draft.bodies.insert(0, body)
    return body


def _device_count(draft: Draft) -> int:
    sizes = (draft.header.get(name, "1") for name in ("num_partitions", "replica_count"))
    partitions, replicas = (int(size) for size in sizes)
    return partitions * replicas


def _last_channel(draft: Draft) -> int:
    return max((int(node.attrs.get("channel_id", 0)) for _, node in draft.nodes()), default=0)


def _groups(text: str) -> list[list[int]] | None:
    if text.startswith("{{"):
        inside = text[2:-2].split("},{")
        return [[int(member) for member in group.split(",")] for group in inside]
    return iota_groups(text)


def _regrouped(groups: list[list[int]]) -> list[list[int]] | None:
    """One group split in two; several groups with their members dealt out otherwise."""
    flat = [member for group in groups for member in group]
    if len(groups) == 1 and len(flat) > 1:
        half = len(flat) // 2
        return [flat[:half], flat[half:]]
    size, count = len(groups[0]), len(groups)
    if size < 2 or len(flat) != size * count:
        return None
    dealt = [[flat[i + k * count] for k in range(size)] for i in range(count)]
    return None if sorted(map(sorted, dealt)) == sorted(map(sorted, groups)) else dealt
