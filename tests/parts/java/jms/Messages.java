package jms;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.jms.BytesMessage;
import javax.jms.DeliveryMode;
import javax.jms.JMSException;
import javax.jms.MapMessage;
import javax.jms.Message;
import javax.jms.MessageEOFException;
import javax.jms.ObjectMessage;
import javax.jms.Session;
import javax.jms.StreamMessage;
import javax.jms.TextMessage;

/** JMS messages to and from their JSON form; what is shown is what the getters of the JMS interface say, and nothing else. */
final class Messages {
    private Messages() {}

    static Map<String, Object> show(Message message) throws JMSException {
        Map<String, Object> form = new LinkedHashMap<>();
        form.put("headers", headers(message));
        form.put("properties", properties(message));
        form.put("body", body(message));
        form.put("java", message.getClass().getName());
        return form;
    }

    private static Map<String, Object> headers(Message message) throws JMSException {
        Map<String, Object> headers = new LinkedHashMap<>();
        long expiration = message.getJMSExpiration();
        headers.put("JMSType", message.getJMSType());
        headers.put("JMSDeliveryMode", deliveryMode(message.getJMSDeliveryMode()));
        headers.put("JMSPriority", (long) message.getJMSPriority());
        headers.put("JMSTimeToLive", expiration == 0 ? 0 : expiration - message.getJMSTimestamp());
        headers.put("JMSMessageID", message.getJMSMessageID());
        headers.put("JMSTimestamp", message.getJMSTimestamp());
        headers.put("JMSDestination", Destinations.show(message.getJMSDestination()));
        headers.put("JMSCorrelationID", message.getJMSCorrelationID());
        headers.put("JMSReplyTo", Destinations.show(message.getJMSReplyTo()));
        headers.put("JMSExpiration", expiration);
        headers.put("JMSRedelivered", message.getJMSRedelivered());
        return headers;
    }

    private static String deliveryMode(int mode) {
        return mode == DeliveryMode.PERSISTENT ? "PERSISTENT" : mode == DeliveryMode.NON_PERSISTENT ? "NON_PERSISTENT" : "?" + mode;
    }

    private static List<Object> properties(Message message) throws JMSException {
        List<Object> properties = new ArrayList<>();
        for (String name : sorted(message.getPropertyNames())) {
            properties.add(named(name, message.getObjectProperty(name)));
        }
        return properties;
    }

    private static Map<String, Object> body(Message message) throws JMSException {
        Map<String, Object> form = new LinkedHashMap<>();
        if (message instanceof TextMessage text) {
            form.put("type", "TextMessage");
            form.put("value", text.getText());
        } else if (message instanceof BytesMessage bytes) {
            byte[] content = new byte[(int) bytes.getBodyLength()];
            bytes.readBytes(content);
            form.put("type", "BytesMessage");
            form.put("value", Values.bytes(content));
        } else if (message instanceof MapMessage map) {
            List<Object> entries = new ArrayList<>();
            for (String name : sorted(map.getMapNames())) {
                entries.add(named(name, map.getObject(name)));
            }
            form.put("type", "MapMessage");
            form.put("value", entries);
        } else if (message instanceof StreamMessage stream) {
            form.put("type", "StreamMessage");
            form.put("value", elements(stream));
        } else if (message instanceof ObjectMessage object) {
            form.put("type", "ObjectMessage");
            form.put("value", Values.bytes(serialized(object.getObject())));
        } else {
            form.put("type", "Message");
            form.put("value", null);
        }
        return form;
    }

    private static List<Object> elements(StreamMessage stream) throws JMSException {
        List<Object> elements = new ArrayList<>();
        while (true) {
            try {
                elements.add(Values.show(stream.readObject()));
            } catch (MessageEOFException end) {
                return elements;
            }
        }
    }

    private static Map<String, Object> named(String name, Object value) {
        Map<String, Object> form = new LinkedHashMap<>();
        form.put("name", name);
        form.putAll(Values.show(value));
        return form;
    }

    private static List<String> sorted(java.util.Enumeration<?> names) {
        List<String> list = new ArrayList<>();
        for (Object name : Collections.list(names)) {
            list.add((String) name);
        }
        Collections.sort(list);
        return list;
    }

    /** A message with body and properties; of the headers those that a client may set on it (the rest go to the producer). */
    static Message create(Session session, Map<?, ?> form, Destinations destinations) throws JMSException {
        Map<?, ?> body = (Map<?, ?>) form.get("body");
        Message message = body(session, (String) body.get("type"), body.get("value"));
        for (Object element : (List<?>) form.get("properties")) {
            Map<?, ?> property = (Map<?, ?>) element;
            message.setObjectProperty((String) property.get("name"), Values.read(property));
        }
        Map<?, ?> headers = (Map<?, ?>) form.get("headers");
        if (headers.get("JMSType") != null) {
            message.setJMSType((String) headers.get("JMSType"));
        }
        if (headers.get("JMSCorrelationID") != null) {
            message.setJMSCorrelationID((String) headers.get("JMSCorrelationID"));
        }
        if (headers.get("JMSReplyTo") != null) {
            message.setJMSReplyTo(destinations.find(session, (String) headers.get("JMSReplyTo")));
        }
        return message;
    }

    private static Message body(Session session, String type, Object value) throws JMSException {
        switch (type) {
            case "Message":
                return session.createMessage();
            case "TextMessage":
                return session.createTextMessage((String) value);
            case "BytesMessage":
                BytesMessage bytes = session.createBytesMessage();
                bytes.writeBytes(Values.bytes(value));
                return bytes;
            case "MapMessage":
                MapMessage map = session.createMapMessage();
                for (Object entry : (List<?>) value) {
                    map.setObject((String) ((Map<?, ?>) entry).get("name"), Values.read((Map<?, ?>) entry));
                }
                return map;
            case "StreamMessage":
                StreamMessage stream = session.createStreamMessage();
                for (Object element : (List<?>) value) {
                    stream.writeObject(Values.read((Map<?, ?>) element));
                }
                return stream;
            case "ObjectMessage":
                return session.createObjectMessage(deserialized(Values.bytes(value)));
            default:
                throw new IllegalArgumentException("no such message class: " + type);
        }
    }

    private static byte[] serialized(Serializable object) {
        try (ByteArrayOutputStream out = new ByteArrayOutputStream(); ObjectOutputStream objects = new ObjectOutputStream(out)) {
            objects.writeObject(object);
            objects.flush();
            return out.toByteArray();
        } catch (IOException trouble) {
            throw new IllegalStateException(trouble);
        }
    }

    private static Serializable deserialized(byte[] bytes) {
        try (ObjectInputStream objects = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return (Serializable) objects.readObject();
        } catch (IOException | ClassNotFoundException trouble) {
            throw new IllegalArgumentException(trouble);
        }
    }
}
