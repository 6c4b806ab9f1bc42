"""A comparison as one HTML file to look into."""

from hloscope.report.html.page import comparison_html

__all__ = ["comparison_html"]
