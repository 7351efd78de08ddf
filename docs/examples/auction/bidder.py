"""Waits for items that somebody is interested in: `python bidder.py FACTORY_IOR_FILE CONSTRAINT [COUNT]`.

    python bidder.py auction.ior "$category == 'clocks' and $price < 500"

Prints one line for each alert; ends after COUNT of them, or with Ctrl-C. A consumer of structured events like any other.
"""

import sys
import threading

from omniORB import CORBA

import CosNotification
import CosNotifyChannelAdmin
import CosNotifyComm__POA
import CosNotifyFilter


class Bidder(CosNotifyComm__POA.StructuredPushConsumer):
    def __init__(self, count):
        self._left = count
        self.over = threading.Event()

    def push_structured_event(self, event):
        fields = {field.name: field.value.value() for field in event.filterable_data}
        print(f"{fields['item']}: {fields['price']:.2f}, {fields['seller']}, until {fields['closes']}", flush=True)
        self._left -= 1
        if self._left == 0:
            self.over.set()

    def disconnect_structured_push_consumer(self):
        print("the auction is closed", flush=True)
        self.over.set()

    def offer_change(self, added, removed):
        pass


def keep(channel):
    """Whoever asks for it first makes the channel keep connections and offers over a crash; later ones change nothing."""
    channel.set_qos(
        [
            CosNotification.Property(name, CORBA.Any(CORBA.TC_short, CosNotification.Persistent))
            for name in ("ConnectionReliability", "EventReliability")
        ]
    )


def main():
    where, constraint = sys.argv[1:3]
    orb = CORBA.ORB_init(["bidder", "-ORBnativeCharCodeSet", "UTF-8"], CORBA.ORB_ID)
    poa = orb.resolve_initial_references("RootPOA")
    poa._get_the_POAManager().activate()
    with open(where, encoding="ascii") as file:
        factory = orb.string_to_object(file.read().strip())._narrow(CosNotifyChannelAdmin.EventChannelFactory)
    channel = factory.get_event_channel(0)
    keep(channel)

    interest = channel._get_default_filter_factory().create_filter("EXTENDED_TCL")
    offers = [CosNotification.EventType("Auction", "Offer")]
    interest.add_constraints([CosNotifyFilter.ConstraintExp(offers, constraint)])

    admin = channel._get_default_consumer_admin()
    found, _ = admin.obtain_notification_push_supplier(CosNotifyChannelAdmin.STRUCTURED_EVENT)
    proxy = found._narrow(CosNotifyChannelAdmin.StructuredProxyPushSupplier)
    proxy.add_filter(interest)
    bidder = Bidder(int(sys.argv[3]) if len(sys.argv) > 3 else -1)
    proxy.connect_structured_push_consumer(bidder._this())
    print("waiting", flush=True)
    try:
        bidder.over.wait()
    except KeyboardInterrupt:
        pass
    try:
        proxy.disconnect_structured_push_supplier()
        interest.destroy()
    except (CORBA.OBJECT_NOT_EXIST, CORBA.TRANSIENT, CORBA.COMM_FAILURE):
        pass  # the service has ended the connection, or is away
    orb.destroy()


if __name__ == "__main__":
    main()
