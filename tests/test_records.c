/* Measurement records: good lines and their values, bad lines and their messages, live pipes. */
#define _XOPEN_SOURCE 700
#include "testing.h"

#include "../apps/cli/records.h"
#include "rejfilt/philox.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const rf_description ramsey = {
    .name = "ramsey",
    .dim = 2,
    .settings = 3,
    .outcomes = 2,
    .parameter = {{"w", RF_REAL, 0, 1, 0}, {"g", RF_POSITIVE, 0.005, 0.05, 0}},
    .setting = {{"t", RF_SETTING_TIME, 0, 0, 0, 200, 0},
                {"x_", RF_SETTING_GUESS, 0, 0, 0, 0, 0},
                {"contrast", RF_SETTING_FIXED, 0, 0, 0.95, 0.95, 0}},
};
static const rf_description counts = {
    .name = "counts",
    .dim = 1,
    .settings = 1,
    .outcomes = 4,
    .parameter = {{"rate", RF_REAL, 0, 1, 0}},
    .setting = {{"time", RF_SETTING_TIME, 0, 0, 0, 200, 0}},
};
static const rf_description pair = {
    .name = "pair",
    .dim = 1,
    .settings = 2,
    .outcomes = 2,
    .parameter = {{"w", RF_REAL, 0, 1, 0}},
    .setting = {{"t1", RF_SETTING_RANGE, 0, 0, 0, 1, 0}, {"t2", RF_SETTING_RANGE, 0, 0, 0, 1, 0}},
};
static const rf_description real = {
    .name = "real",
    .dim = 1,
    .settings = 0,
    .outcomes = 0,
    .parameter = {{"level", RF_REAL, 0, 1, 0}},
};

static const rf_description photons = {.name = "photons", .dim = 1, .outcomes = RF_POISSON, .parameter = {{"r", RF_REAL, 0, 1, 0}}};
static const rf_description shots = {
    .name = "shots",
    .dim = 1,
    .settings = 1,
    .outcomes = RF_BINOMIAL(0),
    .parameter = {{"p", RF_REAL, 0, 1, 0}},
    .setting = {{"n", RF_SETTING_FIXED, 0, 1, 20, 20, 0}},
};

enum { GIVEN = 1, ASK = 0 };

typedef struct reading {
    FILE *from;
    cli_records *records;
} reading;

static reading open_bytes(const char *bytes, size_t count, const rf_description *description, int settings_given)
{
    reading in;
    in.from = count ? fmemopen((void *)(uintptr_t)bytes, count, "r") : fopen("/dev/null", "r");
    assert_non_null(in.from);
    in.records = cli_records_open(in.from, "data", description, settings_given);
    assert_non_null(in.records);
    return in;
}

static void close_reading(reading in)
{
    cli_records_close(in.records);
    fclose(in.from);
}

/* ---- Records as text: "line 2: t=3 x_=0.1 contrast=0.95 -> 1 at 2.5 batch a w=0.3", without missing parts */

static void append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(char *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t length = strlen(text);
    vsnprintf(text + length, 1024 - length, format, arguments);
    va_end(arguments);
}

static void describe(char *text, const rf_description *description, const cli_record *record)
{
    append(text, "line %ld:", record->line);
    for (unsigned i = 0; i < description->settings; i++)
        if (!isnan(record->setting[i]))
            append(text, " %s=%.15g", description->setting[i].name, record->setting[i]);
    if (record->is_missing)
        append(text, isnan(record->outcome) ? " -> nothing" : " -> ?");
    else
        append(text, " -> %.15g", record->outcome);
    if (record->has_time)
        append(text, " at %.15g", record->time);
    if (record->has_batch)
        append(text, " batch %s", record->batch);
    for (unsigned i = 0; i < description->dim; i++)
        if (record->has_truth >> i & 1)
            append(text, " %s=%.15g", description->parameter[i].name, record->truth[i]);
    append(text, "\n");
}

/* Reads everything, one line per call: records as above, messages unchanged, "failed: " before a message that ends
   it. */
static void read_all(char *text, const char *bytes, size_t count, const rf_description *description, int settings_given)
{
    reading in = open_bytes(bytes, count, description, settings_given);
    cli_record record;
    text[0] = '\0';
    for (int result; (result = cli_records_next(in.records, &record)) != CLI_RECORDS_END;) {
        if (result == CLI_RECORD)
            describe(text, description, &record);
        else
            append(text, "%s%s\n", result == CLI_RECORD_BAD ? "" : "failed: ", cli_records_error(in.records));
        if (result == CLI_RECORDS_FAILED) {
            assert_int_equal(cli_records_next(in.records, &record), CLI_RECORDS_FAILED);
            break;
        }
    }
    close_reading(in);
}

typedef struct reading_case {
    const rf_description *description;
    int settings_given;
    const char *input, *expected;
} reading_case;

static void check(const reading_case *cases, size_t count)
{
    static char text[1024];
    for (size_t i = 0; i < count; i++) {
        const reading_case *c = &cases[i];
        read_all(text, c->input, strlen(c->input), c->description, c->settings_given);
        if (strcmp(text, c->expected) != 0)
            fail_msg("%s\nread as\n%s\nnot as\n%s", c->input, text, c->expected);
    }
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof((cases)[0]))

static void test_good_csv(void **state)
{
    (void)state;
    static const reading_case cases[] = {
        {&ramsey, GIVEN, "", ""},
        {&ramsey, GIVEN, "\n# nothing\n\n", ""},
        {&ramsey, GIVEN, "t,x_,outcome\n", ""},
        {&ramsey, GIVEN, "t,x_,outcome\n3,0.1,1\n4,0.2,0\n",
         "line 2: t=3 x_=0.1 contrast=0.95 -> 1\nline 3: t=4 x_=0.2 contrast=0.95 -> 0\n"},
        /* the last line ends with the file; any order; others ignored; a fixed setting may be given */
        {&ramsey, GIVEN, "outcome,note,contrast,x_,t\n1,ok,0.5,-1e-3,+3.", "line 2: t=3 x_=-0.001 contrast=0.5 -> 1\n"},
        {&ramsey, GIVEN, "t;x_;outcome\n3;0.1;1\n", "line 2: t=3 x_=0.1 contrast=0.95 -> 1\n"},
        {&ramsey, GIVEN, "t\tx_\toutcome\n3\t0.1\t\n\t\t\n",
         "line 2: t=3 x_=0.1 contrast=0.95 -> nothing\nline 3: contrast=0.95 -> nothing\n"},
        /* byte order mark, CRLF, blank lines, comments, spaces, quotes */
        {&ramsey, GIVEN,
         "\xef\xbb\xbf\r\n# by me\r\n t , \"x_\", \"outcome\" ,\"a \"\"b\"\", c\"\r\n\r\n \"3\" , 0.1, 1 , \"x, y\" "
         "\r\n  \r\n",
         "line 5: t=3 x_=0.1 contrast=0.95 -> 1\n"},
        {&ramsey, GIVEN, "\xef\xbb\xbft,x_,outcome\n3,0.1,1\n", "line 2: t=3 x_=0.1 contrast=0.95 -> 1\n"},
        {&ramsey, GIVEN, "\"t;,\";t;x_;outcome\n;3;0.1;1\n", "line 2: t=3 x_=0.1 contrast=0.95 -> 1\n"},
        /* missing outcomes, with settings and without */
        {&ramsey, GIVEN, "t,x_,outcome\n3,0.1,\n3,,null\n,,\"\"\n",
         "line 2: t=3 x_=0.1 contrast=0.95 -> nothing\nline 3: t=3 contrast=0.95 -> nothing\n"
         "line 4: contrast=0.95 -> nothing\n"},
        /* times, batches, truths */
        {&ramsey, GIVEN,
         "time,batch,truth.g,truth.w,t,x_,outcome\n-1,a b,0.01,0.3,1,2,1\n-1,07,,0.4,1,2,0\n,,,,1,2,1\n",
         "line 2: t=1 x_=2 contrast=0.95 -> 1 at -1 batch a b w=0.3 g=0.01\n"
         "line 3: t=1 x_=2 contrast=0.95 -> 0 at -1 batch 07 w=0.4\nline 4: t=1 x_=2 contrast=0.95 -> 1\n"},
        {&real, GIVEN, "outcome\n-1e300\nnull\n", "line 2: -> -1e+300\nline 3: -> nothing\n"},
        /* a setting called time is an ordinary setting and may go back */
        {&counts, GIVEN, "time,outcome\n5,3\n4,0\n", "line 2: time=5 -> 3\nline 3: time=4 -> 0\n"},
        {&ramsey, ASK, "outcome,t,time\n1,,2\n1,3,2\n", "line 2: -> 1 at 2\nline 3: t=3 -> 1 at 2\n"},
        {&ramsey, ASK, "outcome\n1\n0\n", "line 2: -> 1\nline 3: -> 0\n"},
    };
    CHECK(cases);
}

static void test_good_json(void **state)
{
    (void)state;
    static const reading_case cases[] = {
        {&ramsey, GIVEN, "{\"x_\":0.1,\"t\":3,\"outcome\":1}\n", "line 1: t=3 x_=0.1 contrast=0.95 -> 1\n"},
        {&ramsey, GIVEN,
         "\xef\xbb\xbf# c\r\n\r\n {\"x_\":1e-1,\"t\":30000000000,\"outcome\":1.0} "
         "\r\n\n{\"x_\":0,\"t\":-0.5,\"outcome\":0}",
         "line 3: t=30000000000 x_=0.1 contrast=0.95 -> 1\nline 5: t=-0.5 x_=0 contrast=0.95 -> 0\n"},
        {&ramsey, GIVEN, "{\"settings\":{\"x_\":0.1,\"t\":3,\"contrast\":0.5},\"outcome\":1,\"t\":\"Tuesday\"}\n",
         "line 1: t=3 x_=0.1 contrast=0.5 -> 1\n"},
        {&ramsey, GIVEN, "{\"settings\":{\"x_\":0.1},\"t\":3,\"outcome\":1}\n",
         "line 1: t=3 x_=0.1 contrast=0.95 -> 1\n"},
        /* the output of rejfilt track --json */
        {&ramsey, GIVEN,
         "{\"step\": 1, \"parameters\": [{\"name\": \"w\", \"truth\": 0.5, \"mean\": 0.6}, {\"name\": \"g\", "
         "\"truth\": null}], "
         "\"settings\": [{\"name\": \"t\", \"value\": 3}, {\"name\": \"x_\", \"value\": 0.1}, {\"name\": \"contrast\", "
         "\"value\": 0.9}], \"outcome\": 1, \"attempts\": 100}\n",
         "line 1: t=3 x_=0.1 contrast=0.9 -> 1 w=0.5\n"},
        {&ramsey, GIVEN, "{\"outcome\":null}\n{\"outcome\":null,\"t\":null,\"x_\":2,\"time\":1}\n",
         "line 1: contrast=0.95 -> nothing\nline 2: x_=2 contrast=0.95 -> nothing at 1\n"},
        {&real, GIVEN,
         "{\"outcome\":2,\"time\":1.5,\"batch\":\"a\",\"truth\":{\"level\":0.5}}\n"
         "{\"outcome\":-2.5,\"time\":1.5,\"batch\":3,\"truth.level\":0.6,\"truth\":{\"level\":7}}\n"
         "{\"outcome\":0,\"time\":null,\"batch\":\"3\",\"truth\":null}\n{\"outcome\":0,\"batch\":null,\"truth\":3}\n",
         "line 1: -> 2 at 1.5 batch a level=0.5\nline 2: -> -2.5 at 1.5 batch 3 level=0.6\nline 3: -> 0 batch 3\n"
         "line 4: -> 0\n"},
        {&ramsey, ASK, "1\nnull\n {\"outcome\":1}\n{\"outcome\":0,\"time\":3.2,\"t\":3}\n0\n{\"ask\":7,\"x_\":null,\"outcome\":1}\n",
         "line 1: -> 1\nline 2: -> nothing\nline 3: -> 1\nline 4: t=3 -> 0 at 3.2\nline 5: -> 0\nline 6: -> 1\n"},
        {&real, ASK, "-1.5e3\n2", "line 1: -> -1500\nline 2: -> 2\n"},
        {&real, ASK, "null\n2\n", "line 1: -> nothing\nline 2: -> 2\n"},
    };
    CHECK(cases);
}

#define HEADER "t,x_,outcome,time,batch,truth.w\n"

static void test_bad_csv(void **state)
{
    (void)state;
    static const reading_case cases[] = {
        {&ramsey, GIVEN, HEADER "abc,1,1,,,\n", "data: line 2: column t: 'abc' is not a number\n"},
        {&ramsey, GIVEN, HEADER "\"0,5\",1,1,,,\n", "data: line 2: column t: '0,5' is not a number\n"},
        {&ramsey, GIVEN, HEADER "1 s,1,1,,,\n", "data: line 2: column t: '1 s' is not a number\n"},
        {&ramsey, GIVEN, HEADER "a\tb\033c,1,1,,,\n", "data: line 2: column t: 'a?b?c' is not a number\n"},
        {&ramsey, GIVEN, HEADER ",1,1,,,\n", "data: line 2: column t: is empty\n"},
        {&ramsey, GIVEN, HEADER "0x10,1,1,,,\n", "data: line 2: column t: '0x10' is not a number\n"},
        {&ramsey, GIVEN, HEADER "1,-0X1p3,1,,,\n", "data: line 2: column x_: '-0X1p3' is not a number\n"},
        {&ramsey, GIVEN, HEADER "1,infinity,1,,,\n", "data: line 2: column x_: infinity is not finite\n"},
        {&ramsey, GIVEN, HEADER "1,nan,1,,,\n", "data: line 2: column x_: nan is not finite\n"},
        {&ramsey, GIVEN, HEADER "1,-inf,1,,,\n", "data: line 2: column x_: -inf is not finite\n"},
        {&ramsey, GIVEN, HEADER "1,1e999,1,,,\n", "data: line 2: column x_: 1e999 is not finite\n"},
        {&ramsey, GIVEN, HEADER "1e15,-1e15,1,,,\n1.1e15,1,1,,,\n",
         "line 2: t=1e+15 x_=-1e+15 contrast=0.95 -> 1\n"
         "data: line 3: column t: 1.1e+15 is too large (limit 1e+15)\n"},
        {&ramsey, GIVEN, HEADER "1,1,2,,,\n", "data: line 2: column outcome: 2 is not 0 or 1\n"},
        {&ramsey, GIVEN, HEADER "1,1,0.5,,,\n", "data: line 2: column outcome: 0.5 is not 0 or 1\n"},
        {&ramsey, GIVEN, HEADER "1,1,-1,,,\n", "data: line 2: column outcome: -1 is not 0 or 1\n"},
        {&ramsey, GIVEN, HEADER "1,1,up,,,\n", "data: line 2: column outcome: 'up' is not a number\n"},
        {&ramsey, GIVEN, HEADER "1,1,nan,,,\n", "data: line 2: column outcome: nan is not finite\n"},
        {&counts, GIVEN, "time,outcome\n1,4\n1,1e300\n",
         "data: line 2: column outcome: 4 is not a whole number from 0 to 3\n"
         "data: line 3: column outcome: 1e+300 is not a whole number from 0 to 3\n"},
        {&photons, GIVEN, "outcome\n1000000\n2.5\n-1\n",
         "line 2: -> 1000000\n"
         "data: line 3: column outcome: 2.5 is not a whole number from 0 on\n"
         "data: line 4: column outcome: -1 is not a whole number from 0 on\n"},
        {&shots, GIVEN, "n,outcome\n20,20\n,21\n30,21\n2.5,1\n0,0\n",
         "line 2: n=20 -> 20\n"
         "data: line 3: column outcome: 21 is not a whole number from 0 to n = 20\n"
         "line 4: n=30 -> 21\n"
         "data: line 5: column n: 2.5 is not a whole number from 1 on\n"
         "data: line 6: column n: 0 is not a whole number from 1 on\n"},
        {&shots, ASK, "outcome\n21\n1.5\n", "line 2: -> 21\ndata: line 3: column outcome: 1.5 is not a whole number from 0 on\n"},
        {&real, GIVEN,
         "outcome\n\xef\xbb\xbf"
         "1\n",
         "data: line 2: column outcome: '\xef\xbb\xbf"
         "1' is not a number\n"},
        {&real, GIVEN, "outcome\ninf\n", "data: line 2: column outcome: inf is not finite\n"},
        /* a bad record does not move the clock */
        {&real, GIVEN, "time,outcome\n3,1\n9,x\n4,1\n3.5,1\nnan,1\n2e19,1\nsoon,1\n4,1\n",
         "line 2: -> 1 at 3\ndata: line 3: column outcome: 'x' is not a number\nline 4: -> 1 at 4\n"
         "data: line 5: column time: 3.5 is earlier than the 4 of a record before it\n"
         "data: line 6: column time: nan is not finite\n"
         "data: line 7: column time: 2e+19 is too large (limit 1e+19)\n"
         "data: line 8: column time: 'soon' is not a number\nline 9: -> 1 at 4\n"},
        {&ramsey, GIVEN, HEADER "1,1,1,,1234567890123456789012345678901,\n1,1,1,,12345678901234567890123456789012,\n",
         "line 2: t=1 x_=1 contrast=0.95 -> 1 batch 1234567890123456789012345678901\n"
         "data: line 3: column batch: is longer than 31 bytes\n"},
        {&ramsey, GIVEN, HEADER "1,1,1,,,high\n", "data: line 2: column truth.w: 'high' is not a number\n"},
        {&ramsey, GIVEN, HEADER "1,1\n1,1,1,,,,\n1,1,1,,,\n",
         "data: line 2: has 2 fields, the header has 6\ndata: line 3: has 7 fields, the header has 6\n"
         "line 4: t=1 x_=1 contrast=0.95 -> 1\n"},
        {&ramsey, GIVEN, HEADER "1,\"1,1,,,\n1,\"1\"2,1,,,\n1,1,1,,,\n",
         "data: line 2: field 2: a quote is not closed\ndata: line 3: field 2: there is more after the closing quote\n"
         "line 4: t=1 x_=1 contrast=0.95 -> 1\n"},
        {&ramsey, ASK, "outcome\n3\n{\"outcome\":1}\n",
         "data: line 2: column outcome: 3 is not 0 or 1\ndata: line 3: column outcome: '{\"outcome\":1}' is not a "
         "number\n"},
    };
    CHECK(cases);
}

static void test_bad_headers(void **state)
{
    (void)state;
    static const reading_case cases[] = {
        {&ramsey, GIVEN, "\n# c\nt,x_,outcom\n1,1,1\n",
         "failed: data: line 3: no column 'outcome'; there are 't', 'x_', 'outcom'; did you mean 'outcom'?\n"},
        {&ramsey, GIVEN, "T,x_,outcome\n1,1,1\n",
         "failed: data: line 1: no column 't'; there are 'T', 'x_', 'outcome'; did you mean 'T'?\n"},
        /* neither a name with another first letter nor a column in use is suggested */
        {&ramsey, GIVEN, "x_,y,outcome\n1,1,1\n",
         "failed: data: line 1: no column 't'; there are 'x_', 'y', 'outcome'\n"},
        {&pair, GIVEN, "t1,outcome\n1,1\n", "failed: data: line 1: no column 't2'; there are 't1', 'outcome'\n"},
        {&ramsey, GIVEN, "\n;;\n", "failed: data: line 2: no column 't'; there are '', '', ''\n"},
        {&ramsey, GIVEN, "t,x_,outcome,t\n", "failed: data: line 1: column 't' is there twice\n"},
        {&ramsey, GIVEN, "t,x_,outcome,truth.g,truth.g\n", "failed: data: line 1: column 'truth.g' is there twice\n"},
        {&ramsey, GIVEN, "t,x_,\"outcome\n", "failed: data: line 1: field 3: a quote is not closed\n"},
        {&ramsey, GIVEN, "# t,x_,outcome\n3,0.1,1\n",
         "failed: data: line 2: the names of the columns must come first, not '3' (lines with # are comments)\n"},
        {&ramsey, ASK, "up\n", "failed: data: line 1: no column 'outcome'; there are 'up'\n"},
    };
    CHECK(cases);
}

static void test_bad_json(void **state)
{
    (void)state;
    static const reading_case cases[] = {
        {&ramsey, GIVEN, "{\"t\":3,\"x_\":\"abc\",\"outcome\":1}\n", "data: line 1: key x_: 'abc' is not a number\n"},
        {&ramsey, GIVEN, "{\"t\":3,\"x_\":\"1\",\"outcome\":1}\n", "data: line 1: key x_: '1' is not a number\n"},
        {&ramsey, GIVEN, "{\"t\":3,\"x_\":[1],\"outcome\":1}\n", "data: line 1: key x_: a list is not a number\n"},
        {&ramsey, GIVEN, "{\"t\":3,\"x_\":{},\"outcome\":1}\n", "data: line 1: key x_: an object is not a number\n"},
        {&ramsey, GIVEN, "{\"t\":3,\"x_\":1,\"outcome\":true}\n", "data: line 1: key outcome: true is not a number\n"},
        {&ramsey, GIVEN, "{\"t\":3,\"x_\":null,\"outcome\":1}\n", "data: line 1: key x_: is empty\n"},
        {&ramsey, GIVEN, "{\"t\":1e16,\"x_\":1,\"outcome\":1}\n",
         "data: line 1: key t: 1e+16 is too large (limit 1e+15)\n"},
        {&ramsey, GIVEN, "{\"t\":3,\"x_\":1,\"outcome\":7}\n", "data: line 1: key outcome: 7 is not 0 or 1\n"},
        {&ramsey, GIVEN, "{\"t\":3,\"x_\":1}\n", "data: line 1: no key 'outcome'; there are 't', 'x_'\n"},
        {&ramsey, GIVEN, "{}\n", "data: line 1: no key 'outcome'; there is nothing\n"},
        {&ramsey, GIVEN, "{\"outcome\":1,\"t\":3,\"X_\":2}\n",
         "data: line 1: no key 'x_'; there are 'outcome', 't', 'X_'; did you mean 'X_'?\n"},
        {&ramsey, GIVEN, "{\"outcome\":1,\"settings\":{\"t\":3,\"x\":2}}\n",
         "data: line 1: no key 'x_'; there are 'outcome', 'settings', 't', 'x'; did you mean 'x'?\n"},
        {&ramsey, GIVEN, "{\"outcome\":1,\"settings\":[{\"name\":\"t\",\"value\":3},{\"name\":\"y\",\"value\":3},4]}\n",
         "data: line 1: no key 'x_'; there are 'outcome', 'settings', 't', 'y'\n"},
        {&ramsey, GIVEN, "{\"outcome\":1,\"settings\":3,\"t\":1,\"x_\":1,\"batch\":[]}\n",
         "data: line 1: key batch: is neither text nor a number\n"},
        {&real, GIVEN,
         "{\"outcome\":1,\"time\":2}\n{\"outcome\":1,\"time\":1}\n{\"outcome\":1,\"truth\":{\"level\":\"x\"}}\n",
         "line 1: -> 1 at 2\ndata: line 2: key time: 1 is earlier than the 2 of a record before it\n"
         "data: line 3: key truth.level: 'x' is not a number\n"},
        {&real, GIVEN,
         "{\"outcome\":1\n{\n\"outcome\":1}\n{\"outcome\":1} x\n{\"outcome\":1,\"outcome\":2}\n{\"outcome\":1}\n",
         "data: line 1: malformed JSON: it ends too early (a record is one line)\n"
         "data: line 2: malformed JSON: it ends too early (a record is one line)\n"
         "data: line 3: malformed JSON: character 10: end of file expected near ':'\n"
         "data: line 4: malformed JSON: character 15: end of file expected near 'x'\n"
         "data: line 5: malformed JSON: character 22: duplicate object key near '\"outcome\"'\nline 6: -> 1\n"},
        {&real, GIVEN, "{\"outcome\":NaN}\n{\"outcome\":1e999}\n{\"outcome\":\"\xff\"}\n{\"outcome\":\"\\u0000\"}\n",
         "data: line 1: malformed JSON: character 14: invalid token near 'NaN'\n"
         "data: line 2: malformed JSON: character 16: real number overflow near '1e999'\n"
         "data: line 3: malformed JSON: character 12: unable to decode byte 0xff near '\"'\n"
         "data: line 4: malformed JSON: character 19: \\u0000 is not allowed without JSON_ALLOW_NUL near "
         "'\"\\u0000\"'\n"},
        {&real, GIVEN, "[1,2]\n", "data: line 1: is not a JSON object\n"},
        {&real, GIVEN, "{\"outcome\":1}\n1\n", "line 1: -> 1\ndata: line 2: is not a JSON object\n"},
        {&real, ASK, "1\n\"1\"\ntrue\nnan\n",
         "line 1: -> 1\ndata: line 2: is not a JSON object, a number or null\n"
         "data: line 3: is not a JSON object, a number or null\n"
         "data: line 4: malformed JSON: character 3: invalid token near 'nan'\n"},
        {&ramsey, ASK, "1\n2\n{\"time\":1}\n",
         "line 1: -> 1\ndata: line 2: key outcome: 2 is not 0 or 1\ndata: line 3: no key 'outcome'; there are "
         "'time'\n"},
    };
    CHECK(cases);
}

static void test_zero_bytes(void **state)
{
    (void)state;
    char text[1024];
    static const char csv[] = "outcome\n1\n1\0002\n\0\n3\n",
                      header[] = "\xff\xfe"
                                 "o\0u\0t\0\n",
                      json[] = "{\"outcome\":1\0}\n2\n";
#define ZERO "has a zero byte (text in UTF-16? only UTF-8 is read)\n"
    read_all(text, csv, sizeof csv - 1, &real, GIVEN);
    assert_string_equal(text, "line 2: -> 1\ndata: line 3: " ZERO "data: line 4: " ZERO "line 5: -> 3\n");
    read_all(text, header, sizeof header - 1, &real, GIVEN);
    assert_string_equal(text, "failed: data: line 1: " ZERO);
    read_all(text, json, sizeof json - 1, &real, ASK);
    assert_string_equal(text, "data: line 1: " ZERO "line 2: -> 2\n");
}

/* 1 MiB is a line; one byte more is refused, and so are 8 MiB. A comment may have any length. */
static void test_long_lines(void **state)
{
    (void)state;
    enum { MIB = 1 << 20 };
    static const size_t lengths[] = {MIB, MIB + 1, 8 * MIB};
    static char bytes[8 * MIB + 64], text[1024];
    for (int i = 0; i < 3; i++)
        for (int is_comment = 0; is_comment < 2; is_comment++) {
            size_t start = (size_t)sprintf(bytes, "note,outcome\n"), length = lengths[i];
            memset(bytes + start, is_comment ? '#' : 'x', length);
            memcpy(bytes + start + length - 2, ",5\n,6\n", 6);
            read_all(text, bytes, start + length + 4, &real, GIVEN);
            assert_string_equal(text, is_comment      ? "line 3: -> 6\n"
                                      : length == MIB ? "line 2: -> 5\nline 3: -> 6\n"
                                                      : "data: line 2: is longer than 1048576 bytes\nline 3: -> 6\n");
        }
    memset(bytes, 'x', 2 * MIB);
    read_all(text, bytes, 2 * MIB, &real, GIVEN);
    assert_string_equal(text, "failed: data: line 1: is longer than 1048576 bytes\n");
    memset(bytes, '[', 2 * MIB);
    read_all(text, bytes, 2 * MIB, &real, GIVEN);
    assert_string_equal(text, "data: line 1: is longer than 1048576 bytes\n");
    read_all(text, bytes, MIB, &real, GIVEN); /* limited by the parser's own limit on nesting */
    assert_non_null(strstr(text, "data: line 1: malformed JSON: "));
}

static void test_many_columns(void **state)
{
    (void)state;
    static char bytes[8192], text[1024];
    for (size_t extra = 1023; extra <= 1024; extra++) {
        memset(bytes, ',', 2 * extra + 16);
        memcpy(bytes + extra, "outcome\n", 8);
        memcpy(bytes + 2 * extra + 8, "5\n", 2);
        read_all(text, bytes, 2 * extra + 10, &real, GIVEN);
        assert_string_equal(text,
                            extra == 1023 ? "line 2: -> 5\n" : "failed: data: line 1: has more than 1024 fields\n");
    }
}

/* ---- Pipes ---- */

static void say(int pipe_end, const char *text) { assert_int_equal(write(pipe_end, text, strlen(text)), strlen(text)); }

static void rang(int signal_number) { (void)signal_number; }

/* A signal every 10 ms that interrupts reading. */
static void ring(int is_on)
{
    struct sigaction action = {.sa_handler = rang};
    struct itimerval every = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, is_on ? &every : &never, NULL);
}

/* Each record arrives with its line, while the pipe stays open. If the reader waited for the next line, the alarm
   would end this test. */
/* Wrong times among times in order, with pauses: each costs one record, itself. */
static void test_wrong_times(void **state)
{
    enum { RECORDS = 120 };
    (void)state;
    for (uint32_t run = 0; run < 200; run++) {
        char text[16384] = "outcome,time\n", message[64];
        double time = 0;
        int is_wrong[RECORDS];
        for (uint32_t k = 0; k < RECORDS; k++) {
            const rf_words w = rf_draw(run, 0, k, 0, RF_FOR_USER);
            const double by = (double)w.word[1] / 4294967296.0;
            is_wrong[k] = run % 4 ? w.word[0] % 8 == 0 && k + 1 < RECORDS : k == run / 4 || k == RECORDS - 2; /* some in a row; never the last */
            time += is_wrong[k] ? 0 : w.word[2] % 50 == 0 ? 1e5 * by : 0.5 + by;
            const double far = w.word[3] % 2 || time == 0 ? 1e7 * (1 + by) : -5e6 - by;
            snprintf(text + strlen(text), sizeof text - strlen(text), "1,%.9g\n", is_wrong[k] ? (run % 4 ? far : 1e9) : time);
        }
        reading in = open_bytes(text, strlen(text), &real, GIVEN);
        cli_record record;
        for (int k = 0; k < RECORDS; k++) {
            const int got = cli_records_next(in.records, &record);
            snprintf(message, sizeof message, "line %d: column time: ", k + 2);
            if (got != (is_wrong[k] ? CLI_RECORD_BAD : CLI_RECORD) || (is_wrong[k] && !strstr(cli_records_error(in.records), message)))
                fail_msg("run %u, line %d: %d, wrong %d: %s\n%s", run, k + 2, got, is_wrong[k], cli_records_error(in.records), text);
        }
        assert_int_equal(cli_records_next(in.records, &record), CLI_RECORDS_END);
        close_reading(in);
    }
}

static void test_live_pipe(void **state)
{
    (void)state;
    int ends[2];
    cli_record record;
    assert_int_equal(pipe(ends), 0);
    FILE *from = fdopen(ends[0], "r");
    cli_records *r = cli_records_open(from, "data", &real, ASK);
    alarm(5);
    for (int i = 0; i < 3; i++) {
        say(ends[1], i == 1 ? "{\"outcome\": 1}\n" : "1\n");
        assert_int_equal(cli_records_next(r, &record), CLI_RECORD);
        assert_int_equal(record.line, i + 1);
    }
    say(ends[1], "2\n3\nnul");
    assert_int_equal(cli_records_next(r, &record), CLI_RECORD);
    assert_int_equal(cli_records_next(r, &record), CLI_RECORD);
    alarm(0);

    ring(1); /* a wait is interrupted; the part of the line already read is kept */
    assert_int_equal(cli_records_next(r, &record), CLI_RECORDS_INTERRUPTED);
    ring(0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    ring(1);
    assert_int_equal(cli_records_next(r, &record), CLI_RECORDS_INTERRUPTED);
    ring(0);
    pid_t later = fork();
    if (later == 0) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        _exit(write(ends[1], "l\n4", 3) != 3);
    }
    assert_int_equal(cli_records_next(r, &record), CLI_RECORD);
    assert_int_equal(waitpid(later, NULL, 0), later);
    assert_true(record.is_missing);
    assert_int_equal(record.line, 6);
    close(ends[1]);
    assert_int_equal(cli_records_next(r, &record), CLI_RECORD);
    assert_int_equal(record.line, 7);
    assert_true(record.outcome == 4.0);
    assert_int_equal(cli_records_next(r, &record), CLI_RECORDS_END);
    assert_int_equal(cli_records_next(r, &record), CLI_RECORDS_END);
    cli_records_close(r);
    fclose(from);
}

static void test_unreadable(void **state)
{
    (void)state;
    cli_record record;
    FILE *from = fopen("/tmp", "r");
    assert_non_null(from);
    cli_records *r = cli_records_open(from, "/tmp", &real, GIVEN);
    assert_int_equal(cli_records_next(r, &record), CLI_RECORDS_FAILED);
    assert_string_equal(cli_records_error(r), "/tmp: line 1: cannot read: Is a directory");
    cli_records_close(r);
    cli_records_close(NULL);
    fclose(from);
}

/* ---- Mutations ---- */

/* For any input, a record is in the model's range, the clock does not go back, line numbers increase, each bad line
   has a one-line message, and reading ends. */
static void check_any(const char *bytes, size_t count, const rf_description *description, int settings_given,
                      size_t results[4])
{
    reading in = open_bytes(bytes, count, description, settings_given);
    cli_record record;
    double time = -INFINITY;
    long line = 0, lines = 1;
    for (size_t i = 0; i < count; i++)
        lines += bytes[i] == '\n';
    for (long calls = 0;; calls++) {
        assert_true(calls <= lines);
        int result = cli_records_next(in.records, &record);
        assert_in_range(result + 2, 0, 3);
        results[result + 2]++;
        if (result == CLI_RECORDS_END)
            break;
        if (result != CLI_RECORD) {
            const char *error = cli_records_error(in.records);
            assert_true(strncmp(error, "data: line ", 11) == 0 && !strpbrk(error, "\n\r\t\033"));
            if (result == CLI_RECORDS_FAILED)
                break;
            continue;
        }
        assert_true(record.line > line && record.line <= lines);
        line = record.line;
        if (!record.is_missing)
            assert_true(description->outcomes ? record.outcome == 0 || record.outcome == 1 : isfinite(record.outcome));
        for (unsigned i = 0; settings_given && !record.is_missing && i < description->settings; i++)
            assert_true(fabs(record.setting[i]) <= 1e15);
        if (record.has_time) {
            assert_true(record.time >= time);
            time = record.time;
        }
        assert_non_null(memchr(record.batch, '\0', sizeof record.batch));
    }
    close_reading(in);
}

static void test_mutations(void **state)
{
    (void)state;
    static const char *const seeds[] = {
        "t,x_,outcome,time,batch,truth.w\n1,2,1,3,a,0.1\n\"2\",3,0,4,\"b\"\"c\",\n# x\n3,4,,5,,nan\n4,5,1,6,d,0.2\n",
        "t\tx_\toutcome\tnote\r\n1\t2\t1\tx\r\n\r\n2\t3\t0\ty\r\n",
        "{\"t\":1,\"x_\":2,\"outcome\":1,\"time\":3,\"batch\":7,\"truth\":{\"w\":1}}\n{\"settings\":{\"t\":1,\"x_\":2},"
        "\"outcome\":null}\n{\"settings\":[{\"name\":\"t\",\"value\":3},{\"name\":\"x_\",\"value\":4}],\"outcome\":0,"
        "\"parameters\":[{\"name\":\"w\",\"truth\":1}]}\n",
        "1\nnull\n{\"outcome\":0,\"time\":2}\n0\n",
    };
    static const char *const pieces[] = {
        "\n",   ",",    "\"",           "{",  "}", "[", "]",       ":",    "null", "1e999", "-",      "nan",
        "\"\"", "\r\n", "\xef\xbb\xbf", "\t", ";", "#", "outcome", "\xff", " ",    "0x1p3", "\"t\":", "\\u0000"};
    enum { MUTATIONS = 6000, PIECES = sizeof pieces / sizeof pieces[0] };
    size_t results[4] = {0};
    uint64_t seed = 11;
    for (int mutation = 0; mutation < MUTATIONS; mutation++) {
        char bytes[2048];
        size_t count = strlen(seeds[mutation % 4]);
        memcpy(bytes, seeds[mutation % 4], count);
        for (uint64_t edits = 1 + test_word(&seed) % 4; edits > 0; edits--) {
            size_t at = (size_t)(test_word(&seed) % (count + 1)), left = count - at;
            const char *piece = pieces[test_word(&seed) % PIECES];
            size_t length = strlen(piece), some = left ? (size_t)(test_word(&seed) % left) % 20 : 0;
            switch (test_word(&seed) % 4) {
            case 0: /* insert */
                memmove(bytes + at + length, bytes + at, left);
                memcpy(bytes + at, piece, length);
                count += length;
                break;
            case 1: /* remove */
                memmove(bytes + at, bytes + at + some, left - some);
                count -= some;
                break;
            case 2: /* repeat */
                memmove(bytes + at + some, bytes + at, left);
                count += some;
                break;
            default: /* change a byte */
                if (left)
                    bytes[at] = (char)test_word(&seed);
            }
        }
        check_any(bytes, count, mutation % 3 ? &ramsey : &real, mutation % 4 != 3, results);
    }
    print_message("failed %zu, bad %zu, ended %zu, records %zu\n", results[0], results[1], results[2], results[3]);
    for (int i = 0; i < 4; i++)
        assert_true(results[i] > MUTATIONS / 10); /* each kind of result occurs */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_csv),    cmocka_unit_test(test_good_json),    cmocka_unit_test(test_bad_csv),
        cmocka_unit_test(test_bad_headers), cmocka_unit_test(test_bad_json),     cmocka_unit_test(test_zero_bytes),
        cmocka_unit_test(test_long_lines),  cmocka_unit_test(test_many_columns), cmocka_unit_test(test_live_pipe),
        cmocka_unit_test(test_wrong_times), cmocka_unit_test(test_unreadable),  cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
