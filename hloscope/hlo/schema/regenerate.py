"""Makes `hlo_pb2.py` from `hlo.proto`: `python -m hloscope.hlo.schema.regenerate`.

Needs grpcio-tools. The check of protobuf's own version is taken out of what protoc writes: it ties
the file to the release that made it, while a serialized descriptor loads with every one.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from hloscope.errors import HloscopeError

SCHEMA = Path(__file__).parent
_FILE = "hloscope/hlo/schema/hlo.proto"
_VERSION_CHECK = re.compile(
    r"^from google\.protobuf import runtime_version.*\n"
    r"|^_runtime_version\.ValidateProtobufRuntimeVersion\((?:.*\n)+?\)\n"
    r"|^# Protobuf Python Version.*\n",
    re.MULTILINE,
)
_BARE_MAPPING = re.compile(r"_Mapping\](?!\[)")


def generated() -> Mapping[str, str]:
    """What `hlo_pb2.py` and `hlo_pb2.pyi` have to hold, by file name.

    Raises:
      HloscopeError: grpcio-tools is not installed, or it refuses the schema.
    """
    try:
        protoc = import_module("grpc_tools.protoc")
    except ImportError:
        raise HloscopeError(
            "the schema's compiler is missing", remedy="pip install grpcio-tools"
        ) from None
    root = SCHEMA.parents[2]
    with tempfile.TemporaryDirectory() as folder:
        code = protoc.main(
            ["protoc", f"-I{root}", f"--python_out={folder}", f"--pyi_out={folder}", _FILE]
        )
        if code:
            raise HloscopeError(f"protoc ended with code {code}", where=_FILE)
        made = sorted((Path(folder) / _FILE).parent.iterdir())
        return {path.name: _cleaned(path.read_text()) for path in made}


def _cleaned(text: str) -> str:
    """Without the version check; and with the type arguments that mypy's strict mode wants."""
    return _BARE_MAPPING.sub("_Mapping[str, object]]", _VERSION_CHECK.sub("", text))


def main() -> None:
    """Writes the generated files beside the schema."""
    for name, text in generated().items():
        (SCHEMA / name).write_text(text)


if __name__ == "__main__":
    main()
