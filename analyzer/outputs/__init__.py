"""Analysis -> what people and programs read. Each output is a pure function of the analysis; equal inputs give byte-equal output."""

from analyzer.outputs.formats import FORMATS, print_summary, render
from analyzer.outputs.json_output import json_schema

__all__ = ["FORMATS", "json_schema", "print_summary", "render"]
