"""StructuredEvent ⇄ JMS message, by the rules SE-* and OC-* (RULES.md sections 5 and 6).

Translator(Options(profile="strict")).forward(event, now_ms=…)     a Message
Translator(Options(profile="strict")).reverse(message, now_ms=…)   the same event again
"""

from mappings.translate.explanation import Entry, Explained
from mappings.translate.options import Limits, Options
from mappings.translate.translator import Translator

__all__ = ["Entry", "Explained", "Limits", "Options", "Translator"]
