"""The configuration: one YAML file, read strictly, checked as a whole.

    source.py          bytes to text that is fit to be parsed
    yaml_reader.py     text to a tree that knows where everything stands (nodes.py, document.py)
    secrets.py         ${env:NAME} and ${file:PATH}
    settings.py        the models of what a configuration can say; those of each wire are in adapters/<wire>/settings.py
    validation.py      tree to models; model_findings.py says in words what pydantic finds
    checks/            what no single model can see
    reading.py         all of it, from end to end

Whatever is wrong is a Finding with a place and a hint; no text in a file makes anything here raise but SettingsError.
"""

from __future__ import annotations

from gateway.settings.findings import Finding, SettingsError
from gateway.settings.reading import Reading, check, load, read
from gateway.settings.settings import Settings
from gateway.settings.source import Source

__all__ = ["Finding", "Reading", "Settings", "SettingsError", "Source", "check", "load", "read"]
