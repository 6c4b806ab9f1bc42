"""The reference decoders in Flax Linen."""
