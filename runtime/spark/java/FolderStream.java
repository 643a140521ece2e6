package ontoweir;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadAllAvailable;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxFiles;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The files of folders in the order of their modification times, each once; see FolderSource.
 *
 * <p>Which files of a folder count is what Spark says: none that are hidden, and those of folders
 * below only if a name of one of them says a column (`day=7`).
 */
final class FolderStream implements MicroBatchStream, SupportsTriggerAvailableNow {
  private static final Comparator<FileStatus> ORDER =
      Comparator.comparingLong(FileStatus::getModificationTime)
          .thenComparing(file -> file.getPath().toUri().getPath());

  private final LocalFiles files = new LocalFiles();
  private final List<Path> folders = new ArrayList<>();
  private final Set<String> seen = new HashSet<>();
  private final FolderLog log;
  private final int most;
  private Deque<FileStatus> waiting = new ArrayDeque<>(); // of the last listing, what is not taken
  private boolean listed; // whether that was the only listing

  FolderStream(CaseInsensitiveStringMap options, String checkpoint) {
    for (String folder : options.get("folders").split("\n")) {
      folders.add(new Path(folder));
    }
    most = options.getInt("most", 1);
    try {
      files.initialize(URI.create("file:///"), new Configuration());
      log = new FolderLog(new Path(checkpoint), options.getInt("compact", 100), seen);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** How far the log is read, in JSON as Spark writes it. */
  private static final class Reached extends Offset {
    final long entry;

    Reached(long entry) {
      this.entry = entry;
    }

    @Override
    public String json() {
      return "{\"logOffset\":" + entry + "}";
    }
  }

  @Override
  public Offset initialOffset() {
    return new Reached(-1);
  }

  @Override
  public Offset deserializeOffset(String json) {
    String number = json.substring(json.indexOf(':') + 1, json.lastIndexOf('}'));
    return new Reached(Long.parseLong(number.trim()));
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    return ReadLimit.maxFiles(most);
  }

  @Override
  public void prepareForTriggerAvailableNow() {
    try {
      waiting = list();
      listed = true;
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  @Override
  public Offset latestOffset() {
    return latestOffset(initialOffset(), getDefaultReadLimit());
  }

  @Override
  public Offset latestOffset(Offset begin, ReadLimit limit) {
    int count = most;
    if (limit instanceof ReadMaxFiles) {
      count = ((ReadMaxFiles) limit).maxFiles();
    } else if (limit instanceof ReadAllAvailable) {
      count = Integer.MAX_VALUE;
    }
    try {
      if (!listed && waiting.size() < count) {
        waiting = list();
      }
      List<FileStatus> taken = new ArrayList<>();
      while (taken.size() < count && !waiting.isEmpty()) {
        taken.add(waiting.remove());
      }
      if (!taken.isEmpty()) {
        log.add(taken);
        taken.forEach(file -> seen.add(FolderLog.name(file)));
      }
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
    return log.last() < 0 ? null : new Reached(log.last());
  }

  /** The files that have not been taken. */
  private Deque<FileStatus> list() throws IOException {
    List<FileStatus> direct = new ArrayList<>(), all = new ArrayList<>();
    boolean named = false;
    for (Path folder : folders) {
      for (FileStatus file : look(folder)) {
        if (file.isDirectory()) {
          named |= listBelow(file, false, all);
        } else {
          direct.add(file);
        }
      }
    }
    if (named) {
      direct.addAll(all);
    }
    direct.removeIf(file -> seen.contains(FolderLog.name(file)));
    direct.sort(ORDER);
    return new ArrayDeque<>(direct);
  }

  /** Add the files of a folder; whether names of folders say columns of some. */
  private boolean listBelow(FileStatus folder, boolean named, List<FileStatus> found)
      throws IOException {
    boolean here = named || folder.getPath().getName().contains("="), any = false;
    for (FileStatus file : look(folder.getPath())) {
      if (file.isDirectory()) {
        any |= listBelow(file, here, found);
      } else {
        found.add(file);
        any |= here;
      }
    }
    return any;
  }

  /** What is in a folder and not hidden; nothing if it is gone. */
  private List<FileStatus> look(Path folder) throws IOException {
    List<FileStatus> found = new ArrayList<>();
    try {
      for (FileStatus file : files.listStatus(folder)) {
        if (!isHidden(file.getPath().getName())) {
          found.add(file);
        }
      }
    } catch (FileNotFoundException gone) {
      found.clear();
    }
    return found;
  }

  private static boolean isHidden(String name) {
    boolean kept = name.startsWith("_metadata") || name.startsWith("_common_metadata");
    boolean hidden = name.startsWith("_") && !name.contains("=") || name.startsWith(".");
    return (hidden || name.endsWith("._COPYING_")) && !kept;
  }

  @Override
  public InputPartition[] planInputPartitions(Offset begin, Offset end) {
    return new InputPartition[0];
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return partition -> {
      throw new UnsupportedOperationException("there are no rows");
    };
  }

  @Override
  public void commit(Offset end) {}

  @Override
  public void stop() {}
}
