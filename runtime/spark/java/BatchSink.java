package ontoweir;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.streaming.OutputMode;
import scala.collection.immutable.Seq;

/**
 * Calls somebody for each micro-batch, without its rows: Spark's foreachBatch makes a frame of them
 * before it calls, which takes longer than the call.
 *
 * <p>Option: `caller`, the name that `put` gave.
 */
public class BatchSink implements StreamSinkProvider {
  private static final Map<String, Caller> CALLERS = new ConcurrentHashMap<>();

  /** Who is called, in Python. */
  public interface Caller {
    void call(long batch);
  }

  /** Keep whom a query will call, until it is made, by a name. */
  public static void put(String name, Caller caller) {
    CALLERS.put(name, caller);
  }

  @Override
  public Sink createSink(
      SQLContext context,
      scala.collection.immutable.Map<String, String> options,
      Seq<String> parts,
      OutputMode mode) {
    return new Calling(CALLERS.remove(options.apply("caller")));
  }

  private static final class Calling implements Sink {
    private final Caller caller;

    Calling(Caller caller) {
      this.caller = caller;
    }

    @Override
    public void addBatch(long batch, Dataset<Row> rows) {
      caller.call(batch);
    }

    @Override
    public String toString() {
      return "BatchSink";
    }
  }
}
