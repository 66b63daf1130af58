/* A weight for every training vector. Evidence lowers weights; the feature that best separates the classes
   under the weights is asked next. While a pilot sample says enough, it alone chooses, from coarse answers: a
   tree of questions that grows as paths are taken and is remembered. Then all vectors take all exact answers,
   and those whose weight is not negligible go on. */
#include "weighted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

enum {
    DRAWS = 256,        /* vectors that stand for the cloud when a query is chosen */
    PILOT_SAMPLE = 64,  /* effective sample size of the pilot below which it does not say enough */
    EQUAL = 2,          /* one of so many draws goes to the classes in equal parts */
    TILE = 4096,        /* vectors that take all evidence before the next ones do */
    DROPPED = 10343,    /* a penalty of 18 nats: vectors this far behind are dropped */
    MEMORIES = 1 << 16, /* paths of answers that can be remembered */
    LEVELS = 16,        /* of an answer on such a path, and of sketches */
    NO_TEMPER = 65535,  /* as good as 1 */
    SEARCHES = 8,       /* for a temper, at most */
    PROBES = 128,
    PROBE_QUERIES = 10 /* training vectors, and queries of each, that tell which features matter */
};
#define ROOMY 0.15 /* logarithm of how much larger than wanted an effective sample may be */
#define BEYOND_CHANCE 1.5 /* what a feature that matters has at least, in units of what chance gives */

/* What the pilot asked next after a path of answers. */
typedef struct memory {
    uint64_t path; /* a hash of it; 0: nothing is remembered */
    rf_evidence next;
} memory;

typedef struct draw {
    uint32_t vector, times, class;
} draw;

struct rf_weighted {
    const rf_training *training;
    rf_rules rules;
    const rf_cloud_kernel *kernel;
    /* the vectors in play: all, the pilot, or those listed in `vector` */
    uint32_t count, segments;
    rf_segment segment[2 * RF_LABELS_MAX];
    int is_pilot, is_listed;
    uint32_t *vector;
    uint16_t *penalty, base;
    uint32_t *weight, *block;
    uint8_t *gathered;
    /* their weights */
    uint64_t class_weight[RF_LABELS_MAX];
    double temper, total, sample; /* sum of weights, effective sample size */
    /* this object's queries */
    uint8_t *may_ask;
    rf_evidence *evidence;
    uint32_t asked, applied; /* queries; those that penalties know of */
    memory *memories;
    /* choosing */
    draw draws[DRAWS];
    uint32_t drawn, points[RF_LABELS_MAX]; /* vectors drawn; draws by class, */
    float share[RF_LABELS_MAX];            /* and how much of the belief one of them stands for */
    uint16_t *sums;                        /* by class and place */
    float *mean, *score, *spare;           /* by place, in levels */
};

void rf_weighted_close(rf_weighted *f)
{
    if (!f)
        return;
    free(f->vector);
    free(f->penalty);
    free(f->weight);
    free(f->block);
    free(f->gathered);
    free(f->may_ask);
    free(f->evidence);
    free(f->sums);
    free(f->mean);
    free(f->score);
    free(f->spare);
    free(f->memories);
    free(f);
}

rf_weighted *rf_weighted_open(const rf_training *t, const rf_rules *rules)
{
    size_t n = t->count, d = t->features, places = 2 * t->sketch;
    rf_weighted *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->training = t;
    f->rules = *rules;
    f->kernel = rf_cloud_kernels();
    f->vector = malloc(n * sizeof *f->vector);
    f->penalty = malloc(n * sizeof *f->penalty);
    f->weight = malloc(n * sizeof *f->weight);
    f->block = malloc((n / RF_BLOCK + t->segments + 1) * sizeof *f->block);
    f->gathered = malloc(n);
    f->may_ask = malloc(d);
    f->evidence = malloc((d + 1) * sizeof *f->evidence);
    f->sums = malloc(t->classes * places * sizeof *f->sums);
    f->mean = malloc(places * sizeof *f->mean);
    f->score = malloc(places * sizeof *f->score);
    f->spare = malloc(places * sizeof *f->spare);
    f->memories = calloc(MEMORIES, sizeof *f->memories);
    if (f->vector && f->penalty && f->weight && f->block && f->gathered && f->may_ask && f->evidence && f->sums &&
        f->mean && f->score && f->spare && f->memories)
        return f;
    rf_weighted_close(f);
    return NULL;
}

/* ---- Weights ---- */

static void weigh(rf_weighted *f, uint16_t temper)
{
    uint64_t sum = 0, squares = 0;
    uint32_t *block = f->block;
    memset(f->class_weight, 0, f->training->classes * sizeof f->class_weight[0]);
    for (uint32_t s = 0; s < f->segments; s++) {
        const rf_segment *g = &f->segment[s];
        rf_weighed w = f->kernel->weigh(f->penalty + g->begin, g->count, f->base, temper, f->weight + g->begin, block);
        block += (g->count + RF_BLOCK - 1) / RF_BLOCK;
        f->class_weight[g->class] += w.sum;
        sum += w.sum;
        squares += w.squares;
    }
    f->total = (double)sum;
    f->sample = f->total * f->total / ((double)squares * (double)(1u << RF_SQUARE_SHIFT << RF_SQUARE_SHIFT));
}

/* Flattens the weights, where the effective sample would be smaller than wanted, until it is not, and hardly
   larger: its logarithm, which falls with the temper, is interpolated. The temper of the query before is near. */
static void temper(rf_weighted *f)
{
    double least = fmin(f->rules.least_sample, 0.5 * f->count), low = 0, above = log(f->count / least),
           high = NO_TEMPER + 1.0, below = 0, middle = f->temper;
    for (int i = 0;; i++) {
        weigh(f, (uint16_t)middle);
        double reached = log(f->sample / least);
        if (i == SEARCHES || (reached >= 0 && (reached < ROOMY || middle >= NO_TEMPER)))
            break;
        if (reached >= 0) {
            low = middle;
            above = reached;
        } else {
            high = middle;
            below = reached;
        }
        if (i + 1 == SEARCHES)
            middle = low; /* is enough */
        else if (below == 0)
            middle = fmin(low * (1 + above) + 1, NO_TEMPER);
        else
            middle = i % 3 == 2 ? (low + high) / 2 : low + (high - low) * (above - ROOMY / 2) / (above - below);
    }
    f->temper = middle;
}

/* An answer as the pilot takes it: one of LEVELS, so that paths of answers recur. */
static uint8_t coarse(uint8_t value) { return (uint8_t)(value / (256 / LEVELS) * 255 / (LEVELS - 1)); }

static void gather(const uint8_t *restrict column, const uint32_t *restrict vector, uint32_t count, uint8_t *restrict out)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = column[vector[i]];
}

/* Lets the penalties know of all answers. */
static void apply(rf_weighted *f)
{
    for (; f->applied < f->asked; f->applied++) {
        rf_evidence e = f->evidence[f->applied];
        e.value = f->is_pilot ? coarse(e.value) : e.value;
        const uint8_t *column = rf_training_column(f->training, e.feature);
        if (f->is_listed) {
            gather(column, f->vector, f->count, f->gathered);
            column = f->gathered;
        }
        f->base = f->kernel->update(column, f->count, e, f->base, f->penalty);
    }
}

/* ---- Which vectors are in play ---- */

static void start(rf_weighted *f)
{
    const rf_training *t = f->training;
    f->is_pilot = t->pilot < t->count;
    f->is_listed = 0;
    f->count = t->pilot;
    f->segments = t->pilot_segments;
    memcpy(f->segment, t->segment, t->segments * sizeof f->segment[0]);
    memset(f->penalty, 0, f->count * sizeof *f->penalty);
    f->base = 0;
    f->asked = f->applied = 0;
    f->temper = NO_TEMPER;
}

/* From the pilot to those of all vectors that are not dropped, with all evidence so far. The best one of all
   is no further behind than the pilot's best. */
static void widen(rf_weighted *f)
{
    const rf_training *t = f->training;
    uint16_t tile[TILE], least = UINT16_MAX;
    uint32_t kept = 0, limit = f->base + (uint32_t)DROPPED;
    f->segments = 0;
    for (uint32_t s = 0; s < t->segments; s++) {
        uint32_t first = kept, end = t->segment[s].begin + t->segment[s].count;
        for (uint32_t begin = t->segment[s].begin; begin < end; begin += TILE) {
            uint32_t length = end - begin < TILE ? end - begin : TILE;
            uint16_t low = 0;
            memset(tile, 0, length * sizeof *tile);
            for (uint32_t k = 0; k < f->asked; k++)
                low = f->kernel->update(rf_training_column(t, f->evidence[k].feature) + begin, length, f->evidence[k],
                                        0, tile);
            least = low < least ? low : least;
            for (uint32_t i = 0; i < length; i++) {
                f->vector[kept] = begin + i;
                f->penalty[kept] = tile[i];
                kept += tile[i] <= limit;
            }
        }
        if (kept > first)
            f->segment[f->segments++] = (rf_segment){first, kept - first, t->segment[s].class};
    }
    f->is_pilot = 0;
    f->is_listed = 1;
    f->count = kept;
    f->temper = NO_TEMPER;
    f->base = least;
}

/* Keeps the vectors that are not dropped. */
static void narrow(rf_weighted *f)
{
    uint32_t kept = 0, segments = 0, *vector = f->vector;
    uint16_t *penalty = f->penalty, base = f->base;
    int is_listed = f->is_listed;
    for (uint32_t s = 0; s < f->segments; s++) {
        rf_segment g = f->segment[s];
        uint32_t begin = kept;
        for (uint32_t i = g.begin; i < g.begin + g.count; i++) {
            uint16_t p = penalty[i];
            vector[kept] = is_listed ? vector[i] : i;
            penalty[kept] = p;
            kept += (uint16_t)(p - base) <= DROPPED;
        }
        if (kept > begin)
            f->segment[segments++] = (rf_segment){begin, kept - begin, g.class};
    }
    f->is_listed = 1;
    f->count = kept;
    f->segments = segments;
}

/* ---- Choosing a query ---- */

/* How many draws a class gets: a share that all get which are not yet ruled out, so that a class is known by more than
   a few of its vectors as long as it is in question, and the rest by weight. */
static uint32_t draws_of(const rf_weighted *f, uint32_t class)
{
    uint32_t classes = f->training->classes, open = 0;
    double ruled_out = f->rules.stop / classes * f->total;
    for (uint32_t c = 0; c < classes; c++)
        open += (double)f->class_weight[c] > ruled_out;
    if ((double)f->class_weight[class] <= ruled_out)
        return 0;
    uint32_t equal = DRAWS / (EQUAL * open), rest = DRAWS - equal * open;
    return equal + (uint32_t)(rest * (double)f->class_weight[class] / f->total);
}

/* Systematic draws of a class: points at equal distances over its vectors' weights laid end to end. */
static void draw_class(rf_weighted *f, uint32_t class, uint32_t points)
{
    const rf_training *t = f->training;
    uint64_t total = f->class_weight[class], done = 0, next = total / (2 * points);
    const uint32_t *block = f->block;
    uint32_t k = 0;
    for (uint32_t s = 0; s < f->segments && k < points; s++) {
        const rf_segment *g = &f->segment[s];
        if (g->class != class)
            block += (g->count + RF_BLOCK - 1) / RF_BLOCK;
        for (uint32_t begin = g->begin; g->class == class && begin < g->begin + g->count; begin += RF_BLOCK) {
            uint64_t after = done + *block++, reached = done;
            for (uint32_t i = begin; next < after && k < points; i++) {
                uint32_t times = 0;
                reached += f->weight[i];
                for (; next < reached && k < points; times++)
                    next = total * (2 * ++k + 1) / (2 * points);
                if (times > 0) {
                    uint32_t vector = f->is_listed ? f->vector[i] : i;
                    f->draws[f->drawn++] = (draw){vector, times, class};
                    rf_prefetch(rf_training_sketch(t, vector), t->sketch);
                }
            }
            done = after;
        }
    }
}

static void draw_vectors(rf_weighted *f)
{
    f->drawn = 0;
    for (uint32_t c = 0; c < f->training->classes; c++) {
        uint32_t points = draws_of(f, c);
        f->share[c] = points ? (float)((double)f->class_weight[c] / f->total / points) : 0;
        f->points[c] = points;
        if (points > 0)
            draw_class(f, c, points);
    }
}

/* Sums over the draws of each class, of the levels or of their squares, then over the classes by their shares. */
static void add_up(rf_weighted *f, void (*add)(const uint8_t *, size_t, uint16_t, uint16_t *), float *all)
{
    const rf_training *t = f->training;
    size_t places = 2 * t->sketch;
    memset(f->sums, 0, t->classes * places * sizeof *f->sums);
    memset(all, 0, places * sizeof *all);
    for (uint32_t k = 0; k < f->drawn; k++) {
        const draw *w = &f->draws[k];
        add(rf_training_sketch(t, w->vector), t->sketch, (uint16_t)w->times, f->sums + w->class * places);
    }
    for (uint32_t c = 0; c < t->classes; c++) {
        const uint16_t *sum = f->sums + c * places;
        float share = f->share[c];
        for (size_t k = 0; k < places && share > 0; k++)
            all[k] += share * (float)sum[k];
    }
}

/* Variance between classes: Σ_c p_c μ_c² − μ². */
static void score_between(rf_weighted *f)
{
    const rf_training *t = f->training;
    size_t places = 2 * t->sketch;
    float *mean = f->mean, *score = f->score;
    add_up(f, f->kernel->add_levels, mean);
    memset(score, 0, places * sizeof *score);
    for (uint32_t c = 0; c < t->classes; c++) {
        const uint16_t *sum = f->sums + c * places;
        float share = f->share[c] / (float)(f->points[c] ? f->points[c] : 1);
        for (size_t k = 0; k < places && share > 0; k++)
            score[k] += share * (float)sum[k] * (float)sum[k];
    }
    for (size_t k = 0; k < places; k++)
        score[k] -= mean[k] * mean[k];
}

static void score_variance(rf_weighted *f)
{
    add_up(f, f->kernel->add_levels, f->mean);
    add_up(f, f->kernel->add_level_squares, f->score);
    for (size_t k = 0; k < 2 * f->training->sketch; k++)
        f->score[k] -= f->mean[k] * f->mean[k];
}

static uint32_t level(const rf_training *t, uint32_t vector, uint32_t place)
{
    const uint8_t *sketch = rf_training_sketch(t, vector);
    return place < t->sketch ? sketch[place] & 15 : sketch[place - t->sketch] >> 4;
}

/* Mutual information of a feature's level and the class, in nats. */
static void score_mutual(rf_weighted *f)
{
    const rf_training *t = f->training;
    for (uint32_t place = 0; place < t->laid; place++) {
        float both[RF_LABELS_MAX][LEVELS], some[LEVELS] = {0}, class[RF_LABELS_MAX] = {0}, sum = 0;
        if (!f->may_ask[t->feature[place]])
            continue;
        memset(both, 0, t->classes * sizeof both[0]);
        for (uint32_t k = 0; k < f->drawn; k++) {
            const draw *w = &f->draws[k];
            uint32_t l = level(t, w->vector, place);
            float share = f->share[w->class] * (float)w->times;
            both[w->class][l] += share;
            some[l] += share;
            class[w->class] += share;
        }
        for (uint32_t c = 0; c < t->classes; c++)
            for (uint32_t l = 0; l < LEVELS; l++)
                if (both[c][l] > 0)
                    sum += both[c][l] * logf(both[c][l] / (some[l] * class[c]));
        f->score[place] = sum;
    }
}

/* The feature with the largest gain per cost that may still be asked; t->features when none would tell anything. */
static uint32_t choose(rf_weighted *f, double cost_left)
{
    const rf_training *t = f->training;
    uint32_t best = t->features;
    float most = 1e-6f;
    draw_vectors(f);
    (f->rules.gain == RF_BETWEEN ? score_between : f->rules.gain == RF_VARIANCE ? score_variance : score_mutual)(f);
    for (uint32_t k = 0; k < t->laid; k++) {
        uint32_t j = t->feature[k];
        float cost = f->rules.cost ? f->rules.cost[j] : 1, unit = f->rules.gain == RF_MUTUAL ? 1 : t->step[k] * t->step[k],
              score = f->score[k] * unit / cost;
        if (f->may_ask[j] && score > most && (double)cost <= cost_left) {
            most = score;
            best = j;
        }
    }
    return best;
}

/* A query: σ is the feature's standard deviation over the draws, with a floor. The value is not known yet. */
static rf_evidence evidence_of(const rf_weighted *f, uint32_t feature)
{
    const uint8_t *column = rf_training_column(f->training, feature);
    double sum = 0, squares = 0, all = 0;
    for (uint32_t k = 0; k < f->drawn; k++) {
        const draw *w = &f->draws[k];
        double x = column[w->vector], share = (double)(f->share[w->class] * (float)w->times);
        all += share;
        sum += share * x;
        squares += share * x * x;
    }
    double least = f->rules.floor * f->training->largest_deviation;
    double variance = fmax(fmax(squares / all - sum / all * (sum / all), least * least), 1);
    double factor = RF_BIT * 1.4426950408889634 / (2 * variance) * 65536;
    rf_evidence e = {feature, 0, 0, 0};
    while (factor > 65535) {
        factor /= 2;
        e.shift++;
    }
    e.factor = (uint16_t)factor;
    return e;
}

/* ---- One object ---- */

/* Fills in the posterior. Returns whether it is decided. */
static int decide(const rf_weighted *f, rf_answer *a)
{
    for (uint32_t c = 0; c < f->training->classes; c++) {
        a->posterior[c] = (float)((double)f->class_weight[c] / f->total);
        if (c == 0 || f->class_weight[c] > f->class_weight[a->class])
            a->class = c;
    }
    return f->total - (double)f->class_weight[a->class] <= f->rules.stop * f->total || f->asked >= f->rules.budget;
}

/* Weighs the vectors in play, from now on without those that can be dropped, and decides as above. */
static int believe(rf_weighted *f, rf_answer *a)
{
    apply(f);
    if (!f->is_pilot && f->kernel->within(f->penalty, f->count, f->base, DROPPED) < f->count / 4 * 3)
        narrow(f);
    temper(f);
    return decide(f, a);
}

static void begin(rf_weighted *f, const rf_object *object)
{
    start(f);
    for (uint32_t j = 0; j < f->training->features; j++)
        f->may_ask[j] = !(object->missing && object->missing[j]) && !(f->rules.mask && !f->rules.mask[j]);
}

/* The next query, as evidence that lacks the value; its feature is t->features when there is none. */
static rf_evidence next_query(rf_weighted *f, rf_answer *a)
{
    rf_evidence none = {f->training->features, 0, 0, 0};
    int decided = believe(f, a);
    if (f->is_pilot && (decided || f->sample < PILOT_SAMPLE)) {
        widen(f);
        decided = believe(f, a);
    }
    if (f->asked > 0 && a->story)
        memcpy(a->story + (size_t)(f->asked - 1) * f->training->classes, a->posterior,
               f->training->classes * sizeof *a->posterior);
    uint32_t feature = decided ? none.feature : choose(f, f->rules.most_cost - a->cost);
    return feature == none.feature ? none : evidence_of(f, feature);
}

/* The same from memory where this path of answers has been taken before. What happens on the pilot depends on
   the answers alone; where it left the pilot is not remembered. */
static rf_evidence recall_query(rf_weighted *f, rf_answer *a, uint64_t path)
{
    memory *m = &f->memories[path % MEMORIES];
    if (f->is_pilot && m->path == path && f->asked < f->rules.budget)
        return m->next;
    rf_evidence next = next_query(f, a);
    if (f->is_pilot && next.feature < f->training->features)
        *m = (memory){path, next};
    return next;
}

void rf_weighted_classify(rf_weighted *f, const rf_object *object, rf_answer *a)
{
    int remembers = !object->missing && !a->story && isinf(f->rules.most_cost);
    uint64_t path = 1;
    begin(f, object);
    a->cost = 0;
    for (;;) {
        rf_evidence e = remembers ? recall_query(f, a, path) : next_query(f, a);
        if (e.feature == f->training->features)
            break;
        e.value = object->value[e.feature];
        path = (path ^ ((uint64_t)e.feature << 8 | coarse(e.value))) * UINT64_C(0x9E3779B97F4A7C15);
        path ^= path >> 29;
        a->asked[f->asked] = e.feature;
        a->cost += f->rules.cost ? (double)f->rules.cost[e.feature] : 1;
        f->may_ask[e.feature] = 0;
        f->evidence[f->asked++] = e;
    }
    a->queries = f->asked;
}

/* ---- Features that matter ---- */

/* Adds, for each feature, how far between-class variance exceeds what chance gives: χ² with classes − 1 degrees
   of freedom, on average their number, where the feature tells nothing. */
static void add_excess(rf_weighted *f, double *excess)
{
    const rf_training *t = f->training;
    double sample = fmin(f->sample, DRAWS);
    float *between = f->spare;
    memcpy(between, f->score, t->laid * sizeof *between);
    score_variance(f);
    for (uint32_t k = 0; k < t->laid; k++)
        if (f->score[k] > 0)
            excess[t->feature[k]] += sample * (double)between[k] / (double)f->score[k];
}

/* Classifies a training vector and looks, before each query, at what every feature would tell in the
   neighbourhood reached. All vectors begin alike, so only the first one looks there. Returns how often it looked. */
static uint32_t probe(rf_weighted *f, uint32_t vector, int first, double *excess)
{
    float posterior[RF_LABELS_MAX];
    rf_answer answer = {.posterior = posterior};
    rf_object object = {rf_training_row(f->training, vector), NULL, 0};
    uint32_t looks = 0;
    begin(f, &object);
    for (uint32_t k = 0; k < PROBE_QUERIES; k++) {
        rf_evidence e = next_query(f, &answer);
        if (e.feature == f->training->features)
            break;
        if (k > 0 || first) {
            if (f->rules.gain != RF_BETWEEN)
                score_between(f);
            add_excess(f, excess);
            looks++;
        }
        e.value = object.value[e.feature];
        f->may_ask[e.feature] = 0;
        f->evidence[f->asked++] = e;
    }
    return looks;
}

int rf_weighted_relevant(const rf_training *t, const rf_rules *rules, uint8_t *relevant)
{
    uint32_t looks = 0, matter = 0, probes = t->pilot < PROBES ? t->pilot : PROBES;
    rf_training pilot;
    double *excess = calloc(t->features, sizeof *excess);
    rf_weighted *f = rf_training_lay(t, 1, rules->mask, &pilot) < 0 ? NULL : rf_weighted_open(&pilot, rules);
    int status = excess && f ? 0 : -1;
    for (uint32_t i = 0; i < probes && status == 0; i++)
        looks += probe(f, (uint32_t)((uint64_t)t->pilot * i / probes), i == 0, excess);
    for (int all = 0; all < 2 && matter == 0 && status == 0; all++) /* all may be asked when none seems to matter */
        for (uint32_t j = 0; j < t->features; j++) {
            relevant[j] =
                !(rules->mask && !rules->mask[j]) && (all || excess[j] > BEYOND_CHANCE * (t->classes - 1) * looks);
            matter += relevant[j];
        }
    rf_weighted_close(f);
    rf_training_unlay(&pilot);
    free(excess);
    return status;
}
