"""Questions that analyzers ask of a comparison; `hloscope.plugin` hands them on."""
