"""What no single model can see: each file holds the checks of one idea, over all that is valid of a configuration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gateway.settings.checks.capture import check_capture
from gateway.settings.checks.delivery import (
    check_back_off,
    check_batches,
    check_dead_letter_channels,
    check_dead_letters,
    check_parallel,
)
from gateway.settings.checks.domain import check_domain
from gateway.settings.checks.factory import check_channel_references, check_factories
from gateway.settings.checks.filters import check_filters
from gateway.settings.checks.forms import check_effect
from gateway.settings.checks.hosted import check_bridges, check_hosted_channels, check_kept_references, check_rmi
from gateway.settings.checks.idl import check_idl
from gateway.settings.checks.jms import check_jms_channels
from gateway.settings.checks.journal import check_journal, check_journalled_links
from gateway.settings.checks.link_tests import check_link_tests
from gateway.settings.checks.listeners import check_addresses, check_admin_is_private
from gateway.settings.checks.notices import check_notices
from gateway.settings.checks.on_demand import check_on_demand
from gateway.settings.checks.patterns import check_patterns
from gateway.settings.checks.production import check_production
from gateway.settings.checks.property_types import check_property_types
from gateway.settings.checks.references import check_references, check_unused
from gateway.settings.checks.replies import check_replies
from gateway.settings.checks.rules import check_rules
from gateway.settings.checks.seal import check_seals
from gateway.settings.checks.secrets import check_secrets
from gateway.settings.checks.stomp import check_stomp_channels
from gateway.settings.checks.way_back import check_way_back
from gateway.settings.report import Report
from gateway.settings.settings import Settings

CHECKS: Final[tuple[Callable[[Settings, Report], None], ...]] = (
    check_secrets,
    check_addresses,
    check_admin_is_private,
    check_production,
    check_factories,
    check_channel_references,
    check_way_back,
    check_hosted_channels,
    check_bridges,
    check_kept_references,
    check_rmi,
    check_idl,
    check_references,
    check_unused,
    check_stomp_channels,
    check_jms_channels,
    check_patterns,
    check_notices,
    check_domain,
    check_filters,
    check_effect,
    check_property_types,
    check_rules,
    check_replies,
    check_on_demand,
    check_back_off,
    check_batches,
    check_dead_letters,
    check_dead_letter_channels,
    check_parallel,
    check_seals,
    check_journal,
    check_journalled_links,
    check_capture,
    check_link_tests,
)
