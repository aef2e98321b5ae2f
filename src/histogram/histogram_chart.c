/*-------------------------------------------------------------------------
 *
 * histogram_chart.c
 *	  lb_histogram_chart: a histogram drawn in text.
 *
 * Neighbouring buckets share a line when there would be too many lines to
 * take in; lines never mix values below zero with values above it unless one
 * bucket does.  Everything that is aligned stands before the bars, so a
 * line ends with its bar.
 *
 *-------------------------------------------------------------------------
 */
#include "leaderboard.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "histogram/histogram.h"

PG_FUNCTION_INFO_V1(lb_histogram_chart);

#define WIDTH_DEFAULT	40
#define WIDTH_MAX		200

/* About how many lines one takes in at a glance, and the most there can be. */
#define LINES_WANTED	20
#define LINES_MAX		(LINES_WANTED + 2)

/* "-9,223,372,036,854,775,808" */
#define NUMBER_SIZE		27

typedef struct Line
{
	char		low[NUMBER_SIZE];	/* empty: no end */
	char		high[NUMBER_SIZE];
	char		count[NUMBER_SIZE];
	bool		single;			/* low and high are the same */
	int64		members;
} Line;

typedef struct Chart
{
	int			nlines;
	int			low_width;
	int			high_width;
	int			count_width;
	int64		most;			/* members in the fullest line */
	Line		lines[LINES_MAX];
} Chart;

/* Write a number with separators between the thousands. */
static void
put_number(char *to, int64 number)
{
	char		digits[NUMBER_SIZE];
	const char *p = digits;
	int			length = snprintf(digits, sizeof(digits), "%lld",
								  (long long) number);

	if (*p == '-')
	{
		*to++ = *p++;
		length--;
	}
	for (; length > 0; length--)
	{
		*to++ = *p++;
		if (length % 3 == 1 && length > 1)
			*to++ = ',';
	}
	*to = '\0';
}

static int
divide_down(int a, int b)
{
	return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* Add the line of the buckets from .. to, unless they hold no integer. */
static void
add_line(Chart *chart, const LbHistogram *h, int from, int to)
{
	Line	   *line = &chart->lines[chart->nlines];
	int64_t		low = 0;
	int64_t		high = 0;
	bool		has_low = lb_hist_bucket_low(h->scale, from, &low);
	bool		has_high = lb_hist_bucket_high(h->scale, to, &high);

	if (has_low && has_high && low > high)
		return;
	Assert(chart->nlines < LINES_MAX);
	chart->nlines++;

	line->low[0] = line->high[0] = '\0';
	if (has_low)
		put_number(line->low, low);
	if (has_high)
		put_number(line->high, high);
	line->single = has_low && has_high && low == high;
	line->members = 0;
	for (int bucket = from; bucket <= to; bucket++)
		line->members += lb_hist_members(h, bucket);
	put_number(line->count, line->members);

	/* an open end takes two places */
	chart->low_width = Max(chart->low_width,
						   has_low ? (int) strlen(line->low) : 2);
	if (!line->single)
		chart->high_width = Max(chart->high_width,
								has_high ? (int) strlen(line->high) : 2);
	chart->count_width = Max(chart->count_width, (int) strlen(line->count));
	chart->most = Max(chart->most, line->members);
}

/* Divide what lies between the least and the greatest member into lines. */
static void
make_lines(Chart *chart, const LbHistogram *h)
{
	int			last = h->scale->buckets - 1;
	int			first_bucket = lb_hist_nth(h, 1);
	int			last_bucket = lb_hist_nth(h, h->total);
	int			per_line = (last_bucket - first_bucket) / LINES_WANTED + 1;
	int			first_line = divide_down(first_bucket, per_line);
	int			last_line = divide_down(last_bucket, per_line);

	memset(chart, 0, offsetof(Chart, lines));
	for (int i = first_line; i <= last_line; i++)
		add_line(chart, h, Max(i * per_line, -last),
				 Min((i + 1) * per_line - 1, last));
}

/* The range of a line; an open end is drawn as infinity. */
static void
draw_range(StringInfo text, const Chart *chart, const Line *line, bool utf8)
{
	const char *dash = utf8 ? "\xe2\x80\x93" : "-";

	if (line->low[0] != '\0')
		appendStringInfo(text, "%*s", chart->low_width, line->low);
	else if (utf8)
		appendStringInfo(text, "%*s-\xe2\x88\x9e", chart->low_width - 2, "");
	else
		appendStringInfo(text, "%*s", chart->low_width, "..");

	if (line->single)
		appendStringInfo(text, "   %*s", chart->high_width, "");
	else if (line->high[0] != '\0')
		appendStringInfo(text, " %s %*s", dash, chart->high_width, line->high);
	else if (utf8)
		appendStringInfo(text, " %s %*s\xe2\x88\x9e", dash,
						 chart->high_width - 1, "");
	else
		appendStringInfo(text, " %s %*s", dash, chart->high_width, "..");
}

/* A bar in eighths of a character, or in whole ones where those are missing. */
static void
draw_bar(StringInfo text, double share, int width, bool utf8)
{
	int			eighths = (int) (share * width * 8 + 0.5);

	eighths = Max(eighths, 1);
	for (; eighths >= 8; eighths -= 8)
		appendStringInfoString(text, utf8 ? "\xe2\x96\x88" : "#");
	if (utf8 && eighths > 0)
	{
		char		block[4] = "\xe2\x96\x90";

		/* U+2589 has seven eighths, U+258F has one */
		block[2] = (char) (0x90 - eighths);
		appendStringInfoString(text, block);
	}
	else if (eighths >= 4)
		appendStringInfoChar(text, '#');
	else if (eighths > 0 && share * width < 1)
		appendStringInfoChar(text, '.');
}

static void
draw_line(StringInfo text, const Chart *chart, const Line *line,
		  int64 total, int width, bool utf8)
{
	double		percent = 100 * (double) line->members / (double) total;

	draw_range(text, chart, line, utf8);
	appendStringInfo(text, "  %*s", chart->count_width, line->count);
	if (line->members == 0)
		return;
	if (percent < 0.05)
		appendStringInfoString(text, "   <0.1 %  ");
	else
		appendStringInfo(text, "  %5.1f %%  ", percent);
	draw_bar(text, (double) line->members / (double) chart->most, width, utf8);
}

/* (h, width): a line for each range of values, bars of at most that width. */
Datum
lb_histogram_chart(PG_FUNCTION_ARGS)
{
	const LbHistogram *h;
	int			width = WIDTH_DEFAULT;
	bool		utf8 = GetDatabaseEncoding() == PG_UTF8;
	StringInfoData text;
	Chart		chart;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	h = lb_hist_read(PG_GETARG_DATUM(0));
	if (!PG_ARGISNULL(1))
		width = PG_GETARG_INT32(1);
	if (width < 1 || width > WIDTH_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a chart cannot be %d characters wide", width),
				 errhint("Give 1 to %d; the default is %d.",
						 WIDTH_MAX, WIDTH_DEFAULT)));
	if (h->total == 0)
		PG_RETURN_TEXT_P(cstring_to_text("no members"));

	make_lines(&chart, h);
	initStringInfo(&text);
	for (int i = 0; i < chart.nlines; i++)
	{
		if (i > 0)
			appendStringInfoChar(&text, '\n');
		draw_line(&text, &chart, &chart.lines[i], h->total, width, utf8);
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(text.data, text.len));
}
