#include "tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 5, LEAST = 1000 }; /* questions of a path; vectors of a node, at least */

/* A node to be made: its vectors are list[begin .. end − 1]. */
typedef struct branch {
    uint32_t begin, end, parent, answer, depth;
} branch;

typedef struct making {
    const rfc_training *t;
    const rfc_rules *rules;
    uint8_t *kind;     /* by vector */
    uint32_t *list;    /* vectors, those of a node together */
    uint32_t *spare;   /* for sorting them */
    uint32_t *counts;  /* by answer and kind */
    uint8_t *is_asked; /* by place: on the path to the node */
} making;

static double x_log_x(double x) { return x > 0 ? x * log(x) : 0; }

static double weight_of(const making *m, uint32_t kind)
{
    const uint32_t class = m->t->class_of[kind];
    return (m->rules->prior ? m->rules->prior[class] : 1) * (m->rules->weight ? m->rules->weight[class] : 1);
}

/* How many vectors of the node gave each answer, by kind. */
static void count(const making *m, const branch *b, uint32_t place)
{
    const uint8_t *x = m->t->columns + place * m->t->stride;
    memset(m->counts, 0, RFC_BRANCHES * m->t->kinds * sizeof *m->counts);
    for (uint32_t i = b->begin; i < b->end;) { /* vectors of a kind are together */
        const uint8_t kind = m->kind[m->list[i]];
        uint32_t n[RFC_BRANCHES] = {0};
        for (; i < b->end && m->kind[m->list[i]] == kind; i++)
            for (uint32_t a = 0, answer = rfc_tree_branch(x[m->list[i]]); a < RFC_BRANCHES; a++)
                n[a] += a == answer;
        for (uint32_t a = 0; a < RFC_BRANCHES; a++)
            m->counts[a * m->t->kinds + kind] += n[a];
    }
}

/* Mutual information of answer and class, times the node's weight. */
static double information(const making *m)
{
    const uint32_t kinds = m->t->kinds, classes = m->t->classes;
    double all = 0, answers = 0, both = 0, of_class[RFC_LABELS_MAX] = {0}, classwise = 0;
    for (uint32_t a = 0; a < RFC_BRANCHES; a++) {
        double of_answer = 0, here[RFC_LABELS_MAX] = {0};
        for (uint32_t k = 0; k < kinds; k++) {
            const double n = m->counts[a * kinds + k] * weight_of(m, k);
            const uint32_t c = m->t->class_of[k];
            of_answer += n;
            of_class[c] += n;
            here[c] += n;
        }
        for (uint32_t c = 0; c < classes; c++)
            both += x_log_x(here[c]);
        all += of_answer;
        answers += x_log_x(of_answer);
    }
    for (uint32_t c = 0; c < classes; c++)
        classwise += x_log_x(of_class[c]);
    return both - answers - classwise + x_log_x(all);
}

/* Vectors of the node that are right when each answer decides for its most frequent class, less those that are without
   one. */
static double more_right(const making *m)
{
    const uint32_t kinds = m->t->kinds, classes = m->t->classes;
    double right = 0, without = 0, of_class[RFC_LABELS_MAX] = {0};
    for (uint32_t a = 0; a < RFC_BRANCHES; a++) {
        double most = 0, here[RFC_LABELS_MAX] = {0};
        for (uint32_t k = 0; k < kinds; k++)
            here[m->t->class_of[k]] += m->counts[a * kinds + k] * weight_of(m, k);
        for (uint32_t c = 0; c < classes; c++) {
            most = fmax(most, here[c]);
            of_class[c] += here[c];
        }
        right += most;
    }
    for (uint32_t c = 0; c < classes; c++)
        without = fmax(without, of_class[c]);
    return right - without;
}

static rfc_evidence evidence_at(const making *m, const branch *b, uint32_t place)
{
    const uint8_t *x = m->t->columns + place * m->t->stride;
    uint64_t sum = 0, squares = 0;
    for (uint32_t i = b->begin; i < b->end; i++) {
        const uint32_t v = x[m->list[i]];
        sum += v;
        squares += v * v;
    }
    const double n = b->end - b->begin, mean = (double)sum / n;
    return rfc_evidence_make(m->t, m->rules, m->t->feature[place], (double)squares / n - mean * mean);
}

/* Fills in the node. Returns the place of its question; t->laid when none tells anything. */
static uint32_t fill(const making *m, const branch *b, rfc_node *node)
{
    const rfc_training *t = m->t;
    uint32_t best = t->laid, last = t->laid;
    double most = 0, most_right = 0, all = 0, top = 0, of_class[RFC_LABELS_MAX] = {0};
    for (uint32_t k = 0; k < t->laid; k++) {
        if (m->is_asked[k])
            continue;
        count(m, b, k);
        const double cost = m->rules->cost ? fmax((double)m->rules->cost[t->feature[k]], 1e-9) : 1,
                     gain = information(m) / cost, right = more_right(m) / cost;
        if (gain > most) {
            most = gain;
            best = k;
        }
        if (right > most_right) {
            most_right = right;
            last = k;
        }
    }
    if (best == t->laid)
        return best;
    count(m, b, best);
    for (uint32_t k = 0; k < t->kinds; k++) {
        double n = 0;
        for (uint32_t a = 0; a < RFC_BRANCHES; a++)
            n += m->counts[a * t->kinds + k] * weight_of(m, k);
        of_class[t->class_of[k]] += n;
        all += n;
    }
    for (uint32_t c = 0; c < t->classes; c++)
        top = fmax(top, of_class[c]);
    *node = (rfc_node){.rest = (float)(1 - top / all)};
    node->next = evidence_at(m, b, best);
    node->last = last < t->laid ? evidence_at(m, b, last) : node->next;
    return best;
}

/* Sorts the node's vectors by answer; where those of each begin is in begin[0 .. RFC_BRANCHES]. */
static void split(const making *m, const branch *b, uint32_t place, uint32_t begin[RFC_BRANCHES + 1])
{
    const uint8_t *x = m->t->columns + place * m->t->stride;
    uint32_t to = b->begin;
    for (uint32_t a = 0; a < RFC_BRANCHES; a++) {
        begin[a] = to;
        for (uint32_t i = b->begin; i < b->end; i++)
            if (rfc_tree_branch(x[m->list[i]]) == a)
                m->spare[to++] = m->list[i];
    }
    begin[RFC_BRANCHES] = to;
    memcpy(m->list + b->begin, m->spare + b->begin, (to - b->begin) * sizeof *m->list);
}

static void mark_path(const making *m, const rfc_tree *tree, const uint32_t *parent, uint32_t node)
{
    memset(m->is_asked, 0, m->t->laid);
    for (uint32_t n = node; n != 0; n = parent[n])
        m->is_asked[m->t->place[tree->node[parent[n]].next.feature]] = 1;
}

static int grow(making *m, rfc_tree *tree)
{
    enum { MOST = (243 * 3 - 1) / 2 }; /* nodes of DEPTH levels of threes */
    branch waiting[MOST];
    uint32_t parent[MOST + 1], head = 0, tail = 0;
    tree->node = calloc(MOST, sizeof *tree->node);
    if (!tree->node)
        return -1;
    waiting[tail++] = (branch){0, m->t->count, 0, 0, 0};
    while (head < tail) {
        const branch b = waiting[head++];
        const uint32_t node = tree->count;
        parent[node] = b.parent;
        mark_path(m, tree, parent, node);
        const uint32_t place = fill(m, &b, &tree->node[node]);
        if (place == m->t->laid)
            continue;
        uint32_t begin[RFC_BRANCHES + 1];
        split(m, &b, place, begin);
        tree->count++;
        if (node > 0)
            tree->node[b.parent].child[b.answer] = node;
        for (uint32_t a = 0; a < RFC_BRANCHES && b.depth + 1 < DEPTH; a++)
            if (begin[a + 1] - begin[a] >= LEAST)
                waiting[tail++] = (branch){begin[a], begin[a + 1], node, a, b.depth + 1};
    }
    return 0;
}

int rfc_tree_make(const rfc_training *t, const rfc_rules *rules, rfc_tree *tree)
{
    *tree = (rfc_tree){NULL, 0};
    if (t->count < LEAST || t->laid == 0)
        return 0;
    making m = {.t = t, .rules = rules};
    m.kind = malloc(t->count);
    m.list = malloc(t->count * sizeof *m.list);
    m.spare = malloc(t->count * sizeof *m.spare);
    m.counts = malloc(RFC_BRANCHES * t->kinds * sizeof *m.counts);
    m.is_asked = malloc(t->laid);
    int status = m.kind && m.list && m.spare && m.counts && m.is_asked ? 0 : -1;
    for (uint32_t s = 0; s < t->segments && status == 0; s++)
        memset(m.kind + t->segment[s].begin, (int)t->segment[s].kind, t->segment[s].count);
    for (uint32_t i = 0; i < t->count && status == 0; i++)
        m.list[i] = i;
    if (status == 0)
        status = grow(&m, tree);
    free(m.kind);
    free(m.list);
    free(m.spare);
    free(m.counts);
    free(m.is_asked);
    return status;
}

void rfc_tree_free(rfc_tree *tree)
{
    free(tree->node);
    *tree = (rfc_tree){NULL, 0};
}
