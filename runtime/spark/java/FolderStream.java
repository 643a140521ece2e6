package ontoweir;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
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
 * <p>A folder's files are those in it and below it, at any depth, as replays find them: none that are
 * hidden, none by links to folders.
 */
final class FolderStream implements MicroBatchStream, SupportsTriggerAvailableNow {
  private static final Comparator<FileStatus> ORDER =
      Comparator.comparingLong(FileStatus::getModificationTime)
          .thenComparing(file -> file.getPath().toUri().getPath());

  private final LocalFiles files = new LocalFiles();
  private final List<Path> folders = new ArrayList<>();
  private final List<Pattern> below = new ArrayList<>();
  private final Set<String> seen = new HashSet<>();
  private final FolderLog log;
  private final int most;
  private Deque<FileStatus> waiting = new ArrayDeque<>(); // of the last listing, what is not taken
  private boolean listed; // whether that was the only listing

  FolderStream(CaseInsensitiveStringMap options, String checkpoint) {
    for (String folder : options.get("folders").split("\n")) {
      folders.add(new Path(folder));
    }
    if (options.containsKey("below")) {
      for (String name : options.get("below").split("\n")) {
        below.add(Pattern.compile(name, Pattern.DOTALL));
      }
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
    List<FileStatus> found = new ArrayList<>();
    for (Path folder : folders) {
      list(folder, 0, found);
    }
    found.removeIf(file -> seen.contains(FolderLog.name(file)));
    found.sort(ORDER);
    return new ArrayDeque<>(found);
  }

  /** Add the files of a folder that is so far below the first one; none if it is gone. */
  private void list(Path folder, int depth, List<FileStatus> found) throws IOException {
    FileStatus[] there;
    try {
      there = files.listStatus(folder);
    } catch (FileNotFoundException gone) {
      return;
    }
    for (FileStatus file : there) {
      String name = file.getPath().getName();
      boolean named = depth < below.size();
      if (named ? !below.get(depth).matcher(name).matches() : isHidden(name)) {
        continue;
      }
      if (!file.isDirectory()) {
        if (depth + 1 >= below.size()) {
          found.add(file);
        }
      } else if (named || !isLink(file)) {
        list(file.getPath(), depth + 1, found);
      }
    }
  }

  private static boolean isLink(FileStatus file) {
    return Files.isSymbolicLink(java.nio.file.Path.of(file.getPath().toUri().getPath()));
  }

  private static boolean isHidden(String name) {
    boolean kept = name.startsWith("_metadata") || name.startsWith("_common_metadata");
    boolean hidden = name.startsWith("_") && !name.contains("=") || name.startsWith(".");
    return (hidden || name.endsWith("._COPYING_") || name.equals("lost+found")) && !kept;
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
