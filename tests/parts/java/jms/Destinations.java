package jms;

import java.util.HashMap;
import java.util.Map;
import javax.jms.Destination;
import javax.jms.JMSException;
import javax.jms.Queue;
import javax.jms.Session;
import javax.jms.TemporaryQueue;
import javax.jms.TemporaryTopic;
import javax.jms.Topic;

/** queue://NAME and topic://NAME; temp-queue:// and temp-topic:// for those that this connection has made or been told of. */
final class Destinations {
    private final Map<String, Destination> temporary = new HashMap<>();

    static String show(Destination destination) throws JMSException {
        if (destination instanceof TemporaryQueue queue) {
            return "temp-queue://" + queue.getQueueName();
        } else if (destination instanceof TemporaryTopic topic) {
            return "temp-topic://" + topic.getTopicName();
        } else if (destination instanceof Queue queue) {
            return "queue://" + queue.getQueueName();
        } else if (destination instanceof Topic topic) {
            return "topic://" + topic.getTopicName();
        }
        return destination == null ? null : destination.toString();
    }

    String remember(Destination destination) throws JMSException {
        String name = show(destination);
        if (name != null && name.startsWith("temp-")) {
            temporary.put(name, destination);
        }
        return name;
    }

    Destination find(Session session, String name) throws JMSException {
        if (temporary.containsKey(name)) {
            return temporary.get(name);
        } else if (name.startsWith("queue://")) {
            return session.createQueue(name.substring("queue://".length()));
        } else if (name.startsWith("topic://")) {
            return session.createTopic(name.substring("topic://".length()));
        }
        throw new IllegalArgumentException("not a destination: " + name);
    }
}
