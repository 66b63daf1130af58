/* The first questions about an object, the same for all objects that gave the same answers so far: a tree, made once.
   An answer is one of three equal parts of a byte's range. */
#ifndef REJFILT_CLASSIFY_TREE_H
#define REJFILT_CLASSIFY_TREE_H

#include "filter.h"
#include "kernel.h"

enum { RFC_BRANCHES = 3, RFC_TREE_DEPTH = 5 }; /* answers; questions of a path */

typedef struct rfc_node {
    rfc_evidence next;            /* what to ask, without the answer */
    float rest;                   /* belief in all classes but one */
    uint32_t child[RFC_BRANCHES]; /* by answer; 0: none, the tree ends */
} rfc_node;

struct rfc_tree {
    rfc_node *node; /* the first one is the root */
    uint32_t count;
};

/* The budget that a tree is made for; 0: one that does not end soon, or has room for all questions. With a budget, its
   questions but the last are chosen for what is right at its end. */
static inline uint32_t rfc_tree_horizon(const rfc_training *training, const rfc_rules *rules)
{
    return rules->budget <= RFC_TREE_DEPTH && rules->budget < training->laid && !rules->cost ? rules->budget : 0;
}

/* Of a training set that is laid out. Few vectors have a tree without nodes. Returns 0, or -1 without memory. */
int rfc_tree_make(const rfc_training *training, const rfc_rules *rules, rfc_tree *tree);
void rfc_tree_free(rfc_tree *tree);

static inline uint32_t rfc_tree_branch(uint8_t value) { return (uint32_t)value * RFC_BRANCHES >> 8; }

/* A query whose σ is the standard deviation given, with the rules' floor. */
rfc_evidence rfc_evidence_make(const rfc_training *training, const rfc_rules *rules, uint32_t feature, double variance);

#endif
