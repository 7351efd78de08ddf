package jacorb;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.omg.CORBA.Any;
import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.ORB;
import org.omg.CosEventComm.Disconnected;
import org.omg.CosNotification.EventHeader;
import org.omg.CosNotification.EventType;
import org.omg.CosNotification.FixedEventHeader;
import org.omg.CosNotification.Property;
import org.omg.CosNotification.StructuredEvent;
import org.omg.CosNotifyChannelAdmin.*;
import org.omg.CosNotifyComm.PushConsumerPOA;
import org.omg.CosNotifyComm.SequencePushConsumerPOA;
import org.omg.CosNotifyComm.StructuredPushConsumerPOA;
import org.omg.CosNotifyFilter.ConstraintExp;
import org.omg.CosNotifyFilter.Filter;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import org.omg.PortableServer.Servant;

/** A client on JacORB's library: supplier and consumer of every kind, driven by one flat JSON object a line. */
public final class NotifyClient {
    private static final Pattern MEMBER = Pattern.compile("\"(\\w+)\":\\s*(?:\"((?:[^\"\\\\]|\\\\.)*)\"|(-?\\d+))");

    private final ORB orb;
    private final POA poa;
    private final EventChannel channel;
    private final ConsumerAdmin consumers;
    private final SupplierAdmin suppliers;
    private final List<String> got = new ArrayList<>();
    private final Map<String, Runnable> farewells = new HashMap<>();
    private final Map<String, java.util.function.IntConsumer> pushes = new HashMap<>();
    private final Map<String, Supplier<List<String>>> pulls = new HashMap<>();
    private int disconnected;

    private NotifyClient(String factory) throws Exception {
        Properties properties = new Properties();
        properties.put("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        properties.put("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        properties.put("OAIAddr", "127.0.0.1");
        properties.put("jacorb.log.default.verbosity", "1");
        properties.put("jacorb.native_char_codeset", "UTF8");
        orb = ORB.init(new String[0], properties);
        poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        EventChannelFactory found = EventChannelFactoryHelper.narrow(orb.string_to_object(factory));
        channel = found.get_event_channel(0);
        consumers = channel.new_for_consumers(InterFilterGroupOperator.AND_OP, new IntHolder());
        suppliers = channel.new_for_suppliers(InterFilterGroupOperator.AND_OP, new IntHolder());
    }

    public static void main(String[] arguments) throws Exception {
        NotifyClient client = new NotifyClient(arguments[0]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String answer;
            try {
                answer = client.answer(parsed(line));
            } catch (Exception error) {
                answer = "{\"error\": " + quoted(error.toString()) + "}";
            }
            System.out.write((answer + "\n").getBytes(StandardCharsets.UTF_8));
            System.out.flush();
        }
        System.exit(0);
    }

    private String answer(Map<String, String> question) throws Exception {
        String kind = question.getOrDefault("kind", "structured");
        String name = question.getOrDefault("style", "") + kind;
        switch (question.get("do")) {
            case "consume":
                if (question.get("style").equals("push")) {
                    consume(kind, name, question.get("filter"));
                } else {
                    fetch(kind, name, question.get("filter"));
                }
                break;
            case "supply":
                supply(kind, "supply" + kind, question.get("filter"));
                break;
            case "push":
                for (int n = Integer.parseInt(question.get("from")); n < Integer.parseInt(question.get("to")); n++) {
                    pushes.get("supply" + kind).accept(n);
                }
                break;
            case "pull":
                return texts(pulls.get(name).get());
            case "got":
                synchronized (got) {
                    return texts(new ArrayList<>(got));
                }
            case "disconnect":
                farewells.remove(question.get("what")).run();
                break;
            case "disconnected":
                return "{\"count\": " + disconnected + "}";
            default:
                throw new IllegalArgumentException(question.get("do"));
        }
        return "{}";
    }

    private void consume(String kind, String name, String filter) throws Exception {
        ClientType type = type(kind);
        ProxySupplier proxy = consumers.obtain_notification_push_supplier(type, new IntHolder());
        addFilter(proxy, filter);
        if (kind.equals("any")) {
            ProxyPushSupplier found = ProxyPushSupplierHelper.narrow(proxy);
            found.connect_any_push_consumer(
                    org.omg.CosEventComm.PushConsumerHelper.narrow(reference(new AnyConsumer())));
            farewells.put(name, found::disconnect_push_supplier);
        } else if (kind.equals("structured")) {
            StructuredProxyPushSupplier found = StructuredProxyPushSupplierHelper.narrow(proxy);
            found.connect_structured_push_consumer(
                    org.omg.CosNotifyComm.StructuredPushConsumerHelper.narrow(reference(new StructuredConsumer())));
            found.suspend_connection();
            found.resume_connection();
            farewells.put(name, found::disconnect_structured_push_supplier);
        } else {
            SequenceProxyPushSupplier found = SequenceProxyPushSupplierHelper.narrow(proxy);
            Any size = orb.create_any();
            size.insert_long(10);
            found.set_qos(new Property[] {new Property("MaximumBatchSize", size)});
            found.connect_sequence_push_consumer(
                    org.omg.CosNotifyComm.SequencePushConsumerHelper.narrow(reference(new SequenceConsumer())));
            farewells.put(name, found::disconnect_sequence_push_supplier);
        }
    }

    private void fetch(String kind, String name, String filter) throws Exception {
        ProxySupplier proxy = consumers.obtain_notification_pull_supplier(type(kind), new IntHolder());
        addFilter(proxy, filter);
        if (kind.equals("any")) {
            ProxyPullSupplier found = ProxyPullSupplierHelper.narrow(proxy);
            found.connect_any_pull_consumer(null);
            pulls.put(name, () -> {
                BooleanHolder hasEvent = new BooleanHolder();
                try {
                    Any any = found.try_pull(hasEvent);
                    return hasEvent.value ? List.of(text(any)) : List.of();
                } catch (Disconnected error) {
                    throw new IllegalStateException(error);
                }
            });
            farewells.put(name, found::disconnect_pull_supplier);
        } else if (kind.equals("structured")) {
            StructuredProxyPullSupplier found = StructuredProxyPullSupplierHelper.narrow(proxy);
            found.connect_structured_pull_consumer(null);
            pulls.put(name, () -> {
                BooleanHolder hasEvent = new BooleanHolder();
                try {
                    StructuredEvent event = found.try_pull_structured_event(hasEvent);
                    return hasEvent.value ? List.of(text(event)) : List.of();
                } catch (Disconnected error) {
                    throw new IllegalStateException(error);
                }
            });
            farewells.put(name, found::disconnect_structured_pull_supplier);
        } else {
            SequenceProxyPullSupplier found = SequenceProxyPullSupplierHelper.narrow(proxy);
            found.connect_sequence_pull_consumer(null);
            pulls.put(name, () -> {
                BooleanHolder hasEvent = new BooleanHolder();
                try {
                    List<String> texts = new ArrayList<>();
                    for (StructuredEvent event : found.try_pull_structured_events(100, hasEvent)) {
                        texts.add(text(event));
                    }
                    return texts;
                } catch (Disconnected error) {
                    throw new IllegalStateException(error);
                }
            });
            farewells.put(name, found::disconnect_sequence_pull_supplier);
        }
    }

    private void supply(String kind, String name, String filter) throws Exception {
        ProxyConsumer proxy = suppliers.obtain_notification_push_consumer(type(kind), new IntHolder());
        addFilter(proxy, filter);
        suppliers.offer_change(new EventType[] {new EventType("jacorb", "Alarm")}, new EventType[0]);
        if (kind.equals("any")) {
            ProxyPushConsumer found = ProxyPushConsumerHelper.narrow(proxy);
            found.connect_any_push_supplier(null);
            pushes.put(name, n -> {
                try {
                    Any any = orb.create_any();
                    any.insert_string("any " + n);
                    found.push(any);
                } catch (Disconnected error) {
                    throw new IllegalStateException(error);
                }
            });
            farewells.put(name, found::disconnect_push_consumer);
        } else if (kind.equals("structured")) {
            StructuredProxyPushConsumer found = StructuredProxyPushConsumerHelper.narrow(proxy);
            found.connect_structured_push_supplier(null);
            pushes.put(name, n -> {
                try {
                    found.push_structured_event(event(n));
                } catch (Disconnected error) {
                    throw new IllegalStateException(error);
                }
            });
            farewells.put(name, found::disconnect_structured_push_consumer);
        } else {
            SequenceProxyPushConsumer found = SequenceProxyPushConsumerHelper.narrow(proxy);
            found.connect_sequence_push_supplier(null);
            pushes.put(name, n -> {
                try {
                    found.push_structured_events(new StructuredEvent[] {event(n), event(n + 1000)});
                } catch (Disconnected error) {
                    throw new IllegalStateException(error);
                }
            });
            farewells.put(name, found::disconnect_sequence_push_consumer);
        }
    }

    private void addFilter(org.omg.CosNotifyFilter.FilterAdmin proxy, String constraint) throws Exception {
        if (constraint != null) {
            Filter filter = channel.default_filter_factory().create_filter("EXTENDED_TCL");
            EventType[] types = {new EventType("*", "*")};
            filter.add_constraints(new ConstraintExp[] {new ConstraintExp(types, constraint)});
            proxy.add_filter(filter);
        }
    }

    private org.omg.CORBA.Object reference(Servant servant) throws Exception {
        return poa.servant_to_reference(servant);
    }

    private static ClientType type(String kind) {
        return kind.equals("any")
                ? ClientType.ANY_EVENT
                : kind.equals("structured") ? ClientType.STRUCTURED_EVENT : ClientType.SEQUENCE_EVENT;
    }

    private StructuredEvent event(int number) {
        Any n = orb.create_any();
        n.insert_long(number);
        Any source = orb.create_any();
        source.insert_string("Zürich");
        Any body = orb.create_any();
        body.insert_string("body " + number);
        Property[] fields = {new Property("n", n), new Property("source", source)};
        FixedEventHeader fixed = new FixedEventHeader(new EventType("jacorb", "Alarm"), "e" + number);
        return new StructuredEvent(new EventHeader(fixed, new Property[0]), fields, body);
    }

    private static String text(StructuredEvent event) {
        FixedEventHeader fixed = event.header.fixed_header;
        StringBuilder text = new StringBuilder(fixed.event_type.domain_name + "/" + fixed.event_type.type_name);
        for (Property field : event.filterable_data) {
            text.append(' ').append(field.name).append('=').append(plain(field.value));
        }
        return text.append(" | ").append(plain(event.remainder_of_body)).toString();
    }

    private static String text(Any any) {
        if (any.type().kind() == org.omg.CORBA.TCKind.tk_struct) {
            return text(org.omg.CosNotification.StructuredEventHelper.extract(any));
        }
        return plain(any);
    }

    private static String plain(Any any) {
        switch (any.type().kind().value()) {
            case org.omg.CORBA.TCKind._tk_long:
                return Integer.toString(any.extract_long());
            case org.omg.CORBA.TCKind._tk_string:
                return any.extract_string();
            default:
                return "?";
        }
    }

    private void take(String text) {
        synchronized (got) {
            got.add(text);
        }
    }

    private final class AnyConsumer extends PushConsumerPOA {
        public void push(Any data) {
            take("any: " + text(data));
        }

        public void disconnect_push_consumer() {
            disconnected++;
        }

        public void offer_change(EventType[] added, EventType[] removed) {}
    }

    private final class StructuredConsumer extends StructuredPushConsumerPOA {
        public void push_structured_event(StructuredEvent event) {
            take("structured: " + text(event));
        }

        public void disconnect_structured_push_consumer() {
            disconnected++;
        }

        public void offer_change(EventType[] added, EventType[] removed) {}
    }

    private final class SequenceConsumer extends SequencePushConsumerPOA {
        public void push_structured_events(StructuredEvent[] events) {
            for (StructuredEvent event : events) {
                take("sequence: " + text(event));
            }
        }

        public void disconnect_sequence_push_consumer() {
            disconnected++;
        }

        public void offer_change(EventType[] added, EventType[] removed) {}
    }

    private static Map<String, String> parsed(String line) {
        Map<String, String> members = new HashMap<>();
        Matcher found = MEMBER.matcher(line);
        while (found.find()) {
            String text = found.group(2);
            members.put(found.group(1), text == null ? found.group(3) : text.replaceAll("\\\\(.)", "$1"));
        }
        return members;
    }

    private static String texts(List<String> texts) {
        StringBuilder json = new StringBuilder("{\"texts\": [");
        for (int i = 0; i < texts.size(); i++) {
            json.append(i == 0 ? "" : ", ").append(quoted(texts.get(i)));
        }
        return json.append("]}").toString();
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", " ") + "\"";
    }
}
