package jms;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.jms.ConnectionFactory;
import javax.jms.JMSException;

/**
 * A JMS client that does what it reads: one JSON object per line on standard input, one answer per line on standard
 * output, until the input ends. Arguments: provider name, class path of its client, class of its connection factory;
 * and so on. Each provider has a class loader of its own, over one common javax.jms.
 */
public final class Driver {
    private final Map<String, Class<?>> factories = new HashMap<>();
    private final Map<String, Peer> peers = new HashMap<>();

    private Driver() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err); // whatever a library prints is not an answer
        Driver driver = new Driver();
        for (int i = 0; i < arguments.length; i += 3) {
            driver.factories.put(arguments[i], load(arguments[i + 1], arguments[i + 2]));
        }
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            answers.println(Json.write(driver.answer((Map<?, ?>) Json.parse(line))));
            answers.flush();
        }
        Runtime.getRuntime().halt(0); // the input has ended: do not wait for brokers that may be dead
    }

    private static Class<?> load(String classpath, String factory) throws MalformedURLException, ClassNotFoundException {
        String[] jars = classpath.split(File.pathSeparator);
        URL[] urls = new URL[jars.length];
        for (int i = 0; i < jars.length; i++) {
            urls[i] = new File(jars[i]).toURI().toURL();
        }
        // Open as long as this program runs.
        @SuppressWarnings("resource")
        ClassLoader loader = new URLClassLoader(urls, Driver.class.getClassLoader());
        return Class.forName(factory, true, loader);
    }

    private Map<String, Object> answer(Map<?, ?> command) {
        Map<String, Object> answer = new LinkedHashMap<>();
        try {
            answer.put("result", perform(command));
        } catch (Exception trouble) {
            Map<String, Object> error = new LinkedHashMap<>();
            error.put("class", trouble.getClass().getName());
            error.put("message", String.valueOf(trouble.getMessage()));
            answer.put("error", error);
        }
        return answer;
    }

    private Object perform(Map<?, ?> command) throws Exception {
        String connection = text(command, "connection");
        String consumer = text(command, "consumer");
        String destination = text(command, "destination");
        Peer peer = peers.get(connection);
        switch (text(command, "op")) {
            case "connect":
                peers.put(connection, connect(command));
                return null;
            case "subscribe":
                peer.subscribe(consumer, destination, text(command, "selector"), text(command, "durable"), text(command, "acknowledge"));
                return null;
            case "receive":
                return peer.receive(consumer, (Long) command.get("count"), (Long) command.get("timeout_ms"));
            case "acknowledge":
                peer.acknowledge(consumer);
                return null;
            case "give_back":
                peer.giveBack(consumer);
                return null;
            case "close_consumer":
                peer.closeConsumer(consumer);
                return null;
            case "unsubscribe":
                peer.unsubscribe(text(command, "durable"));
                return null;
            case "browse":
                return peer.browse(destination, text(command, "selector"));
            case "temporary":
                return peer.temporary(text(command, "kind"));
            case "send":
                return peer.send(destination, (List<?>) command.get("messages"), (Boolean) command.get("transacted"));
            case "close":
                peers.remove(connection).close();
                return null;
            default:
                throw new IllegalArgumentException("no such operation: " + command.get("op"));
        }
    }

    private Peer connect(Map<?, ?> command) throws ReflectiveOperationException, JMSException {
        Class<?> factory = factories.get(text(command, "provider"));
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(factory.getClassLoader());
        try {
            Object made = factory.getConstructor(String.class).newInstance(text(command, "url"));
            return new Peer((ConnectionFactory) made, text(command, "login"), text(command, "password"), text(command, "client_id"));
        } catch (InvocationTargetException trouble) {
            throw new IllegalArgumentException(trouble.getCause());
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    private static String text(Map<?, ?> command, String name) {
        return (String) command.get(name);
    }
}
