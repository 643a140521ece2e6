import java.io.*;
import java.util.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.StringSerializer;

/** Produce BROKER FILE RATE: sends lines "marker TAB topic TAB partition TAB value", RATE markers a
 * second, and prints [marker, seconds since 1970] of each when the broker has them. */
public class Produce {
    public static void main(String[] given) throws Exception {
        Properties wanted = new Properties();
        wanted.put("bootstrap.servers", given[0]);
        wanted.put("linger.ms", "0");
        double rate = Double.parseDouble(given[2]);
        try (var producer = new KafkaProducer<>(wanted, new StringSerializer(), new StringSerializer());
             var lines = new BufferedReader(new FileReader(given[1]))) {
            long begun = System.currentTimeMillis();
            int number = 0;
            String marker = null;
            for (String line = lines.readLine(); ; line = lines.readLine()) {
                String[] cells = line == null ? null : line.split("\t", 4);
                if (marker != null && (cells == null || !cells[0].equals(marker))) {
                    producer.flush();
                    System.out.println("[" + marker + ", " + System.currentTimeMillis() / 1e3 + "]");
                    System.out.flush();
                    long wait = begun + Math.round(1000 * ++number / rate) - System.currentTimeMillis();
                    if (wait > 0) Thread.sleep(wait);
                }
                if (cells == null) return;
                marker = cells[0];
                producer.send(new ProducerRecord<>(cells[1], Integer.valueOf(cells[2]), null, cells[3]));
            }
        }
    }
}
