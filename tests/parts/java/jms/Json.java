package jms;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON text to and from Map, List, String, Long, Double, Boolean and null. One document, strict enough for our own writer. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        Json parser = new Json(text);
        Object value = parser.value();
        parser.skipSpace();
        if (parser.at != text.length()) {
            throw parser.wrong("end");
        }
        return value;
    }

    private Object value() {
        skipSpace();
        char first = peek();
        if (first == '{') {
            return object();
        } else if (first == '[') {
            return array();
        } else if (first == '"') {
            return string();
        } else if (first == '-' || Character.isDigit(first)) {
            return number();
        } else if (word("true")) {
            return Boolean.TRUE;
        } else if (word("false")) {
            return Boolean.FALSE;
        } else if (word("null")) {
            return null;
        }
        throw wrong("a value");
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        take('{');
        if (taken('}')) {
            return members;
        }
        do {
            skipSpace();
            String name = string();
            take(':');
            members.put(name, value());
        } while (taken(','));
        take('}');
        return members;
    }

    private List<Object> array() {
        List<Object> elements = new ArrayList<>();
        take('[');
        if (taken(']')) {
            return elements;
        }
        do {
            elements.add(value());
        } while (taken(','));
        take(']');
        return elements;
    }

    private String string() {
        take('"');
        StringBuilder out = new StringBuilder();
        while (peek() != '"') {
            char c = text.charAt(at++);
            out.append(c == '\\' ? escape() : c);
        }
        at++;
        return out.toString();
    }

    private char escape() {
        char kind = peek();
        at++;
        switch (kind) {
            case 'b': return '\b';
            case 'f': return '\f';
            case 'n': return '\n';
            case 'r': return '\r';
            case 't': return '\t';
            case 'u':
                at += 4;
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default: return kind;
        }
    }

    private Object number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(start, at);
        boolean whole = digits.chars().noneMatch(c -> c == '.' || c == 'e' || c == 'E');
        return whole ? (Object) Long.valueOf(digits) : (Object) Double.valueOf(digits);
    }

    private boolean word(String word) {
        boolean here = text.startsWith(word, at);
        at += here ? word.length() : 0;
        return here;
    }

    private boolean taken(char wanted) {
        skipSpace();
        boolean here = peek() == wanted;
        at += here ? 1 : 0;
        return here;
    }

    private void take(char wanted) {
        if (!taken(wanted)) {
            throw wrong("'" + wanted + "'");
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw wrong("more");
        }
        return text.charAt(at);
    }

    private void skipSpace() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private IllegalArgumentException wrong(String wanted) {
        return new IllegalArgumentException("JSON: " + wanted + " expected at " + at);
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> map) {
            String before = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(before);
                quote((String) entry.getKey(), out);
                out.append(':');
                write(entry.getValue(), out);
                before = ",";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            String before = "[";
            for (Object element : list) {
                out.append(before);
                write(element, out);
                before = ",";
            }
            out.append(list.isEmpty() ? "[]" : "]");
        } else if (value instanceof String string) {
            quote(string, out);
        } else {
            out.append(value); // null, Boolean, Long, Integer, finite Double
        }
    }

    private static void quote(String string, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < string.length(); i++) {
            char c = string.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20 || c > 0x7e) { // all that is not plain ASCII: no question of encodings, no line ends
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
