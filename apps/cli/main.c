/* The rejfilt command. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "rejfilt/rejfilt.h"

static const cli_command commands[] = {
    {"track", "follow a drifting parameter, measurement by measurement", cli_track},
    {"state", "show, export or import what a run has learnt", cli_state},
    {"compare", "say which of several models the records favour", cli_compare},
    {"classify", "classify objects by asking for few of their features", cli_classify},
    {"models", "list the built-in models", cli_models},
    {NULL, NULL, NULL},
};

static void print_help(void)
{
    puts("rejfilt: Bayesian inference by rejection filtering, in a kilobit of memory\n\n"
         "usage: rejfilt COMMAND [OPTION...]\n\ncommands:");
    for (const cli_command *c = commands; c->name; c++)
        printf("  %-12s %s\n", c->name, c->summary);
    puts("\n  --version    print the version\n  --help       print this; 'rejfilt COMMAND --help' says more\n\n"
         "start here:\n  rejfilt track --simulate\n  rejfilt track --simulate --trials 1000");
}

/* Runs the command line; output may still be buffered. */
static int run(int argc, char **argv)
{
    const char *names[sizeof commands / sizeof commands[0] + 2] = {"--help", "--version"};
    int is_help = argc > 1 && strcmp(argv[1], "help") == 0;
    if (argc < 2 || (is_help && argc == 2) || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help();
        return argc < 2 ? CLI_BAD_INPUT : CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("rejfilt " RF_VERSION);
        return CLI_OK;
    }
    char *wanted = argv[is_help ? 2 : 1], *help[] = {wanted, (char[]){"--help"}, NULL};
    for (size_t i = 0; commands[i].name; i++) {
        names[i + 2] = commands[i].name;
        if (strcmp(wanted, commands[i].name) == 0)
            return is_help ? commands[i].run(2, help) : commands[i].run(argc - 1, argv + 1);
    }
    if (strcmp(wanted, "features") == 0)
        return cli_error("'rejfilt features' is now 'rejfilt classify rank', with the same options");
    char close[RF_SUGGESTION];
    return cli_error("unknown command '%s'%s (see 'rejfilt --help')", wanted, rf_suggestion(wanted, names, close));
}

/* Opens /dev/null for closed standard streams, so that no other file gets their numbers. Reading from a closed input
   fails later; a closed output is an error here, because results would be lost. Returns CLI_OK, or CLI_FAILED after
   a message. */
static int check_streams(void)
{
    const int has_output = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDWR) != stream) {
            cli_error("a standard stream is closed, and /dev/null cannot be opened in its place");
            return CLI_FAILED;
        }
    if (has_output)
        return CLI_OK;
    cli_error("standard output is closed; to discard results, send them to /dev/null");
    return CLI_FAILED;
}

int main(int argc, char **argv)
{
    static char buffer[16384]; /* holds a whole help text, so that cli_flush sees why a write failed */
    signal(SIGXFSZ, SIG_IGN); /* a file over the limit of `ulimit -f` is a failure with a message */
    if (check_streams() != CLI_OK)
        return CLI_FAILED;
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    setlocale(LC_CTYPE, ""); /* the live view must know whether the terminal takes UTF-8; LC_NUMERIC stays "C" */
    int code = run(argc, argv);
    return cli_flush() != CLI_OK && code == CLI_OK ? CLI_FAILED : code;
}
