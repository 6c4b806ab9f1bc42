"""Records that cross stage borders: no input or output, no algorithm."""
