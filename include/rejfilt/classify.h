/* Classification by few questions: asks for one feature of an object after the other until its class is clear. The
   training vectors that agree with the answers so far decide what to ask next. Works on tables in memory; reads no
   files and prints nothing.

       rfc_table known = {.features = 4};
       rfc_table_add(&known, values, "label");                                 // for each row
       rfc_model *model = rfc_model_learn(&known, &(rfc_wish){.seed = 1}, &expected, error, sizeof error);
       rfc_adviser *adviser = rfc_adviser_open(model, error, sizeof error);
       while (rfc_adviser_next(adviser, told, count, &advice) == 0 && advice.feature != RFC_NO_LABEL)
           told[count++] = ...;                                                // measure advice.feature

   Unless stated otherwise, functions that return an int return 0, or -1 with one line in error[size]; functions that
   return a pointer return NULL with such a line. Different threads may use different objects, and share one model. */
#ifndef REJFILT_CLASSIFY_H
#define REJFILT_CLASSIFY_H

#include "detail/port.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RFC_LABELS_MAX = 256, RFC_FEATURES_MAX = 1 << 20 }; /* most distinct labels, and most features, of a table */
#define RFC_NO_LABEL UINT32_MAX                            /* the label of an object with unknown class */

/* ---- Tables ---- */

/* A list of texts. Start from {0}. */
typedef struct rfc_names {
    char **text;    /* the texts */
    uint32_t count; /* their number */
} rfc_names;

/* Rows of numbers, each with a label. Start from {0} and set the number of features. */
typedef struct rfc_table {
    char source[512];       /* its name in messages */
    uint32_t rows;          /* number of rows */
    uint32_t features;      /* numbers per row */
    uint32_t height, width; /* of an image, or 0 */
    size_t room;            /* rows that fit the memory */
    uint8_t *bytes;         /* rows × features, if all numbers are whole and from 0 to 255; otherwise null */
    double *reals;          /* rows × features, if `bytes` is null */
    uint8_t *missing;       /* rows × features: not 0 if the number is missing; null: none is */
    rfc_names *categories;  /* by feature: its texts; the numbers are their indices. Null: no feature has texts */
    uint8_t *is_category;   /* by feature, after coding: not 0 if its bytes are codes of categories; null: none are */
    int is_ranked;          /* after coding: bytes are ranks or categories */
    uint32_t *label;        /* by row: an index of `labels`, of bytes the class; or RFC_NO_LABEL */
    uint8_t *kind;          /* by row: its label, if classes have several; or null */
    rfc_names labels;       /* the distinct labels */
    rfc_names names;        /* of the features; empty: they have none */
    char label_name[128];   /* name of the label's column; empty: none */
} rfc_table;

/* Frees its memory and sets it to {0}. */
RF_API void rfc_table_free(rfc_table *table);

/* Adds a row of numbers, at most 1e30 in magnitude; NaN means missing; a null label is not known.
   Returns 0, or -1 with no row added: a number is too large, the label is new and there are RFC_LABELS_MAX already, or
   memory is short. */
RF_API int rfc_table_add(rfc_table *table, const double value[], const char *label);

/* ---- Numbers to bytes ---- */

/* How the numbers of a table, and of others like it, become bytes.
   SHARED: one linear map for all features, as for the pixels of images. Bytes that reach 128 or more stay as they are.
   EACH: a number becomes its rank among the feature's values, 0 to 255, so units and outliers have no effect. A
   category gets a code, the most frequent first; the rarest share one if there are more than RFC_CATEGORIES_MAX. AUTO:
   SHARED for images, and for tables without categories whose features mostly have about the same range. */
typedef struct rfc_coding rfc_coding;

enum { RFC_CATEGORIES_MAX = 128 };

/* Converts a table's numbers to bytes. Missing numbers stay marked and get the feature's mean, or its most frequent
   category. Texts for which rfc_coding_text() returns 1 are marked as missing. */
RF_API int rfc_coding_apply(const rfc_coding *coding, rfc_table *table, char *error, size_t size);
/* Convert one number, or one text, to its byte. Return 0, or -1 if the feature holds texts and not numbers, or the
   reverse. rfc_coding_text() returns 1 if no training row has the text, unless the rarest texts share a code, which it
   then gets. */
RF_API int rfc_coding_number(const rfc_coding *coding, uint32_t feature, double value, uint8_t *byte);
RF_API int rfc_coding_text(const rfc_coding *coding, uint32_t feature, const char *text, uint8_t *byte);

/* ---- Classifying ---- */

/* What is to be classified. */
typedef struct rfc_objects {
    const rfc_table *table; /* of bytes; its labels are classes, or null if unknown */
    const uint32_t *rows;   /* of the table; null: the first `count` */
    uint32_t count;         /* number of objects */
} rfc_objects;

/* The result for one object. */
typedef struct rfc_answer {
    uint32_t decided; /* its class */
    uint32_t queries; /* number of features asked */
    double cost;      /* of the queries */
    float *posterior; /* by class */
    uint32_t *asked;  /* the features, in the order asked */
    float *story;     /* by query and class: the posterior after the query */
} rfc_answer;

/* The results for many objects. The arrays belong to the caller; null ones are not filled. */
typedef struct rfc_outcome {
    uint8_t *decided;      /* by object: its class */
    float *posterior;      /* by object and class */
    uint32_t **asked;      /* by object: features in the order asked; the caller frees each */
    uint32_t *queries;     /* by object */
    uint64_t *times_asked; /* by feature: incremented by each query */
    uint64_t errors;       /* objects with a wrong decision */
    uint64_t all_queries;  /* of all objects */
    double all_cost;       /* of all queries */
    double all_doubt;      /* expected errors: sum of 1 − probability of the decided class */
} rfc_outcome;

/* Reports progress; called by the caller's thread only. Returns nonzero to stop: then the work fails, with the error
   "stopped". */
typedef int rfc_progress(void *context, uint64_t done, uint64_t total);

/* ---- Models: fitted once, used often ---- */

/* A fitted training set. */
typedef struct rfc_model rfc_model;
RF_API void rfc_model_close(rfc_model *model);

/* The goal of a stop. BEST: the fewest questions at nearly the smallest error. ERROR, QUESTIONS: an error, or a mean
   number of questions, of at most `value`. STOP: the stop is `value`. */
typedef enum rfc_goal { RFC_GOAL_BEST, RFC_GOAL_ERROR, RFC_GOAL_QUESTIONS, RFC_GOAL_STOP } rfc_goal;

/* The leave-one-out estimate for a stop. */
typedef struct rfc_expected {
    double stop;      /* the stop */
    uint32_t budget;  /* most queries per object; RFC_GOAL_QUESTIONS may make it smaller than the rules do */
    double error;     /* share of wrong decisions */
    double questions; /* mean number per object */
    double cost;      /* mean cost per object */
    int is_reached;   /* not 0: the goal is reached; else this is the nearest stop */
} rfc_expected;

/* What to learn for. Zeros are the defaults. */
typedef struct rfc_wish {
    uint64_t seed;          /* of all random numbers */
    uint32_t budget;        /* most queries per object; 0: RFC_QUESTIONS */
    const float *cost;      /* by feature, at least 0; null: 1 each */
    rfc_goal goal;          /* of the stop */
    double value;           /* for the goal */
    unsigned threads;       /* which change no answer; 0: one */
    rfc_progress *progress; /* or null */
    void *context;          /* for `progress` */
} rfc_wish;

enum { RFC_QUESTIONS = 60 };

/* Learns from a table: every label is a class, its numbers become bytes, which stay in the table. Finds the informative
   features; classifies training objects by all others, and from that learns when to stop. The model needs nothing of
   the table. */
RF_API rfc_model *rfc_model_learn(rfc_table *table, const rfc_wish *wish, rfc_expected *expected, char *error,
                                  size_t size);

/* Sets the stop and the calibration of probabilities. Returns 0; 1 if the goal cannot be reached: the nearest stop is
   set; -1 if the model was fitted without a pilot. */
RF_API int rfc_model_stop(rfc_model *model, rfc_goal goal, double value, rfc_expected *expected);

/* Classifies all objects, whose bytes are of the model's coding. The answers do not depend on the number of threads. */
RF_API int rfc_model_classify(const rfc_model *model, const rfc_objects *objects, unsigned threads,
                              rfc_progress *progress, void *context, rfc_outcome *outcome, char *error, size_t size);
/* Classifies object `index` and allocates the arrays of the answer; free them with rfc_answer_free. The answer depends
   only on the model and the object. */
RF_API int rfc_model_classify_one(const rfc_model *model, const rfc_objects *objects, uint32_t index,
                                  rfc_answer *answer, char *error, size_t size);
RF_API void rfc_answer_free(rfc_answer *answer);

/* Names, in the order of their indices; and how numbers and texts become bytes. */
RF_API const rfc_names *rfc_model_classes(const rfc_model *model);
RF_API const rfc_names *rfc_model_names(const rfc_model *model);
RF_API const rfc_coding *rfc_model_coding(const rfc_model *model);
RF_API uint32_t rfc_model_features(const rfc_model *model);

/* Saves a described model of the weighted method as bytes: versioned, checksummed, little-endian. Returns their number;
   writes them only if they fit. */
RF_API size_t rfc_model_save(const rfc_model *model, void *bytes, size_t room);
/* Opens a model in its bytes, for example in a mapped file. They must be aligned to 64 and outlive the model. */
RF_API rfc_model *rfc_model_load(const void *bytes, size_t count, char *error, size_t size);

/* ---- One object, live ---- */

/* The answer to one question about an object. */
typedef struct rfc_told {
    uint32_t feature;   /* its index */
    uint8_t value;      /* its byte: rfc_coding_number() or rfc_coding_text() */
    uint8_t is_unknown; /* not 0: there is no answer; do not ask again */
} rfc_told;

/* What to do next. */
typedef struct rfc_advice {
    uint32_t feature;       /* feature to ask; RFC_NO_LABEL: ask no more, decide */
    double cost;            /* of asking it */
    double gain;            /* expected information about the class, in bits */
    uint32_t decided;       /* the most probable class so far */
    uint32_t queries;       /* answers so far */
    double spent;           /* their cost */
    int is_sure;            /* the stop is reached */
    int is_spent;           /* there is more to ask, but the budget or the most cost forbids it */
    const float *posterior; /* by class; valid until the next call */
} rfc_advice;

/* Gives advice, for one thread. */
typedef struct rfc_adviser rfc_adviser;

/* For a model of the weighted method, which must outlive the adviser. */
RF_API rfc_adviser *rfc_adviser_open(const rfc_model *model, char *error, size_t size);
RF_API void rfc_adviser_close(rfc_adviser *adviser);
/* Gives the next question to an object with `count` answers, in the order they came. It depends only on them. Returns
   0, or -1 without advice: a feature is out of range or occurs twice. */
RF_API int rfc_adviser_next(rfc_adviser *adviser, const rfc_told told[], uint32_t count, rfc_advice *advice);

#ifdef __cplusplus
}
#endif

#endif
