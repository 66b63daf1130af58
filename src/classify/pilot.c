#include "pilot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "model.h"
#include "random.h"

enum {
    CANDIDATES = 240,    /* stops tried */
    PARTS = 5,           /* parts of the objects; for each, features are chosen from the others */
    FEW = 4,             /* done if there are fewer objects than this per feature */
    AGAIN = 2000,        /* most objects classified again for a small budget */
    NEWTON = 30,         /* Newton steps of the fit of probabilities */
    EARLY_OBJECTS = 2000 /* most objects for the probabilities of objects that lack features */
};
#define LEAST_STOP 0.00005
#define MOST_STOP 0.5
#define APART 2.3          /* losses are averaged over stops within this factor */
#define PART_OF_ERROR 0.15 /* excess loss, in standard errors of the least, accepted for fewer questions */

void rfc_pilot_free(rfc_pilot *p)
{
    free(p->step);
    free(p->questions);
    free(p->loss);
    *p = (rfc_pilot){0};
}

/* ---- Running it ---- */

typedef struct run {
    rfc_model *model;
    const uint32_t *class; /* by object */
    uint32_t first;        /* index of the sweep's first object */
} run;

/* The step that the rules make of a posterior. */
static rfc_step step_of(const rfc_rules *r, const float posterior[], uint32_t classes, uint32_t truth, float cost)
{
    double all = 0, most = -1;
    uint32_t decided = 0;
    for (uint32_t c = 0; c < classes; c++) {
        const double belief = (double)posterior[c] * (r->weight ? r->weight[c] : 1);
        all += belief;
        if (belief > most) {
            most = belief;
            decided = c;
        }
    }
    return (rfc_step){(float)(1 - most / all), decided == truth ? posterior[decided] : -posterior[decided], cost};
}

static void see(void *context, uint32_t object, const rfc_answer *a)
{
    const run *r = context;
    const rfc_model *m = r->model;
    object += r->first;
    const rfc_pilot *p = &m->pilot;
    rfc_step *step = p->step + (size_t)object * p->steps;
    float cost = 0, prior[RFC_LABELS_MAX];
    for (uint32_t c = 0; c < m->laid.classes; c++)
        prior[c] = (float)((double)(m->laid.class_begin[c + 1] - m->laid.class_begin[c]) / m->laid.count *
                           (m->rules.prior ? m->rules.prior[c] : 1));
    step[0] = step_of(&m->rules, prior, m->laid.classes, r->class[object], 0);
    for (uint32_t k = 0; k < a->queries; k++) {
        cost += m->rules.cost ? m->rules.cost[a->asked[k]] : 1;
        step[k + 1] =
            step_of(&m->rules, a->story + (size_t)k * m->laid.classes, m->laid.classes, r->class[object], cost);
    }
    p->questions[object] = (uint16_t)a->queries;
}

static uint32_t kind_of(const rfc_training *t, uint32_t vector)
{
    uint32_t s = 0;
    while (vector >= t->segment[s].begin + t->segment[s].count)
        s++;
    return t->segment[s].kind;
}

static uint32_t class_of(const rfc_training *t, uint32_t vector) { return t->class_of[kind_of(t, vector)]; }

int rfc_pilot_is_wide(const rfc_training *t, const rfc_rules *rules)
{
    return !rules->keeps_all && t->height == 0 && t->count / FEW < t->features && t->count >= 2 * PARTS;
}

/* The progress of a part of the objects. */
typedef struct part {
    rfc_progress *progress;
    void *context;
    uint64_t first, all;
} part;

static int show_part(void *context, uint64_t done, uint64_t total)
{
    const part *p = context;
    (void)total;
    return p->progress ? p->progress(p->context, p->first + done, p->all) : 0;
}

/* Classifies objects first .. end − 1 of the order by a model of all other vectors. */
static int sweep_part(const run *r, const rfc_rules *rules, const rfc_table *table, const uint32_t *order,
                      const uint32_t *rows, uint32_t end, unsigned threads, part *shown, char *error, size_t size)
{
    const rfc_training *t = &r->model->laid;
    const uint32_t first = r->first, count = end - first, others = t->count - count;
    uint32_t *chosen = malloc((others + 1) * sizeof *chosen), *nobody = malloc((count + 1) * sizeof *nobody), n = 0;
    rfc_training training;
    rfc_model model;
    if (!chosen || !nobody) {
        free(chosen);
        free(nobody);
        return rf_fail(error, size, "out of memory for leave-one-out");
    }
    for (uint32_t i = 0; i < t->count; i++)
        if (i < first || i >= end)
            chosen[n++] = t->order[order[i]];
    memset(nobody, 0xff, (count + 1) * sizeof *nobody); /* plus 1 is 0: no vector is left out */
    int status = rfc_training_make(table, chosen, others, t->classes, rules->seed, &training, error, size);
    if (status == 0) {
        status = rfc_model_make(&training, rules, &model, error, size);
        if (status == 0) {
            const rfc_watch watch = {nobody, see, (void *)(uintptr_t)r};
            const rfc_objects objects = {table, rows + first, count};
            rfc_outcome outcome = {0};
            status = rfc_sweep(&model, &watch, &objects, threads, show_part, shown, &outcome, error, size);
            rfc_model_free(&model);
        }
        rfc_training_free(&training);
    }
    free(chosen);
    free(nobody);
    return status;
}

/* Classifies the objects, part by part. */
static int sweep_parts(const run *r, const rfc_rules *rules, rfc_table table, const uint32_t *order,
                       const uint32_t *rows, unsigned threads, rfc_progress *progress, void *context, char *error, size_t size)
{
    const rfc_training *t = &r->model->laid;
    const uint64_t count = r->model->pilot.objects;
    uint32_t last = 0;
    for (uint32_t v = 0; v < t->count; v++)
        last = t->order[v] > last ? t->order[v] : last;
    table.rows = last + 1;
    table.label = malloc(((size_t)last + 1) * sizeof *table.label);
    table.kind = malloc((size_t)last + 1);
    int status = table.label && table.kind ? 0 : rf_fail(error, size, "out of memory for leave-one-out");
    for (uint32_t v = 0; v < t->count && status == 0; v++) {
        table.label[t->order[v]] = class_of(t, v);
        table.kind[t->order[v]] = (uint8_t)kind_of(t, v);
    }
    for (uint32_t k = 0; k < PARTS && status == 0; k++) {
        const run one = {r->model, r->class, (uint32_t)(count * k / PARTS)};
        part shown = {progress, context, one.first, count};
        status = sweep_part(&one, rules, &table, order, rows, (uint32_t)(count * (k + 1) / PARTS), threads, &shown, error, size);
    }
    free(table.label);
    free(table.kind);
    return status;
}

int rfc_pilot_run(rfc_model *m, const rfc_rules *rules, unsigned threads, rfc_progress *progress, void *context,
                  char *error, size_t size)
{
    const rfc_training *t = &m->laid;
    const rfc_rules kept = m->rules;
    rfc_pilot *p = &m->pilot;
    const uint32_t count = t->count < m->rules.pilot ? t->count : m->rules.pilot;
    if (count == 0)
        return 0;
    uint32_t *order = malloc(t->count * sizeof *order), *rows = malloc(count * sizeof *rows),
             *class = malloc(count * sizeof *class);
    m->rules.budget = m->rules.budget < RFC_QUESTIONS ? m->rules.budget : RFC_QUESTIONS;
    m->rules.budget = m->rules.budget < t->laid ? m->rules.budget : t->laid > 0 ? t->laid : 1;
    m->rules.stop = fmin(m->rules.stop, LEAST_STOP);
    memset(m->rules.calibration, 0, sizeof m->rules.calibration);
    memset(m->rules.early, 0, sizeof m->rules.early);
    p->objects = count;
    p->steps = m->rules.budget + 1;
    p->step = calloc((size_t)p->objects * p->steps, sizeof *p->step);
    p->questions = calloc(p->objects, sizeof *p->questions);
    p->loss = malloc(p->objects * sizeof *p->loss);
    int status = order && rows && class && p->step && p->questions && p->loss
                     ? 0
                     : rf_fail(error, size, "out of memory for leave-one-out");
    if (status == 0) {
        rfc_table table = {.rows = UINT32_MAX, .features = t->features, .missing = (uint8_t *)(uintptr_t)t->missing};
        table.bytes = (uint8_t *)(uintptr_t)t->rows; /* only read */
        rfc_shuffle(m->rules.seed, UINT32_MAX, order, t->count);
        for (uint32_t i = 0; i < p->objects; i++) {
            rows[i] = t->order[order[i]];
            class[i] = class_of(t, order[i]);
            p->loss[i] = m->rules.weight ? m->rules.weight[class[i]] : 1;
        }
        run r = {m, class, 0};
        const rfc_watch watch = {order, see, &r};
        const rfc_objects objects = {&table, rows, p->objects};
        rfc_outcome outcome = {0};
        rfc_rules anew = m->rules;
        anew.mask = rules->mask;
        table.is_category = (uint8_t *)(uintptr_t)t->is_category;
        table.is_ranked = t->is_ranked;
        status = rfc_pilot_is_wide(t, rules)
                     ? sweep_parts(&r, &anew, table, order, rows, threads, progress, context, error, size)
                     : rfc_sweep(m, &watch, &objects, threads, progress, context, &outcome, error, size);
    }
    m->rules = kept;
    free(order);
    free(rows);
    free(class);
    return status;
}

/* ---- Evaluation ---- */

/* The step at which object i stops. */
static const rfc_step *step_at(const rfc_pilot *p, uint32_t i, double stop, uint32_t budget, double max_cost,
                               uint32_t *questions)
{
    const rfc_step *step = p->step + (size_t)i * p->steps;
    uint32_t k = 0;
    while (k < p->questions[i] && k < budget && (double)step[k].rest > stop && (double)step[k + 1].cost <= max_cost)
        k++;
    *questions = k;
    return step + k;
}

typedef struct judged {
    rfc_expected expected;
    double loss, uncertainty; /* mean per object, and its standard error */
    double smooth;            /* loss averaged over stops nearby */
} judged;

static judged judge(const rfc_pilot *p, const rfc_rules *r, double stop)
{
    judged j = {.expected = {.stop = stop, .budget = r->budget}};
    double losses = 0, squares = 0, n = p->objects;
    for (uint32_t i = 0; i < p->objects; i++) {
        uint32_t questions;
        const rfc_step *step = step_at(p, i, stop, r->budget, r->max_cost, &questions);
        const double loss = step->probability < 0 ? p->loss[i] : 0;
        j.expected.error += step->probability < 0;
        j.expected.questions += questions;
        j.expected.cost += (double)step->cost;
        losses += loss;
        squares += loss * loss;
    }
    j.expected.error /= n;
    j.expected.questions /= n;
    j.expected.cost /= n;
    j.loss = losses / n;
    j.uncertainty = sqrt(fmax(squares / n - j.loss * j.loss, 0) / n);
    return j;
}

/* Calls look() with the filter's state where each object stops; or, with `early`, with all states before that in which it
   was not sure, of some objects only, since each has many. */
static void look_at(const rfc_pilot *p, const rfc_rules *r, int early,
                    void (*look)(void *context, const rfc_step *step, uint32_t questions), void *context)
{
    for (uint32_t i = 0; i < p->objects; i += early ? 1 + p->objects / EARLY_OBJECTS : 1) {
        uint32_t end;
        const rfc_step *last = step_at(p, i, r->stop, r->budget, r->max_cost, &end);
        for (uint32_t k = early ? 0 : end; k <= end; k++)
            if (!early || (double)last[(ptrdiff_t)k - (ptrdiff_t)end].rest > r->stop)
                look(context, last + ((ptrdiff_t)k - (ptrdiff_t)end), k);
    }
}

typedef struct regression {
    double right, wrong, target[2]; /* targets are Platt's */
    double w[3], g[3], h[3][3];     /* coefficients; gradient and curvature there */
} regression;

static void count_right(void *context, const rfc_step *step, uint32_t questions)
{
    regression *r = context;
    (void)questions;
    *(step->probability >= 0 ? &r->right : &r->wrong) += 1;
}

static void add_slope(void *context, const rfc_step *s, uint32_t questions)
{
    regression *r = context;
    const double x[3] = {rfc_logit(fabs((double)s->probability)), log(questions + 1.0), 1},
                 q = 1 / (1 + exp(-(r->w[0] * x[0] + r->w[1] * x[1] + r->w[2])));
    for (int a = 0; a < 3; a++) {
        r->g[a] += (r->target[s->probability >= 0] - q) * x[a];
        for (int b = 0; b < 3; b++)
            r->h[a][b] += q * (1 - q) * x[a] * x[b];
    }
}

/* Logistic regression of "correct" on the log-odds and the number of questions, by Newton's method; L2 penalty 1 on the
   first two coefficients, and Platt's targets. */
static void calibrate(const rfc_pilot *p, const rfc_rules *rules, int early, double w[3])
{
    regression r = {.w = {1, 0, 0}};
    look_at(p, rules, early, count_right, &r);
    r.target[0] = 1 / (r.wrong + 2);
    r.target[1] = (r.right + 1) / (r.right + 2);
    for (int n = 0; n < NEWTON && r.right + r.wrong > 0; n++) {
        double *g = r.g, (*h)[3] = r.h;
        for (int a = 0; a < 3; a++) {
            g[a] = a < 2 ? -r.w[a] : 0;
            for (int b = 0; b < 3; b++)
                h[a][b] = a != b ? 0 : a < 2 ? 1 : 1e-6;
        }
        look_at(p, rules, early, add_slope, &r);
        for (int a = 0; a < 3; a++) /* solve h · step = g; h is positive definite */
            for (int b = a + 1; b < 3; b++) {
                const double f = h[b][a] / h[a][a];
                for (int c = a; c < 3; c++)
                    h[b][c] -= f * h[a][c];
                g[b] -= f * g[a];
            }
        double size = 0;
        for (int a = 2; a >= 0; a--) {
            for (int b = a + 1; b < 3; b++)
                g[a] -= h[a][b] * g[b];
            g[a] /= h[a][a];
            size = fmax(size, fabs(g[a]));
        }
        for (int a = 0; a < 3; a++)
            r.w[a] += g[a] * fmin(1, 2 / size);
        if (size < 1e-9)
            break;
    }
    memcpy(w, r.w, sizeof r.w);
    if (w[0] == 0)
        w[0] = 1e-12; /* zero would mean: no calibration */
}

/* The value of a vector at a place; for images the softened pixel, as in the columns. */
static uint8_t value_at(const rfc_training *t, uint32_t vector, uint32_t place)
{
    if (t->is_ranked)
        return t->columns[place * t->stride + vector];
    const uint8_t *sketch = rfc_training_sketch(t, vector);
    const uint32_t level = place < t->sketch ? sketch[place] & 15u : (uint32_t)sketch[place - t->sketch] >> 4;
    return (uint8_t)((float)t->low[place] + (float)level * t->step[place] + 0.5f);
}

/* Classifies some of the pilot's objects again with the present rules, since a small budget does not end like the same
   step of a longer run. Keeps the old pilot when out of memory. */
static void run_again(rfc_model *m)
{
    rfc_training *t = &m->laid;
    const rfc_training laid = *t;
    const rfc_rules kept = m->rules;
    const uint32_t count = m->pilot.objects < AGAIN ? m->pilot.objects : AGAIN;
    uint32_t *shuffled = malloc(t->count * sizeof *shuffled), *order = calloc(t->count, sizeof *order);
    uint8_t *rows = calloc(count, t->features);
    char error[200];
    if (shuffled && order && rows) {
        rfc_shuffle(m->rules.seed, UINT32_MAX, shuffled, t->count);
        for (uint32_t i = 0; i < count; i++) {
            order[shuffled[i]] = i;
            for (uint32_t k = 0; k < t->laid; k++)
                rows[(size_t)i * t->features + t->feature[k]] = value_at(t, shuffled[i], k);
        }
        t->rows = rows;
        t->order = order;
        t->missing = NULL;
        m->rules.pilot = count;
        m->rules.keeps_all = 1;
        m->fitted = m->pilot;
        m->pilot = (rfc_pilot){0};
        const rfc_rules rules = m->rules;
        if (rfc_pilot_run(m, &rules, 1, NULL, NULL, error, sizeof error) < 0) {
            rfc_pilot_free(&m->pilot);
            m->pilot = m->fitted;
            m->fitted = (rfc_pilot){0};
        }
        *t = laid;
        m->rules = kept;
    }
    free(shuffled);
    free(order);
    free(rows);
}

/* Makes it the budget: plans anew if it ends soon, and classifies the pilot's objects again. */
static void limit(rfc_model *m, uint32_t budget)
{
    const uint32_t before = rfc_tree_horizon(&m->laid, &m->rules);
    rfc_tree tree;
    if (budget == m->rules.budget)
        return;
    m->rules.budget = budget;
    if (m->rules.method == RFC_WEIGHTED && rfc_tree_horizon(&m->laid, &m->rules) != before &&
        rfc_tree_make(&m->laid, &m->rules, &tree) == 0) { /* on failure the previous pilot is good enough */
        rfc_tree_free(&m->tree);
        m->tree = tree;
    }
    if (m->fitted.objects > 0) {
        rfc_pilot_free(&m->pilot);
        m->pilot = m->fitted;
        m->fitted = (rfc_pilot){0};
    }
    if (m->pilot.objects > 0 && m->rules.budget <= RFC_REGRESSED && m->rules.budget + 1 < m->pilot.steps)
        run_again(m);
}

/* Averages losses over nearby stops, since with few objects the least of many is chance. Returns the least average
   among stops whose own loss is not much larger: an average may hide a step. */
static uint32_t smooth(judged *tried)
{
    uint32_t least = CANDIDATES;
    for (uint32_t i = 0; i < CANDIDATES; i++) {
        const double stop = tried[i].expected.stop;
        double sum = 0, count = 0;
        for (uint32_t k = 0; k < CANDIDATES; k++)
            if (tried[k].expected.stop < stop * APART && tried[k].expected.stop * APART > stop) {
                sum += tried[k].loss;
                count++;
            }
        tried[i].smooth = sum / count;
        if (tried[i].loss <= tried[i].smooth + tried[i].uncertainty &&
            (least == CANDIDATES || tried[i].smooth < tried[least].smooth))
            least = i;
    }
    return least;
}

/* Stop i of those that are tried. */
static double candidate(const rfc_rules *r, uint32_t i)
{
    const double low = fmin(LEAST_STOP, r->stop > 0 ? r->stop : LEAST_STOP);
    return low * pow(MOST_STOP / low, (double)i / (CANDIDATES - 1));
}

/* The smallest stop with at most `most` questions on average; the largest if there is none. */
static judged stop_within(const rfc_pilot *p, const rfc_rules *r, double most)
{
    uint32_t low = 0, high = CANDIDATES - 1;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (judge(p, r, candidate(r, middle)).expected.questions > most)
            low = middle + 1;
        else
            high = middle;
    }
    return judge(p, r, candidate(r, low));
}

/* The loss of object i. */
static double loss_of(const rfc_pilot *p, const rfc_rules *r, uint32_t i, double stop, uint32_t budget)
{
    uint32_t questions;
    return step_at(p, i, stop, budget, r->max_cost, &questions)->probability < 0 ? p->loss[i] : 0;
}

/* A mean difference of losses in standard errors. */
typedef struct difference {
    double sum, squares;
} difference;

static void add_difference(difference *d, double less)
{
    d->sum += less;
    d->squares += less * less;
}

static double errors_apart(const difference *d) { return d->squares > 0 ? d->sum / sqrt(d->squares) : 0; }

/* The budget for at most `most` questions on average: the rules' own, unless no stop has so few, or a smaller budget
   with a smaller stop loses less by more than chance. */
static uint32_t budget_within(const rfc_pilot *p, const rfc_rules *rules, double most)
{
    const uint32_t largest = rules->budget < p->steps ? rules->budget : p->steps - 1;
    const judged full = stop_within(p, rules, most);
    judged best = full;
    rfc_rules r = *rules;
    for (r.budget = most > 1 ? (uint32_t)fmin(most, largest) : 1; r.budget < largest; r.budget++) {
        const judged j = stop_within(p, &r, most);
        if (best.expected.questions > most ? j.expected.questions < best.expected.questions
                                           : j.expected.questions <= most && j.loss < best.loss)
            best = j;
    }
    difference less = {0, 0};
    for (uint32_t i = 0; i < p->objects; i++)
        add_difference(&less, loss_of(p, rules, i, full.expected.stop, rules->budget) -
                                  loss_of(p, rules, i, best.expected.stop, best.expected.budget));
    return full.expected.questions > most || errors_apart(&less) > RFC_BEYOND_CHANCE ? best.expected.budget
                                                                                    : rules->budget;
}

/* The stop for a goal; *reached ← whether it is reached. */
static judged find_stop(const rfc_pilot *p, const rfc_rules *r, rfc_goal goal, double value, int *reached)
{
    judged tried[CANDIDATES];
    *reached = 1;
    if (goal == RFC_GOAL_STOP)
        return judge(p, r, value);
    if (goal == RFC_GOAL_QUESTIONS) {
        const judged found = stop_within(p, r, value);
        *reached = found.expected.questions <= value;
        return found;
    }
    for (uint32_t i = 0; i < CANDIDATES; i++)
        tried[i] = judge(p, r, candidate(r, i));
    const judged *best = &tried[smooth(tried)];
    const judged *last = NULL;
    for (uint32_t i = 0; i < CANDIDATES; i++) {
        const int is_fine = goal == RFC_GOAL_ERROR
                                ? tried[i].expected.error <= value
                                : tried[i].smooth <= best->smooth + PART_OF_ERROR * best->uncertainty &&
                                      tried[i].loss <= best->smooth + best->uncertainty;
        last = is_fine ? &tried[i] : last;
    }
    *reached = last != NULL;
    return last ? *last : *best;
}

int rfc_model_limit(rfc_model *m, uint32_t budget, double max_cost, rfc_goal goal, double value, rfc_expected *expected)
{
    if (!m)
        return -1;
    int reached;
    const int is_as_before = !budget && goal == RFC_GOAL_STOP && !(value < m->rules.stop || value > m->rules.stop);
    m->budget = budget ? budget : m->budget;
    m->rules.max_cost = max_cost >= 0 ? max_cost : m->rules.max_cost;
    if (!is_as_before)
        limit(m, m->budget);
    if (goal == RFC_GOAL_STOP)
        m->rules.stop = value;
    *expected = (rfc_expected){.stop = m->rules.stop, .budget = m->rules.budget, .is_reached = 1};
    if (m->pilot.objects == 0)
        return goal == RFC_GOAL_STOP ? 0 : -1;
    if (goal == RFC_GOAL_QUESTIONS)
        limit(m, budget_within(&m->pilot, &m->rules, value));
    *expected = find_stop(&m->pilot, &m->rules, goal, value, &reached).expected;
    expected->is_reached = reached;
    m->rules.stop = expected->stop;
    calibrate(&m->pilot, &m->rules, 0, m->rules.calibration);
    calibrate(&m->pilot, &m->rules, 1, m->rules.early);
    return reached ? 0 : 1;
}

int rfc_model_stop(rfc_model *m, rfc_goal goal, double value, rfc_expected *expected)
{
    if (!m)
        return -1;
    return rfc_model_limit(m, 0, -1, goal, value, expected);
}

double rfc_pilot_gain(const rfc_model *model, const rfc_model *other)
{
    rfc_pilot a = model->pilot, b = other->pilot;
    difference less = {0, 0};
    int reached;
    const uint32_t n = a.objects < b.objects ? a.objects : b.objects;
    a.objects = b.objects = n;
    const double at = find_stop(&a, &model->rules, RFC_GOAL_BEST, 0, &reached).expected.stop,
                 other_at = find_stop(&b, &other->rules, RFC_GOAL_BEST, 0, &reached).expected.stop;
    for (uint32_t i = 0; i < n; i++)
        add_difference(&less, loss_of(&b, &other->rules, i, other_at, other->rules.budget) -
                                  loss_of(&a, &model->rules, i, at, model->rules.budget));
    return errors_apart(&less);
}
