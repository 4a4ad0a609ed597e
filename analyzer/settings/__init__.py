"""Settings: profiles and engine arguments, where each value stands, which profile the selector takes, and patches."""

from analyzer.settings.errors import EditError, Problem, SettingsError
from analyzer.settings.loading import examine_settings, load_settings, parse_settings, replaced
from analyzer.settings.model import Profile, SelectionRule, Settings
from analyzer.settings.patch import Edit, FilePatch, PatchPreview, edit_argument, edit_removal, preview_edit, preview_edits
from analyzer.settings.selection import Selection, select
from analyzer.settings.selection_map import SelectionMap, selection_map
from analyzer.settings.writing import write_edits

__all__ = [
    "Edit",
    "EditError",
    "FilePatch",
    "PatchPreview",
    "Problem",
    "Profile",
    "Selection",
    "SelectionMap",
    "SelectionRule",
    "Settings",
    "SettingsError",
    "edit_argument",
    "edit_removal",
    "examine_settings",
    "load_settings",
    "parse_settings",
    "preview_edit",
    "preview_edits",
    "replaced",
    "select",
    "selection_map",
    "write_edits",
]
