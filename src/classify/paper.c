#include "paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "random.h"
#include "rejfilt/detail/draws.h"

enum { AHEAD = 4 }; /* rows prefetched */

/* Particles with the same training vector. */
typedef struct run {
    uint32_t vector, times;
} run;

struct rfc_paper {
    const rfc_training *training;
    rfc_rules rules;
    const rfc_kernel *kernel;
    run *cloud, *accepted;         /* ordered by class; the cloud has rules.particles particles */
    uint32_t runs[RFC_LABELS_MAX]; /* of the cloud, by class */
    uint32_t *sum, *square;        /* by feature, over the cloud */
    uint32_t *words;
    uint32_t drawn; /* capacity in random words, a multiple of 64 */
    double *belief; /* by class: sum over restarts of the final frequencies */
};

void rfc_paper_close(rfc_paper *f)
{
    if (!f)
        return;
    free(f->cloud);
    free(f->accepted);
    free(f->sum);
    free(f->square);
    free(f->words);
    free(f->belief);
    free(f);
}

rfc_paper *rfc_paper_open(const rfc_training *t, const rfc_rules *rules)
{
    rfc_paper *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->training = t;
    f->rules = *rules;
    f->kernel = rfc_kernels();
    f->drawn = (rules->particles + 63) / 64 * 64;
    f->cloud = malloc(rules->particles * sizeof *f->cloud);
    f->accepted = malloc(rules->particles * sizeof *f->accepted);
    f->sum = malloc(t->features * sizeof *f->sum);
    f->square = malloc(t->features * sizeof *f->square);
    f->words = malloc(f->drawn * sizeof *f->words);
    f->belief = malloc(t->classes * sizeof *f->belief);
    if (f->cloud && f->accepted && f->sum && f->square && f->words && f->belief)
        return f;
    rfc_paper_close(f);
    return NULL;
}

/* A random word per particle. `update` numbers the queries; restarts count down from the top. */
static void draw_words(rfc_paper *f, const rfc_object *object, uint32_t update, uint32_t purpose)
{
    rf_draw_many(f->rules.seed, update, 0, object->number, purpose, f->drawn / 4, f->words);
}

/* Appends runs of class c at `runs`: `count` of its training vectors, drawn uniformly with the given words. */
static uint32_t add_fresh(rfc_paper *f, uint32_t runs, uint32_t c, uint32_t count, const uint32_t *words)
{
    const rfc_training *t = f->training;
    uint32_t begin = t->class_begin[c], size = t->class_begin[c + 1] - begin;
    for (uint32_t i = 0; i < count; i++)
        f->cloud[runs++] = (run){t->of_class[begin + rfc_below(words[i], size)], 1};
    return runs;
}

/* Fills the cloud with particles drawn uniformly from all training vectors. */
static void start(rfc_paper *f, const rfc_object *object, uint32_t update)
{
    const rfc_training *t = f->training;
    uint32_t m = f->rules.particles, of_class[RFC_LABELS_MAX] = {0}, at = 0;
    draw_words(f, object, update, RFC_FOR_PARTICLES);
    for (uint32_t i = 0; i < m; i++) {
        uint32_t place = rfc_below(f->words[i], t->count), c = 0;
        while (place >= t->class_begin[c + 1])
            c++;
        of_class[c]++;
    }
    draw_words(f, object, update, RFC_FOR_FRESH);
    for (uint32_t c = 0; c < t->classes; c++) {
        f->runs[c] = of_class[c];
        add_fresh(f, at, c, of_class[c], f->words + at);
        at += of_class[c];
    }
}

/* The feature of largest variance per cost over the cloud; *variance ← its variance. t->features: none varies. */
static uint32_t choose(rfc_paper *f, const rfc_object *object, double cost_left, double *variance)
{
    const rfc_training *t = f->training;
    double m = f->rules.particles, max = 0;
    uint32_t best = t->features, runs = 0;
    memset(f->sum, 0, t->features * sizeof *f->sum);
    memset(f->square, 0, t->features * sizeof *f->square);
    for (uint32_t c = 0; c < t->classes; c++)
        runs += f->runs[c];
    for (uint32_t i = 0; i < runs && i < AHEAD; i++)
        rfc_prefetch(rfc_training_row(t, f->cloud[i].vector), t->features);
    for (uint32_t at = 0; at < runs; at++) {
        if (at + AHEAD < runs)
            rfc_prefetch(rfc_training_row(t, f->cloud[at + AHEAD].vector), t->features);
        f->kernel->add_squares(rfc_training_row(t, f->cloud[at].vector), t->features, f->cloud[at].times, f->sum,
                               f->square);
    }
    for (uint32_t j = 0; j < t->features; j++) {
        double mean = f->sum[j] / m, spread = f->square[j] / m - mean * mean,
               cost = f->rules.cost ? (double)f->rules.cost[j] : 1;
        int may_ask =
            !(object->missing && object->missing[j]) && !(f->rules.mask && !f->rules.mask[j]) && cost <= cost_left;
        if (may_ask && spread / cost > max) {
            max = spread / cost;
            *variance = spread;
            best = j;
        }
    }
    return best;
}

/* Accepts each particle with probability exp(−(x − value)²/2σ²). count[class] ← number accepted; returns the total. */
static uint32_t accept(rfc_paper *f, const rfc_object *object, uint32_t update, uint32_t feature, double variance,
                       uint32_t *count, uint32_t *runs)
{
    const rfc_training *t = f->training;
    uint64_t bound[256];
    uint32_t word = 0, at = 0, kept = 0, all = 0;
    for (int x = 0; x < 256; x++) {
        double off = x - object->value[feature];
        bound[x] = (uint64_t)(4294967296.0 * exp(-off * off / (2 * variance)));
    }
    draw_words(f, object, update, RFC_FOR_ACCEPT);
    for (uint32_t c = 0; c < t->classes; c++) {
        count[c] = 0;
        runs[c] = 0;
        for (uint32_t i = 0; i < f->runs[c]; i++, at++) {
            uint64_t limit = bound[rfc_training_row(t, f->cloud[at].vector)[feature]];
            uint32_t times = 0;
            for (uint32_t k = 0; k < f->cloud[at].times; k++)
                times += f->words[word++] < limit;
            if (times == 0)
                continue;
            f->accepted[kept++] = (run){f->cloud[at].vector, times};
            runs[c]++;
            count[c] += times;
        }
        all += count[c];
    }
    return all;
}

/* The population of each class: in proportion to the accepted ones, rounded to integers by largest remainder. */
static void share_out(const rfc_paper *f, const uint32_t *count, uint32_t all, uint32_t *population)
{
    uint32_t classes = f->training->classes, m = f->rules.particles, given = 0;
    for (uint32_t c = 0; c < classes; c++) {
        population[c] = (uint32_t)((uint64_t)m * count[c] / all);
        given += population[c];
    }
    for (; given < m; given++) {
        uint32_t best = 0;
        int64_t max = INT64_MIN;
        for (uint32_t c = 0; c < classes; c++) {
            int64_t rest = (int64_t)m * count[c] - (int64_t)population[c] * all;
            if (rest > max) {
                max = rest;
                best = c;
            }
        }
        population[best]++;
    }
}

/* Replicates the accepted particles of each class evenly to 95 % of its population; the rest are fresh draws. */
static void resample(rfc_paper *f, const rfc_object *object, uint32_t update, const uint32_t *count,
                     const uint32_t *runs, uint32_t all)
{
    uint32_t population[RFC_LABELS_MAX], at = 0, from = 0, word = 0;
    share_out(f, count, all, population);
    draw_words(f, object, update, RFC_FOR_FRESH);
    for (uint32_t c = 0; c < f->training->classes; c++) {
        uint32_t copies = (uint32_t)((uint64_t)population[c] * 95 / 100), begin = at, done = 0;
        uint64_t offset = count[c] ? rfc_below(f->words[word], count[c]) : 0;
        for (uint32_t i = 0; i < runs[c]; i++, from++) {
            uint64_t first = (uint64_t)done * copies + offset,
                     last = (uint64_t)(done + f->accepted[from].times) * copies + offset;
            uint32_t times = (uint32_t)(last / count[c] - first / count[c]);
            done += f->accepted[from].times;
            if (times > 0)
                f->cloud[at++] = (run){f->accepted[from].vector, times};
        }
        at = add_fresh(f, at, c, population[c] - copies, f->words + word);
        word += population[c] - copies;
        f->runs[c] = at - begin;
    }
}

void rfc_paper_classify(rfc_paper *f, const rfc_object *object, rfc_answer *a)
{
    const rfc_training *t = f->training;
    uint32_t votes[RFC_LABELS_MAX] = {0}, count[RFC_LABELS_MAX], runs[RFC_LABELS_MAX],
             each = f->rules.budget / f->rules.restarts;
    double least = f->rules.floor * t->largest_deviation;
    memset(f->belief, 0, t->classes * sizeof *f->belief);
    a->queries = 0;
    a->cost = 0;
    for (uint32_t r = 0; r < f->rules.restarts; r++) {
        double belief[RFC_LABELS_MAX], cost_left = (f->rules.max_cost - a->cost) / (f->rules.restarts - r),
                                       variance = 0;
        uint32_t best = 0, feature;
        for (uint32_t c = 0; c < t->classes; c++)
            belief[c] = (double)(t->class_begin[c + 1] - t->class_begin[c]) / t->count;
        start(f, object, UINT32_MAX - r);
        for (uint32_t k = 0; k < each && (feature = choose(f, object, cost_left, &variance)) < t->features; k++) {
            double cost = f->rules.cost ? (double)f->rules.cost[feature] : 1;
            uint32_t update = a->queries,
                     all = accept(f, object, update, feature, fmax(fmax(variance, least * least), 1), count, runs);
            a->asked[a->queries++] = feature;
            a->cost += cost;
            cost_left -= cost;
            best = 0;
            for (uint32_t c = 0; c < t->classes; c++) {
                if (all > 0)
                    belief[c] = (double)count[c] / all;
                if (belief[c] > belief[best])
                    best = c;
                if (a->story)
                    a->story[(size_t)update * t->classes + c] = (float)belief[c];
            }
            if (all == 0)
                continue; /* keep the cloud */
            if (1 - belief[best] <= f->rules.stop)
                break;
            resample(f, object, update, count, runs, all);
        }
        for (uint32_t c = 0; c < t->classes; c++) {
            f->belief[c] += belief[c];
            if (belief[c] > belief[best])
                best = c;
        }
        votes[best]++;
    }
    a->decided = 0;
    for (uint32_t c = 0; c < t->classes; c++) {
        a->posterior[c] = (float)(f->belief[c] / f->rules.restarts);
        if (votes[c] > votes[a->decided] || (votes[c] == votes[a->decided] && f->belief[c] > f->belief[a->decided]))
            a->decided = c;
    }
}
