/* The rejfilt command. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "rejfilt/rejfilt.h"

static const cli_command commands[] = {
    {"track", "follow a drifting parameter, measurement by measurement", cli_track},
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

int main(int argc, char **argv)
{
    const char *names[sizeof commands / sizeof commands[0]] = {NULL};
    setlocale(LC_CTYPE, ""); /* the live view asks whether the terminal takes UTF-8; numbers stay in C's form */
    if (argc < 2) {
        print_help();
        return CLI_BAD_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help();
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("rejfilt " RF_VERSION);
        return CLI_OK;
    }
    for (size_t i = 0; commands[i].name; i++) {
        names[i] = commands[i].name;
        if (strcmp(argv[1], commands[i].name) == 0) {
            int code = commands[i].run(argc - 1, argv + 1);
            if ((fflush(stdout) != 0 || ferror(stdout)) && code == CLI_OK) {
                cli_error("could not write all output");
                code = CLI_FAILED;
            }
            return code;
        }
    }
    const char *close = cli_closest(argv[1], names);
    return cli_error("unknown command '%s'%s%s%s; see 'rejfilt --help'", argv[1], close ? ", did you mean " : "",
                     close ? close : "", close ? "?" : "");
}
