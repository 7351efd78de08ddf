"""Puts items up for auction: `python auctioneer.py FACTORY_IOR_FILE < offers.jsonl`.

A supplier of structured events like any other: nothing here is of Isthmus. Each offer is an event ("Auction", "Offer") whose
filterable fields are what people may look for.
"""

import json
import sys
import time

from omniORB import CORBA

import CosNotification
import CosNotifyChannelAdmin

TYPE_CODES = {str: CORBA.TC_string, float: CORBA.TC_double}
OFFER = CosNotification.EventType("Auction", "Offer")


def offer_of(fields):
    properties = [
        CosNotification.Property(name, CORBA.Any(TYPE_CODES[type(value)], value)) for name, value in fields.items()
    ]
    header = CosNotification.EventHeader(CosNotification.FixedEventHeader(OFFER, fields["item"]), [])
    return CosNotification.StructuredEvent(header, properties, CORBA.Any(CORBA.TC_null, None))


def push(proxy, event):
    """Until the service has taken it: while it restarts, it is not there for a moment."""
    while True:
        try:
            return proxy.push_structured_event(event)
        except (CORBA.TRANSIENT, CORBA.COMM_FAILURE):
            time.sleep(0.5)


def main():
    orb = CORBA.ORB_init(["auctioneer", "-ORBnativeCharCodeSet", "UTF-8"], CORBA.ORB_ID)
    with open(sys.argv[1], encoding="ascii") as file:
        factory = orb.string_to_object(file.read().strip())._narrow(CosNotifyChannelAdmin.EventChannelFactory)
    admin = factory.get_event_channel(0)._get_default_supplier_admin()
    found, _ = admin.obtain_notification_push_consumer(CosNotifyChannelAdmin.STRUCTURED_EVENT)
    proxy = found._narrow(CosNotifyChannelAdmin.StructuredProxyPushConsumer)
    proxy.connect_structured_push_supplier(None)
    proxy.offer_change([OFFER], [])
    for line in sys.stdin:
        push(proxy, offer_of(json.loads(line)))
    proxy.disconnect_structured_push_consumer()
    orb.destroy()


if __name__ == "__main__":
    main()
