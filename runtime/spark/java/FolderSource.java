package ontoweir;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A streaming source of Spark's that lists local folders, and has no rows: the files are read
 * elsewhere.
 *
 * <p>It lists, limits and logs as Spark's source of text files does (with recursiveFileLookup),
 * whose log it can go on from, and the other way round, but with a fraction of the work: Spark makes
 * an index of all files at each listing, and plans to read the new ones.
 *
 * <p>Options: `folders`, absolute paths, one a line; `below`, where only some of what is in them
 * counts: regular expressions of the names of folders, and then of files or folders, level by level,
 * one a line; `most`, how many files a micro-batch takes;
 * `compact`, after how many entries of the log one repeats those before it.
 */
public class FolderSource implements TableProvider {
  private static final StructType COLUMNS = new StructType().add("value", DataTypes.StringType);

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return COLUMNS;
  }

  @Override
  public Table getTable(StructType columns, Transform[] parts, Map<String, String> options) {
    return new Folders();
  }

  private static final class Folders implements SupportsRead {
    @Override
    public String name() {
      return "folders";
    }

    @Override
    public StructType schema() {
      return COLUMNS;
    }

    @Override
    public Set<TableCapability> capabilities() {
      return EnumSet.of(TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return () -> new Listing(options);
    }
  }

  private static final class Listing implements Scan {
    private final CaseInsensitiveStringMap options;

    Listing(CaseInsensitiveStringMap options) {
      this.options = options;
    }

    @Override
    public StructType readSchema() {
      return COLUMNS;
    }

    @Override
    public String description() {
      return "files of " + options.get("folders").replace("\n", ", ");
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpoint) {
      return new FolderStream(options, checkpoint);
    }
  }
}
