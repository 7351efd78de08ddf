"""The gateway's events about itself: what the log tells people, as StructuredEvents for programs.

links, inlets, services ─▶ Teller (a Listener) ─▶ the log
                             └▶ notices ─▶ source of type `notices` ─▶ journal ─▶ links of the configuration
"""
