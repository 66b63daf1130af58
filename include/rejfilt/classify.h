/* Classification by few questions: asks for one feature of an object after the other until its class is clear. The
   training vectors that agree with the answers so far decide what to ask next. Works on tables in memory; reads no
   files and prints nothing.

       rfc_table train = {.features = 4}, test = {.features = 4};
       rfc_table_add(&train, values, "label");                                 // for each row; test likewise
       rfc_scale(&train, &test, RFC_SCALE_AUTO, &used, error, sizeof error);   // numbers to bytes
       rfc_training *training = rfc_training_open(&train, NULL, train.rows, train.labels.count, seed, error, size);
       rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, training);
       rfc_objects objects = {&test, NULL, test.rows};
       rfc_classify_one(training, &rules, &objects, 0, &answer, error, sizeof error);

   Unless stated otherwise, functions that return an int return 0, or -1 with one line in error[size]; functions that
   return a pointer return NULL with such a line. Different threads may use different objects, and share one training
   set. */
#ifndef REJFILT_CLASSIFY_H
#define REJFILT_CLASSIFY_H

#include "detail/port.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RFC_LABELS_MAX = 256, RFC_FEATURES_MAX = 1 << 20 }; /* most distinct labels, and most features, of a table */
#define RFC_NO_LABEL UINT32_MAX /* the label of an object with unknown class */

/* ---- Tables ---- */

/* A list of texts. Start from {0}. */
typedef struct rfc_names {
    char **text;    /* the texts */
    uint32_t count; /* their number */
} rfc_names;

/* Frees the texts and empties the list. */
RF_API void rfc_names_free(rfc_names *names);
/* Returns the index of `text`, adding it if it is new. Returns RFC_LABELS_MAX if the list is full or memory is short. */
RF_API uint32_t rfc_names_intern(rfc_names *names, const char *text);
/* Returns the index of `text`, or names->count if it is not in the list. */
RF_API uint32_t rfc_names_find(const rfc_names *names, const char *text);
/* Appends a text. Returns 0, or -1 if memory is short. */
RF_API int rfc_names_add(rfc_names *names, const char *text);

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
    uint32_t *label;        /* by row: an index of `labels`, after rfc_task_apply the class; or RFC_NO_LABEL */
    uint8_t *kind;          /* by row: its label before a task joined several into one class; null: classes have one
                               label each, or labels are unknown */
    rfc_names labels;       /* the distinct labels */
    rfc_names names;        /* of the features; empty: they have none */
    char label_name[128];   /* name of the label's column; empty: none */
} rfc_table;

/* Frees its memory and sets it to {0}. */
RF_API void rfc_table_free(rfc_table *table);

/* Adds a row of numbers, at most 1e30 in magnitude; NaN means missing. Returns 0, or -1 with no row added: a number is
   too large, the label is new and there are RFC_LABELS_MAX already, or memory is short. */
RF_API int rfc_table_add(rfc_table *table, const double value[], const char *label);

/* For file readers, which get a row piece by piece: makes room for one more row. Returns 0, or -1 if memory is short. */
RF_API int rfc_table_grow(rfc_table *table);
/* Makes room for `rows` rows of bytes in an empty table, on large pages if the system has them. Returns 0, or -1 if
 * memory is short. */
RF_API int rfc_table_reserve(rfc_table *table, uint32_t rows);
/* Writes a finite number to row `row`, which must have room. Returns 0, or -1 if memory is short. */
RF_API int rfc_table_put(rfc_table *table, size_t row, size_t feature, double value);
/* Marks a number as missing. Returns 0, or -1 if memory is short. */
RF_API int rfc_table_miss(rfc_table *table, size_t row, size_t feature);

/* Removes all labels. Returns 0, or -1 if memory is short. */
RF_API int rfc_table_unlabel(rfc_table *table);

/* Moves the rows of `more` to the end of the table. Both must have bytes, and the same labels and classes. */
RF_API int rfc_table_append(rfc_table *table, rfc_table *more, char *error, size_t size);

/* Returns the feature's name; without a name its number, counted from 0, which is written to `number`. */
RF_API const char *rfc_table_feature(const rfc_table *table, uint32_t feature, char *number, size_t size);
/* Returns the feature with that name or number, or table->features if there is none. */
RF_API uint32_t rfc_table_find(const rfc_table *table, const char *text);

/* Fills an empty table with simulated handwritten digits of 28 × 28 bytes; the first has number `first`. The bits are
 * the same on every machine. */
RF_API int rfc_synthetic(uint64_t seed, uint32_t first, uint32_t count, rfc_table *table, char *error, size_t size);

/* ---- Labels to classes, numbers to bytes ---- */

/* Which labels form which class. */
typedef struct rfc_task {
    char name[64];                    /* as given */
    rfc_names classes;                /* their names */
    rfc_names labels;                 /* the labels in use; empty: every label is a class of its own */
    uint8_t of_label[RFC_LABELS_MAX]; /* class of each of them */
    int digits_only;                  /* refuse labels that are not digits, instead of leaving their rows out */
    int labels_must_occur;            /* refuse if the training data lack one of the labels */
} rfc_task;

/* Makes a task by name (labels, zero-one, even-odd, digits). If the name is null, from a text like
   "0,2,4:even 1,3,5:odd". */
RF_API int rfc_task_parse(const char *name, const char *classes, rfc_task *task, char *error, size_t size);
RF_API void rfc_task_free(rfc_task *task);

/* Converts the labels of both tables to classes and drops rows with other labels; adds their number to *left_out.
   `test` may be empty. Refused: fewer than two classes, or a class without a row in `train`. */
RF_API int rfc_task_apply(rfc_task *task, rfc_table *train, rfc_table *test, uint64_t *left_out, char *error,
                          size_t size);

/* How numbers become bytes. */
typedef enum rfc_scaling { RFC_SCALE_AUTO, RFC_SCALE_SHARED, RFC_SCALE_EACH } rfc_scaling;

/* How the numbers of a table, and of others like it, become bytes.
   SHARED: one linear map for all features, as for the pixels of images. Bytes that reach 128 or more stay as they are.
   EACH: a number becomes its rank among the feature's values, 0 to 255, so units and outliers have no effect. A category
   gets a code, the most frequent first; the rarest share one if there are more than RFC_CATEGORIES_MAX.
   AUTO: SHARED for images, and for tables without categories whose features mostly have about the same range. */
typedef struct rfc_coding rfc_coding;

enum { RFC_CATEGORIES_MAX = 128 };

/* Makes a coding from a table. Free it with rfc_coding_free. */
RF_API rfc_coding *rfc_coding_make(const rfc_table *table, rfc_scaling wanted, char *error, size_t size);
RF_API void rfc_coding_free(rfc_coding *coding);
/* Converts a table's numbers to bytes. Missing numbers stay marked and get the feature's mean, or its most frequent
   category. Texts for which rfc_coding_text() returns 1 are marked as missing. */
RF_API int rfc_coding_apply(const rfc_coding *coding, rfc_table *table, char *error, size_t size);
/* Convert one number, or one text, to its byte. Return 0, or -1 if the feature holds texts and not numbers, or the
   reverse. rfc_coding_text() returns 1 if no training row has the text, unless the rarest texts share a code, which it
   then gets. */
RF_API int rfc_coding_number(const rfc_coding *coding, uint32_t feature, double value, uint8_t *byte);
RF_API int rfc_coding_text(const rfc_coding *coding, uint32_t feature, const char *text, uint8_t *byte);
RF_API rfc_scaling rfc_coding_scaling(const rfc_coding *coding);
/* The categories of each feature, the most frequent first; null if no feature has any. */
RF_API const rfc_names *rfc_coding_categories(const rfc_coding *coding);

/* A number with this byte, in the data's units; for ranks the middle of the training values that share the byte. NaN for
   a category. */
RF_API double rfc_coding_value(const rfc_coding *coding, uint32_t feature, uint8_t byte);
/* The same as text, or the category. */
RF_API const char *rfc_coding_show(const rfc_coding *coding, uint32_t feature, uint8_t byte, char *text, size_t size);

/* Converts both tables with the coding made from `train`; `test` may be empty. Writes the scaling to *used. */
RF_API int rfc_scale(rfc_table *train, rfc_table *test, rfc_scaling wanted, rfc_scaling *used, char *error,
                     size_t size);

/* ---- Training ---- */

/* Training vectors, laid out for the filters. */
typedef struct rfc_training rfc_training;

/* Makes a training set from rows chosen[0 .. count − 1] (null: the first `count`) of a table of bytes. Its labels are
   classes below `classes`; each needs a row. The table must outlive the training set. */
RF_API rfc_training *rfc_training_open(const rfc_table *table, const uint32_t *chosen, uint32_t count, uint32_t classes,
                                       uint64_t seed, char *error, size_t size);
RF_API void rfc_training_close(rfc_training *training);

/* The number of vectors, and the variance of each feature over them, in bytes². */
RF_API uint32_t rfc_training_count(const rfc_training *training);
RF_API const float *rfc_training_variance(const rfc_training *training);

/* Writes 0 .. count − 1 in a random order, which depends on seed and number. */
RF_API void rfc_shuffle(uint64_t seed, uint32_t number, uint32_t *order, uint32_t count);

/* ---- Rules ---- */

/* WEIGHTED: a weight for every training vector. PAPER: particles that are accepted, rejected and replicated. */
typedef enum rfc_method { RFC_WEIGHTED, RFC_PAPER } rfc_method;
/* What the next question maximises: variance between classes; variance; mutual information; variance between classes
   over the feature's variance. */
typedef enum rfc_gain { RFC_BETWEEN, RFC_VARIANCE, RFC_MUTUAL, RFC_RATIO } rfc_gain;

/* How to ask and when to stop. Begin with rfc_rules_default. */
typedef struct rfc_rules {
    rfc_method method;   /* which filter */
    double stop;         /* stop when all classes but one have at most this probability together; 0 to 0.5 */
    uint32_t budget;     /* most queries per object, at least 1 */
    double max_cost;     /* most cost of an object's queries */
    const float *cost;   /* by feature, at least 0; null: 1 each */
    const uint32_t *group; /* weighted; by feature: its group, 1 to the number of features. One question yields the whole
                              group at the cost of the feature asked first. 0: no group; null: there are none */
    const uint8_t *mask; /* by feature: not 0 if it may be asked; null: all may */
    double floor;        /* of σ, in units of the largest standard deviation of a feature; 0 to 100 */
    uint64_t seed;       /* of all random numbers */
    rfc_gain gain;       /* weighted: how a question is chosen */
    double least_sample; /* weighted: effective sample size that tempering keeps; 1 to 1e6 */
    double most_sample;  /* weighted: sharpen the evidence if the effective sample is larger than this; 1 to 1e6 */
    double sharpest;     /* weighted: by at most this factor; 1 to 8 */
    const double *prior; /* by class: factors of its odds, above 0; null: the training set's shares are the prior */
    const double *weight; /* by class: cost > 0 of an error on its objects, for decisions and the stop;
                             null: 1 each */
    int tries;             /* weighted: not 0: rfc_model_fit() also tries smaller samples and uninformative features,
                              and keeps them if the pilot loses less */
    int keeps_all;         /* weighted: not 0: ask uninformative features, too */
    uint32_t pilot;        /* weighted: number of training objects that a fit classifies to learn when to stop; 0: none */
    double calibration[3]; /* of probabilities, set by rfc_model_stop(); zeros: uncalibrated */
    double early[3];       /* the same where missing features end the questions before the stop */
    uint32_t particles;  /* paper: their number, 2 to 60,000 */
    uint32_t restarts;   /* paper: runs that share the budget and vote, 1 to 1,000 */
} rfc_rules;

/* Defaults: stop at 0.001; ask up to RFC_QUESTIONS features (weighted), or all of them (paper). */
enum { RFC_QUESTIONS = 60 };
RF_API rfc_rules rfc_rules_default(rfc_method method, const rfc_training *training);

/* ---- Classifying ---- */

/* What is to be classified. */
typedef struct rfc_objects {
    const rfc_table *table; /* of bytes; its labels are classes, or null if unknown */
    const uint32_t *rows;   /* of the table; null: the first `count` */
    uint32_t count;         /* number of objects */
} rfc_objects;

/* The row of object i. */
static inline uint32_t rfc_objects_row(const rfc_objects *objects, uint32_t i)
{
    return objects->rows ? objects->rows[i] : i;
}

/* The result for one object. */
typedef struct rfc_answer {
    uint32_t decided; /* its class */
    uint32_t queries; /* number of features asked */
    double cost;      /* of the queries */
    float *posterior; /* by class */
    uint32_t *asked;  /* the features, in the order asked */
    float *story;     /* by query and class: the posterior after the query */
} rfc_answer;

/* Classifies object `index` and allocates the arrays of the answer; free them with rfc_answer_free. The answer depends
   only on training set, rules and object. */
RF_API int rfc_classify_one(const rfc_training *training, const rfc_rules *rules, const rfc_objects *objects,
                            uint32_t index, rfc_answer *answer, char *error, size_t size);
RF_API void rfc_answer_free(rfc_answer *answer);

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

/* Classifies all objects. The answers do not depend on the number of threads. `progress` may be null. */
RF_API int rfc_classify(const rfc_training *training, const rfc_rules *rules, const rfc_objects *objects,
                        unsigned threads, rfc_progress *progress, void *context, rfc_outcome *outcome, char *error,
                        size_t size);

/* ---- Models: fitted once, used often ---- */

/* A fitted training set. */
typedef struct rfc_model rfc_model;

/* Fits a model: finds the informative features and prepares the vectors. With the weighted method it also classifies
   training objects (rules->pilot, 10,000 by default) by all others, to learn when to stop: rfc_model_stop(). With
   rules->tries it tries other rules in the same way. The training set must outlive the model. `progress` may be null. */
RF_API rfc_model *rfc_model_fit(const rfc_training *training, const rfc_rules *rules, unsigned threads,
                                rfc_progress *progress, void *context, char *error, size_t size);
RF_API void rfc_model_close(rfc_model *model);
RF_API const rfc_rules *rfc_model_rules(const rfc_model *model);

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
} rfc_expected;

/* Sets the stop and the calibration of probabilities. Returns 0; 1 if the goal cannot be reached: the nearest stop is
   set; -1 if the model was fitted without a pilot. */
RF_API int rfc_model_stop(rfc_model *model, rfc_goal goal, double value, rfc_expected *expected);

/* The same with other limits: `budget` (0: unchanged) and `max_cost` (negative: unchanged). */
RF_API int rfc_model_limit(rfc_model *model, uint32_t budget, double max_cost, rfc_goal goal, double value,
                           rfc_expected *expected);

/* rfc_classify() and rfc_classify_one() with a model. */
RF_API int rfc_model_classify(const rfc_model *model, const rfc_objects *objects, unsigned threads,
                              rfc_progress *progress, void *context, rfc_outcome *outcome, char *error, size_t size);
RF_API int rfc_model_classify_one(const rfc_model *model, const rfc_objects *objects, uint32_t index,
                                  rfc_answer *answer, char *error, size_t size);

/* Adds to the model what its bytes mean: the task, the names of features and of the label's column from the training
   table, and the coding, which the model then owns. Returns 0, or -1 if memory is short: `coding` then remains the
   caller's. */
RF_API int rfc_model_describe(rfc_model *model, const rfc_task *task, const rfc_table *table, rfc_coding *coding);
/* The name of the label's column; empty: none. */
RF_API const char *rfc_model_label(const rfc_model *model);
/* The class of a label, or RFC_NO_LABEL. */
RF_API uint32_t rfc_model_class(const rfc_model *model, const char *label);
RF_API const rfc_names *rfc_model_classes(const rfc_model *model);
RF_API const rfc_names *rfc_model_names(const rfc_model *model);
RF_API const rfc_coding *rfc_model_coding(const rfc_model *model);
RF_API uint32_t rfc_model_features(const rfc_model *model);

/* Saves a described model of the weighted method as bytes: versioned, checksummed, little-endian. Returns their number;
   writes them only if they fit. */
RF_API size_t rfc_model_save(const rfc_model *model, void *bytes, size_t room);
/* Opens a model in its bytes, for example in a mapped file. They must be aligned to 64 and outlive the model. */
RF_API rfc_model *rfc_model_load(const void *bytes, size_t count, char *error, size_t size);
/* The checksum in the bytes of a loaded model. */
RF_API uint64_t rfc_model_checksum(const rfc_model *model);

/* ---- One object, live ---- */

/* The answer to one question about an object. */
typedef struct rfc_told {
    uint32_t feature;   /* its index */
    uint8_t value;      /* its byte: rfc_coding_number() or rfc_coding_text() */
    uint8_t is_unknown; /* not 0: there is no answer; do not ask again */
} rfc_told;

/* What to do next. */
typedef struct rfc_advice {
    uint32_t feature; /* feature to ask; RFC_NO_LABEL: ask no more, decide */
    double cost;      /* of asking it */
    double gain;      /* expected information about the class, in bits */
    uint32_t decided; /* the most probable class so far */
    uint32_t queries; /* answers so far */
    double spent;     /* their cost */
    int is_sure;      /* the stop is reached */
    int is_spent;     /* there is more to ask, but the budget or the most cost forbids it */
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
