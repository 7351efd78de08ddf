package leash;

import java.io.IOException;
import java.util.Arrays;

/**
 * Runs another program's main in this JVM, which ends at once when standard input ends: no broker outlives the test
 * run that started it, even if that was killed.
 */
public final class Leash {
    private static final int ENDED_BY_LEASH = 75;

    private Leash() {}

    public static void main(String[] arguments) throws Exception {
        Thread watch = new Thread(Leash::haltAtEndOfInput, "leash");
        watch.setDaemon(true);
        watch.start();
        Class.forName(arguments[0])
                .getMethod("main", String[].class)
                .invoke(null, (Object) Arrays.copyOfRange(arguments, 1, arguments.length));
    }

    private static void haltAtEndOfInput() {
        try {
            while (System.in.read() != -1) {
                // nobody writes; if somebody does, it means nothing
            }
        } catch (IOException closed) {
            // as good as the end
        }
        Runtime.getRuntime().halt(ENDED_BY_LEASH);
    }
}
