"""What is done to the gated project: regressions, each with the codes that name it, and none."""

from __future__ import annotations

from benchmarks.gate_project import Edit, edit

_FEED = 'hidden = jnp.tanh(x @ w["up"])'
_LOOKUP = 'x = params["embed"][tokens]\n'
_CONSTRAINT = (
    '    x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(("data", "fsdp"))))\n'
)
_SCAN = '    x, _ = jax.lax.scan(lambda x, w: (body(x, w), None), x, params["layers"])\n'
_WRITE = "return jax.lax.dynamic_update_slice(cache, row, (0, position, 0, 0))"
_LOOP = """    total, _ = jax.lax.scan(jax.checkpoint(chunk), 0.0, (cut(x), cut(batch["targets"])))
    return total
"""
_MASK = """    time = jnp.arange(x.shape[1])
    scores = jnp.where(time[:, None] >= time, scores, -1e9)
"""

FAULTS = (
    # what goes in and comes out
    edit("donation dropped", "train.py", '"donate_argnums": (0, 1), ', "", "DON001"),
    edit("donation of one argument dropped", "train.py", '"donate_argnums": (0, 1)',
         '"donate_argnums": (0,)', "DON001"),
    edit("weights in f32", "train.py", "DTYPE = jnp.bfloat16", "DTYPE = jnp.float32", "INP003"),
    edit("optimizer state in f32", "train.py", "momentum = jax.tree.map(lambda leaf: leaf, params)",
         "momentum = jax.tree.map(lambda leaf: leaf.update(dtype=jnp.float32), params)", "INP003"),
    edit("a larger batch", "train.py", "ROWS, TIME = 2, 16,", "ROWS, TIME = 2, 32,", "INP004"),
    edit("longer sequences", "train.py", "16, 256", "16, 512", "INP004"),
    edit("a wider layer", "model.py", "HIDDEN, HEADS, VOCAB = 4, 256, 1024",
         "HIDDEN, HEADS, VOCAB = 4, 256, 2048", "INP004"),
    edit("one more layer", "model.py", "= 4, 256, 1024", "= 5, 256, 1024", "INP004"),
    Edit("an extra leaf", (
        ("train.py", '"down": array(', '"gain": array((LAYERS, HIDDEN)), "down": array('),
        ("model.py", 'return hidden @ w["down"]', 'return (hidden * w["gain"]) @ w["down"]'),
    ), ("INP001",)),
    Edit("an average of the weights kept", (
        ("train.py", "def update(params, momentum, batch, mesh):",
         "def update(params, momentum, average, batch, mesh):"),
        ("train.py", "    return params, momentum\n",
         "    average = jax.tree.map(lambda a, p: 0.99 * a + 0.01 * p, average, params)\n"
         "    return params, momentum, average\n"),
        ("train.py", "args=(params, momentum, batch)", "args=(params, momentum, params, batch)"),
        ("train.py", '"donate_argnums": (0, 1)', '"donate_argnums": (0, 1, 2)'),
        ("train.py", "(params, momentum))", "(params, momentum, params))"),
    ), ("INP001",)),
    Edit("gradients returned for a look", (
        ("train.py", "    return params, momentum\n", "    return params, momentum, grads\n"),
        ("train.py", "(params, momentum))\n", "(params, momentum, params))\n"),
    ), ("OUT001",)),
    Edit("activations returned for a look", (
        ("model.py", "lambda x, w: (body(x, w), None)", "lambda x, w: (body(x, w), x)"),
        ("model.py", "x, _ = jax.lax.scan(lambda", "x, seen = jax.lax.scan(lambda"),
        ("model.py", "    return x\n\n\ndef loss", "    return x, seen\n\n\ndef loss"),
        ("model.py", "    x = forward(", "    x, seen = forward("),
        ("model.py", "    return total\n", "    return total, seen\n"),
        ("train.py", "grads = jax.grad(loss)(", "grads, seen = jax.grad(loss, has_aux=True)("),
        ("train.py", "jax.tree.map(jnp.add, total, grads), None",
         "jax.tree.map(jnp.add, total, grads), seen"),
        ("train.py", "    grads, _ = jax.lax.scan(one", "    grads, seen = jax.lax.scan(one"),
        ("train.py", "    return params, momentum\n", "    return params, momentum, seen\n"),
        ("train.py", "(params, momentum))\n", "(params, momentum)) + (None,)\n"),
    ), ("OUT001",)),
    # types
    edit("a layer's activations in f32", "model.py", _FEED,
         'hidden = jnp.tanh((x.astype(jnp.float32) @ w["up"].astype(jnp.float32))).astype(x.dtype)',
         "PRE"),
    edit("softmax in f32", "model.py", "jax.nn.softmax(scores), value",
         "jax.nn.softmax(scores.astype(jnp.float32)).astype(x.dtype), value", "PRE"),
    Edit("an f32 scalar among bf16", (
        ("model.py", _FEED, 'hidden = jnp.tanh(x @ w["up"] * jnp.float32(0.5))'),
        ("model.py", 'return hidden @ w["down"]', 'return (hidden @ w["down"]).astype(x.dtype)'),
    ), ("PRE",)),
    edit("residual stream in f32", "model.py", _LOOKUP,
         'x = params["embed"][tokens].astype(jnp.float32)\n', "PRE"),
    edit("gradients summed in f32", "train.py", "jax.tree.map(jnp.zeros_like, params)",
         "jax.tree.map(lambda p: jnp.zeros(p.shape, jnp.float32), params)",
         # new weights in f32 follow, so that the donated ones are of no use: what memory grows by
         "PRE", "DON002"),
    Edit("a copy of the weights in f32", (
        ("train.py", "jax.grad(loss)(params, part, mesh)",
         "jax.grad(loss)(jax.tree.map(lambda p: p.astype(jnp.float32), params), part, mesh)"),
        ("train.py", "jnp.add, total", "lambda t, g: t + g.astype(t.dtype), total"),
    ), ("PRE",)),
    # recomputation and loops
    edit("rematerialization removed", "model.py", "jax.checkpoint(block)", "block", "REM"),
    edit("a policy that saves everything", "model.py", "jax.checkpoint(block)",
         "jax.checkpoint(block, policy=jax.checkpoint_policies.everything_saveable)", "REM"),
    edit("a policy that saves products", "model.py", "jax.checkpoint(block)",
         "jax.checkpoint(block, policy=jax.checkpoint_policies.dots_saveable)", "REM"),
    edit("layers unrolled", "model.py", _SCAN,
         "    for layer in range(LAYERS):\n"
         '        x = body(x, jax.tree.map(lambda w: w[layer], params["layers"]))\n', "LOOP006"),
    edit("scan unrolled", "model.py", 'params["layers"])', 'params["layers"], unroll=True)',
         "LOOP006"),
    edit("logits of all tokens at once", "model.py", _LOOP,
         '    return chunk(0.0, (x, batch["targets"]))[0]\n', "LOG001"
         ).only("cpu"),  # so few of them stay in a TPU's own memory
    # shardings
    edit("sharding of weights lost", "train.py", '(LAYERS, WIDTH, HIDDEN), None, "fsdp", None)',
         "(LAYERS, WIDTH, HIDDEN))", "SHARD001"),
    edit("sharding of results lost", "train.py", "lambda leaf: leaf.sharding",
         "lambda leaf: NamedSharding(mesh, P())", "SHARD002", "DON002"),
    edit("sharding of the batch lost", "train.py", 'None, ("data", "fsdp"), dtype',
         "None, dtype", "SHARD001"),
    edit("weights sharded along another axis", "train.py",
         '"down": array((LAYERS, HIDDEN, WIDTH), None, None, "fsdp")',
         # of arguments it is an improvement on four devices, of results neither
         '"down": array((LAYERS, HIDDEN, WIDTH), None, "fsdp", None)', "SHARD001", "SHARD002"),
    edit("a constraint removed", "model.py", _CONSTRAINT, "", "SHARD004"),
    edit("activations replicated", "model.py", _CONSTRAINT,
         _CONSTRAINT.replace('("data", "fsdp")', ""), "SHARD"),
    edit("activations sharded over one axis of two", "model.py", _CONSTRAINT,
         _CONSTRAINT.replace('("data", "fsdp")', '"data"'), "SHARD"),
    edit("activations resharded in the layer", "model.py", _FEED,
         'hidden = jnp.tanh(x @ w["up"])\n    hidden = jax.lax.with_sharding_constraint('
         'hidden, NamedSharding(jax.typeof(w["up"]).sharding.mesh, P(None, None, "fsdp")))',
         "SHARD"),
    edit("weights gathered before the loop", "model.py", _SCAN,
         '    layers = params["layers"]\n'
         "    layers = jax.lax.with_sharding_constraint(layers, NamedSharding(mesh, P()))\n"
         + _SCAN.replace('params["layers"]', "layers"), "SHARD"),
    edit("mesh axes swapped", "train.py", '("data", "fsdp"))\n\n', '("fsdp", "data"))\n\n',
         "SHARD008").only("cpu"),  # two by two devices send less so
    # constants and masks
    edit("a large constant captured", "model.py", _FEED,
         "import numpy as np\n    table = jnp.asarray(np.random.RandomState(0).rand(WIDTH, HIDDEN),"
         ' x.dtype)\n    hidden = jnp.tanh(x @ (w["up"] + table))', "CON"),
    edit("the mask a constant for every head", "model.py", _MASK,
         "    import numpy as np\n    time = x.shape[1]\n    mask = np.random.RandomState(0)"
         ".rand(1, HEADS, time, time) > 0.5\n    scores = jnp.where(mask, scores, -1e9)\n", "CON"),
    # work that no finding has a name for: the first line says what grew
    edit("a lookup become a product", "model.py", _LOOKUP,
         'x = jax.nn.one_hot(tokens, VOCAB, dtype=params["embed"].dtype) @ params["embed"]\n',
         "most of it is"),
    # serving
    edit("cache grown by concatenation", "serve.py", _WRITE,
         "return jnp.concatenate([cache[:, 1:], row], 1)", "KV001"),
    edit("slice update become a scatter", "serve.py", _WRITE,
         "at = jnp.full((ROWS,), position)\n    return jax.vmap(lambda c, r, n: "
         "jax.lax.dynamic_update_slice(c, r, (n, 0, 0)))(cache, row, at)", "DUS001"),
    edit("update by a mask over all positions", "serve.py", _WRITE,
         "return jnp.where((jnp.arange(TIME) == position)[:, None, None], row, cache)", "KV001"),
    edit("cache no longer donated", "serve.py", ', jit_options={"donate_argnums": (1,)}', "",
         "DON001"),
    edit("cache returned in another type", "serve.py", "new.append((keys, values))",
         "new.append((keys.astype(jnp.float32), values.astype(jnp.float32)))", "DON002", "OUT",
         "PRE"),
    Edit("cache in f32", (
        ("serve.py", "cache = [(array(ROWS, TIME, HEADS, SIZE), array(ROWS, TIME, HEADS, SIZE))]",
         "cache = [(array(ROWS, TIME, HEADS, SIZE, dtype=jnp.float32),) * 2]"),
        ("serve.py", "dynamic_update_slice(cache, row,",
         "dynamic_update_slice(cache, row.astype(cache.dtype),"),
        ("serve.py", ".reshape(x.shape)", ".reshape(x.shape).astype(x.dtype)"),
    ), ("INP003",)),
    edit("a longer cache", "serve.py", "8, 512, 4", "8, 1024, 4", "INP004"),
)  # fmt: skip

HARMLESS = (
    edit("function renamed", "train.py", "update", "apply_gradients"),
    edit("variables renamed", "model.py", "hidden", "activations"),
    edit("comments added", "model.py", "def block", "# one layer of the model\n\n\ndef block"),
    edit("docstring added", "model.py", "def loss(params, batch, mesh):\n",
         'def loss(params, batch, mesh):\n    """Cross entropy."""\n'),
    edit("blank lines", "train.py", "\n\n", "\n\n\n"),
    edit("keys in another order", "train.py", '{"tokens": rows(), "targets": rows()}',
         '{"targets": rows(), "tokens": rows()}'),
    edit("imports in another order", "train.py", "import jax\nimport jax.numpy as jnp\n",
         "import jax.numpy as jnp\nimport jax\n"),
    Edit("helper extracted", (
        ("model.py", 'jnp.tanh(x @ w["up"])', 'expand(x, w["up"])'),
        ("model.py", "def feed_forward(", "def expand(x, w):\n    return jnp.tanh(x @ w)\n\n\n"
         "def feed_forward("),
    )),
    edit("lambda become a function", "train.py",
         "    params = jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum)\n",
         "    def new(p, m):\n        return p - 0.1 * m\n\n"
         "    params = jax.tree.map(new, params, momentum)\n"),
    edit("parentheses", "model.py", "return x + feed_forward(x, w)",
         "return (x) + (feed_forward(x, w))"),
    edit("a name for a value", "model.py", 'return hidden @ w["down"]',
         'down = w["down"]\n    return hidden @ down'),
    edit("a partial instead of a call", "train.py", "jax.grad(loss)(params, part, mesh)",
         "functools.partial(jax.grad(loss), params)(part, mesh)"),
    Edit("a file moved", (("model.py", "", "decoder.py"),)),
    edit("a named scope", "model.py", '    hidden = jnp.tanh(x @ w["up"])\n',
         '    with jax.named_scope("expand"):\n        hidden = jnp.tanh(x @ w["up"])\n'),
    edit("an inner function jitted", "model.py", "def feed_forward", "@jax.jit\ndef feed_forward"),
    edit("keywords instead of positions", "model.py", 'forward(params, batch["tokens"], mesh)',
         'forward(mesh=mesh, tokens=batch["tokens"], params=params)'),
    Edit("a dataclass instead of a dict", (
        ("train.py", "def update(", "@jax.tree_util.register_dataclass\n@dataclasses.dataclass\n"
         "class Batch:\n    tokens: jax.Array\n    targets: jax.Array\n\n\ndef update("),
        ("train.py", "import functools\n", "import dataclasses\nimport functools\n"),
        ("train.py", '{"tokens": rows(), "targets": rows()}',
         "Batch(tokens=rows(), targets=rows())"),
        ("train.py", "(params, part, mesh)", "(params, dataclasses.asdict(part), mesh)"),
    )),
    Edit("a function moved to another file", (
        ("train.py", "from hloscope import Program\n",
         "from hloscope import Program\nfrom project.serve import scaled\n"),
        ("train.py", "jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum)",
         "jax.tree.map(scaled, params, momentum)"),
        ("serve.py", "def write(", "def scaled(p, m):\n    return p - 0.1 * m\n\n\ndef write("),
    )),
    Edit("arguments renamed", (("model.py", "(params, tokens, mesh)", "(weights, tokens, mesh)"),
                               ("model.py", _LOOKUP, 'x = weights["embed"][tokens]\n'),
                               ("model.py", 'x, params["layers"])', 'x, weights["layers"])'))),
    Edit("leaves renamed", (("train.py", '"tokens"', '"inputs"'),
                            ("model.py", '"tokens"', '"inputs"'))),
    edit("a custom loop over the tree", "train.py",
         "jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)",
         "jax.tree.unflatten(jax.tree.structure(grads), [0.9 * m + g for m, g in "
         "zip(jax.tree.leaves(momentum), jax.tree.leaves(grads), strict=True)])"),
    edit("an unused helper", "serve.py", "def write(", "def unused(x):\n    return x * 2\n\n\n"
         "def write("),
    edit("a list instead of a tuple", "serve.py", "new.append((keys, values))",
         "new.append([keys, values])"),
    edit("values unpacked by hand", "serve.py",
         "    for weights, (keys, values) in zip(params, cache, strict=True):\n",
         "    for layer in range(LAYERS):\n        weights = params[layer]\n"
         "        keys, values = cache[layer]\n"),
)  # fmt: skip
