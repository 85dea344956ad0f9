"""The version of the software, where every part may read it without reading more of the package."""

__version__ = "0.1.0"
