package ontoweir;

import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local files without the process that it starts to set each new file's permissions (chmod),
 * which takes a quarter of a micro-batch's time: they are those of the process, as for any program.
 *
 * <p>Built by .ci/build_jar.sh into runtime/spark/local_files.jar; used for a live run's checkpoint.
 */
public class LocalFiles extends RawLocalFileSystem {
  @Override
  public void setPermission(Path file, FsPermission permission) {}
}
