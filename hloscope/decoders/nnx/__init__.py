"""The reference decoders in Flax NNX."""
