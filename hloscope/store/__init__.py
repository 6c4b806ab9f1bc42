"""The capture file: format, atomic writing, cache."""

from __future__ import annotations

from hloscope.store.archive import is_capture, manifest, read, write
from hloscope.store.atomic import write_atomically
from hloscope.store.baselines import Baselines
from hloscope.store.cache import Cache, CacheEntry, user_cache

__all__ = [
    "Baselines",
    "Cache",
    "CacheEntry",
    "is_capture",
    "manifest",
    "read",
    "user_cache",
    "write",
    "write_atomically",
]
