package ontoweir;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileStatus;

/**
 * Which files a source has listed, as Spark's source of files logs them: an entry, numbered, for
 * each time that it took some; a line for each file. Every so many entries one repeats those
 * before it (its name ends in COMPACT), and those before the last such one are removed.
 */
final class FolderLog {
  private static final String VERSION = "v1", COMPACT = ".compact";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path place;
  private final long interval;
  private long last = -1;

  /**
   * Read a log, or begin one.
   *
   * @param usual after how many entries one repeats others, unless those there say otherwise
   * @param seen the names of the files in it are added
   */
  FolderLog(org.apache.hadoop.fs.Path checkpoint, int usual, Set<String> seen) throws IOException {
    place = Path.of(checkpoint.toUri().getPath());
    Files.createDirectories(place);
    TreeMap<Long, Path> used = find();
    long compact = -1;
    for (Map.Entry<Long, Path> entry : used.entrySet()) {
      last = entry.getKey();
      compact = isCompact(entry.getValue()) ? last : compact;
      for (String line : read(entry.getValue())) {
        seen.add(JSON.readTree(line).get("path").asText());
      }
    }
    interval = fit(usual, compact + 1);
  }

  /** The interval that goes on from entries up to a compact one, of which there are so many. */
  private static long fit(long usual, long held) {
    if (held <= usual) {
      return held == 0 ? usual : held;
    }
    long fits = usual;
    while (held % fits != 0) {
      fits++;
    }
    return fits;
  }

  /** The number of the last entry (-1: there is none). */
  long last() {
    return last;
  }

  /** How a file is called in the log. */
  static String name(FileStatus file) {
    return file.getPath().toUri().toString();
  }

  /** Write the next entry. */
  void add(Collection<FileStatus> files) throws IOException {
    long number = last + 1;
    boolean compact = (number + 1) % interval == 0;
    List<String> lines = new ArrayList<>();
    if (compact) {
      for (Path held : find().values()) {
        lines.addAll(read(held));
      }
    }
    for (FileStatus file : files) {
      ObjectNode line = JSON.createObjectNode().put("path", name(file));
      lines.add(line.put("timestamp", file.getModificationTime()).put("batchId", number).toString());
    }
    Path target = place.resolve(compact ? number + COMPACT : "" + number);
    if (Files.exists(target)) {
      throw new FileAlreadyExistsException(target + ": another process goes on from this log");
    }
    Path made = place.resolve("." + number + ".tmp");
    String text = VERSION + "\n" + String.join("\n", lines);
    Files.write(made, text.getBytes(StandardCharsets.UTF_8));
    Files.move(made, target, StandardCopyOption.ATOMIC_MOVE);
    last = number;
    if (compact) {
      removeBefore(number - interval);
    }
  }

  /** The last compact entry, and those after it. */
  private TreeMap<Long, Path> find() throws IOException {
    TreeMap<Long, Path> found = new TreeMap<>();
    try (DirectoryStream<Path> there = Files.newDirectoryStream(place)) {
      for (Path file : there) {
        String name = file.getFileName().toString();
        String digits = isCompact(file) ? name.substring(0, name.length() - 8) : name;
        if (digits.matches("[0-9]{1,18}")) {
          found.merge(Long.parseLong(digits), file, (one, other) -> isCompact(one) ? one : other);
        }
      }
    }
    long compact = -1;
    for (Map.Entry<Long, Path> entry : found.entrySet()) {
      compact = isCompact(entry.getValue()) ? entry.getKey() : compact;
    }
    return new TreeMap<>(found.tailMap(compact));
  }

  private static boolean isCompact(Path file) {
    return file.getFileName().toString().endsWith(COMPACT);
  }

  private static List<String> read(Path file) throws IOException {
    List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
    if (lines.isEmpty() || !lines.get(0).equals(VERSION)) {
      throw new IOException(file + " is not a log of files that this version reads");
    }
    lines = lines.subList(1, lines.size());
    lines.removeIf(String::isBlank);
    return lines;
  }

  private void removeBefore(long number) throws IOException {
    try (DirectoryStream<Path> there = Files.newDirectoryStream(place)) {
      for (Path file : there) {
        String digits = file.getFileName().toString().replace(COMPACT, "");
        if (digits.matches("[0-9]{1,18}") && Long.parseLong(digits) < number) {
          Files.deleteIfExists(file);
        }
      }
    }
  }
}
