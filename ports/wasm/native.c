/* Runs a script on this machine and prints all results as bits, for comparison with wasm (script.mjs).
   usage: playground_native < SCRIPT       lines: a name and its numbers, as in `play` below */
#include "playground.h"

#include <stdio.h>
#include <string.h>

static void print_words(const void *from, uint32_t count)
{
    const unsigned char *bytes = from;
    for (uint32_t i = 0; i < count; i++, bytes += 4) {
        uint32_t word;
        memcpy(&word, bytes, sizeof word);
        printf("%s%08x", i ? " " : "", word);
    }
    putchar('\n');
}

static int is(const char *name, const char *other)
{
    while (*name && *name == *other)
        name++, other++;
    return *name == *other;
}

/* Returns 0, or -1 if the name is unknown or the call refused. */
static int play(const char *name, const double a[4])
{
    if (is(name, "open"))
        return track_open((uint32_t)a[0]);
    if (is(name, "set"))
        return track_set((uint32_t)a[0], (uint32_t)a[1], (float)a[2], (float)a[3]);
    if (is(name, "kick")) {
        track_kick((float)a[0]);
    } else if (is(name, "fail")) {
        track_fail((uint32_t)a[0]);
    } else if (is(name, "unrest")) {
        track_unrest((float)a[0]);
    } else if (is(name, "step")) {
        for (uint32_t i = 0; i < (uint32_t)a[0]; i++) {
            if (track_step() < 0)
                return -1;
            print_words(track_view(), sizeof(playground_view) / 4);
            print_words(track_filter(), track_filter_bytes() / 4);
            print_words(track_parts(), sizeof(rf32_gaussians) / 4);
        }
    } else if (is(name, "draws")) {
        print_words(track_draws((uint32_t)a[0], (uint32_t)a[1]), 3 * (uint32_t)a[1]);
    } else if (is(name, "curve")) {
        print_words(track_likelihood((float)a[0], (float)a[1]), PLAYGROUND_CURVE);
    } else if (is(name, "learn")) {
        return digits_learn(digits_wanted()) == digits_wanted() ? 0 : -1;
    } else if (is(name, "example")) {
        print_words(digits_example((uint32_t)a[0], (uint32_t)a[1]), DIGIT_PIXELS / 4);
    } else if (is(name, "point")) {
        float *point = digits_points() + 3 * (uint32_t)a[0];
        for (int i = 0; i < 3; i++)
            point[i] = (float)a[1 + i];
    } else if (is(name, "draw")) {
        print_words(digits_draw((uint32_t)a[0]), DIGIT_PIXELS / 4);
    } else if (is(name, "classify")) {
        const digits_answer *answer = digits_classify();
        if (!answer)
            return -1;
        print_words(answer, 2);
        print_words(answer->asked, answer->queries);
        print_words(answer->story, answer->queries * DIGIT_CLASSES);
    } else {
        return -1;
    }
    return 0;
}

int main(void)
{
    char line[256], name[32];
    for (unsigned number = 1; fgets(line, sizeof line, stdin); number++) {
        double a[4] = {0};
        if (sscanf(line, "%31s %lf %lf %lf %lf", name, &a[0], &a[1], &a[2], &a[3]) >= 1 && play(name, a) < 0) {
            fprintf(stderr, "playground_native: line %u: cannot play '%s'\n", number, name);
            return 2;
        }
    }
    return 0;
}
