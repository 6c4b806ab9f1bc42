"""Everything private or unstable of JAX and its plugins that hloscope touches.

Tried with jax 0.10.2 (libtpu 0.0.42), 0.11.2 (libtpu 0.0.48) and 0.12.0.1 (libtpu 0.0.50), each
with the CUDA plugin of its own version. Each part has a test that says when a release changes what
it rests on: tests/capture/test_jax_private.py and tests/capture/test_jax_stages.py.
"""
