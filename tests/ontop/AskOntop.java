import it.unibz.inf.ontop.injection.OntopSQLOWLAPIConfiguration;
import it.unibz.inf.ontop.rdf4j.repository.OntopRepository;
import it.unibz.inf.ontop.rdf4j.repository.OntopRepositoryConnection;
import it.unibz.inf.ontop.rdf4j.repository.impl.OntopVirtualRepository;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.eclipse.rdf4j.model.Value;
import org.eclipse.rdf4j.query.BindingSet;
import org.eclipse.rdf4j.query.TupleQueryResult;

/**
 * Asks Ontop the queries of folders, over H2 in memory.
 *
 * <p>A folder has ontology.owl or .ttl, mapping.ttl, tables.sql and queries/*.rq. For each query are
 * written, below out/: NAME.sql, NAME.seconds (of CPU, to reformulate it; the best of so many RUNS),
 * NAME.tsv (its answers, a line each), or NAME.error.
 */
public class AskOntop {
  public static void main(String[] arguments) throws Exception {
    int runs = Integer.parseInt(arguments[0]);
    for (int i = 1; i < arguments.length; i++) {
      ask(Path.of(arguments[i]), "jdbc:h2:mem:d" + i, runs);
    }
  }

  static void ask(Path folder, String url, int runs) throws Exception {
    Path out = Files.createDirectories(folder.resolve("out"));
    try (Connection base = DriverManager.getConnection(url, "sa", "");
        Statement statement = base.createStatement()) {
      statement.execute(Files.readString(folder.resolve("tables.sql")));
      Path ontology = folder.resolve("ontology.owl");
      if (!Files.exists(ontology)) {
        ontology = folder.resolve("ontology.ttl");
      }
      Properties properties = new Properties(); // types of columns of views that it does not parse
      properties.put("ontop.allowRetrievingBlackBoxViewMetadataFromDB", "true");
      OntopVirtualRepository repository = OntopRepository.defaultRepository(
          OntopSQLOWLAPIConfiguration.defaultBuilder()
              .ontologyFile(ontology.toFile())
              .r2rmlMappingFile(folder.resolve("mapping.ttl").toFile())
              .properties(properties)
              .jdbcUrl(url).jdbcUser("sa").jdbcPassword("").jdbcDriver("org.h2.Driver")
              .enableTestMode().build());
      try {
        repository.init();
        List<Path> queries = new ArrayList<>();
        try (var found = Files.newDirectoryStream(folder.resolve("queries"), "*.rq")) {
          found.forEach(queries::add);
        }
        queries.sort(null);
        try (OntopRepositoryConnection connection = repository.getConnection()) {
          for (Path query : queries) {
            answer(connection, query, out, runs);
          }
        }
        repository.shutDown();
      } catch (Exception error) {
        Files.writeString(out.resolve("error"), String.valueOf(error));
      }
    }
  }

  static void answer(OntopRepositoryConnection connection, Path query, Path out, int runs)
      throws Exception {
    String name = query.getFileName().toString().replaceFirst("\\.rq$", "");
    String text = Files.readString(query);
    try {
      double best = Double.MAX_VALUE;
      String sql = "";
      for (int i = 0; i < runs; i++) {
        long begun = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        try {
          sql = connection.reformulateIntoNativeQuery(text + "\n#" + i); // not from its cache
        } catch (Exception error) {
          if (!String.valueOf(error).contains("EMPTY")) {
            throw error;
          }
          sql = ""; // nothing can be an answer
        }
        long ended = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        best = Math.min(best, (ended - begun) / 1e9);
      }
      Files.writeString(out.resolve(name + ".sql"), sql);
      Files.writeString(out.resolve(name + ".seconds"), String.valueOf(best));
      StringBuilder lines = new StringBuilder();
      try (TupleQueryResult result = connection.prepareTupleQuery(text).evaluate()) {
        List<String> names = result.getBindingNames();
        lines.append(String.join("\t", names)).append('\n');
        for (BindingSet row : result) {
          for (int i = 0; i < names.size(); i++) {
            Value value = row.getValue(names.get(i));
            lines.append(i == 0 ? "" : "\t").append(value == null ? "" : value.stringValue());
          }
          lines.append('\n');
        }
      }
      Files.writeString(out.resolve(name + ".tsv"), lines);
    } catch (Exception error) {
      Files.writeString(out.resolve(name + ".error"), String.valueOf(error));
    }
  }
}
