"""Reads pickled (key, kind, data) triples, answers with what jaxlib makes of each.

Runs as a child: jaxlib's reader and printer end the process on some inputs.
"""

import pickle
import sys

from jaxlib import _hlo

items = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own parent wrote it
for key, kind, data in items:
    try:
        if kind == "text":
            module = _hlo.hlo_module_from_text(data)
        else:
            module = _hlo.HloModule.from_serialized_hlo_module_proto(data)
        options = _hlo.HloPrintOptions()
        options.print_large_constants = True
        options.print_metadata = True
        options.print_backend_config = True
        answer = ("read", module.to_string(options), module.as_serialized_hlo_module_proto())
    except Exception as error:  # jaxlib raises several types
        answer = ("refused", str(error), b"")
    pickle.dump((key, answer), sys.stdout.buffer)
    sys.stdout.buffer.flush()
