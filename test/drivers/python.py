"""The scene of test/tap/drivers.pl, with psycopg (argument 3) or psycopg2 (2)."""
import datetime
import json
import os
import select
import sys
import time

if sys.argv[1] == "3":
    import psycopg
else:
    import psycopg2 as psycopg

env = os.environ
pooled = env["LB_POOLED"] == "1"
board = env["LB_BOARD"]


def say(name, value):
    print(f"{name}={value}", flush=True)


def kind(value):
    return type(value).__name__


def texts(values):
    return ",".join(str(v) for v in values)


def connect():
    settings = dict(host=env["LB_HOST"], port=env["LB_PORT"], dbname=env["LB_DATABASE"], user=env["LB_USER"],
                    password=env["LB_PASSWORD"])
    if sys.argv[1] == "3":
        # Without named statements: from the fifth time on psycopg would make one.
        return psycopg.connect(**settings, prepare_threshold=5 if env["LB_NAMED"] == "1" else None)
    connection = psycopg.connect(**settings)
    connection.set_client_encoding("UTF8")
    return connection


connection = connect()


def query(text, *values, role=True):
    """One transaction, as psycopg begins one by itself."""
    with connection.cursor() as cursor:
        try:
            if role and pooled:
                cursor.execute("SET LOCAL ROLE game_app")
            cursor.execute(text, values)
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row)) for row in cursor.fetchall()]
        except Exception:
            connection.rollback()
            raise
    connection.commit()
    return rows


def failure(text, *values, role=True):
    try:
        query(text, *values, role=role)
    except psycopg.Error as e:
        code = e.sqlstate if sys.argv[1] == "3" else e.pgcode
        return f"{code} {'hint' if e.diag.message_hint else 'no hint'}"
    return "no error"


def verdict(row):
    return f"{row['status']} {row['reason']}" if row["reason"] else row["status"]


say("without the role", failure("SELECT * FROM lb_rank(%s, %s)", board, "ann", role=False))
if not pooled:
    connection.cursor().execute("SET ROLE game_app")
    connection.commit()
say("not granted", failure("SELECT lb_backfill(%s, %s, %s::bigint[], %s)", board, ["ann"], [1], ["k"]))
say("no such board", failure("SELECT * FROM lb_rank(%s, %s)", "nowhere", "ann"))

hour_ago = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
submit = "SELECT * FROM lb_submit_batch(%s, %s, %s::bigint[], %s, %s::timestamptz[])"
batch = (board, ["ann", 'bob "the" {b}, \\', "cé", "dee", "eve"],
         [9007199254740993, 9223372036854775807, -9223372036854775808, None, 0],
         ["k1", "k2", "k3", "k4", "k5"], [None, hour_ago, None, None, None])
first = query(submit, *batch)
again = query(submit, *batch)
say("batch", texts(map(verdict, first)))
say("again", texts(map(verdict, again)))
say("same ids", str(all(a["event_id"] == b["event_id"] for a, b in zip(first, again))).lower())
events = [{"counter": board, "member": "fay", "delta": 9007199254740995, "key": "k6"}, {"counter": board, "bad": 1}]
say("json", texts(map(verdict, query("SELECT * FROM lb_submit_json(%s)", json.dumps(events)))))

with connection.cursor() as cursor:
    cursor.execute("SET LOCAL ROLE game_app")
    cursor.execute("SELECT lb_submit(%s, 'gus', 1, key => 'k7')", (board,))
connection.rollback()
say("after a rollback", verdict(query("SELECT * FROM lb_submit(%s, 'gus', %s, key => 'k7')", board, 3)[0]))

end = time.time() + 20
while query("SELECT * FROM lb_rank(%s, 'gus')", board)[0]["population"] != 6 and time.time() < end:
    time.sleep(0.05)

ann = query("SELECT * FROM lb_rank(%s, %s)", board, "ann")[0]
say("rank", texts([ann["rank"], ann["value"], ann["kind"], ann["population"], str(ann["stale"]).lower()]))
say("types", texts(kind(ann[c]) for c in ("rank", "percentile_low", "stale", "as_of")))
top = query("SELECT * FROM lb_top(%s, n => %s)", board, 10)
say("top", ";".join(f"{row['rank']} {row['member']} {row['value']}" for row in top))
say("ranks", texts(row["rank"] or row["kind"] for row in
                   query("SELECT * FROM lb_ranks(%s, %s)", board, ["fay", "nobody", "ann"])))
whole = query("SELECT r FROM lb_rank(%s, %s) AS r", board, "ann")[0]["r"]
say("composite", f"{kind(whole)} {str(whole)[:12]}")
if sys.argv[1] == "3":
    from psycopg.types.composite import CompositeInfo, register_composite
    register_composite(CompositeInfo.fetch(connection, "lb_answer"), connection)
    connection.commit()
    whole = query("SELECT r FROM lb_rank(%s, %s) AS r", board, "ann")[0]["r"]
else:
    from psycopg2.extras import register_composite
    register_composite("lb_answer", connection)
    connection.commit()
    whole = query("SELECT r FROM lb_rank(%s, %s) AS r", board, "ann")[0]["r"]
say("registered composite", f"{kind(whole)} {kind(whole.value)} {whole.value}")
array = query("SELECT array_agg(value ORDER BY place) AS v FROM lb_top(%s)", board)[0]["v"]
say("array", f"{kind(array)} of {kind(array[0])} {array[0]}")

if env["LB_NAMED"] == "1":
    say("prepared", texts({query("SELECT value FROM lb_rank(%s, %s)", board, "ann")[0]["value"] for _ in range(12)}))

if not pooled:
    channel = query("SELECT channel FROM lb_version(%s)", board)[0]["channel"]
    connection.autocommit = True
    connection.cursor().execute(f'LISTEN "{channel}"')
    query("SELECT lb_submit(%s, 'gus', 1, key => 'k8')", board)
    if sys.argv[1] == "3":
        message = next(connection.notifies())
    else:
        while not connection.notifies:
            if not select.select([connection], [], [], 20)[0]:
                sys.exit("no notification")
            connection.poll()
        message = connection.notifies.pop(0)
    say("notified", str(message.channel == channel and json.loads(message.payload)["board"] == board).lower())
connection.close()
