package ontoweir;

import java.io.File;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
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
 * <p>And with a pause where nothing arrives: a thread that lists the same folders again and again,
 * as a streaming query does, waits before the next listing until one of them changes, for at most
 * PAUSE. The first second after a change there is no pause.
 *
 * <p>Built by .ci/build_jar.sh into runtime/spark/local_files.jar.
 */
public class LocalFiles extends RawLocalFileSystem {
  private static final long PAUSE = 500, LOOK = 15, BUSY = 1000; // milliseconds
  private static final int OFTEN = 20, MANY = 1000;

  /** When a folder was changed last, how often it was listed since, and when that was noticed. */
  private static final class Seen {
    long modified;
    long noticed;
    int listed;
  }

  private static final ThreadLocal<Map<String, Seen>> FOLDERS =
      ThreadLocal.withInitial(HashMap::new);

  @Override
  public void setPermission(Path file, FsPermission permission) {}

  @Override
  public FileStatus[] listStatus(Path place) throws IOException {
    Map<String, Seen> folders = FOLDERS.get();
    String name = place.toUri().getPath();
    Seen seen = folders.get(name);
    if (seen == null) {
      if (folders.size() >= MANY) {
        folders.clear();
      }
      seen = new Seen();
      folders.put(name, seen);
    } else if (seen.listed >= OFTEN) {
      await(folders);
    }
    long modified = new File(name).lastModified();
    if (modified != seen.modified) {
      seen.modified = modified;
      seen.noticed = System.currentTimeMillis();
      seen.listed = 0;
    }
    seen.listed++;
    return super.listStatus(place);
  }

  /** Wait until a folder that is listed often changes, unless one has changed of late. */
  private static void await(Map<String, Seen> folders) {
    long now = System.currentTimeMillis();
    for (Seen seen : folders.values()) {
      if (now - seen.noticed < BUSY) {
        return;
      }
    }
    for (long until = now + PAUSE; now < until; now = System.currentTimeMillis()) {
      try {
        Thread.sleep(LOOK);
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        return;
      }
      for (Map.Entry<String, Seen> entry : folders.entrySet()) {
        Seen seen = entry.getValue();
        if (seen.listed >= OFTEN && new File(entry.getKey()).lastModified() != seen.modified) {
          return;
        }
      }
    }
  }
}
