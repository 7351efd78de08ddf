"""What the gateway hosts itself, and the endpoints that point at it."""

from __future__ import annotations

from pathlib import Path as FilePath

from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.jms.settings import JmsEndpoint
from adapters.stomp.settings import StompEndpoint
from gateway.settings.addresses import address_in
from gateway.settings.report import Report
from gateway.settings.settings import Settings


def check_bridges(settings: Settings, report: Report) -> None:
    """The endpoints that bridges are between must be there, each of its kind."""
    service = settings.services.bridges
    if service is None:
        return
    for key, kinds, what in (
        ("channels", (CosNotificationEndpoint,), "cosnotification"),
        ("destinations", (StompEndpoint, JmsEndpoint), "stomp or jms"),
    ):
        if not isinstance(settings.endpoints.get(getattr(service, key)), kinds):
            report.error(
                "CFG-BRIDGE-ENDPOINT",
                ("services", "bridges", key),
                f"there is no {what} endpoint of this name",
                "name one of `endpoints`",
            )


def check_hosted_channels(settings: Settings, report: Report) -> None:
    """Channels of our own Notification Service have ids from 0 on, and no others exist when the links start."""
    service = settings.services.notification
    if service is None:
        return
    for id_, channel in settings.channels.items():
        endpoint = settings.endpoints.get(channel.endpoint)
        if not isinstance(channel, CosNotificationChannel) or not isinstance(endpoint, CosNotificationEndpoint):
            continue
        if endpoint.factory is None or channel.channel is None:
            continue
        made, kind, option = service.channels, "", "channels"
        if channel.events == "typed":
            made, kind, option = service.typed_channels, "typed ", "typed_channels"
        if FilePath(endpoint.factory) == FilePath(service.factory_ior) and channel.channel >= made:
            report.error(
                "CFG-HOSTED-CHANNEL",
                ("channels", id_, "channel"),
                f"our own Notification Service makes {made} {kind}channels, with ids from 0 on",
                f"name one of them, or raise services.notification.{option}",
            )


def check_rmi(settings: Settings, report: Report) -> None:
    """Suppliers by RMI need a file to find their object in, its interface, and a channel that is there."""
    service = settings.services.notification
    if service is None:
        return
    rmi, path = service.rmi, ("services", "notification", "rmi")
    if (rmi.supplier_ior is None) != (rmi.supplier_interface is None):
        given = "supplier_ior" if rmi.supplier_interface is None else "supplier_interface"
        report.error(
            "CFG-RMI", (*path, given), "supplier_ior and supplier_interface belong together", "set both, or neither"
        )
    if rmi.supplier_interface is not None and rmi.supplier_channel >= service.channels:
        report.error(
            "CFG-RMI",
            path,
            f"there is no channel {rmi.supplier_channel}: our own Notification Service makes {service.channels}",
            "set supplier_channel to one of them, or raise services.notification.channels",
        )


def check_kept_references(settings: Settings, report: Report) -> None:
    """What the store brings back is of use only under the references that clients hold: they name our port."""
    service = settings.services.notification
    if service is None or service.store is None:
        return
    ours = address_in(settings.orb.listen)
    if ours is not None and ours.port == 0:
        report.error(
            "CFG-STORE-PORT",
            ("services", "notification", "store"),
            "objects in the store keep their references, and orb.listen is at another port after each start",
            "set orb.listen to a fixed port",
        )
