/* The first questions about an object: a decision tree, made once, the same for all objects with the same answers so
   far. An answer is one of three equal parts of a byte's range. */
#ifndef REJFILT_CLASSIFY_TREE_H
#define REJFILT_CLASSIFY_TREE_H

#include "filter.h"
#include "kernel.h"

enum { RFC_BRANCHES = 3, RFC_TREE_DEPTH = 5 }; /* answers per question; questions per path */

typedef struct rfc_node {
    rfc_evidence next;            /* the question, without its value */
    float rest;                   /* belief in all classes but the likeliest */
    uint32_t child[RFC_BRANCHES]; /* by answer; 0: the tree ends */
} rfc_node;

struct rfc_tree {
    rfc_node *node; /* the first one is the root */
    uint32_t count;
};

/* The budget for which a tree is made; 0: it does not end soon, or allows all questions. With a budget, all questions
   but the last are chosen by what is correct at its end. */
static inline uint32_t rfc_tree_horizon(const rfc_training *training, const rfc_rules *rules)
{
    return rules->budget <= RFC_TREE_DEPTH && rules->budget < training->laid && !rules->cost ? rules->budget : 0;
}

/* Makes the tree of a training set that is laid out; without nodes if it has few vectors. Returns 0, or -1 when out of
   memory. */
int rfc_tree_make(const rfc_training *training, const rfc_rules *rules, rfc_tree *tree);
void rfc_tree_free(rfc_tree *tree);

static inline uint32_t rfc_tree_branch(uint8_t value) { return (uint32_t)value * RFC_BRANCHES >> 8; }

/* A query whose σ is the square root of `variance`, at least the rules' floor. */
rfc_evidence rfc_evidence_make(const rfc_training *training, const rfc_rules *rules, uint32_t feature, double variance);

#endif
