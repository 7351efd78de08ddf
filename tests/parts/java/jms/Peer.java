package jms;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.jms.Connection;
import javax.jms.ConnectionFactory;
import javax.jms.DeliveryMode;
import javax.jms.Destination;
import javax.jms.JMSException;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Queue;
import javax.jms.QueueBrowser;
import javax.jms.Session;
import javax.jms.Topic;

/** One connection to one broker, with its consumers by name. */
final class Peer {
    private final Connection connection;
    private final Session sending;
    private final Session committing;
    private final Destinations destinations = new Destinations();
    private final Map<String, Subscription> consumers = new HashMap<>();

    private static final class Subscription {
        final Session session;
        final MessageConsumer consumer;
        Message last;

        Subscription(Session session, MessageConsumer consumer) {
            this.session = session;
            this.consumer = consumer;
        }
    }

    Peer(ConnectionFactory factory, String login, String password, String clientId) throws JMSException {
        connection = login == null ? factory.createConnection() : factory.createConnection(login, password);
        try {
            if (clientId != null) {
                connection.setClientID(clientId);
            }
            connection.start();
            sending = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            committing = connection.createSession(true, Session.SESSION_TRANSACTED);
        } catch (JMSException trouble) {
            connection.close();
            throw trouble;
        }
    }

    void subscribe(String name, String destination, String selector, String durable, String acknowledge) throws JMSException {
        boolean transacted = acknowledge.equals("transacted");
        int mode = acknowledge.equals("auto") ? Session.AUTO_ACKNOWLEDGE : Session.CLIENT_ACKNOWLEDGE;
        Session session = connection.createSession(transacted, transacted ? Session.SESSION_TRANSACTED : mode);
        try {
            Destination from = destinations.find(session, destination);
            MessageConsumer consumer = durable == null
                    ? session.createConsumer(from, selector)
                    : session.createDurableSubscriber((Topic) from, durable, selector, false);
            consumers.put(name, new Subscription(session, consumer));
        } catch (JMSException | RuntimeException trouble) {
            session.close();
            throw trouble;
        }
    }

    /** Up to count messages; fewer when the time is up. */
    List<Object> receive(String name, long count, long timeoutMillis) throws JMSException {
        Subscription subscription = consumers.get(name);
        List<Object> messages = new ArrayList<>();
        long deadline = System.nanoTime() + timeoutMillis * 1_000_000;
        while (messages.size() < count) {
            long left = (deadline - System.nanoTime()) / 1_000_000;
            Message message = left > 0 ? subscription.consumer.receive(left) : subscription.consumer.receiveNoWait();
            if (message == null) {
                break;
            }
            destinations.remember(message.getJMSReplyTo());
            subscription.last = message;
            messages.add(Messages.show(message));
        }
        return messages;
    }

    void acknowledge(String name) throws JMSException {
        Subscription subscription = consumers.get(name);
        if (subscription.session.getTransacted()) {
            subscription.session.commit();
        } else if (subscription.last != null) {
            subscription.last.acknowledge();
        }
    }

    void giveBack(String name) throws JMSException {
        Session session = consumers.get(name).session;
        if (session.getTransacted()) {
            session.rollback();
        } else {
            session.recover();
        }
    }

    void closeConsumer(String name) throws JMSException {
        consumers.remove(name).session.close();
    }

    void unsubscribe(String durable) throws JMSException {
        sending.unsubscribe(durable);
    }

    List<Object> browse(String destination, String selector) throws JMSException {
        List<Object> messages = new ArrayList<>();
        QueueBrowser browser = sending.createBrowser((Queue) destinations.find(sending, destination), selector);
        for (Object message : java.util.Collections.list((java.util.Enumeration<?>) browser.getEnumeration())) {
            messages.add(Messages.show((Message) message));
        }
        browser.close();
        return messages;
    }

    String temporary(String kind) throws JMSException {
        return destinations.remember(kind.equals("queue") ? sending.createTemporaryQueue() : sending.createTemporaryTopic());
    }

    /** Sends each; returns the ids that the provider gave them. */
    List<Object> send(String destination, List<?> forms, boolean transacted) throws JMSException {
        Session session = transacted ? committing : sending;
        List<Object> ids = new ArrayList<>();
        MessageProducer producer = session.createProducer(destinations.find(session, destination));
        try {
            for (Object form : forms) {
                Message message = Messages.create(session, (Map<?, ?>) form, destinations);
                Map<?, ?> headers = (Map<?, ?>) ((Map<?, ?>) form).get("headers");
                producer.send(message, mode(headers), (int) number(headers, "JMSPriority", Message.DEFAULT_PRIORITY),
                        number(headers, "JMSTimeToLive", Message.DEFAULT_TIME_TO_LIVE));
                ids.add(message.getJMSMessageID());
            }
            if (transacted) {
                session.commit();
            }
        } finally {
            producer.close();
        }
        return ids;
    }

    private static int mode(Map<?, ?> headers) {
        return "NON_PERSISTENT".equals(headers.get("JMSDeliveryMode")) ? DeliveryMode.NON_PERSISTENT : DeliveryMode.PERSISTENT;
    }

    private static long number(Map<?, ?> headers, String name, long otherwise) {
        return headers.get(name) == null ? otherwise : ((Number) headers.get(name)).longValue();
    }

    void close() throws JMSException {
        connection.close();
    }
}
