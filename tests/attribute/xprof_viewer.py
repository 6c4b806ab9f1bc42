"""Prints what XProf's memory viewer makes of HloProtos: file, memory space -> JSON, one line each.

Argument: memory space; files on standard input, one a line.
"""

import json
import sys
import tempfile
from pathlib import Path

from xprof.convert import raw_to_tool_data

for line in sys.stdin:
    with tempfile.TemporaryDirectory() as logdir:
        run = Path(logdir) / "plugins" / "profile" / "run"
        run.mkdir(parents=True)
        profile = run / "host.xplane.pb"
        profile.touch()
        (run / "module.hlo_proto.pb").write_bytes(Path(line.strip()).read_bytes())
        options = {"module_name": "module", "memory_space": sys.argv[1]}
        data, _ = raw_to_tool_data.xspace_to_tool_data([str(profile)], "memory_viewer", options)
    found = json.loads(data)
    wanted = ("peakHeapMib", "entryComputationParametersMib", "maybeLiveOutMib",
              "totalBufferAllocationMib", "heapSizes")  # fmt: skip
    print(json.dumps({name: found.get(name, 0) for name in wanted}), flush=True)  # noqa: T201
