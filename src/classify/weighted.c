/* The weighted method: a weight for every training vector. Answers lower weights; the next question is the feature that
   best separates the classes under the weights. For a large training set the first questions come from a tree (tree.h).
   After it, all exact answers are applied to all vectors, and those with negligible weight are dropped. */
#include "weighted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "rejfilt/detail/port.h"

enum {
    DRAWS = 256,            /* vectors drawn to represent all when a query is chosen */
    LAST_DRAWS = 2048,      /* the same for the last query of a budget */
    EQUAL = 2,              /* one in EQUAL draws is distributed equally over the classes */
    AHEAD = 6,              /* sketches are prefetched this many draws ahead */
    CHUNK = 1024,           /* consecutive vectors in a chunk */
    CHUNKS = 4,             /* one in CHUNKS chunks is weighed in the search for a temper */
    DROPPED = 7387,         /* 10 nats in units of penalties: vectors farther behind are dropped */
    LEVELS = 16,            /* levels of a sketch */
    CATEGORY = 3 * RFC_BIT, /* penalty of a different category */
    SEARCHES = 8,           /* steps of the search for a temper, at most */
    FOR_EACH = 2,           /* effective sample needed per coefficient of a regression */
    PROBES = 128,
    PROBE_QUERIES = 10 /* training vectors, and queries of each, that measure which features are relevant */
};
#define ROOMY 0.15        /* tolerance of a search: ln(effective sample / wanted) */
#define SLOPE 1.0         /* d ln(temper) / d ln(effective sample), for a first guess */
#define WIDER 0.8         /* factor on the temper for a regression */
#define RIDGE 0.01        /* ridge penalty on its slopes */
#define RULED_OUT 0.001   /* a class with less than this times an equal share gets no draws */
#define STEADY 0.3        /* share of the largest variance that is added to each feature's in a ratio */
#define NEARLY 4          /* a node of the tree is evaluated exactly if its rest is at most this many stops */
#define TOLD_EXACTLY 0.1  /* below this rest a story is computed from all vectors */
#define FREE 1e-9f        /* cost assumed for a free query */
#define BEYOND_CHANCE 1.5 /* least score of a relevant feature, in units of what chance gives */

typedef struct draw {
    uint32_t vector, times, kind;
} draw;

static const rfc_node past; /* the place after the tree's leaves */

struct rfc_weighted {
    const rfc_training *training;
    rfc_rules rules;
    const rfc_kernel *kernel;
    const rfc_tree *tree; /* or null */
    const rfc_node *node; /* this object's node; null: past the tree */
    int is_exact;         /* compute the posterior after every answer */
    uint32_t without;     /* the vector that is left out; `count` of the training set: none */
    /* vectors in play: all, or those listed in `vector` */
    uint32_t count, segments;
    rfc_segment segment[2 * RFC_LABELS_MAX];
    int is_listed;
    uint32_t *vector;
    uint16_t *penalty, base;
    uint32_t *weight, *block;
    uint8_t *gathered;
    /* their weights */
    uint64_t kind_weight[RFC_LABELS_MAX];
    rfc_segment *part;             /* if there are many: segments that represent all */
    uint32_t parts;                /* 0: no such segments */
    int is_partial;                /* weights are only of the parts */
    double weighed;                /* temper at which they were computed */
    double temper, total, sample;  /* temper in units of RFC_TEMPER_ONE; sum of weights; effective sample size */
    double rest;                   /* belief in all classes but the decided one, at the time of the decision */
    double belief[RFC_LABELS_MAX]; /* by kind, with the rules' weights; the sum is 1. Decisions are made on it */
    /* queries of this object */
    uint8_t *may_ask, *paid; /* by feature; by group */
    int lacks;               /* a feature that matters is missing */
    rfc_evidence *evidence;
    uint32_t asked, applied; /* queries so far; queries that penalties include */
    /* the choice of a query */
    draw draws[LAST_DRAWS];
    uint32_t drawn, points[RFC_LABELS_MAX]; /* vectors drawn; draws by kind */
    float share[RFC_LABELS_MAX];            /* belief that one draw of a kind represents */
    uint16_t *sums;                         /* by kind and place, or two per place */
    float *mean, *score, *spare;            /* by place, in units of levels */
    float *values;                          /* by kind and value of a category: number of draws; null: no categories */
    double normal[RFC_REGRESSED + 1][RFC_REGRESSED + 1], sides[RFC_REGRESSED + 1][RFC_LABELS_MAX]; /* equations of a regression */
};

void rfc_weighted_close(rfc_weighted *f)
{
    if (!f)
        return;
    free(f->vector);
    free(f->penalty);
    free(f->weight);
    free(f->block);
    free(f->gathered);
    free(f->part);
    free(f->may_ask);
    free(f->paid);
    free(f->evidence);
    free(f->sums);
    free(f->mean);
    free(f->score);
    free(f->spare);
    free(f->values);
    free(f);
}

rfc_weighted *rfc_weighted_open(const rfc_training *t, const rfc_rules *rules, const rfc_tree *tree)
{
    size_t n = t->count, d = t->features, places = 2 * t->sketch;
    rfc_weighted *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->training = t;
    f->rules = *rules;
    f->tree = tree && tree->count > 0 ? tree : NULL;
    f->kernel = rfc_kernels();
    f->vector = malloc(n * sizeof *f->vector);
    f->penalty = malloc(n * sizeof *f->penalty);
    f->weight = malloc(n * sizeof *f->weight);
    f->block = malloc((n / RFC_BLOCK + t->segments + 1) * sizeof *f->block);
    f->gathered = malloc(n);
    f->part = malloc((n / (CHUNKS * CHUNK) + 2 * (size_t)t->segments + 1) * sizeof *f->part);
    f->may_ask = malloc(d);
    f->paid = calloc(d + 1, 1);
    f->evidence = malloc((d + 1) * sizeof *f->evidence);
    f->sums = malloc(t->kinds * 2 * places * sizeof *f->sums);
    f->mean = malloc(places * sizeof *f->mean);
    f->score = malloc(places * sizeof *f->score);
    f->spare = malloc(places * sizeof *f->spare);
    f->values = t->is_category ? malloc((size_t)t->kinds * RFC_CATEGORIES_MAX * sizeof *f->values) : NULL;
    if (f->vector && f->penalty && f->weight && f->block && f->gathered && f->part && f->may_ask && f->paid &&
        f->evidence && f->sums && f->mean && f->score && f->spare && (f->values || !t->is_category))
        return f;
    rfc_weighted_close(f);
    return NULL;
}

/* ---- Weights ---- */

/* Weighs the vectors in play, or only those in `part`. */
static void weigh(rfc_weighted *f, int is_partial, double temper)
{
    const rfc_segment *segment = is_partial ? f->part : f->segment;
    const uint32_t segments = is_partial ? f->parts : f->segments, factor = (uint32_t)fmax(temper, 1);
    uint64_t vectors = 0;
    f->is_partial = is_partial;
    f->weighed = temper;
    uint64_t sum = 0, squares = 0;
    uint32_t *block = f->block;
    memset(f->kind_weight, 0, f->training->kinds * sizeof f->kind_weight[0]);
    for (uint32_t s = 0; s < segments; s++) {
        const rfc_segment *g = &segment[s];
        rfc_weighed w = f->kernel->weigh(f->penalty + g->begin, g->count, f->base, factor, f->weight + g->begin, block);
        block += (g->count + RFC_BLOCK - 1) / RFC_BLOCK;
        f->kind_weight[g->kind] += w.sum;
        sum += w.sum;
        squares += w.squares;
        vectors += g->count;
    }
    f->total = (double)sum;
    f->sample = f->total * f->total /
                (fmax((double)squares, 1) * (double)(1u << RFC_SQUARE_SHIFT << RFC_SQUARE_SHIFT)) * f->count /
                (double)vectors;
}

/* Selects the parts that represent many vectors: the first chunk of every CHUNKS. */
static void find_parts(rfc_weighted *f)
{
    f->parts = 0;
    if (f->count < 2 * CHUNKS * CHUNK)
        return;
    for (uint32_t s = 0; s < f->segments; s++)
        for (uint32_t at = 0; at < f->segment[s].count; at += CHUNKS * CHUNK) {
            const uint32_t left = f->segment[s].count - at;
            f->part[f->parts++] =
                (rfc_segment){f->segment[s].begin + at, left < CHUNK ? left : CHUNK, f->segment[s].kind};
        }
}

/* Computes the effective sample at a temper; with many vectors, an estimate from the parts. */
static void look(rfc_weighted *f, double temper) { weigh(f, f->parts > 0, temper); }

/* Finds a temper in low..high whose effective sample is `wanted` or slightly more, by interpolating ln(sample) over
   ln(temper); it falls with the temper. above: ln(sample / wanted) at `low`; below: the same at `high` (negative), 0 if
   unknown. Takes `high` if the sample is still larger there. */
static void search(rfc_weighted *f, double wanted, double low, double above, double high, double below)
{
    double middle = low;
    for (int i = 0; i <= SEARCHES; i++) {
        if (i == SEARCHES)
            middle = low; /* good enough */
        else if (below == 0)
            middle = fmin(low * (1 + above) + 1, high);
        else if (low < 1)
            middle = fmax(high * exp(fmax(SLOPE * (below - ROOMY / 2), -3)), 0.5);
        else
            middle = low * exp(log(high / low) * (i % 3 == 2 ? 0.5 : fmax(above - ROOMY / 2, 0) / (above - below)));
        look(f, middle);
        const double reached = log(f->sample / wanted);
        if (reached >= 0 && (reached < ROOMY || middle >= high))
            break;
        if (reached >= 0) {
            low = middle;
            above = reached;
        } else {
            high = middle;
            below = reached;
        }
    }
    f->temper = middle;
}

/* If the effective sample would be too small, flattens the weights until it is not. While many vectors still agree,
   sharpens them as long as enough do. Starts from the temper of the previous query. */
static void find_temper(rfc_weighted *f)
{
    const double one = RFC_TEMPER_ONE, least = fmin(f->rules.least_sample, 0.5 * f->count), most = f->rules.most_sample,
                 sharpest = f->rules.sharpest * one;
    const double before = f->temper;
    look(f, before);
    if (before > one) {
        const double reached = log(f->sample / most);
        if (reached >= 0 && (reached < ROOMY || before >= sharpest))
            return;
        if (reached >= 0)
            search(f, most, before, reached, sharpest, 0);
        else if (f->count > most)
            search(f, most, 0, log(f->count / most), before, reached);
        if (f->temper > one && f->sample >= most)
            return;
        f->temper = one;
        look(f, one);
    }
    const double reached = log(f->sample / least);
    if (reached < 0)
        search(f, least, 0, log(f->count / least), f->temper, reached);
    else if (f->temper < one && reached >= ROOMY)
        search(f, least, f->temper, reached, one, 0);
    if (f->temper >= one && sharpest > one && f->sample >= most * exp(ROOMY))
        search(f, most, one, log(f->sample / most), sharpest, 0);
}

/* Finds the temper and weighs the vectors; with `is_enough`, only the parts. */
static void temper(rfc_weighted *f, int is_enough)
{
    find_parts(f);
    find_temper(f);
    const int is_partial = is_enough && f->parts > 0;
    if (f->is_partial != is_partial || f->weighed != f->temper) /* unless the last step did exactly this */
        weigh(f, is_partial, f->temper);
}

static void gather(const uint8_t *restrict column, const uint32_t *restrict vector, uint32_t count,
                   uint8_t *restrict out)
{
    RF_UNROLL(8)
    for (uint32_t i = 0; i < count; i++)
        out[i] = column[vector[i]];
}

/* Applies new answers to the penalties. */
static void apply(rfc_weighted *f)
{
    for (; f->applied < f->asked; f->applied++) {
        rfc_evidence e = f->evidence[f->applied];
        const uint8_t *column = rfc_training_column(f->training, e.feature);
        if (f->is_listed) {
            gather(column, f->vector, f->count, f->gathered);
            column = f->gathered;
        }
        f->base = f->kernel->update(column, f->count, e, f->base, f->penalty);
    }
}

/* ---- Vectors in play ---- */

static void start(rfc_weighted *f)
{
    const rfc_training *t = f->training;
    f->node = f->tree ? f->tree->node : NULL;
    f->is_listed = 0;
    f->count = t->count;
    f->segments = t->segments;
    memcpy(f->segment, t->segment, t->segments * sizeof f->segment[0]);
    memset(f->penalty, 0, f->count * sizeof *f->penalty);
    f->base = 0;
    f->asked = f->applied = 0;
    f->temper = f->rules.sharpest * RFC_TEMPER_ONE;
}

static void narrow(rfc_weighted *f)
{
    uint32_t kept = 0, segments = 0;
    for (uint32_t s = 0; s < f->segments; s++) {
        const rfc_segment g = f->segment[s];
        const uint32_t begin = kept;
        kept = f->kernel->keep(f->penalty, g.begin, g.begin + g.count, f->base, DROPPED, f->is_listed, f->vector, kept);
        if (kept > begin)
            f->segment[segments++] = (rfc_segment){begin, kept - begin, g.kind};
    }
    f->is_listed = 1;
    f->count = kept;
    f->segments = segments;
}

/* ---- Choosing a query ---- */

/* Is the next question the last of a budget that does not allow all? */
static int is_last(const rfc_weighted *f)
{
    return f->asked + 1 == f->rules.budget && f->rules.budget < f->training->laid;
}

/* Computes the belief in each kind from the weights; fills in the posterior unless null. Returns the class to decide
   for. */
static uint32_t set_belief(rfc_weighted *f, float *posterior)
{
    const rfc_rules *r = &f->rules;
    const rfc_training *t = f->training;
    double all = 0, weighted = 0, of_class[RFC_LABELS_MAX] = {0};
    uint32_t decided = 0;
    for (uint32_t k = 0; k < t->kinds; k++) {
        const uint32_t c = t->class_of[k];
        f->belief[k] = (double)f->kind_weight[k] * (r->prior ? r->prior[c] : 1);
        all += f->belief[k];
        of_class[c] += f->belief[k];
    }
    for (uint32_t c = 0; c < t->classes; c++) {
        const double weight = r->weight ? r->weight[c] : 1;
        if (posterior)
            posterior[c] = (float)(of_class[c] / all);
        of_class[c] *= weight;
        weighted += of_class[c];
        decided = of_class[c] > of_class[decided] ? c : decided;
    }
    for (uint32_t k = 0; k < t->kinds; k++)
        f->belief[k] = f->belief[k] * (r->weight ? r->weight[t->class_of[k]] : 1) / weighted;
    return decided;
}

/* Number of draws of a kind: an equal share for every kind that is not ruled out, so that it is represented by more
   than a few vectors, and the rest in proportion to its weight. */
static uint32_t draws_of(const rfc_weighted *f, uint32_t kind)
{
    const rfc_training *t = f->training;
    uint32_t open = 0, classes = 0;
    double ruled_out = RULED_OUT / t->kinds;
    for (int round = 0; round < 2 && classes < 2; round++) {
        ruled_out =
            (round ? fmin(f->rules.stop, RULED_OUT) : RULED_OUT) / t->kinds; /* lower if only one class is left */
        open = classes = 0;
        for (uint32_t k = 0, last = RFC_LABELS_MAX; k < t->kinds; k++)
            if (f->belief[k] > ruled_out && f->kind_weight[k] > 0) {
                open++;
                classes += t->class_of[k] != last;
                last = t->class_of[k];
            }
    }
    if (f->belief[kind] <= ruled_out || f->kind_weight[kind] == 0)
        return 0;
    uint32_t equal = DRAWS / (EQUAL * open), rest = DRAWS - equal * open;
    return equal + (uint32_t)(rest * f->belief[kind]);
}

/* Systematic sampling of a kind: points at equal distances on the cumulative weights of its vectors. */
static void draw_kind(rfc_weighted *f, uint32_t kind, uint32_t points)
{
    const uint64_t apart = f->kind_weight[kind] / points;
    uint64_t done = 0, next = apart / 2;
    const uint32_t *block = f->block;
    uint32_t k = 0;
    const rfc_segment *segment = f->is_partial ? f->part : f->segment;
    for (uint32_t s = 0; s < (f->is_partial ? f->parts : f->segments) && k < points; s++) {
        const rfc_segment *g = &segment[s];
        if (g->kind != kind)
            block += (g->count + RFC_BLOCK - 1) / RFC_BLOCK;
        for (uint32_t begin = g->begin; g->kind == kind && begin < g->begin + g->count; begin += RFC_BLOCK) {
            uint64_t after = done + *block++, reached = done;
            for (uint32_t i = begin; next < after && k < points; i++) {
                uint32_t times = 0;
                reached += f->weight[i];
                for (; next < reached && k < points; times++, k++)
                    next += apart;
                if (times > 0)
                    f->draws[f->drawn++] = (draw){f->is_listed ? f->vector[i] : i, times, kind};
            }
            done = after;
        }
    }
}

/* Draws `draws` vectors by weight; 0: as many as draws_of() says. */
static void draw_vectors(rfc_weighted *f, uint32_t draws)
{
    if (f->parts > 0 && !f->is_partial) { /* the parts suffice, even if all were weighed before */
        weigh(f, 1, f->temper);
        set_belief(f, NULL);
    }
    f->drawn = 0;
    for (uint32_t k = 0; k < f->training->kinds; k++) {
        const uint32_t points = draws ? (uint32_t)(draws * f->belief[k]) : draws_of(f, k);
        f->share[k] = points ? (float)(f->belief[k] / points) : 0;
        f->points[k] = points;
        if (points > 0)
            draw_kind(f, k, points);
    }
}

typedef void adder(const uint8_t *sketch, size_t bytes, uint16_t times, uint16_t *sum);

/* Sums over the draws of each kind by `add`, `each` sums per kind; those of kinds without draws are not set. */
static void sum_draws(rfc_weighted *f, adder *add, size_t each)
{
    const rfc_training *t = f->training;
    for (uint32_t c = 0; c < t->kinds; c++)
        if (f->points[c] > 0)
            memset(f->sums + c * each, 0, each * sizeof *f->sums);
    for (uint32_t k = 0; k < f->drawn; k++) {
        const draw *w = &f->draws[k];
        if (k + AHEAD < f->drawn)
            rfc_prefetch(rfc_training_sketch(t, w[AHEAD].vector), t->sketch);
        add(rfc_training_sketch(t, w->vector), t->sketch, (uint16_t)w->times, f->sums + w->kind * each);
    }
}

/* Sums levels, or their squares, over the draws of each kind, then over the kinds by their shares. */
static void add_up(rfc_weighted *f, adder *add, float *all)
{
    const rfc_training *t = f->training;
    size_t places = 2 * t->sketch;
    sum_draws(f, add, places);
    memset(all, 0, places * sizeof *all);
    for (uint32_t c = 0; c < t->kinds; c++) {
        const uint16_t *sum = f->sums + c * places;
        float share = f->share[c];
        for (size_t k = 0; k < places && share > 0; k++)
            all[k] += share * (float)sum[k];
    }
}

/* The end of the class whose first kind is `first`. */
static uint32_t class_end(const rfc_training *t, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < t->kinds && t->class_of[end] == t->class_of[first])
        end++;
    return end;
}

/* score += share · sum², by place */
static void add_squared(const uint16_t *restrict sum, size_t places, float share, float *restrict score)
{
    for (size_t k = 0; k < places; k++)
        score[k] += share * (float)sum[k] * (float)sum[k];
}

/* Adds the terms of one class, with kinds first .. end − 1, for score_between(). */
static void score_class(rfc_weighted *f, uint32_t first, uint32_t end)
{
    const size_t places = 2 * f->training->sketch;
    const int is_alone = end - first == 1;
    float *score = f->score, *moment = f->spare, belief = 0;
    for (uint32_t c = first; c < end; c++)
        belief += f->share[c] * (float)f->points[c];
    for (uint32_t c = first; c < end; c++)
        if (f->points[c] > 0)
            add_squared(f->sums + c * places, places, f->share[c] / (float)f->points[c] * (is_alone ? 1 : 1 - belief),
                        score);
    if (is_alone || !(belief > 0))
        return;
    memset(moment, 0, places * sizeof *moment);
    for (uint32_t c = first; c < end; c++)
        for (size_t k = 0; k < places && f->points[c] > 0; k++)
            moment[k] += f->share[c] * (float)f->sums[c * places + k];
    for (size_t k = 0; k < places; k++)
        score[k] += moment[k] * moment[k];
}

/* Variance between kinds of different classes: Σ p_k p_l (μ_k − μ_l)² over their pairs. With one kind per class it is
   Σ_c p_c μ_c² − μ². */
static void score_between(rfc_weighted *f)
{
    const rfc_training *t = f->training;
    size_t places = 2 * t->sketch;
    float *mean = f->mean, *score = f->score;
    add_up(f, f->kernel->add_levels, mean);
    memset(score, 0, places * sizeof *score);
    for (uint32_t first = 0, end; first < t->kinds; first = end) {
        end = class_end(t, first);
        score_class(f, first, end);
    }
    for (size_t k = 0; k < places; k++)
        score[k] -= mean[k] * mean[k];
}

static void score_variance(rfc_weighted *f)
{
    add_up(f, f->kernel->add_levels, f->mean);
    add_up(f, f->kernel->add_level_squares, f->score);
    for (size_t k = 0; k < 2 * f->training->sketch; k++)
        f->score[k] -= f->mean[k] * f->mean[k];
}

static uint32_t level(const rfc_training *t, uint32_t vector, uint32_t place)
{
    const uint8_t *sketch = rfc_training_sketch(t, vector);
    return place < t->sketch ? sketch[place] & 15 : sketch[place - t->sketch] >> 4;
}

/* Mutual information of a feature's level and the class over the draws, in nats; *chance ← its expectation by chance. */
static double information(const rfc_weighted *f, uint32_t place, double *chance)
{
    const rfc_training *t = f->training;
    double both[RFC_LABELS_MAX][LEVELS], some[LEVELS] = {0}, class[RFC_LABELS_MAX] = {0}, sum = 0;
    uint32_t levels = 0, classes = 0, draws = 0;
    memset(both, 0, t->classes * sizeof both[0]);
    for (uint32_t k = 0; k < f->drawn; k++) {
        const draw *w = &f->draws[k];
        const uint32_t l = level(t, w->vector, place);
        const double share = (double)f->share[w->kind] * w->times;
        both[t->class_of[w->kind]][l] += share;
        some[l] += share;
        class[t->class_of[w->kind]] += share;
        draws += w->times;
    }
    for (uint32_t c = 0; c < t->classes; c++) {
        classes += class[c] > 0;
        for (uint32_t l = 0; l < LEVELS; l++)
            if (both[c][l] > 0)
                sum += both[c][l] * log(both[c][l] / (some[l] * class[c]));
    }
    for (uint32_t l = 0; l < LEVELS; l++)
        levels += some[l] > 0;
    *chance = levels > 0 && classes > 0 ? (levels - 1.0) * (classes - 1.0) / (2.0 * draws) : 0;
    return sum;
}

static void score_mutual(rfc_weighted *f)
{
    double chance;
    for (uint32_t place = 0; place < f->training->laid; place++)
        if (f->may_ask[f->training->feature[place]])
            f->score[place] = (float)information(f, place, &chance);
}

static int is_category(const rfc_training *t, uint32_t place)
{
    return t->is_category && t->is_category[t->feature[place]];
}

typedef struct spread {
    float between, variance;
} spread;

/* Variances of a category's indicators (one per value) over the draws: between classes, and total. */
static spread spread_of_category(const rfc_weighted *f, uint32_t place)
{
    const rfc_training *t = f->training;
    const uint8_t *column = t->columns + place * t->stride;
    spread sum = {0, 0};
    memset(f->values, 0, (size_t)t->kinds * RFC_CATEGORIES_MAX * sizeof *f->values);
    for (uint32_t k = 0; k < f->drawn; k++) /* codes are at least two apart */
        f->values[f->draws[k].kind * RFC_CATEGORIES_MAX + column[f->draws[k].vector] / 2] += (float)f->draws[k].times;
    for (uint32_t v = 0; v < RFC_CATEGORIES_MAX; v++) {
        float mean = 0, squares = 0;
        for (uint32_t first = 0, end; first < t->kinds; first = end) { /* as in score_between() */
            float all = 0, part = 0, part_squares = 0;
            end = class_end(t, first);
            for (uint32_t c = first; c < end; c++)
                if (f->points[c] > 0) {
                    const float share = f->values[c * RFC_CATEGORIES_MAX + v] / (float)f->points[c],
                                belief = f->share[c] * (float)f->points[c];
                    all += belief;
                    part += belief * share;
                    part_squares += belief * share * share;
                }
            mean += part;
            squares += end - first > 1 ? (1 - all) * part_squares + part * part : part_squares;
        }
        sum.between += squares - mean * mean;
        sum.variance += mean - mean * mean;
    }
    return sum;
}

static float ratio_of_category(const rfc_weighted *f, uint32_t place)
{
    const double largest = f->training->largest_deviation / 255;
    const spread s = spread_of_category(f, place);
    return s.between / (s.variance + (float)(STEADY * largest * largest));
}

/* Variance between classes divided by the feature's variance plus a share of the largest: of two equally informative
   features, the one that varies less is asked. For categories, the sum over all indicators. */
static void score_ratio(rfc_weighted *f)
{
    const rfc_training *t = f->training;
    const double steady = STEADY * t->largest_deviation * t->largest_deviation;
    score_between(f);
    memcpy(f->spare, f->score, t->laid * sizeof *f->spare);
    add_up(f, f->kernel->add_level_squares, f->score);
    for (uint32_t k = 0; k < t->laid; k++) {
        float variance = f->score[k] - f->mean[k] * f->mean[k], unit = t->step[k] * t->step[k];
        f->score[k] = !is_category(t, k)          ? f->spare[k] / (variance + (float)steady / unit)
                      : f->may_ask[t->feature[k]] ? ratio_of_category(f, k)
                                                  : 0;
    }
}

/* The cost of a query now. One feature of a group pays for all of them. */
static float cost_of(const rfc_weighted *f, uint32_t feature)
{
    const uint32_t group = f->rules.group ? f->rules.group[feature] : 0;
    return group > 0 && f->paid[group] ? 0 : f->rules.cost ? f->rules.cost[feature] : 1;
}

/* How many more draws are classified correctly if each third of a feature's levels decides for its class. */
static void score_last(rfc_weighted *f)
{
    const rfc_training *t = f->training;
    const size_t places = 2 * t->sketch, flags = 2 * places;
    uint32_t without = 0;
    draw_vectors(f, LAST_DRAWS);
    sum_draws(f, f->kernel->add_thirds, flags);
    for (uint32_t first = 0, end; first < t->kinds; first = end) {
        uint32_t of_class = 0;
        end = class_end(t, first);
        for (uint32_t c = first; c < end; c++)
            of_class += f->points[c];
        without = of_class > without ? of_class : without;
    }
    for (uint32_t k = 0; k < t->laid; k++) {
        uint32_t most[3] = {0, 0, 0};
        for (uint32_t first = 0, end; first < t->kinds; first = end) {
            uint32_t n[3] = {0, 0, 0};
            end = class_end(t, first);
            for (uint32_t c = first; c < end; c++)
                if (f->points[c] > 0) {
                    const uint32_t above = f->sums[c * flags + k], top = f->sums[c * flags + places + k];
                    n[0] += f->points[c] - above;
                    n[1] += above - top;
                    n[2] += top;
                }
            for (int a = 0; a < 3; a++)
                most[a] = n[a] > most[a] ? n[a] : most[a];
        }
        f->score[k] = (float)(most[0] + most[1] + most[2] - without);
    }
}

/* The feature with the largest score per cost that may still be asked; t->features if none is informative. */
static uint32_t best(const rfc_weighted *f, double cost_left, int is_squared)
{
    const rfc_training *t = f->training;
    uint32_t found = t->features;
    float max = 0;
    for (uint32_t k = 0; k < t->laid; k++) {
        uint32_t j = t->feature[k];
        float cost = cost_of(f, j), score = f->score[k] * (is_squared ? t->step[k] * t->step[k] : 1);
        if (!f->may_ask[j] || score < 1e-6f || (double)cost > cost_left)
            continue;
        score /= cost > FREE ? cost : FREE;
        if (score > max) {
            max = score;
            found = j;
        }
    }
    return found;
}

/* The feature to ask for; t->features if there is none. */
static uint32_t choose(rfc_weighted *f, double cost_left)
{
    static void (*const score_by[])(rfc_weighted *) = {score_between, score_variance, score_mutual, score_ratio};
    uint32_t found = f->training->features;
    if (is_last(f) && (f->rules.gain == RFC_BETWEEN || f->rules.gain == RFC_RATIO)) {
        score_last(f);
        found = best(f, cost_left, 0);
    }
    if (found < f->training->features)
        return found;
    draw_vectors(f, 0);
    score_by[f->rules.gain](f);
    return best(f, cost_left, f->rules.gain == RFC_BETWEEN || f->rules.gain == RFC_VARIANCE);
}

rfc_evidence rfc_evidence_make(const rfc_training *t, const rfc_rules *rules, uint32_t feature, double variance)
{
    double least = rules->floor * t->largest_deviation;
    double factor = RFC_BIT * 1.4426950408889634 / (2 * fmax(fmax(variance, least * least), 1)) * 65536;
    rfc_evidence e = {.feature = feature, .most = RFC_ONCE_MAX};
    if (t->is_category && t->is_category[feature]) /* codes of different categories are at least two apart */
        return (rfc_evidence){.feature = feature, .shift = 9, .factor = UINT16_MAX, .most = CATEGORY};
    while (factor > 65535) {
        factor /= 2;
        e.shift++;
    }
    e.factor = (uint16_t)factor;
    return e;
}

/* A query without its value: σ is the feature's standard deviation over the draws, with a floor. */
static rfc_evidence evidence_of(const rfc_weighted *f, uint32_t feature)
{
    const uint8_t *column = rfc_training_column(f->training, feature);
    double sum = 0, squares = 0, all = 0;
    for (uint32_t k = 0; k < f->drawn; k++) {
        const draw *w = &f->draws[k];
        double x = column[w->vector], share = (double)(f->share[w->kind] * (float)w->times);
        all += share;
        sum += share * x;
        squares += share * x * x;
    }
    return rfc_evidence_make(f->training, &f->rules, feature, squares / all - sum / all * (sum / all));
}

/* ---- One object ---- */

/* Solves a · x = b in place: n equations, `sides` right-hand sides; a is positive definite. */
static void solve(double a[][RFC_REGRESSED + 1], double b[][RFC_LABELS_MAX], uint32_t n, uint32_t sides)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++) {
            const double factor = a[j][i] / a[i][i];
            for (uint32_t k = i; k < n; k++)
                a[j][k] -= factor * a[i][k];
            for (uint32_t c = 0; c < sides; c++)
                b[j][c] -= factor * b[i][c];
        }
    for (uint32_t i = n; i-- > 0;)
        for (uint32_t c = 0; c < sides; c++) {
            for (uint32_t k = i + 1; k < n; k++)
                b[i][c] -= a[i][k] * b[k][c];
            b[i][c] /= a[i][i];
        }
}

/* With few answers many vectors remain, often mostly on one side of the object. So classes are regressed on the asked
   features, with the weights, and evaluated at the object. Replaces the weights of the kinds. */
static void regress(rfc_weighted *f)
{
    const rfc_training *t = f->training;
    const uint32_t n = f->asked + 1;
    double(*a)[RFC_REGRESSED + 1] = f->normal, (*b)[RFC_LABELS_MAX] = f->sides;
    double x[RFC_REGRESSED + 1] = {1}, all = 0;
    weigh(f, 0, fmax(f->temper * WIDER, RFC_TEMPER_ONE));
    memset(f->normal, 0, sizeof f->normal);
    memset(f->sides, 0, sizeof f->sides);
    for (uint32_t s = 0; s < f->segments; s++)
        for (uint32_t i = f->segment[s].begin; i < f->segment[s].begin + f->segment[s].count; i++) {
            const double w = f->weight[i];
            if (w < RFC_WEIGHT_ONE / 1024)
                continue;
            const uint32_t vector = f->is_listed ? f->vector[i] : i;
            for (uint32_t k = 1; k < n; k++) {
                const rfc_evidence *e = &f->evidence[k - 1];
                x[k] = (rfc_training_column(t, e->feature)[vector] - e->value) / 128.0;
            }
            for (uint32_t k = 0; k < n; k++) {
                for (uint32_t l = 0; l <= k; l++)
                    a[k][l] += w * x[k] * x[l];
                b[k][f->segment[s].kind] += w * x[k];
            }
        }
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t l = k + 1; l < n; l++)
            a[k][l] = a[l][k];
    for (uint32_t k = 1; k < n; k++)
        a[k][k] += RIDGE * a[0][0];
    solve(a, b, n, t->kinds);
    for (uint32_t c = 0; c < t->kinds; c++) {
        b[0][c] = fmax(b[0][c], 1e-3);
        all += b[0][c];
    }
    for (uint32_t c = 0; c < t->kinds; c++)
        f->kind_weight[c] = (uint64_t)(b[0][c] / all * (1 << 30));
    f->total = 1 << 30;
}

/* Is this the last answer of a small budget, with enough vectors for a regression? */
static int is_regressed(const rfc_weighted *f)
{
    return f->asked > 0 && f->asked <= RFC_REGRESSED && f->asked >= f->rules.budget && f->asked < f->training->laid &&
           !f->training->is_ranked && f->sample >= FOR_EACH * (f->asked + 1);
}

/* Fills in posterior and decision. Returns whether the object is decided. */
static int decide(rfc_weighted *f, rfc_answer *a)
{
    const rfc_rules *r = &f->rules;
    if (is_regressed(f))
        regress(f);
    f->rest = 0;
    a->decided = set_belief(f, a->posterior);
    for (uint32_t k = 0; k < f->training->kinds; k++)
        f->rest += f->training->class_of[k] == a->decided ? 0 : f->belief[k];
    return f->rest <= r->stop || f->asked >= r->budget;
}

/* Weighs the vectors in play, drops those that are negligible from now on, and decides. */
static int believe(rfc_weighted *f, rfc_answer *a)
{
    apply(f);
    if (!f->is_listed && f->without < f->count)
        f->penalty[f->without] = UINT16_MAX;
    /* in the tree the result must not depend on whether this was computed before */
    if (f->node)
        f->temper = f->rules.sharpest * RFC_TEMPER_ONE;
    else if (f->kernel->within(f->penalty, f->count, f->base, DROPPED) < f->count / 4 * (f->is_listed ? 3 : 2))
        narrow(f);
    temper(f, f->asked < f->rules.budget && !f->is_exact);
    const int is_decided = decide(f, a);
    if (!f->is_partial || !(is_decided || (a->story && f->rest < TOLD_EXACTLY)))
        return is_decided;
    weigh(f, 0, f->temper); /* decide by all vectors */
    return decide(f, a);
}

static void begin(rfc_weighted *f, const rfc_object *object)
{
    f->without = object->without ? object->without - 1 : f->training->count;
    start(f);
    for (uint32_t j = 0; j < f->training->features; j++) {
        f->may_ask[j] = !(object->missing && object->missing[j]) && !(f->rules.mask && !f->rules.mask[j]);
        f->paid[j + 1] = 0;
    }
    f->lacks = 0;
    for (uint32_t k = 0; object->missing && k < f->training->laid && !f->lacks; k++)
        f->lacks = object->missing[f->training->feature[k]];
}

static void tell_story(const rfc_weighted *f, rfc_answer *a)
{
    if (f->asked > 0 && a->story)
        memcpy(a->story + (size_t)(f->asked - 1) * f->training->classes, a->posterior,
               f->training->classes * sizeof *a->posterior);
}

/* The tree's next query; past the tree its feature is t->features. */
static rfc_evidence tree_query(rfc_weighted *f, const rfc_answer *a)
{
    const rfc_evidence none = {.feature = f->training->features};
    if (!f->node || f->node == &past || f->asked >= f->rules.budget || is_last(f))
        return none;
    const rfc_evidence e = f->node->next;
    return f->may_ask[e.feature] && (double)cost_of(f, e.feature) <= f->rules.max_cost - a->cost ? e : none;
}

/* The next query, without its value; its feature is t->features if there is none. */
static rfc_evidence next_query(rfc_weighted *f, rfc_answer *a)
{
    const rfc_evidence none = {.feature = f->training->features}, planned = tree_query(f, a);
    const int is_planned = planned.feature < none.feature;
    if (is_planned && !a->story && !f->is_exact && (double)f->node->rest > NEARLY * f->rules.stop)
        return planned;
    const int decided = believe(f, a);
    if (!is_planned)
        f->node = NULL;
    const uint32_t feature = decided      ? none.feature
                             : is_planned ? planned.feature
                                          : choose(f, f->rules.max_cost - a->cost);
    if (feature == none.feature) /* probabilities are calibrated for where the object ends */
        rfc_calibrate(!decided && f->lacks && f->asked < f->rules.budget ? f->rules.early : f->rules.calibration,
                      f->training->classes, f->asked, a);
    tell_story(f, a);
    return feature == none.feature ? none : is_planned ? planned : evidence_of(f, feature);
}

/* Takes the answer to a query. */
static void take(rfc_weighted *f, rfc_evidence e, uint8_t value, rfc_answer *a)
{
    e.value = value;
    a->asked[f->asked] = e.feature;
    a->cost += (double)cost_of(f, e.feature);
    f->may_ask[e.feature] = 0;
    if (f->rules.group)
        f->paid[f->rules.group[e.feature]] = 1;
    if (f->node) {
        const uint32_t child = e.feature == f->node->next.feature ? f->node->child[rfc_tree_branch(value)] : 0;
        f->node = child ? f->tree->node + child : &past;
    }
    f->evidence[f->asked++] = e;
}

void rfc_weighted_classify(rfc_weighted *f, const rfc_object *object, rfc_answer *a)
{
    begin(f, object);
    a->cost = 0;
    for (;;) {
        rfc_evidence e = next_query(f, a);
        if (e.feature == f->training->features)
            break;
        take(f, e, object->value[e.feature], a);
    }
    a->queries = f->asked;
}

/* ---- Advice ---- */

/* A query without its value, for a feature that was not asked for. */
static rfc_evidence unasked(rfc_weighted *f, uint32_t feature, rfc_answer *a)
{
    believe(f, a);
    f->node = NULL;
    draw_vectors(f, 0);
    return evidence_of(f, feature);
}

/* Is there a feature left that only the budget or the most cost forbids? */
static int is_spent(const rfc_weighted *f, const rfc_answer *a)
{
    const rfc_training *t = f->training;
    for (uint32_t k = 0; k < t->laid; k++)
        if (f->may_ask[t->feature[k]] && (f->asked >= f->rules.budget || (double)cost_of(f, t->feature[k]) >
                                                                             f->rules.max_cost - a->cost))
            return 1;
    return 0;
}

void rfc_weighted_advise(rfc_weighted *f, const rfc_told told[], uint32_t count, rfc_answer *a, rfc_advice *advice)
{
    const rfc_training *t = f->training;
    const rfc_object nobody = {NULL, NULL, 0, 0};
    f->is_exact = 1;
    begin(f, &nobody);
    a->cost = 0;
    for (uint32_t i = 0; i < count; i++)
        if (told[i].is_unknown) {
            f->may_ask[told[i].feature] = 0;
            f->lacks |= t->place[told[i].feature] < t->laid;
        } else if (t->place[told[i].feature] < t->laid) {
            rfc_evidence e = next_query(f, a);
            if (e.feature != told[i].feature)
                e = unasked(f, told[i].feature, a);
            take(f, e, told[i].value, a);
        }
    const rfc_evidence next = next_query(f, a);
    *advice = (rfc_advice){.feature = RFC_NO_LABEL,
                           .decided = a->decided,
                           .queries = f->asked,
                           .spent = a->cost,
                           .is_sure = f->rest <= f->rules.stop,
                           .posterior = a->posterior};
    if (next.feature < t->features) {
        advice->feature = next.feature;
        advice->cost = (double)cost_of(f, next.feature);
        double chance;
        draw_vectors(f, 0);
        const double nats = information(f, t->place[next.feature], &chance);
        advice->gain = fmax(nats - chance, 0) * 1.4426950408889634;
    } else {
        advice->is_spent = !advice->is_sure && is_spent(f, a);
    }
    f->is_exact = 0;
}

/* ---- Relevant features ---- */

/* The mean of what one call of add_excess() adds for an uninformative feature: the number of kinds of other classes
   beside a vector's own. */
static double by_chance(const rfc_training *t)
{
    double sum = 0;
    for (uint32_t first = 0, end; first < t->kinds; first = end) {
        const uint32_t c = t->class_of[first];
        end = class_end(t, first);
        sum += (t->class_begin[c + 1] - t->class_begin[c]) * (double)(t->kinds - (end - first));
    }
    return t->kinds == t->classes ? t->classes - 1.0 : sum / t->count;
}

/* Adds, for each feature, sample · between-class variance / variance: for an uninformative feature χ² with classes − 1
   degrees of freedom, whose mean is that number. */
static void add_excess(rfc_weighted *f, double *excess)
{
    const rfc_training *t = f->training;
    double sample = fmin(f->sample, DRAWS);
    float *between = f->spare;
    memcpy(between, f->score, t->laid * sizeof *between);
    score_variance(f);
    for (uint32_t k = 0; k < t->laid; k++) {
        const spread s = is_category(t, k) ? spread_of_category(f, k) : (spread){between[k], f->score[k]};
        if (s.variance > 0)
            excess[t->feature[k]] += sample * (double)s.between / (double)s.variance;
    }
}

/* Classifies a training vector; before each query, measures how informative every feature is in the neighbourhood
   reached. All vectors have the same first query, so only the first vector measures there. Returns the number of
   measurements. */
static uint32_t probe(rfc_weighted *f, uint32_t vector, int first, double *excess)
{
    float posterior[RFC_LABELS_MAX];
    uint32_t asked[PROBE_QUERIES];
    rfc_answer answer = {.posterior = posterior, .asked = asked};
    rfc_object object = {rfc_training_row(f->training, vector), NULL, 0, 0};
    uint32_t looks = 0;
    begin(f, &object);
    for (uint32_t k = 0; k < PROBE_QUERIES; k++) {
        rfc_evidence e = next_query(f, &answer);
        if (e.feature == f->training->features)
            break;
        if (k > 0 || first) {
            if (f->rules.gain != RFC_BETWEEN)
                score_between(f);
            add_excess(f, excess);
            looks++;
        }
        take(f, e, object.value[e.feature], &answer);
    }
    return looks;
}

int rfc_weighted_relevant(const rfc_training *t, const rfc_rules *rules, uint8_t *relevant)
{
    const double chance = by_chance(t);
    uint32_t looks = 0, matter = 0, probes = t->pilot < PROBES ? t->pilot : PROBES;
    rfc_training pilot;
    double *excess = calloc(t->features, sizeof *excess);
    rfc_weighted *f = rfc_training_lay(t, 1, rules->mask, &pilot) < 0 ? NULL : rfc_weighted_open(&pilot, rules, NULL);
    int status = excess && f ? 0 : -1;
    for (uint32_t i = 0; i < probes && status == 0; i++)
        looks += probe(f, (uint32_t)((uint64_t)t->pilot * i / probes), i == 0, excess);
    for (int all = 0; all < 2 && matter == 0 && status == 0; all++) /* without relevant features all may be asked */
        for (uint32_t j = 0; j < t->features; j++) {
            relevant[j] =
                !(rules->mask && !rules->mask[j]) && (all || excess[j] > BEYOND_CHANCE * chance * looks);
            matter += relevant[j];
        }
    rfc_weighted_close(f);
    rfc_training_unlay(&pilot);
    free(excess);
    return status;
}
