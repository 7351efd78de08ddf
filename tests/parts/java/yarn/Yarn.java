import java.io.File;
import java.io.FileOutputStream;
import java.io.OutputStream;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * A YARN cluster of one node, as Hadoop's own tests start it: a real resource manager and a real node manager.
 *
 * <p>Writes yarn-site.xml to the folder that it is given, for those who submit, and ends when its input ends.
 */
public final class Yarn {
    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[0]);
        YarnConfiguration settings = new YarnConfiguration();
        for (String who : new String[] {"resourcemanager", "nodemanager"}) {
            settings.set("yarn." + who + ".bind-host", "127.0.0.1");
        }
        settings.setInt("yarn.nodemanager.resource.memory-mb", 4096);
        settings.setInt("yarn.scheduler.minimum-allocation-mb", 128);
        // A test's JVM reserves more than it takes, and a disk that is nearly full is nobody's business here.
        settings.setBoolean("yarn.nodemanager.vmem-check-enabled", false);
        settings.setBoolean("yarn.nodemanager.pmem-check-enabled", false);
        settings.set("yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "100.0");
        settings.set("yarn.scheduler.capacity.root.queues", "default");
        settings.set("yarn.scheduler.capacity.root.default.capacity", "100");
        settings.set("yarn.scheduler.capacity.maximum-am-resource-percent", "1.0");
        MiniYARNCluster cluster = new MiniYARNCluster("isthmus", 1, 1, 1);
        cluster.init(settings);
        cluster.start();
        File part = new File(folder, "yarn-site.part");
        try (OutputStream out = new FileOutputStream(part)) {
            cluster.getConfig().writeXml(out);
        }
        if (!part.renameTo(new File(folder, "yarn-site.xml"))) {
            throw new IllegalStateException("the configuration cannot be written");
        }
        while (System.in.read() >= 0) {
            // until the tests have ended, in whatever way
        }
        cluster.stop();
        System.exit(0);
    }
}
