package ontoweir;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local files, for live runs.
 *
 * <p>Without the process that Hadoop starts to set each new file's permissions (chmod), which takes
 * a quarter of a micro-batch's time: they are those of the process, as for any program.
 *
 * <p>With a pause where nothing arrives: a thread that lists the same folders again and again, as a
 * streaming query does, waits before the next listing until one of them changes, for at most PAUSE.
 * The first second after a change there is no pause.
 *
 * <p>And several folders are listed as at one moment: where one of them has changed, all that have
 * are listed when nothing has changed for SETTLE, and listed again if one changes meanwhile. What is
 * moved into several folders together so comes together, not half of it in a micro-batch of its own.
 * A folder that has not changed is not listed again for RENEW. Of the checkpoint (the setting
 * CHECKPOINT), whose folders change with every micro-batch, every call is a listing. What a round
 * has found is used for as long as the setting AHEAD says, in milliseconds.
 *
 * <p>Built by .ci/build_jar.sh into runtime/spark/local_files.jar.
 */
public class LocalFiles extends RawLocalFileSystem {
  private static final String CHECKPOINT = "ontoweir.checkpoint", AHEAD = "ontoweir.ahead";
  private static final String UNKNOWN = "\uFFFD"; // stands for bytes that are no text
  private static final long PAUSE = 500, LOOK = 15, BUSY = 1000; // milliseconds
  private static final long SHORT = 20, IDLE = 15; // milliseconds
  private static final long SETTLE = 3, RENEW = 500, TICK = 20, LONG_TICK = 2500; // milliseconds
  private static final long SOON = 100, FORGET = 100; // milliseconds; so many times as long
  private static final int OFTEN = 20, AGAIN = 3, MANY = 1000, ROUNDS = 3, TURNS = 2, LARGE = 20000;

  /** When a folder was changed last, how often it was listed since, and when that was noticed. */
  private static final class Seen {
    long modified;
    long noticed;
    int listed;
    Path place;
    FileStatus[] held; // what is in it, if that is known
    long heldModified; // when it had been changed then
    long heldAt; // and when that was
    long next; // until when the next call gets what is held
    long asked; // when it was asked for last

    /** Whether what is held is what there is, as far as the time of the last change tells. */
    boolean isHeld(long modified, long now) {
      long tick = modified % 1000 == 0 ? LONG_TICK : TICK; // some systems note whole seconds
      return held != null
          && modified == heldModified
          && heldAt - modified > tick
          && now - heldAt < RENEW
          && now >= heldAt;
    }
  }

  private static final ThreadLocal<Map<String, Seen>> FOLDERS =
      ThreadLocal.withInitial(HashMap::new);
  private static final AtomicLong LISTED = new AtomicLong(); // nanoseconds
  private String checkpoint = "";
  private long ahead = SOON;

  @Override
  public void initialize(URI place, Configuration settings) throws IOException {
    super.initialize(place, settings);
    checkpoint = settings.get(CHECKPOINT, "");
    ahead = settings.getLong(AHEAD, SOON);
  }

  @Override
  public void setPermission(Path file, FsPermission permission) {}

  @Override
  public FileStatus[] listStatus(Path place) throws IOException {
    Map<String, Seen> folders = FOLDERS.get();
    String name = place.toUri().getPath();
    if (!checkpoint.isEmpty() && (name + "/").startsWith(checkpoint + "/")) {
      return super.listStatus(place);
    }
    Seen seen = folders.get(name);
    if (seen == null) {
      if (folders.size() >= MANY) {
        folders.clear();
      }
      seen = new Seen();
      seen.place = place;
      folders.put(name, seen);
    } else {
      long before = 0;
      for (Seen other : folders.values()) {
        before = Math.max(before, other.asked);
      }
      seen.asked = System.currentTimeMillis();
      if (seen.listed >= AGAIN && seen.asked >= seen.next) {
        await(folders, seen.asked - before < IDLE);
      }
      if (System.currentTimeMillis() >= seen.next) {
        renew(folders);
      }
    }
    seen.asked = System.currentTimeMillis();
    boolean known = seen.asked < seen.next;
    seen.next = 0;
    long modified = known ? seen.heldModified : new File(name).lastModified();
    if (modified != seen.modified) {
      seen.modified = modified;
      seen.noticed = seen.asked;
      seen.listed = 0;
    }
    seen.listed++;
    return known ? seen.held.clone() : list(seen, modified);
  }

  /** How long folders have been listed in this process, in nanoseconds, without the pauses. */
  public static long listed() {
    return LISTED.get();
  }

  /** List a folder, and hold what is in it, unless that is much. */
  private FileStatus[] list(Seen seen, long modified) throws IOException {
    FileStatus[] before = seen.held;
    seen.held = null;
    long now = System.currentTimeMillis();
    long begun = System.nanoTime();
    FileStatus[] found = read(seen.place, before);
    LISTED.addAndGet(System.nanoTime() - begun);
    if (found.length <= LARGE) {
      seen.held = found;
      seen.heldModified = modified;
      seen.heldAt = now;
    }
    return found.clone();
  }

  /**
   * What is in a folder, with one question to the system for each file, where Hadoop has four.
   *
   * @param before what was there: of what is as it was, the path is not made again
   */
  private FileStatus[] read(Path place, FileStatus[] before) throws IOException {
    Map<String, FileStatus> known = new HashMap<>();
    for (FileStatus one : before == null ? new FileStatus[0] : before) {
      known.put(one.getPath().getName(), one);
    }
    String[] names = new File(place.toUri().getPath()).list();
    if (names == null) {
      return super.listStatus(place);
    }
    java.nio.file.Path folder = java.nio.file.Path.of(place.toUri().getPath());
    List<FileStatus> found = new ArrayList<>(names.length);
    for (String name : names) {
      try {
        BasicFileAttributes of = Files.readAttributes(folder.resolve(name), BasicFileAttributes.class);
        if (of.isOther()) {
          continue; // a pipe, a socket, a device
        }
        FileStatus old = known.get(name);
        if (old != null && isSame(old, of)) {
          found.add(old);
          continue;
        }
        // as Hadoop writes them, however the folder is written: file:/a and file:///a would be two
        Path file = new Path(new File(folder.toFile(), name).getPath());
        file = file.makeQualified(getUri(), getWorkingDirectory());
        long modified = of.lastModifiedTime().toMillis(), size = of.size();
        found.add(new FileStatus(size, of.isDirectory(), 1, getDefaultBlockSize(), modified, file));
      } catch (NoSuchFileException gone) {
        refuseUnknown(place, name);
      } catch (InvalidPathException odd) {
        refuseUnknown(place, UNKNOWN + name);
      } catch (IOException | IllegalArgumentException odd) {
        return super.listStatus(place);
      }
    }
    return found.toArray(new FileStatus[0]);
  }

  /** A name that Java cannot read is not passed over, unless it is hidden. */
  private static void refuseUnknown(Path place, String name) throws IOException {
    boolean hidden = name.startsWith(".") || name.startsWith("_");
    if (name.contains(UNKNOWN) && !hidden) {
      String coded = System.getProperty("sun.jnu.encoding");
      throw new IOException(
          String.format(
              "%s/%s: rename it: its name is no text in this encoding: %s",
              place.toUri().getPath(), name.replace(UNKNOWN, "?"), coded));
    }
  }

  private static boolean isSame(FileStatus old, BasicFileAttributes of) {
    return old.getModificationTime() == of.lastModifiedTime().toMillis()
        && old.getLen() == of.size()
        && old.isDirectory() == of.isDirectory();
  }

  /** List all folders that have been listed before and have changed, as at one moment. */
  private void renew(Map<String, Seen> folders) {
    long old = System.currentTimeMillis() - FORGET * ahead;
    folders.values().removeIf(seen -> seen.asked < old);
    for (int round = 0; round < TURNS; round++) {
      Map<String, Long> times = look(folders);
      boolean changed = false;
      for (Map.Entry<String, Seen> entry : folders.entrySet()) {
        Seen seen = entry.getValue();
        changed |= seen.held != null && times.get(entry.getKey()) != seen.heldModified;
      }
      if (changed && folders.size() > 1) {
        times = settle(folders, times);
      }
      for (Map.Entry<String, Seen> entry : folders.entrySet()) {
        renew(entry.getValue(), times.get(entry.getKey()));
      }
      if (times.equals(look(folders))) {
        return;
      }
    }
  }

  private void renew(Seen seen, long modified) {
    long now = System.currentTimeMillis();
    seen.next = 0;
    if (seen.held == null) {
      return; // it is listed when it is asked for
    }
    try {
      if (!seen.isHeld(modified, now)) {
        list(seen, modified);
      }
      seen.next = seen.held == null ? 0 : now + ahead;
    } catch (IOException gone) {
      seen.held = null; // who asks for it finds out
    }
  }

  private static Map<String, Long> look(Map<String, Seen> folders) {
    Map<String, Long> times = new HashMap<>();
    for (String name : folders.keySet()) {
      times.put(name, new File(name).lastModified());
    }
    return times;
  }

  /** Wait until nothing has changed for SETTLE, some times at most. */
  private static Map<String, Long> settle(Map<String, Seen> folders, Map<String, Long> times) {
    for (int round = 0; round < ROUNDS; round++) {
      if (!sleep(SETTLE)) {
        return times;
      }
      Map<String, Long> now = look(folders);
      if (now.equals(times)) {
        return now;
      }
      times = now;
    }
    return times;
  }

  private static boolean sleep(long time) {
    try {
      Thread.sleep(time);
      return true;
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Wait until a folder that is listed again and again changes, longer where none has of late.
   *
   * @param idle whether nothing was done since the last listing: there may be files to take in else
   */
  private static void await(Map<String, Seen> folders, boolean idle) {
    long now = System.currentTimeMillis();
    boolean quiet = true;
    for (Seen seen : folders.values()) {
      quiet &= now - seen.noticed >= BUSY && seen.listed >= OFTEN;
    }
    if (!quiet && !idle) {
      return;
    }
    for (long until = now + (quiet ? PAUSE : SHORT); now < until; ) {
      for (Map.Entry<String, Seen> entry : folders.entrySet()) {
        if (new File(entry.getKey()).lastModified() != entry.getValue().modified) {
          return;
        }
      }
      if (!sleep(quiet ? LOOK : 1 + folders.size() / 20)) {
        return;
      }
      now = System.currentTimeMillis();
    }
  }
}
