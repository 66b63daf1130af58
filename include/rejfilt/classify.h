/* Classification by few questions: an object's class is found by asking for one feature after the other, chosen by the
   training vectors that still agree with the answers. Tables are in memory; nothing is read or printed.

       rfc_table train = {.features = 4}, test = {.features = 4};
       rfc_table_add(&train, values, "label");                                 // for each row; test likewise
       rfc_scale(&train, &test, RFC_SCALE_AUTO, &used, error, sizeof error);   // numbers to bytes
       rfc_training *training = rfc_training_open(&train, NULL, train.rows, train.labels.count, seed, error, sizeof
   error); rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, training); rfc_objects objects = {&test, NULL, test.rows};
       rfc_classify_one(training, &rules, &objects, 0, &answer, error, sizeof error);

   Functions that return an int return 0, or -1 with one line in error[size] where they have one. Different objects may
   be used by different threads, and one training set by several. */
#ifndef REJFILT_CLASSIFY_H
#define REJFILT_CLASSIFY_H

#include "detail/port.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RFC_LABELS_MAX = 256, RFC_FEATURES_MAX = 1 << 20 }; /* different labels, and features, that a table may have */
#define RFC_NO_LABEL UINT32_MAX /* of an object whose class is not known */

/* ---- Tables ---- */

/* Texts. Start from {0}. */
typedef struct rfc_names {
    char **text;    /* one after the other */
    uint32_t count; /* how many there are */
} rfc_names;

/* Frees the texts; there are none then. */
RF_API void rfc_names_free(rfc_names *names);
/* The index of `text`, which is added if it is new. RFC_LABELS_MAX when there are too many or no memory. */
RF_API uint32_t rfc_names_intern(rfc_names *names, const char *text);
/* The index of `text`, or names->count. */
RF_API uint32_t rfc_names_find(const rfc_names *names, const char *text);
/* Adds a text at the end. Returns 0, or -1 without memory. */
RF_API int rfc_names_add(rfc_names *names, const char *text);

/* Numbers with a label per row. Start from {0}, with the number of features. */
typedef struct rfc_table {
    char source[512];       /* what messages call it */
    uint32_t rows;          /* how many there are */
    uint32_t features;      /* numbers of a row */
    uint32_t height, width; /* of an image, or 0 */
    size_t room;            /* rows there is room for */
    uint8_t *bytes;         /* rows × features; or, where a number was not a whole one from 0 to 255: */
    float *reals;           /* rows × features */
    uint8_t *missing;       /* rows × features, not 0 where it is; null when nothing is */
    rfc_names *categories;  /* by feature: its texts, of which its numbers are indices; null: all are numbers */
    uint8_t *is_category;   /* by feature, after coding: not 0 where bytes are codes of categories; null: nowhere */
    int is_ranked;          /* after coding: bytes are ranks or categories */
    uint32_t *label;        /* by row: an index of `labels`, after rfc_task_apply the class; or RFC_NO_LABEL */
    uint8_t *kind;          /* by row: which of the task's labels it had, where classes have several; null: they have
                               one each, or nobody knows */
    rfc_names labels;       /* each once */
    rfc_names names;        /* of features; empty where they have none */
    char label_name[128];   /* what the label's column was called; empty: nothing */
} rfc_table;

/* Frees what it holds; it is {0} then. */
RF_API void rfc_table_free(rfc_table *table);

/* Adds a row of numbers up to 1e30 in size, of which NaN is missing. Returns 0; or -1 and no row is added: a number is
   too large, there are RFC_LABELS_MAX labels before this one, or no memory. */
RF_API int rfc_table_add(rfc_table *table, const double value[], const char *label);

/* For readers of tables, which know a row bit by bit. Room for one more row. Returns 0, or -1 without memory. */
RF_API int rfc_table_grow(rfc_table *table);
/* Room for so many rows of bytes in a table that has none, on large pages where the system has them. Returns 0, or -1
 * without memory. */
RF_API int rfc_table_reserve(rfc_table *table, uint32_t rows);
/* Puts a finite number into row `row`, for which there is room. Returns 0, or -1 without memory. */
RF_API int rfc_table_put(rfc_table *table, size_t row, size_t feature, double value);
/* Marks a number as missing. Returns 0, or -1 without memory. */
RF_API int rfc_table_miss(rfc_table *table, size_t row, size_t feature);

/* Takes all labels away. Returns 0, or -1 without memory. */
RF_API int rfc_table_unlabel(rfc_table *table);

/* Appends the rows of `more`, both of bytes, whose labels and classes mean the same; it is emptied. */
RF_API int rfc_table_append(rfc_table *table, rfc_table *more, char *error, size_t size);

/* What feature `feature` is called: its name, or its number from 0 on, which is put into `number`. */
RF_API const char *rfc_table_feature(const rfc_table *table, uint32_t feature, char *number, size_t size);
/* The feature of that name or number; table->features when there is none. */
RF_API uint32_t rfc_table_find(const rfc_table *table, const char *text);

/* Digits drawn from strokes, 28 × 28 bytes, into an empty table; the first one has number `first`. The same bits
 * everywhere. */
RF_API int rfc_synthetic(uint64_t seed, uint32_t first, uint32_t count, rfc_table *table, char *error, size_t size);

/* ---- Labels to classes, numbers to bytes ---- */

/* Which labels make which class. */
typedef struct rfc_task {
    char name[64];                    /* as given */
    rfc_names classes;                /* their names */
    rfc_names labels;                 /* that the task names; empty: every label is a class of its own */
    uint8_t of_label[RFC_LABELS_MAX]; /* class of each of them */
    int digits_only;                  /* a label that is no digit is refused, not left out */
    int labels_must_occur;            /* in the training data */
} rfc_task;

/* A task by name (labels, zero-one, even-odd, digits), or, with a null name, from a text like
   "0,2,4:even 1,3,5:odd". */
RF_API int rfc_task_parse(const char *name, const char *classes, rfc_task *task, char *error, size_t size);
RF_API void rfc_task_free(rfc_task *task);

/* Turns the labels of `train`, and of `test` where it has rows, into classes, and drops the rows of other
   labels; their number is added to *left_out. There are two classes or more, and each has a row in train. */
RF_API int rfc_task_apply(rfc_task *task, rfc_table *train, rfc_table *test, uint64_t *left_out, char *error,
                          size_t size);

/* How numbers become bytes. */
typedef enum rfc_scaling { RFC_SCALE_AUTO, RFC_SCALE_SHARED, RFC_SCALE_EACH } rfc_scaling;

/* How the numbers of one table, and of others like it, become bytes. SHARED: one linear map for all features, as for the
   pixels of images; it is the identity where numbers are bytes and reach the upper half. EACH: a feature's rank among the
   table's values, 0 to 255, so that wild values and units change nothing; a category has a code of its own, the most
   frequent first, and the rarest of more than RFC_CATEGORIES_MAX share one. AUTO is SHARED for images and for tables
   without categories of which most features that vary span nearly the range of all (wild values aside). */
typedef struct rfc_coding rfc_coding;

enum { RFC_CATEGORIES_MAX = 128 };

/* Null with a message. */
RF_API rfc_coding *rfc_coding_make(const rfc_table *table, rfc_scaling wanted, char *error, size_t size);
RF_API void rfc_coding_free(rfc_coding *coding);
/* Turns a table's numbers into bytes; what is missing is marked and has the feature's mean, or its most frequent
   category. Returns 0, or -1 with a message. */
RF_API int rfc_coding_apply(const rfc_coding *coding, rfc_table *table, char *error, size_t size);
/* The byte of one number, or of one text. Returns 0; or -1 where a number is wanted and a text given, or the other way. */
RF_API int rfc_coding_number(const rfc_coding *coding, uint32_t feature, double value, uint8_t *byte);
RF_API int rfc_coding_text(const rfc_coding *coding, uint32_t feature, const char *text, uint8_t *byte);
RF_API rfc_scaling rfc_coding_scaling(const rfc_coding *coding);
/* By feature: its categories, the most frequent first; null: there are none. */
RF_API const rfc_names *rfc_coding_categories(const rfc_coding *coding);

/* A number that has this byte, in the data's units: of ranks the middle of the training values that share it. NaN for a
   category. */
RF_API double rfc_coding_value(const rfc_coding *coding, uint32_t feature, uint8_t byte);
/* The same as text, or the category. */
RF_API const char *rfc_coding_show(const rfc_coding *coding, uint32_t feature, uint8_t byte, char *text, size_t size);

/* Both tables by what `train` says alone (the test's may have no rows); *used says which scaling it was. */
RF_API int rfc_scale(rfc_table *train, rfc_table *test, rfc_scaling wanted, rfc_scaling *used, char *error,
                     size_t size);

/* ---- Training ---- */

/* Training vectors, laid out for the filters. */
typedef struct rfc_training rfc_training;

/* The training set of the rows chosen[0 .. count − 1] (null: the first `count`) of a table of bytes, whose labels are classes below `classes`. The table outlives it. Null with a message, also when a class has no
   row. */
RF_API rfc_training *rfc_training_open(const rfc_table *table, const uint32_t *chosen, uint32_t count, uint32_t classes,
                                       uint64_t seed, char *error, size_t size);
RF_API void rfc_training_close(rfc_training *training);

/* How many vectors it has, and the variance of each feature over them, in bytes². */
RF_API uint32_t rfc_training_count(const rfc_training *training);
RF_API const float *rfc_training_variance(const rfc_training *training);

/* 0 .. count − 1 in a random order: order number `number` of that seed. */
RF_API void rfc_shuffle(uint64_t seed, uint32_t number, uint32_t *order, uint32_t count);

/* ---- Rules ---- */

/* A weight for every training vector; or the paper's particles, accepted, rejected and replicated. */
typedef enum rfc_method { RFC_WEIGHTED, RFC_PAPER } rfc_method;
/* What a question should have most of: variance between classes; variance; mutual information; variance between classes
   in units of the feature's variance. */
typedef enum rfc_gain { RFC_BETWEEN, RFC_VARIANCE, RFC_MUTUAL, RFC_RATIO } rfc_gain;

/* How to ask and when to stop. Begin with rfc_rules_default. */
typedef struct rfc_rules {
    rfc_method method;   /* which filter */
    double stop;         /* stop when all classes but one have at most this probability together; 0 to 0.5 */
    uint32_t budget;     /* queries of an object, at most; from 1 on */
    double max_cost;     /* of the queries of an object */
    const float *cost;   /* by feature, from 0 on; null: 1 each */
    const uint32_t *group; /* by feature: features of a group (from 1 to the number of features) come together, for the
                              cost of the one that is asked first; 0: alone; null: all are alone. Weighted */
    const uint8_t *mask; /* by feature: not 0 where it may be asked; null: all may */
    double floor;        /* of σ, in units of the largest standard deviation of a feature; 0 to 100 */
    uint64_t seed;       /* of all random numbers */
    rfc_gain gain;       /* weighted: what a question is chosen by */
    double least_sample; /* weighted: effective sample size that tempering keeps; 1 to 1e6 */
    double most_sample;  /* weighted: where the effective sample is larger, evidence is sharpened; 1 to 1e6, */
    double sharpest;     /* by this factor at most; 1 to 8 */
    const double *prior; /* by class: factors of its odds, above 0; null: the training set's shares are the prior */
    const double *weight; /* by class: what an error costs where it is the truth, above 0, for decisions and the stop;
                             null: 1 each */
    int tries;             /* weighted: not 0: rfc_model_fit() takes smaller samples, or features that seem to tell
                              nothing, where the pilot loses less by them */
    int keeps_all;         /* weighted: not 0: features that seem to tell nothing may be asked, too */
    uint32_t pilot;        /* weighted: training objects that a model classifies to learn where to stop; 0: none */
    double calibration[3]; /* of probabilities: rfc_model_stop() sets it; zeros: the filter's own */
    uint32_t particles;  /* paper: how many; 2 to 60,000 */
    uint32_t restarts;   /* paper: that share the budget and vote; 1 to 1,000 */
} rfc_rules;

/* Stop at 0.001; ask for all features if need be, by weights for RFC_QUESTIONS of them. */
enum { RFC_QUESTIONS = 60 };
RF_API rfc_rules rfc_rules_default(rfc_method method, const rfc_training *training);

/* ---- Classifying ---- */

/* What is to be classified. */
typedef struct rfc_objects {
    const rfc_table *table; /* bytes; and classes as labels, or null where they are not known */
    const uint32_t *rows;   /* of the table; null: the first `count` */
    uint32_t count;         /* how many */
} rfc_objects;

/* The row of object i. */
static inline uint32_t rfc_objects_row(const rfc_objects *objects, uint32_t i)
{
    return objects->rows ? objects->rows[i] : i;
}

/* What became of one object. */
typedef struct rfc_answer {
    uint32_t decided; /* its class */
    uint32_t queries; /* how many features were asked */
    double cost;      /* of them */
    float *posterior; /* by class */
    uint32_t *asked;  /* features, in the order in which they were asked */
    float *story;     /* by query and class: the posterior after it */
} rfc_answer;

/* Classifies object `index`, into an answer whose arrays it allocates. The answer depends on training set, rules and
   object alone. Free them with rfc_answer_free. */
RF_API int rfc_classify_one(const rfc_training *training, const rfc_rules *rules, const rfc_objects *objects,
                            uint32_t index, rfc_answer *answer, char *error, size_t size);
RF_API void rfc_answer_free(rfc_answer *answer);

/* What became of many. Arrays are the caller's, and those that are null are not filled. */
typedef struct rfc_outcome {
    uint8_t *decided;      /* by object: its class */
    float *posterior;      /* by object and class */
    uint32_t **asked;      /* by object: features in order; each to be freed */
    uint32_t *queries;     /* by object */
    uint64_t *times_asked; /* by feature, which is added to */
    uint64_t errors;       /* objects of which another class was decided than they have */
    uint64_t all_queries;  /* of all objects */
    double all_cost;       /* of all queries */
    double all_doubt;      /* sum of what is left to the probabilities of the decided classes: the errors it expects */
} rfc_outcome;

/* Says how far it is; called by one thread only. */
typedef void rfc_progress(void *context, uint64_t done, uint64_t total);

/* Classifies all objects on so many threads, which have no effect on the answers. `progress` may be null. */
RF_API int rfc_classify(const rfc_training *training, const rfc_rules *rules, const rfc_objects *objects,
                        unsigned threads, rfc_progress *progress, void *context, rfc_outcome *outcome, char *error,
                        size_t size);

/* ---- Models: fitted once, used often ---- */

/* A training set that is ready for questions. */
typedef struct rfc_model rfc_model;

/* Makes a model: finds the features that tell anything, lays the vectors out, and, for the weighted method, classifies
   training objects (rules->pilot, 5,000 by default) by all others, to learn where to stop: rfc_model_stop(). Of tables
   it tries other rules the same way (rules->tries). The training set outlives it. `progress` may be null. Null with a message. */
RF_API rfc_model *rfc_model_fit(const rfc_training *training, const rfc_rules *rules, unsigned threads,
                                rfc_progress *progress, void *context, char *error, size_t size);
RF_API void rfc_model_close(rfc_model *model);
RF_API const rfc_rules *rfc_model_rules(const rfc_model *model);

/* What a stop should achieve: the fewest questions at nearly the least error that can be had; an error, or a mean number
   of questions, of at most `value`; or it is `value`. */
typedef enum rfc_goal { RFC_GOAL_BEST, RFC_GOAL_ERROR, RFC_GOAL_QUESTIONS, RFC_GOAL_STOP } rfc_goal;

/* What leave-one-out says of a stop. */
typedef struct rfc_expected {
    double stop;      /* what it is */
    double error;     /* share of objects that it gets wrong */
    double questions; /* of an object, on average */
    double cost;      /* of these */
} rfc_expected;

/* Sets the stop, and with it how probabilities are calibrated. Returns 0; 1 when the goal cannot be reached, and the
   stop is the nearest to it; -1 when the model knows of no trials. */
RF_API int rfc_model_stop(rfc_model *model, rfc_goal goal, double value, rfc_expected *expected);

/* The same with other limits: `budget` (0: as it is) and `max_cost`. */
RF_API int rfc_model_limit(rfc_model *model, uint32_t budget, double max_cost, rfc_goal goal, double value,
                           rfc_expected *expected);

/* rfc_classify() and rfc_classify_one() with a model. */
RF_API int rfc_model_classify(const rfc_model *model, const rfc_objects *objects, unsigned threads,
                              rfc_progress *progress, void *context, rfc_outcome *outcome, char *error, size_t size);
RF_API int rfc_model_classify_one(const rfc_model *model, const rfc_objects *objects, uint32_t index,
                                  rfc_answer *answer, char *error, size_t size);

/* What the model's bytes mean: the task; the names of features (their number where they have none) and of the label's
   column, as the training table has them; and how numbers become bytes, which it frees. Returns 0, or -1 without memory:
   then `coding` is the caller's still. */
RF_API int rfc_model_describe(rfc_model *model, const rfc_task *task, const rfc_table *table, rfc_coding *coding);
/* What the label's column was called; empty: nothing. */
RF_API const char *rfc_model_label(const rfc_model *model);
/* The class of a label, or RFC_NO_LABEL. */
RF_API uint32_t rfc_model_class(const rfc_model *model, const char *label);
RF_API const rfc_names *rfc_model_classes(const rfc_model *model);
RF_API const rfc_names *rfc_model_names(const rfc_model *model);
RF_API const rfc_coding *rfc_model_coding(const rfc_model *model);
RF_API uint32_t rfc_model_features(const rfc_model *model);

/* A model of the weighted method that was described, as bytes: versioned, checksummed, little-endian. Returns how many
   there are; they are written where there is room for them. */
RF_API size_t rfc_model_save(const rfc_model *model, void *bytes, size_t room);
/* The model in bytes that begin at a multiple of 64 and outlive it, as those of a mapped file do. Null with a message. */
RF_API rfc_model *rfc_model_load(const void *bytes, size_t count, char *error, size_t size);
/* A checksum of a model that was loaded: the one in its bytes. */
RF_API uint64_t rfc_model_checksum(const rfc_model *model);

/* ---- One object, live ---- */

/* What is known of an object: the answer to one question. */
typedef struct rfc_told {
    uint32_t feature;   /* its index */
    uint8_t value;      /* as rfc_coding_number() and _text() give it */
    uint8_t is_unknown; /* not 0: nobody can say; it is not asked again */
} rfc_told;

/* What to do next. */
typedef struct rfc_advice {
    uint32_t feature; /* to ask; RFC_NO_LABEL: none, decide */
    double cost;      /* of it */
    double gain;      /* what its answer should tell of the class, in bits */
    uint32_t decided; /* the class, as far as it is known */
    uint32_t queries; /* that were answered */
    double spent;     /* what they cost */
    int is_sure;      /* the stop is reached */
    const float *posterior; /* by class, until the next call */
} rfc_advice;

/* Gives advice, for one thread. */
typedef struct rfc_adviser rfc_adviser;

/* For a model of the weighted method, which outlives it. Null with a message. */
RF_API rfc_adviser *rfc_adviser_open(const rfc_model *model, char *error, size_t size);
RF_API void rfc_adviser_close(rfc_adviser *adviser);
/* The next question to an object of which `count` answers are known, in the order in which they came; it depends on
   them alone. Returns 0; or -1: a feature is out of range or there twice, and there is no advice. */
RF_API int rfc_adviser_next(rfc_adviser *adviser, const rfc_told told[], uint32_t count, rfc_advice *advice);

#ifdef __cplusplus
}
#endif

#endif
