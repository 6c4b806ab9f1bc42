"""Files for the tools that people already use."""

from hloscope.export.files import Files
from hloscope.export.formats import FORMATS, Format, export

__all__ = ["FORMATS", "Files", "Format", "export"]
