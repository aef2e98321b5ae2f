/*-------------------------------------------------------------------------
 *
 * client.c
 *	  The one client of the benchmark: PostgreSQL and Redis, asked alike.
 *
 *	client [OPTIONS] pg:CONNINFO SQL ARGUMENT...
 *	client [OPTIONS] redis:SOCKET ARGUMENT...
 *
 * Every connection is a process of its own that sends a request, waits for
 * its answer and sends the next.  A request of PostgreSQL is a prepared
 * statement, one of Redis a command; the arguments are made anew for each by
 * the same code:
 *
 *	=TEXT				the text
 *	member:N			one of m00000001 to N, at random
 *	members:N:K			an array of K of them
 *	list:FILE			a line of the file, at random
 *	lists:FILE:K		an array of K of them
 *	value:LOW:HIGH		a number at random;  values:LOW:HIGH:K
 *	key					a key that no other request has;  keys:K
 *	new					a member that no other request has
 *
 * Options: -c connections, -t seconds or -n requests, -w seconds to warm up,
 * -p commands sent to Redis at once, -e what the answer's first field has to
 * be, -s seed.
 *
 * Prints, tab-separated: requests, seconds, requests a second, failures, and
 * the median and the 99th percentile of a request's time in microseconds.
 * Why requests failed goes to standard error, each reason once with its count.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libpq-fe.h>

#define ARGUMENTS_MAX	16
#define CONNECTIONS_MAX 1024
#define REASONS_MAX		8

/* Times are counted in 64 steps an octave, from 1/16 microsecond up. */
#define STEPS			64
#define BUCKETS			(STEPS * 40)

typedef struct Buffer
{
	char	   *data;
	size_t		len;
	size_t		size;
} Buffer;

typedef enum Kind
{
	LITERAL, MEMBER, LIST, VALUE, KEY, NEW
} Kind;

typedef struct Argument
{
	Kind		kind;
	int			array;			/* how many elements; 0 for no array */
	const char *text;
	long		low;
	long		high;
	char	  **lines;
	long		nlines;
} Argument;

typedef struct Reason
{
	char		text[200];
	long		count;
} Reason;

/* What a connection reports, in memory shared with the parent. */
typedef struct Report
{
	long		requests;
	long		failures;
	double		began;
	double		ended;
	Reason		reasons[REASONS_MAX];
	uint32_t	times[BUCKETS];
} Report;

static int	connections = 1;
static double seconds = 1;
static double warm_up = 0;
static long limit = 0;
static int	pipelined = 1;
static const char *expected = NULL;
static uint64_t seed = 1;
static const char *target;
static const char *sql;
static Argument arguments[ARGUMENTS_MAX];
static int	narguments = 0;

/* Connections tell the parent that they are ready, and wait for the end of go. */
static int	ready[2] = {-1, -1};
static int	go[2] = {-1, -1};

static void
die(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	fputs("client: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	if (ready[1] >= 0 && write(ready[1], "x", 1) < 0)
		perror("client");
	exit(1);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* splitmix64 */
static uint64_t
mix(uint64_t x)
{
	x += 0x9E3779B97F4A7C15;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
	return x ^ (x >> 31);
}

static uint64_t random_state;

static uint64_t
draw(uint64_t below)
{
	random_state += 0x9E3779B97F4A7C15;
	return mix(random_state) % below;
}

static void
append(Buffer *buffer, const char *data, size_t len)
{
	if (buffer->len + len + 1 > buffer->size)
	{
		buffer->size = (buffer->len + len + 1) * 2;
		buffer->data = realloc(buffer->data, buffer->size);
		if (buffer->data == NULL)
			die("out of memory");
	}
	memcpy(buffer->data + buffer->len, data, len);
	buffer->len += len;
	buffer->data[buffer->len] = '\0';
}

static void
appendf(Buffer *buffer, const char *format,...)
{
	char		text[64];
	va_list		args;

	va_start(args, format);
	append(buffer, text, vsnprintf(text, sizeof(text), format, args));
	va_end(args);
}

/* Arguments */

static void
read_lines(Argument *argument, const char *path)
{
	FILE	   *file = fopen(path, "r");
	char	   *line = NULL;
	size_t		size = 0;
	ssize_t		len;

	if (file == NULL)
		die("cannot read %s: %s", path, strerror(errno));
	while ((len = getline(&line, &size, file)) > 0)
	{
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		argument->lines = realloc(argument->lines,
								  (argument->nlines + 1) * sizeof(char *));
		argument->lines[argument->nlines++] = strdup(line);
	}
	fclose(file);
	free(line);
	if (argument->nlines == 0)
		die("%s is empty", path);
}

static void
parse_argument(const char *text)
{
	Argument   *argument = &arguments[narguments++];
	char		path[512];

	if (narguments == ARGUMENTS_MAX)
		die("too many arguments");
	if (text[0] == '=')
	{
		argument->kind = LITERAL;
		argument->text = text + 1;
	}
	else if (sscanf(text, "members:%ld:%d", &argument->high, &argument->array) == 2 ||
			 sscanf(text, "member:%ld", &argument->high) == 1)
		argument->kind = MEMBER;
	else if (sscanf(text, "values:%ld:%ld:%d", &argument->low, &argument->high, &argument->array) == 3 ||
			 sscanf(text, "value:%ld:%ld", &argument->low, &argument->high) == 2)
		argument->kind = VALUE;
	else if (sscanf(text, "lists:%511[^:]:%d", path, &argument->array) == 2 ||
			 sscanf(text, "list:%511[^:]", path) == 1)
	{
		argument->kind = LIST;
		read_lines(argument, path);
	}
	else if (sscanf(text, "keys:%d", &argument->array) == 1 ||
			 strcmp(text, "key") == 0)
		argument->kind = KEY;
	else if (strcmp(text, "new") == 0)
		argument->kind = NEW;
	else
		die("what is the argument \"%s\"?", text);
}

static void
append_element(Buffer *buffer, const Argument *argument, uint64_t number)
{
	switch (argument->kind)
	{
		case LITERAL:
			append(buffer, argument->text, strlen(argument->text));
			break;
		case MEMBER:
			appendf(buffer, "m%08ld", 1 + (long) draw(argument->high));
			break;
		case LIST:
			{
				const char *line = argument->lines[draw(argument->nlines)];

				append(buffer, line, strlen(line));
				break;
			}
		case VALUE:
			appendf(buffer, "%ld", argument->low +
					(long) draw(argument->high - argument->low + 1));
			break;
		case KEY:
			appendf(buffer, "%016lx", (unsigned long) mix(mix(seed) + number));
			break;
		case NEW:
			appendf(buffer, "n%lx-%lx", (unsigned long) seed, (unsigned long) number);
			break;
	}
}

/* "number" differs from request to request, over all connections. */
static void
make_argument(Buffer *buffer, const Argument *argument, uint64_t number)
{
	buffer->len = 0;
	if (argument->array == 0)
	{
		append_element(buffer, argument, number);
		return;
	}
	for (int i = 0; i < argument->array; i++)
	{
		append(buffer, i == 0 ? "{" : ",", 1);
		append_element(buffer, argument, number * argument->array + i);
	}
	append(buffer, "}", 1);
}

/* The two servers: connect, ask.  An answer that failed says why. */

static PGconn *pg;
static int	redis = -1;
static Buffer made[ARGUMENTS_MAX];

static void
connect_pg(void)
{
	PGresult   *result;

	pg = PQconnectdb(target + 3);
	if (PQstatus(pg) != CONNECTION_OK)
		die("%s", PQerrorMessage(pg));
	result = PQprepare(pg, "", sql, 0, NULL);
	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		die("%s", PQerrorMessage(pg));
	PQclear(result);
}

static bool
ask_pg(uint64_t number, char *reason, size_t size)
{
	const char *values[ARGUMENTS_MAX];
	PGresult   *result;
	ExecStatusType status;
	bool		good;

	for (int i = 0; i < narguments; i++)
	{
		make_argument(&made[i], &arguments[i], number);
		values[i] = made[i].data;
	}
	result = PQexecPrepared(pg, "", narguments, values, NULL, NULL, 0);
	status = PQresultStatus(result);
	good = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
	if (!good)
		snprintf(reason, size, "%s %s", PQresultErrorField(result, PG_DIAG_SQLSTATE),
				 PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
	else if (expected != NULL && (PQntuples(result) == 0 ||
								  strcmp(PQgetvalue(result, 0, 0), expected) != 0))
	{
		good = false;
		snprintf(reason, size, "%s", PQntuples(result) == 0 ? "no row" : PQgetvalue(result, 0, 0));
	}
	PQclear(result);
	return good;
}

static void
connect_redis(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(target + 6) >= sizeof(address.sun_path))
		die("%s is too long for a socket", target + 6);
	strcpy(address.sun_path, target + 6);
	redis = socket(AF_UNIX, SOCK_STREAM, 0);
	if (connect(redis, (struct sockaddr *) &address, sizeof(address)) != 0)
		die("cannot connect to %s: %s", target + 6, strerror(errno));
}

static Buffer received;
static size_t taken;

static void
receive(void)
{
	char		data[65536];
	ssize_t		n = read(redis, data, sizeof(data));

	if (n <= 0)
		die("Redis has gone");
	append(&received, data, n);
}

/* One line of the answer, without its end. */
static char *
take_line(void)
{
	for (;;)
	{
		char	   *start = received.data + taken;
		char	   *end = received.len > taken ? memchr(start, '\n', received.len - taken) : NULL;

		if (end != NULL)
		{
			end[-1] = '\0';
			taken = end + 1 - received.data;
			return start;
		}
		receive();
	}
}

static bool
take_reply(char *reason, size_t size)
{
	char	   *line = take_line();
	long		n = atol(line + 1);
	bool		good = true;

	switch (line[0])
	{
		case '-':
			snprintf(reason, size, "%s", line + 1);
			return false;
		case '$':
			if (n < 0)
				break;
			while (received.len < taken + n + 2)
				receive();
			taken += n + 2;
			break;
		case '*':
			for (long i = 0; i < n; i++)
				good &= take_reply(reason, size);
			break;
	}
	return good;
}

static bool
ask_redis(uint64_t number, char *reason, size_t size)
{
	static Buffer request;
	bool		good = true;

	request.len = 0;
	for (int command = 0; command < pipelined; command++)
	{
		appendf(&request, "*%d\r\n", narguments);
		for (int i = 0; i < narguments; i++)
		{
			make_argument(&made[0], &arguments[i], number * pipelined + command);
			appendf(&request, "$%zu\r\n", made[0].len);
			append(&request, made[0].data, made[0].len);
			append(&request, "\r\n", 2);
		}
	}
	for (size_t sent = 0; sent < request.len;)
	{
		ssize_t		n = write(redis, request.data + sent, request.len - sent);

		if (n <= 0)
			die("Redis has gone");
		sent += n;
	}
	received.len = 0;
	taken = 0;
	for (int command = 0; command < pipelined; command++)
		good &= take_reply(reason, size);
	return good;
}

/* One connection */

static int
bucket_of(double elapsed)
{
	uint64_t	ticks = (uint64_t) (elapsed * 16e6);
	int			octave;
	int			bucket;

	if (ticks < STEPS)
		return (int) ticks;
	octave = 63 - __builtin_clzll(ticks) - 6;	/* 2^6 = STEPS */
	bucket = STEPS * (octave + 1) + (int) ((ticks >> octave) - STEPS);
	return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static double
time_of(int bucket)
{
	int			octave = bucket / STEPS - 1;

	if (octave < 0)
		return (bucket + 0.5) / 16e6;
	return (double) (UINT64_C(1) << octave) * (STEPS + bucket % STEPS + 0.5) / 16e6;
}

static void
count_failure(Report *report, const char *text)
{
	report->failures++;
	for (int i = 0; i < REASONS_MAX; i++)
	{
		Reason	   *reason = &report->reasons[i];

		if (reason->count == 0)
			snprintf(reason->text, sizeof(reason->text), "%s", text);
		if (strcmp(reason->text, text) == 0)
		{
			reason->count++;
			return;
		}
	}
}

static void
run_connection(Report *report, int self)
{
	bool		(*ask) (uint64_t, char *, size_t) = sql ? ask_pg : ask_redis;
	uint64_t	number = self;
	char		reason[200];

	random_state = mix(seed * CONNECTIONS_MAX + self);
	if (sql)
		connect_pg();
	else
		connect_redis();
	close(go[1]);
	if (write(ready[1], "r", 1) != 1 || read(go[0], reason, 1) != 0)
		die("the parent has gone");
	if (warm_up > 0)
		for (double end = now() + warm_up; now() < end; number += connections)
			ask(number, reason, sizeof(reason));

	report->began = report->ended = now();
	while (limit > 0 ? (long) number < limit : report->ended - report->began < seconds)
	{
		double		start = report->ended;

		if (!ask(number, reason, sizeof(reason)))
			count_failure(report, reason);
		report->requests++;
		report->ended = now();
		report->times[bucket_of(report->ended - start)]++;
		number += connections;
	}
	exit(0);
}

/* The parent */

static void
print_reasons(Report *all)
{
	Report		sum = {0};

	for (int c = 0; c < connections; c++)
		for (int i = 0; i < REASONS_MAX && all[c].reasons[i].count > 0; i++)
			for (long n = 0; n < all[c].reasons[i].count; n++)
				count_failure(&sum, all[c].reasons[i].text);
	for (int i = 0; i < REASONS_MAX && sum.reasons[i].count > 0; i++)
		fprintf(stderr, "failed %ld times: %s\n", sum.reasons[i].count, sum.reasons[i].text);
}

static double
percentile(const long *times, long n, double fraction)
{
	long		left = (long) (n * fraction);

	for (int i = 0; i < BUCKETS; i++)
		if ((left -= times[i]) < 0)
			return time_of(i) * 1e6;
	return 0;
}

static void
print_report(Report *all)
{
	static long times[BUCKETS];
	double		began = all[0].began;
	double		ended = all[0].ended;
	long		requests = 0;
	long		failures = 0;

	for (int c = 0; c < connections; c++)
	{
		if (all[c].began < began)
			began = all[c].began;
		if (all[c].ended > ended)
			ended = all[c].ended;
		requests += all[c].requests;
		failures += all[c].failures;
		for (int i = 0; i < BUCKETS; i++)
			times[i] += all[c].times[i];
	}
	printf("%ld\t%.6f\t%.3f\t%ld\t%.2f\t%.2f\n", requests, ended - began,
		   requests / (ended - began), failures,
		   percentile(times, requests, 0.5), percentile(times, requests, 0.99));
}

static void
wait_until_ready(void)
{
	char		byte;

	for (int c = 0; c < connections; c++)
		if (read(ready[0], &byte, 1) != 1 || byte != 'r')
		{
			ready[1] = -1;
			die("a connection failed");
		}
}

int
main(int argc, char **argv)
{
	Report	   *reports;
	int			option;
	int			status;
	bool		failed = false;

	while ((option = getopt(argc, argv, "+c:t:n:w:p:e:s:")) != -1)
		switch (option)
		{
			case 'c': connections = atoi(optarg); break;
			case 't': seconds = atof(optarg); break;
			case 'n': limit = atol(optarg); break;
			case 'w': warm_up = atof(optarg); break;
			case 'p': pipelined = atoi(optarg); break;
			case 'e': expected = optarg; break;
			case 's': seed = strtoull(optarg, NULL, 10); break;
			default: return 2;
		}
	if (optind == argc || connections < 1 || connections > CONNECTIONS_MAX)
		die("client.c says how to use this");
	target = argv[optind++];
	if (strncmp(target, "pg:", 3) == 0 && optind < argc)
		sql = argv[optind++];
	else if (strncmp(target, "redis:", 6) != 0)
		die("a target is pg:CONNINFO SQL or redis:SOCKET");
	while (optind < argc)
		parse_argument(argv[optind++]);

	reports = mmap(NULL, connections * sizeof(Report), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reports == MAP_FAILED || pipe(ready) != 0 || pipe(go) != 0)
		die("%s", strerror(errno));
	for (int c = 0; c < connections; c++)
	{
		pid_t		pid = fork();

		if (pid < 0)
			die("cannot fork: %s", strerror(errno));
		if (pid == 0)
			run_connection(&reports[c], c);
	}
	wait_until_ready();
	close(go[0]);
	close(go[1]);
	while (wait(&status) > 0)
		failed |= status != 0;
	if (failed)
		die("a connection failed");
	print_reasons(reports);
	print_report(reports);
	return 0;
}
