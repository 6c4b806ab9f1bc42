"""What the backward pass recomputes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax

if TYPE_CHECKING:
    from collections.abc import Callable

# `remat=none` wraps nothing and so has no policy; a policy of `None` saves a block's inputs alone.
POLICIES: dict[str, Callable[..., Any] | None] = {
    "minimal": jax.checkpoint_policies.dots_with_no_batch_dims_saveable,
    "full": None,
}
