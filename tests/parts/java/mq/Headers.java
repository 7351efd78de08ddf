import com.ibm.mq.headers.MQDLH;
import com.ibm.mq.headers.MQHeader;
import com.ibm.mq.headers.MQHeaderIterator;
import com.ibm.mq.headers.MQMDE;
import com.ibm.mq.headers.MQRFH2;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.json.JSONArray;
import org.json.JSONObject;

/** IBM's own header classes, driven by JSON, one object a line: they read our bytes ("read") and write theirs ("write"). */
public final class Headers {
    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JSONObject answer;
            try {
                JSONObject question = new JSONObject(line);
                answer = question.getString("do").equals("read") ? read(question) : write(question);
            } catch (Exception problem) {
                answer = new JSONObject().put("error", problem.toString());
            }
            out.println(answer);
        }
    }

    private static JSONObject read(JSONObject question) throws Exception {
        byte[] data = HexFormat.of().parseHex(question.getString("data"));
        DataInputStream input = new DataInputStream(new ByteArrayInputStream(data));
        String format = String.format("%-8s", question.getString("format"));
        MQHeaderIterator headers =
                new MQHeaderIterator(input, format, question.getInt("encoding"), question.getInt("ccsid"));
        JSONArray found = new JSONArray();
        while (headers.hasNext()) {
            found.put(described(headers.nextHeader()));
        }
        byte[] body = headers.getBodyAsBytes();
        return new JSONObject().put("headers", found).put("body", HexFormat.of().formatHex(body == null ? new byte[0] : body));
    }

    private static JSONObject described(MQHeader header) throws Exception {
        if (header instanceof MQRFH2 rfh2) {
            JSONArray folders = new JSONArray();
            for (MQRFH2.Element folder : rfh2.getFolders()) {
                JSONArray fields = new JSONArray();
                for (MQRFH2.Element field : folder.getChildren()) {
                    Object value = field.isNil() ? null : field.getValue();
                    fields.put(new JSONObject()
                            .put("name", field.getName())
                            .put("java", value == null ? JSONObject.NULL : value.getClass().getSimpleName())
                            .put("text", value == null ? JSONObject.NULL
                                    : value instanceof byte[] octets ? HexFormat.of().formatHex(octets) : value.toString()));
                }
                folders.put(new JSONObject().put("name", folder.getName()).put("fields", fields));
            }
            return new JSONObject().put("type", "MQRFH2").put("folders", folders).put("format", rfh2.getFormat().trim())
                    .put("encoding", rfh2.getEncoding()).put("ccsid", rfh2.getCodedCharSetId());
        }
        if (header instanceof MQDLH dead) {
            return new JSONObject().put("type", "MQDLH").put("reason", dead.getReason()).put("queue", dead.getDestQName().trim())
                    .put("manager", dead.getDestQMgrName().trim()).put("format", dead.getFormat().trim())
                    .put("application", dead.getPutApplName().trim()).put("date", dead.getPutDate()).put("time", dead.getPutTime());
        }
        if (header instanceof MQMDE extension) {
            return new JSONObject().put("type", "MQMDE").put("group", HexFormat.of().formatHex(extension.getGroupId()))
                    .put("sequence", extension.getMsgSeqNumber());
        }
        return new JSONObject().put("type", header.getClass().getSimpleName());
    }

    private static JSONObject write(JSONObject question) throws Exception {
        int encoding = question.getInt("encoding");
        ByteArrayOutputStream octets = new ByteArrayOutputStream();
        DataOutputStream output = new DataOutputStream(octets);
        if (question.optBoolean("dead")) {
            MQDLH dead = new MQDLH();
            dead.setReason(2053);
            dead.setDestQName("FULL.QUEUE");
            dead.setDestQMgrName("QM9");
            dead.setFormat("MQHRF2  ");
            dead.setEncoding(encoding);
            dead.setCodedCharSetId(1208);
            dead.write(output, encoding, 1208);
        }
        if (question.optBoolean("extension")) {
            MQMDE extension = new MQMDE();
            extension.setGroupId(HexFormat.of().parseHex("ab".repeat(24)));
            extension.setMsgSeqNumber(7);
            extension.setMsgFlags(8);
            extension.setFormat("MQHRF2  ");
            extension.setEncoding(encoding);
            extension.setCodedCharSetId(1208);
            extension.write(output, encoding, 1208);
        }
        MQRFH2 header = new MQRFH2();
        header.setFormat("MQSTR   ");
        header.setEncoding(encoding);
        header.setCodedCharSetId(1208);
        header.setNameValueCCSID(question.getInt("name_value_ccsid"));
        header.setFieldValue("mcd", "Msd", "jms_text");
        header.setFieldValue("jms", "Dst", "queue:///ORDERS");
        header.setLongFieldValue("jms", "Tms", 1700000000123L);
        header.setIntFieldValue("jms", "Dlv", 1);
        header.setFieldValue("usr", "text", question.getString("text"));
        header.setFieldValue("usr", "yes", Boolean.TRUE);
        header.setByteFieldValue("usr", "octet", (byte) -128);
        header.setShortFieldValue("usr", "small", (short) -32768);
        header.setIntFieldValue("usr", "whole", Integer.MIN_VALUE);
        header.setLongFieldValue("usr", "large", Long.MAX_VALUE);
        header.setFloatFieldValue("usr", "single", 0.1f);
        header.setDoubleFieldValue("usr", "real", Math.PI);
        header.setFieldValue("usr", "octets", new byte[] {(byte) 0xCA, (byte) 0xFE});
        header.write(output, encoding, 1208);
        output.write("hé".getBytes(StandardCharsets.UTF_8));
        return new JSONObject().put("data", HexFormat.of().formatHex(octets.toByteArray()));
    }
}
