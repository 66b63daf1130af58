#include "tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 1000,       /* least vectors of a node, */
    LEAST_PLANNED = 200 /* and if a budget ends soon, since no later question corrects it */
};
/* Looking ahead: */
enum {
    CANDIDATES = 80, /* candidate questions tried */
    SAMPLE = 8192,   /* with a sample of this many vectors of the node, */
    JUDGES = 2,      /* and judged by at most this multiple of it */
    FEW = 30         /* a part with fewer vectors asks no further */
};
#define UPPER 0.4 /* share of all questions, the better ones, from which candidates are taken */

/* A node to be made, of the vectors list[begin .. end − 1]. */
typedef struct branch {
    uint32_t begin, end, parent, answer, depth;
} branch;

/* A set of vectors; those of a class are consecutive. */
typedef struct some {
    uint32_t *vector, count;
} some;

typedef struct making {
    const rfc_training *t;
    const rfc_rules *rules;
    const rfc_kernel *kernel;
    size_t flags;      /* flags per vector, two per place: answer above the first part, above the second */
    uint8_t *flag;     /* by vector */
    uint8_t *class;    /* by vector */
    uint32_t *list;    /* vectors; those of a node are consecutive */
    uint32_t *room[2]; /* buffers for vectors sorted by answer; one of room_size() per question left */
    /* Counts over a set of vectors: */
    uint8_t *few;                                       /* partial sums of flags */
    uint32_t *sums;                                     /* sums of flags by class */
    float size[RFC_LABELS_MAX], weight[RFC_LABELS_MAX]; /* by class: number of vectors; weight of each */
    float *all, *part;                                  /* by answer and place, sums over classes */
    double *score;                                      /* by place */
    uint32_t *place;                                    /* places, for sorting by score */
    uint8_t *is_asked;                                  /* by place: asked on the path to this node */
} making;

static double x_log_x(double x) { return x > 0 ? x * log(x) : 0; }

static uint32_t answer_of(const rfc_training *t, uint32_t vector, uint32_t place)
{
    return rfc_tree_branch(t->columns[place * t->stride + vector]);
}

/* Size of a buffer that split() fills. */
static size_t room_size(const rfc_training *t) { return (size_t)t->count + 1; }

/* Sorts vectors by answer into `out`, which has space for one more. */
static void split(const making *m, some v, uint32_t place, uint32_t *out, some part[RFC_BRANCHES])
{
    for (uint32_t a = 0; a < RFC_BRANCHES; a++) {
        part[a] = (some){out, 0};
        for (uint32_t i = 0; i < v.count; i++) {
            out[part[a].count] = v.vector[i];
            part[a].count += answer_of(m->t, v.vector[i], place) == a;
        }
        out += part[a].count;
    }
}

/* ---- Counting ---- */

static void count(making *m, some v)
{
    memset(m->sums, 0, m->t->classes * m->flags * sizeof *m->sums);
    memset(m->size, 0, sizeof m->size);
    for (uint32_t i = 0; i < v.count;) {
        const uint8_t class = m->class[v.vector[i]];
        uint32_t *sum = m->sums + class * m->flags, n = 0;
        memset(m->few, 0, m->flags);
        for (; n < UINT8_MAX && i < v.count && m->class[v.vector[i]] == class; n++, i++)
            m->kernel->add_flags(m->flag + v.vector[i] * m->flags, m->flags, m->few);
        m->size[class] += (float)n;
        for (size_t k = 0; k < m->flags; k++)
            sum[k] += m->few[k];
    }
}

/* The class with the largest weight among the counted vectors; with a place, among those with this answer. */
static uint32_t heaviest(const making *m, uint32_t place, uint32_t answer)
{
    uint32_t found = 0;
    float most = -1;
    for (uint32_t c = 0; c < m->t->classes; c++) {
        const uint32_t *sum = m->sums + c * m->flags + place;
        const float first = place < m->t->laid ? (float)sum[0] : 0,
                    second = place < m->t->laid ? (float)sum[m->t->laid] : 0,
                    n = m->weight[c] *
                        (answer == 0 ? m->size[c] - first : answer == 1 ? first - second : second);
        if (n > most) {
            most = n;
            found = c;
        }
    }
    return found;
}

/* ---- The value of a question ---- */

/* Mutual information of answer and class, times the total weight, by place. */
static void score_information(making *m)
{
    const uint32_t laid = m->t->laid;
    double without = 0, all = 0;
    for (uint32_t c = 0; c < m->t->classes; c++) {
        without += x_log_x((double)(m->size[c] * m->weight[c]));
        all += (double)(m->size[c] * m->weight[c]);
    }
    without -= x_log_x(all);
    for (uint32_t k = 0; k < laid; k++) {
        double answer[RFC_BRANCHES] = {0}, both = 0;
        for (uint32_t c = 0; c < m->t->classes; c++) {
            const uint32_t *sum = m->sums + c * m->flags + k;
            const double first = sum[0], second = sum[laid], w = (double)m->weight[c],
                         n[RFC_BRANCHES] = {w * ((double)m->size[c] - first), w * (first - second), w * second};
            for (uint32_t a = 0; a < RFC_BRANCHES; a++) {
                both += x_log_x(n[a]);
                answer[a] += n[a];
            }
        }
        m->score[k] = both - x_log_x(answer[0]) - x_log_x(answer[1]) - x_log_x(answer[2]) - without;
    }
}

/* Adds a class to `all`, and its squared weights or the largest to `part`. */
static void add_class(making *m, uint32_t class, int is_largest)
{
    const size_t laid = m->t->laid;
    const uint32_t *restrict first = m->sums + class * m->flags, *restrict second = first + laid;
    const float size = m->size[class], w = m->weight[class];
    float *restrict part = m->part, *restrict all = m->all;
    for (size_t k = 0; k < laid; k++) {
        const float above = (float)first[k], top = (float)second[k], n0 = w * (size - above), n1 = w * (above - top),
                    n2 = w * top;
        all[k] += n0;
        all[laid + k] += n1;
        all[2 * laid + k] += n2;
        if (is_largest) {
            part[k] = part[k] > n0 ? part[k] : n0;
            part[laid + k] = part[laid + k] > n1 ? part[laid + k] : n1;
            part[2 * laid + k] = part[2 * laid + k] > n2 ? part[2 * laid + k] : n2;
        } else {
            part[k] += n0 * n0;
            part[laid + k] += n1 * n1;
            part[2 * laid + k] += n2 * n2;
        }
    }
}

/* Score by place, minus the same without the question. For the last question: the weight classified correctly if each
   answer decides for its heaviest class. For earlier ones: the same if it draws a class in proportion (Gini). */
static void score_right(making *m, int is_last)
{
    const size_t laid = m->t->laid;
    float all = 0, squares = 0, largest = 0;
    memset(m->all, 0, RFC_BRANCHES * laid * sizeof *m->all);
    memset(m->part, 0, RFC_BRANCHES * laid * sizeof *m->part);
    for (uint32_t c = 0; c < m->t->classes; c++)
        if (m->size[c] > 0) {
            const float n = m->size[c] * m->weight[c];
            if (is_last)
                add_class(m, c, 1);
            else
                add_class(m, c, 0);
            all += n;
            squares += n * n;
            largest = fmaxf(largest, n);
        }
    for (size_t k = 0; k < laid; k++) {
        double sum = 0;
        for (uint32_t a = 0; a < RFC_BRANCHES; a++) {
            const size_t at = a * laid + k;
            sum += m->all[at] > 0 ? (double)(is_last ? m->part[at] : m->part[at] / m->all[at]) : 0;
        }
        m->score[k] = sum - (double)(is_last ? largest : squares / all);
    }
}

/* The place with the largest score per cost; `laid` if none is informative. */
static uint32_t best(making *m)
{
    uint32_t found = m->t->laid;
    double most = 0;
    for (uint32_t k = 0; k < m->t->laid; k++) {
        const double cost = m->rules->cost ? fmax((double)m->rules->cost[m->t->feature[k]], 1e-9) : 1;
        m->score[k] = m->is_asked[k] ? 0 : m->score[k] / cost;
        if (m->score[k] > most) {
            most = m->score[k];
            found = k;
        }
    }
    return found;
}

/* ---- Looking ahead ---- */

static double weight_of(const making *m, some v, uint32_t class)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v.count; i++)
        n += m->class[v.vector[i]] == class;
    return n * (double)m->weight[class];
}

static double right_after(making *m, some by, some v, uint32_t place, uint32_t left);

/* The weight of `v` classified correctly after `left` more questions, chosen greedily with the vectors `by`. */
static double right_ahead(making *m, some by, some v, uint32_t left)
{
    count(m, by);
    const uint32_t decided = heaviest(m, m->t->laid, 0);
    if (by.count < FEW)
        return weight_of(m, v, decided);
    score_right(m, left == 1);
    const uint32_t place = best(m);
    if (place == m->t->laid)
        return weight_of(m, v, decided);
    if (left > 1)
        return right_after(m, by, v, place, left);
    some part[RFC_BRANCHES];
    double sum = 0;
    split(m, v, place, m->room[1] + left * room_size(m->t), part);
    for (uint32_t a = 0; a < RFC_BRANCHES; a++)
        sum += weight_of(m, part[a], heaviest(m, place, a));
    return sum;
}

/* The same if the first of them is for `place`. */
static double right_after(making *m, some by, some v, uint32_t place, uint32_t left)
{
    some part[RFC_BRANCHES], judged[RFC_BRANCHES];
    double sum = 0;
    split(m, by, place, m->room[0] + left * room_size(m->t), part);
    split(m, v, place, m->room[1] + left * room_size(m->t), judged);
    m->is_asked[place] = 1;
    for (uint32_t a = 0; a < RFC_BRANCHES; a++)
        if (judged[a].count > 0)
            sum += right_ahead(m, part[a], judged[a], left - 1);
    m->is_asked[place] = 0;
    return sum;
}

/* The weight classified correctly after a question for a place, with `left` questions left, estimated on a sample. One
   part of the vectors chooses questions, another is judged; if there are few, each half does both. */
static double judge(making *m, some v, uint32_t place, uint32_t left, uint32_t sample)
{
    const uint32_t every = v.count > 2 * sample ? v.count / sample : 2;
    some by = {m->room[0], 0}, other = {m->room[1], 0}; /* with no question left */
    for (uint32_t i = 0; i < v.count; i++)
        if (i % every == 0)
            by.vector[by.count++] = v.vector[i];
        else if (i % every <= JUDGES)
            other.vector[other.count++] = v.vector[i];
    const double right = right_after(m, by, other, place, left);
    return every > 2 ? right : right + right_after(m, other, by, place, left);
}

/* Moves the `kept` candidates of largest score to the front. */
static void sort(uint32_t *candidate, double *score, uint32_t count, uint32_t kept)
{
    for (uint32_t i = 0; i < kept && i < count; i++) {
        uint32_t most = i;
        for (uint32_t k = i + 1; k < count; k++)
            most = score[k] > score[most] ? k : most;
        const uint32_t place = candidate[i];
        const double its_score = score[i];
        candidate[i] = candidate[most], score[i] = score[most];
        candidate[most] = place, score[most] = its_score;
    }
}

/* The place that leads to the largest weight classified correctly at the end of `left` questions. Candidates are spread
   over the better places by `score`; those that do well on a small sample are tried on a larger one. */
static uint32_t look_ahead(making *m, some v, uint32_t left)
{
    const uint32_t laid = m->t->laid, better = (uint32_t)(laid * UPPER),
                   step = better > CANDIDATES ? better / CANDIDATES : 1;
    uint32_t candidates = 0, tried[CANDIDATES];
    double right[CANDIDATES];
    for (uint32_t k = 0; k < laid; k++)
        m->place[k] = k;
    sort(m->place, m->score, laid, CANDIDATES * step);
    for (uint32_t k = 0; k < laid && candidates < CANDIDATES && m->score[k] > 0; k += step)
        tried[candidates++] = m->place[k];
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < candidates; i++)
            right[i] = judge(m, v, tried[i], left, round ? SAMPLE : SAMPLE / 8);
        sort(tried, right, candidates, candidates / 4 + 1);
        candidates = candidates / 4 + 1;
    }
    return tried[0];
}

/* ---- The tree ---- */

/* The place to ask for if `left` questions are left; left = 0: no end is near. */
static uint32_t choose(making *m, some v, uint32_t left)
{
    count(m, v);
    if (left == 0)
        score_information(m);
    else
        score_right(m, 0);
    const uint32_t place = best(m);
    return left > 0 && place < m->t->laid ? look_ahead(m, v, left) : place;
}

static rfc_evidence evidence_at(const making *m, some v, uint32_t place)
{
    const uint8_t *x = m->t->columns + place * m->t->stride;
    uint64_t sum = 0, squares = 0;
    for (uint32_t i = 0; i < v.count; i++) {
        const uint32_t value = x[v.vector[i]];
        sum += value;
        squares += value * value;
    }
    const double n = v.count, mean = (double)sum / n;
    return rfc_evidence_make(m->t, m->rules, m->t->feature[place], (double)squares / n - mean * mean);
}

static rfc_node node_of(making *m, some v, uint32_t place)
{
    float all = 0;
    count(m, v);
    const uint32_t decided = heaviest(m, m->t->laid, 0);
    for (uint32_t c = 0; c < m->t->classes; c++)
        all += m->size[c] * m->weight[c];
    return (rfc_node){.next = evidence_at(m, v, place), .rest = 1 - m->size[decided] * m->weight[decided] / all};
}

static void mark_path(const making *m, const rfc_tree *tree, const uint32_t *parent, uint32_t node)
{
    memset(m->is_asked, 0, m->t->laid);
    for (uint32_t n = node; n != 0; n = parent[n])
        m->is_asked[m->t->place[tree->node[parent[n]].next.feature]] = 1;
}

static int grow(making *m, rfc_tree *tree)
{
    enum { MOST = (243 * 3 - 1) / 2 }; /* nodes of a ternary tree of RFC_TREE_DEPTH levels */
    branch waiting[MOST];
    uint32_t parent[MOST + 1], head = 0, tail = 0;
    const uint32_t budget = rfc_tree_horizon(m->t, m->rules), depth = budget ? budget - 1 : RFC_TREE_DEPTH,
                   least = budget ? LEAST_PLANNED : LEAST;
    tree->node = calloc(MOST, sizeof *tree->node);
    if (!tree->node)
        return -1;
    if (depth > 0)
        waiting[tail++] = (branch){0, m->t->count, 0, 0, 0};
    while (head < tail) {
        const branch b = waiting[head++];
        const uint32_t node = tree->count;
        const some v = {m->list + b.begin, b.end - b.begin};
        parent[node] = b.parent;
        mark_path(m, tree, parent, node);
        const uint32_t place = choose(m, v, budget ? budget - b.depth : 0);
        if (place == m->t->laid)
            continue;
        some part[RFC_BRANCHES];
        tree->node[node] = node_of(m, v, place);
        split(m, v, place, m->room[0], part);
        memcpy(v.vector, m->room[0], v.count * sizeof *v.vector);
        tree->count++;
        if (node > 0)
            tree->node[b.parent].child[b.answer] = node;
        for (uint32_t a = 0, at = b.begin; a < RFC_BRANCHES && b.depth + 1 < depth; at += part[a++].count)
            if (part[a].count >= least)
                waiting[tail++] = (branch){at, at + part[a].count, node, a, b.depth + 1};
    }
    return 0;
}

static void fill(making *m)
{
    enum { LINE = 64 };
    const rfc_training *t = m->t;
    uint32_t n = 0;
    for (uint32_t s = 0; s < t->segments; s++)
        memset(m->class + t->segment[s].begin, t->class_of[t->segment[s].kind], t->segment[s].count);
    for (uint32_t c = 0; c < t->classes; c++) {
        m->weight[c] = (float)((m->rules->prior ? m->rules->prior[c] : 1) * (m->rules->weight ? m->rules->weight[c] : 1));
        for (uint32_t s = 0; s < t->segments; s++)
            for (uint32_t i = 0; i < t->segment[s].count && t->class_of[t->segment[s].kind] == c; i++)
                m->list[n++] = t->segment[s].begin + i;
    }
    for (uint32_t i = 0; i < t->count; i += LINE) /* a tile at a time */
        for (uint32_t k = 0; k < t->laid; k++)
            for (uint32_t v = i; v < i + LINE && v < t->count; v++) {
                const uint32_t answer = answer_of(t, v, k);
                m->flag[v * m->flags + k] = answer > 0;
                m->flag[v * m->flags + t->laid + k] = answer > 1;
            }
}

int rfc_tree_make(const rfc_training *t, const rfc_rules *rules, rfc_tree *tree)
{
    *tree = (rfc_tree){NULL, 0};
    if (t->count < LEAST || t->laid == 0)
        return 0;
    making m = {.t = t, .rules = rules, .kernel = rfc_kernels(), .flags = 2 * (size_t)t->laid};
    const size_t rooms = rfc_tree_horizon(t, rules) + 1;
    m.flag = malloc(t->count * m.flags);
    m.class = malloc(t->count);
    m.list = malloc(t->count * sizeof *m.list);
    for (int i = 0; i < 2; i++)
        m.room[i] = malloc(rooms * room_size(t) * sizeof *m.room[i]);
    m.few = malloc(m.flags);
    m.sums = malloc(t->classes * m.flags * sizeof *m.sums);
    m.all = malloc(RFC_BRANCHES * (size_t)t->laid * sizeof *m.all);
    m.part = malloc(RFC_BRANCHES * (size_t)t->laid * sizeof *m.part);
    m.score = malloc(t->laid * sizeof *m.score);
    m.place = malloc(t->laid * sizeof *m.place);
    m.is_asked = malloc(t->laid);
    int status = m.flag && m.class && m.list && m.room[0] && m.room[1] && m.few && m.sums && m.all && m.part &&
                         m.score && m.place && m.is_asked
                     ? 0
                     : -1;
    if (status == 0) {
        fill(&m);
        status = grow(&m, tree);
    }
    free(m.flag);
    free(m.class);
    free(m.list);
    free(m.room[0]);
    free(m.room[1]);
    free(m.few);
    free(m.sums);
    free(m.all);
    free(m.part);
    free(m.score);
    free(m.place);
    free(m.is_asked);
    return status;
}

void rfc_tree_free(rfc_tree *tree)
{
    free(tree->node);
    *tree = (rfc_tree){NULL, 0};
}
