"""Logs and metrics: what operators see. The core calls hooks (`gateway.links.observer`); this is who listens."""
