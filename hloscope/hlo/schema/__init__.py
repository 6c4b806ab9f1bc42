"""The wire formats of HLO, buffer assignments and profiles."""
