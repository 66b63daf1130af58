/* A process that is killed as it renames a file. */
#include <signal.h>
#include <stdio.h>

int rename(const char *from, const char *to)
{
    (void)from, (void)to;
    return raise(SIGKILL);
}
