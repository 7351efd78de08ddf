"""Real parts for tests: message brokers, a JMS client, and whatever Java part else a test needs.

Fixtures (tests/conftest.py; a test that uses one of them is marked `java` by itself):

    artemis, activemq      one broker of each kind for the whole test run, login required:
                           .kind .host .stomp_port .jms_url .login .password
    rabbitmq               the same of RabbitMQ, without JMS; such a test is marked `rabbitmq` instead
    broker                 the test runs twice, once with each of the two
    jms                    the Java JMS client (jms_client.py): jms.connect(broker).subscribe("topic://x").expect(3)
    unique                 unique("alarms") is a name that no other test uses: for every destination, client id, subscription
    start_broker           start_broker("artemis") is a broker of the test's own, for those that kill, freeze or re-configure one

    def test_alarm(broker, jms, unique):
        topic = f"topic://{unique('alarms')}"
        with jms.connect(broker) as connection:
            consumer = connection.subscribe(topic)
            ...                                             # a gateway sends there
            [message] = consumer.expect(1)
            assert message.body_type == "TextMessage"
            assert message.properties["Severity"] == JmsValue("int", 3, "java.lang.Integer")

Without pytest (benchmarks): `with artemis(quick=False) as broker, JmsClient() as jms: …`, from tests.parts.artemis and .jms_client.
A broker can .kill() (-9), .restart() (same ports, same data), .stop(), .freeze(), .thaw(), and those on Java .set_password(). It
ends with the process that started it, however that ends.

A whole gateway and a CORBA supplier, each a process of its own, take neither Java nor a fixture:

    with Gateway(tmp_path, {"services": …, "endpoints": …, "channels": …, "links": …}) as gateway, Supplier(ior_file) as supplier:
        supplier.push("alarm", first=0, count=3)
        gateway.wait_for_link("alarms", lambda status: status["accounts"]["delivered"] == 3)

Other Java parts (availability.py turns a part that cannot be had into a skip with a reason, or, when CI=true, into a failure):

    jars = available(lambda: maven.jars("jacorb-3.9", "org.jacorb:jacorb:3.9", "org.jacorb:jacorb-services:3.9"))
    classes = java.compiled("mypackage", jars)              # sources in tests/parts/java/mypackage/
    port = ReservedPort()                                   # .number stays ours until close(), also while no server is up

They are kept in ISTHMUS_PARTS, or ~/.cache/isthmus/parts: delete it to fetch everything anew.
"""
