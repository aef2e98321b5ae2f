/* The scene of test/tap/drivers.pl, with pgjdbc. */
import java.sql.*;
import java.time.*;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.util.PSQLException;

public class Jdbc
{
	static final boolean pooled = "1".equals(System.getenv("LB_POOLED"));
	static final boolean named = "1".equals(System.getenv("LB_NAMED"));
	static final String board = System.getenv("LB_BOARD");
	static Connection connection;

	static void say(String name, Object value) throws Exception
	{
		System.out.write((name + "=" + value + "\n").getBytes("UTF-8"));
		System.out.flush();
	}

	static String kind(Object value) { return value == null ? "null" : value.getClass().getSimpleName(); }

	static Object[] array(String type, Object... values) throws SQLException
	{
		return new Object[] { connection.createArrayOf(type, values) };
	}

	/* One transaction. */
	static List<Map<String, Object>> query(boolean role, String text, Object... values) throws SQLException
	{
		List<Map<String, Object>> rows = new ArrayList<>();
		try
		{
			if (role && pooled)
				connection.createStatement().execute("SET LOCAL ROLE game_app");
			try (PreparedStatement statement = connection.prepareStatement(text))
			{
				for (int i = 0; i < values.length; i++)
					if (values[i] instanceof Object[])
						statement.setArray(i + 1, (java.sql.Array) ((Object[]) values[i])[0]);
					else
						statement.setObject(i + 1, values[i]);
				ResultSet set = statement.executeQuery();
				ResultSetMetaData meta = set.getMetaData();
				while (set.next())
				{
					Map<String, Object> row = new HashMap<>();
					for (int c = 1; c <= meta.getColumnCount(); c++)
						row.put(meta.getColumnName(c), set.getObject(c));
					rows.add(row);
				}
			}
			connection.commit();
		}
		catch (SQLException e)
		{
			connection.rollback();
			throw e;
		}
		return rows;
	}

	static List<Map<String, Object>> query(String text, Object... values) throws SQLException
	{
		return query(true, text, values);
	}

	static String failure(boolean role, String text, Object... values) throws SQLException
	{
		try
		{
			query(role, text, values);
		}
		catch (PSQLException e)
		{
			return e.getSQLState() + (e.getServerErrorMessage().getHint() == null ? " no hint" : " hint");
		}
		return "no error";
	}

	static String verdict(Map<String, Object> row)
	{
		return row.get("status") + (row.get("reason") == null ? "" : " " + row.get("reason"));
	}

	static String verdicts(List<Map<String, Object>> rows)
	{
		StringJoiner all = new StringJoiner(",");
		for (Map<String, Object> row : rows)
			all.add(verdict(row));
		return all.toString();
	}

	static Map<String, Object> rank(String member) throws SQLException
	{
		return query("SELECT * FROM lb_rank(?, ?)", board, member).get(0);
	}

	static void write() throws Exception
	{
		Object[] members = array("text", "ann", "bob \"the\" {b}, \\", "c\u00e9", "dee", "eve");
		Object[] deltas = array("bigint", 9007199254740993L, Long.MAX_VALUE, Long.MIN_VALUE, null, 0L);
		Object[] keys = array("text", "k1", "k2", "k3", "k4", "k5");
		Object[] times = array("timestamptz", null, OffsetDateTime.now().minusHours(1), null, null, null);
		String submit = "SELECT * FROM lb_submit_batch(?, ?, ?, ?, ?)";
		List<Map<String, Object>> first = query(submit, board, members, deltas, keys, times);
		List<Map<String, Object>> again = query(submit, board, members, deltas, keys, times);
		boolean same = true;

		for (int i = 0; i < first.size(); i++)
			same &= Objects.equals(first.get(i).get("event_id"), again.get(i).get("event_id"));
		say("batch", verdicts(first));
		say("again", verdicts(again));
		say("same ids", same);
		String events = "[{\"counter\": \"" + board + "\", \"member\": \"fay\", \"delta\": 9007199254740995, \"key\": \"k6\"},"
			+ "{\"counter\": \"" + board + "\", \"bad\": 1}]";
		say("json", verdicts(query("SELECT * FROM lb_submit_json(?::jsonb)", events)));

		Statement statement = connection.createStatement();
		statement.execute("SET LOCAL ROLE game_app");
		statement.execute("SELECT lb_submit('" + board + "', 'gus', 1, key => 'k7')");
		connection.rollback();
		say("after a rollback", verdicts(query("SELECT * FROM lb_submit(?, 'gus', ?, key => 'k7')", board, 3L)));
	}

	static void read() throws Exception
	{
		Map<String, Object> ann = rank("ann");
		StringJoiner top = new StringJoiner(";");
		StringJoiner ranks = new StringJoiner(",");

		say("rank", ann.get("rank") + "," + ann.get("value") + "," + ann.get("kind") + "," + ann.get("population")
			+ "," + ann.get("stale"));
		say("types", kind(ann.get("rank")) + "," + kind(ann.get("percentile_low")) + "," + kind(ann.get("stale"))
			+ "," + kind(ann.get("as_of")));
		for (Map<String, Object> row : query("SELECT * FROM lb_top(?, n => ?)", board, 10))
			top.add(row.get("rank") + " " + row.get("member") + " " + row.get("value"));
		say("top", top);
		for (Map<String, Object> row : query("SELECT * FROM lb_ranks(?, ?)", board, array("text", "fay", "nobody", "ann")))
			ranks.add(String.valueOf(row.get("rank") == null ? row.get("kind") : row.get("rank")));
		say("ranks", ranks);
		Object whole = query("SELECT r FROM lb_rank(?, ?) AS r", board, "ann").get(0).get("r");
		say("composite", kind(whole) + " " + whole.toString().substring(0, 12));
		java.sql.Array values = (java.sql.Array) query("SELECT array_agg(value ORDER BY place) AS v FROM lb_top(?)", board).get(0).get("v");
		Object[] taken = (Object[]) values.getArray();
		say("array", kind(values) + " of " + kind(taken[0]) + " " + taken[0]);
		if (named)
		{
			/* one statement, which the driver prepares by name from its fifth execution on */
			Set<Object> seen = new HashSet<>();
			PreparedStatement statement = connection.prepareStatement("SELECT value FROM lb_rank(?, ?)");

			for (int i = 0; i < 12; i++)
			{
				if (pooled)
					connection.createStatement().execute("SET LOCAL ROLE game_app");
				statement.setString(1, board);
				statement.setString(2, "ann");
				ResultSet set = statement.executeQuery();
				set.next();
				seen.add(set.getObject(1));
				connection.commit();
			}
			say("prepared", seen.toString().replaceAll("[\\[\\]]", ""));
		}
	}

	static void listen() throws Exception
	{
		String channel = (String) query("SELECT channel FROM lb_version(?)", board).get(0).get("channel");
		PGNotification[] heard = null;

		connection.setAutoCommit(true);
		connection.createStatement().execute("LISTEN \"" + channel + "\"");
		connection.createStatement().execute("SELECT lb_submit('" + board + "', 'gus', 1, key => 'k8')");
		heard = connection.unwrap(PGConnection.class).getNotifications(20000);
		say("notified", heard != null && heard.length > 0 && heard[0].getName().equals(channel)
			&& heard[0].getParameter().contains("\"" + board + "\""));
	}

	public static void main(String[] none) throws Exception
	{
		Properties properties = new Properties();

		properties.setProperty("user", System.getenv("LB_USER"));
		properties.setProperty("password", System.getenv("LB_PASSWORD"));
		if (!named)
			properties.setProperty("prepareThreshold", "0");
		/* there are no sockets of the file system in Java's */
		connection = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + System.getenv("LB_TCP_PORT") + "/"
			+ System.getenv("LB_DATABASE"), properties);
		connection.setAutoCommit(false);
		say("without the role", failure(false, "SELECT * FROM lb_rank(?, ?)", board, "ann"));
		if (!pooled)
		{
			connection.createStatement().execute("SET ROLE game_app");
			connection.commit();
		}
		say("not granted", failure(true, "SELECT lb_backfill(?, ?, ?, ?)", board, array("text", "ann"), array("bigint", 1L),
			array("text", "k")));
		say("no such board", failure(true, "SELECT * FROM lb_rank(?, ?)", "nowhere", "ann"));
		write();
		for (long end = System.currentTimeMillis() + 20000;
			!Objects.equals(rank("gus").get("population"), 6L) && System.currentTimeMillis() < end;)
			Thread.sleep(50);
		read();
		if (!pooled)
			listen();
		connection.close();
	}
}
