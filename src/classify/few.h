/* What the command and the tests need beside rejfilt/classify.h: each step from a table to a model, with its options.
 */
#ifndef REJFILT_CLASSIFY_FEW_H
#define REJFILT_CLASSIFY_FEW_H

#include "rejfilt/classify.h"

/* ---- Names ---- */

/* Frees the texts and empties the list. */
void rfc_names_free(rfc_names *names);
/* Returns the index of `text`, adding it if it is new. Returns RFC_LABELS_MAX if the list is full or memory is short.
 */
uint32_t rfc_names_intern(rfc_names *names, const char *text);
/* Returns the index of `text`, or names->count if it is not in the list. */
uint32_t rfc_names_find(const rfc_names *names, const char *text);
/* Appends a text. Returns 0, or -1 if memory is short. */
int rfc_names_add(rfc_names *names, const char *text);

/* ---- Tables ---- */

/* For file readers, which get a row piece by piece: makes room for one more row. Returns 0, or -1 if memory is short.
 */
int rfc_table_grow(rfc_table *table);
/* Makes room for `rows` rows of bytes in an empty table, on large pages if the system has them. Returns 0, or -1 if
 * memory is short. */
int rfc_table_reserve(rfc_table *table, uint32_t rows);
/* Writes a finite number to row `row`, which must have room. Returns 0, or -1 if memory is short. */
int rfc_table_put(rfc_table *table, size_t row, size_t feature, double value);
/* Marks a number as missing. Returns 0, or -1 if memory is short. */
int rfc_table_miss(rfc_table *table, size_t row, size_t feature);

/* Removes all labels. Returns 0, or -1 if memory is short. */
int rfc_table_unlabel(rfc_table *table);

/* Moves the rows of `more` to the end of the table. Both must have bytes, and the same labels and classes. */
int rfc_table_append(rfc_table *table, rfc_table *more, char *error, size_t size);

/* Returns the feature's name; without a name its number, counted from 0, which is written to `number`. */
const char *rfc_table_feature(const rfc_table *table, uint32_t feature, char *number, size_t size);
/* Returns the feature with that name or number, or table->features if there is none. */
uint32_t rfc_table_find(const rfc_table *table, const char *text);

/* Fills an empty table with simulated handwritten digits of 28 × 28 bytes; the first has number `first`. The bits are
 * the same on every machine. */
int rfc_synthetic(uint64_t seed, uint32_t first, uint32_t count, rfc_table *table, char *error, size_t size);

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
int rfc_task_parse(const char *name, const char *classes, rfc_task *task, char *error, size_t size);
void rfc_task_free(rfc_task *task);

/* Converts the labels of both tables to classes and drops rows with other labels; adds their number to *left_out.
   `test` may be empty. Refused: fewer than two classes, or a class without a row in `train`. */
int rfc_task_apply(rfc_task *task, rfc_table *train, rfc_table *test, uint64_t *left_out, char *error, size_t size);

/* How numbers become bytes. */
typedef enum rfc_scaling { RFC_SCALE_AUTO, RFC_SCALE_SHARED, RFC_SCALE_EACH } rfc_scaling;

/* Makes a coding from a table. Free it with rfc_coding_free. */
rfc_coding *rfc_coding_make(const rfc_table *table, rfc_scaling wanted, char *error, size_t size);
void rfc_coding_free(rfc_coding *coding);
rfc_scaling rfc_coding_scaling(const rfc_coding *coding);
/* The categories of each feature, the most frequent first; null if no feature has any. */
const rfc_names *rfc_coding_categories(const rfc_coding *coding);

/* A number with this byte, in the data's units; for ranks the middle of the training values that share the byte. NaN
   for a category. */
double rfc_coding_value(const rfc_coding *coding, uint32_t feature, uint8_t byte);
/* The same as text, or the category. */
const char *rfc_coding_show(const rfc_coding *coding, uint32_t feature, uint8_t byte, char *text, size_t size);

/* Converts both tables with the coding made from `train`; `test` may be empty. Writes the scaling to *used. */
int rfc_scale(rfc_table *train, rfc_table *test, rfc_scaling wanted, rfc_scaling *used, char *error, size_t size);

/* ---- Training ---- */

/* Training vectors, laid out for the filters. */
typedef struct rfc_training rfc_training;

/* Makes a training set from rows chosen[0 .. count − 1] (null: the first `count`) of a table of bytes. Its labels are
   classes below `classes`; each needs a row. The table must outlive the training set. */
rfc_training *rfc_training_open(const rfc_table *table, const uint32_t *chosen, uint32_t count, uint32_t classes,
                                uint64_t seed, char *error, size_t size);
void rfc_training_close(rfc_training *training);

/* The number of vectors, and the variance of each feature over them, in bytes². */
uint32_t rfc_training_count(const rfc_training *training);
const float *rfc_training_variance(const rfc_training *training);

/* Writes 0 .. count − 1 in a random order, which depends on seed and number. */
void rfc_shuffle(uint64_t seed, uint32_t number, uint32_t *order, uint32_t count);

/* WEIGHTED: a weight for every training vector. PAPER: particles that are accepted, rejected and replicated. */
typedef enum rfc_method { RFC_WEIGHTED, RFC_PAPER } rfc_method;
/* What the next question maximises: variance between classes; variance; mutual information; variance between classes
   over the feature's variance. */
typedef enum rfc_gain { RFC_BETWEEN, RFC_VARIANCE, RFC_MUTUAL, RFC_RATIO } rfc_gain;

/* How to ask and when to stop. Begin with rfc_rules_default. */
typedef struct rfc_rules {
    rfc_method method;     /* which filter */
    double stop;           /* stop when all classes but one have at most this probability together; 0 to 0.5 */
    uint32_t budget;       /* most queries per object, at least 1 */
    double max_cost;       /* most cost of an object's queries */
    const float *cost;     /* by feature, at least 0; null: 1 each */
    const uint32_t *group; /* weighted; by feature: its group, 1 to the number of features. One question yields the
                              whole group at the cost of the feature asked first. 0: no group; null: there are none */
    const uint8_t *mask;   /* by feature: not 0 if it may be asked; null: all may */
    double floor;          /* of σ, in units of the largest standard deviation of a feature; 0 to 100 */
    uint64_t seed;         /* of all random numbers */
    rfc_gain gain;         /* weighted: how a question is chosen */
    double least_sample;   /* weighted: effective sample size that tempering keeps; 1 to 1e6 */
    double most_sample;    /* weighted: sharpen the evidence if the effective sample is larger than this; 1 to 1e6 */
    double sharpest;       /* weighted: by at most this factor; 1 to 8 */
    const double *prior;   /* by class: factors of its odds, above 0; null: the training set's shares are the prior */
    const double *weight;  /* by class: cost > 0 of an error on its objects, for decisions and the stop;
                              null: 1 each */
    int tries;             /* weighted: not 0: rfc_model_fit() also tries smaller samples and uninformative features,
                              and keeps them if the pilot loses less */
    int keeps_all;         /* weighted: not 0: ask uninformative features, too */
    uint32_t pilot; /* weighted: number of training objects that a fit classifies to learn when to stop; 0: none */
    double calibration[3]; /* of probabilities, set by rfc_model_stop(); zeros: uncalibrated */
    double early[3];       /* the same where missing features end the questions before the stop */
    uint32_t particles;    /* paper: their number, 2 to 60,000 */
    uint32_t restarts;     /* paper: runs that share the budget and vote, 1 to 1,000 */
} rfc_rules;

/* Defaults: stop at 0.001; ask up to RFC_QUESTIONS features (weighted), or all of them (paper). */
rfc_rules rfc_rules_default(rfc_method method, const rfc_training *training);

/* ---- Classifying ---- */

/* The row of object i. */
static inline uint32_t rfc_objects_row(const rfc_objects *objects, uint32_t i)
{
    return objects->rows ? objects->rows[i] : i;
}

/* Classifies all objects. The answers do not depend on the number of threads. `progress` may be null. */
int rfc_classify(const rfc_training *training, const rfc_rules *rules, const rfc_objects *objects, unsigned threads,
                 rfc_progress *progress, void *context, rfc_outcome *outcome, char *error, size_t size);

/* Classifies object `index`, as rfc_model_classify_one() does. */
int rfc_classify_one(const rfc_training *training, const rfc_rules *rules, const rfc_objects *objects, uint32_t index,
                     rfc_answer *answer, char *error, size_t size);

/* ---- Models ---- */

/* Fits a model: finds the informative features and prepares the vectors. With the weighted method it also classifies
   training objects (rules->pilot, 10,000 by default) by all others, to learn when to stop: rfc_model_stop(). With
   rules->tries it tries other rules in the same way. The training set must outlive the model. `progress` may be null.
 */
rfc_model *rfc_model_fit(const rfc_training *training, const rfc_rules *rules, unsigned threads, rfc_progress *progress,
                         void *context, char *error, size_t size);
const rfc_rules *rfc_model_rules(const rfc_model *model);

/* The same with other limits: `budget` (0: unchanged) and `max_cost` (negative: unchanged). */
int rfc_model_limit(rfc_model *model, uint32_t budget, double max_cost, rfc_goal goal, double value,
                    rfc_expected *expected);

/* Adds to the model what its bytes mean: the task, the names of features and of the label's column from the training
   table, and the coding, which the model then owns. Returns 0, or -1 if memory is short: `coding` then remains the
   caller's. */
int rfc_model_describe(rfc_model *model, const rfc_task *task, const rfc_table *table, rfc_coding *coding);
/* The name of the label's column; empty: none. */
const char *rfc_model_label(const rfc_model *model);
/* The class of a label, or RFC_NO_LABEL. */
uint32_t rfc_model_class(const rfc_model *model, const char *label);
/* The checksum in the bytes of a loaded model. */
uint64_t rfc_model_checksum(const rfc_model *model);

#endif
