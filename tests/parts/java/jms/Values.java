package jms;

import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/** Typed values: {"type": "int", "value": 3} with, where a value is shown, "java": "java.lang.Integer". */
final class Values {
    private static final long LARGEST_EXACT = 1L << 53;

    private Values() {}

    static Map<String, Object> show(Object value) {
        Map<String, Object> form = new LinkedHashMap<>();
        form.put("type", type(value));
        form.put("value", json(value));
        form.put("java", value == null ? null : value.getClass().getName());
        return form;
    }

    private static String type(Object value) {
        if (value == null || value instanceof String) {
            return "String";
        } else if (value instanceof Boolean) {
            return "boolean";
        } else if (value instanceof Byte) {
            return "byte";
        } else if (value instanceof Short) {
            return "short";
        } else if (value instanceof Integer) {
            return "int";
        } else if (value instanceof Long) {
            return "long";
        } else if (value instanceof Float) {
            return "float";
        } else if (value instanceof Double) {
            return "double";
        } else if (value instanceof Character) {
            return "char";
        } else if (value instanceof byte[]) {
            return "bytes";
        }
        return value.getClass().getName(); // not a type of JMS: the test shall see it
    }

    private static Object json(Object value) {
        if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue(); // the exact value of a float, not its shortest spelling
            return Double.isFinite(number) ? (Object) number : (Object) Double.toString(number);
        } else if (value instanceof Long number) {
            return Math.abs(number) <= LARGEST_EXACT && number != Long.MIN_VALUE ? (Object) number : (Object) number.toString();
        } else if (value instanceof Number number) {
            return number.longValue();
        } else if (value instanceof byte[] bytes) {
            return bytes(bytes);
        } else if (value == null || value instanceof Boolean) {
            return value;
        }
        return value.toString();
    }

    static Map<String, Object> bytes(byte[] bytes) {
        return Map.of("base64", Base64.getEncoder().encodeToString(bytes));
    }

    static byte[] bytes(Object form) {
        return Base64.getDecoder().decode((String) ((Map<?, ?>) form).get("base64"));
    }

    static Object read(Map<?, ?> form) {
        Object value = form.get("value");
        String type = (String) form.get("type");
        if (value == null) {
            return null;
        }
        switch (type) {
            case "String": return (String) value;
            case "boolean": return (Boolean) value;
            case "byte": return ((Number) value).byteValue();
            case "short": return ((Number) value).shortValue();
            case "int": return ((Number) value).intValue();
            case "long": return Long.valueOf(value.toString());
            case "float": return Double.valueOf(value.toString()).floatValue();
            case "double": return Double.valueOf(value.toString());
            case "char": return ((String) value).charAt(0);
            case "bytes": return bytes(value);
            default: throw new IllegalArgumentException("no such type: " + type);
        }
    }
}
