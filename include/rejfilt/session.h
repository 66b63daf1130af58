/* A session: a model, the belief about its parameters, a designer of experiments, and tests of the belief's health. Ask
   it what to measure; tell it what was measured. It reads no files and prints nothing. Different threads may use
   different sessions.

       rf_config config = rf_config_default(rf_model_find("precession"));
       rf_session *session = rf_session_open(&config, error, sizeof error);
       for (;;) {
           rf_record record;
           rf_step step;
           rf_session_ask(session, 1, &record);               // fills record.setting
           record.outcome = measure(record.setting);
           rf_session_tell(session, &record, 1, &step);       // step.mean, step.low, step.high, step.health, ...
       } */
#ifndef REJFILT_SESSION_H
#define REJFILT_SESSION_H

#include "belief.h"
#include "health.h"
#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Configuration ---- */

enum { RF_BATCH_MAX = 1024, RF_ASK_MAX = RF_BATCH_MAX }; /* records told together; questions asked together */

struct rf_step;

/* Called when health has changed. */
typedef void rf_on_health(void *user, rf_health before, const struct rf_step *step);

/* What a session is opened with. Begin with rf_config_default. Everything it points to outlives the session. */
typedef struct rf_config {
    const rf_model *model;        /* what is measured */
    rf_description description;   /* the model's; charts, ranges and costs may be changed */
    rf_prior prior[RF_DESCRIBED_MAX]; /* one per parameter */
    double drift[RF_DESCRIBED_MAX];   /* standard deviation of a parameter's step per unit of time, in the chart */
    rf_motion motion[RF_DESCRIBED_MAX]; /* the motion of parameters that do not walk */
    int learns_drift;             /* learn how fast parameters drift, starting from `drift` */
    const char *belief;           /* "mixture", "particles:2000", ...; null: rf_config_belief */
    const rf_belief_kind *own;    /* the caller's own kind of belief, named by `belief`; or null */
    const char *design;           /* "auto", "risk", ...; null: records come with their settings */
    const rf_engine *engine;      /* null: serial */
    uint64_t seed;                /* the same seed and trial give the same session */
    uint32_t trial;               /* number of the trial, if several share a seed */
    int is_float;                 /* compute in float, else in double */
    uint32_t attempts;            /* per update */
    uint32_t accepted_min;        /* 0: the default of rf64_options */
    rf_sampler sampler;           /* how attempts are drawn and judged */
    int strict;                   /* Algorithm 1 of the paper to the letter */
    double kappa;                 /* in units of the model's bound; 0: controlled, from 1 */
    double recovery;              /* as in rf64_options */
    double shrink;                /* as in rf64_options; one Gaussian only */
    rf_on_lost on_lost;           /* what to do when tests fail */
    rf_on_health *on_health;      /* called when health changes; may be null */
    void *on_health_user;         /* its first argument */
    long anchor_every;            /* one in this many experiments is an anchor; 0: none; -1: the design's default */
    uint32_t told;                /* options set by name: a bit for each row of the table */
    const char *because;          /* set by rf_config_complete: the option that chose the belief, or null */
} rf_config;

/* Defaults: the model's priors and drifts, its own design or `auto`, 128 weighted attempts per parameter, seed 1. */
RF_API rf_config rf_config_default(const rf_model *model);
/* Returns the name of the belief: `belief` if it is set. Otherwise "mixture", or "gaussian" for more than three parameters
   that move, and for options that mean one Gaussian: sampler, attempts, kappa, shrink, precision, strict. */
RF_API const char *rf_config_belief(const rf_config *config);

/* Fills `motion` and `drift` of a parameter that does not walk. RF_MOTION_REVERTING: centre levels[0], stationary standard deviation
   levels[1] (in the chart), correlation time times[0]. RF_MOTION_TELEGRAPH: two levels, with mean dwell times times[k]. Levels are in
   natural units. Returns 0; -1 if a time or width is not positive; -2 if the levels are equal or outside the chart. */
RF_API int rf_motion_make(const rf_parameter *parameter, rf_motion_kind kind, const double levels[2], const double times[2], rf_motion *motion,
                          double *drift);

/* ---- Options by name: one table for command, configuration files, Python and checkpoints ---- */

/* An option of a configuration. */
typedef struct rf_option {
    const char *name;         /* "on-lost" */
    const char *argument;     /* name of the value in a help; null: a flag, `yes` or `no` */
    const char *help;         /* lines of at most 60 characters */
    const char *const *names; /* the words it takes, ending in null; or null */
    int is_list;              /* may be set several times: "NAME=VALUE" for each parameter or setting */
} rf_option;

/* The option of this index, or NULL past the last; the option of this name, or NULL. */
RF_API const rf_option *rf_option_at(unsigned index);
RF_API const rf_option *rf_option_find(const char *name);

/* Sets an option from text: rf_config_set(&config, "prior", "x=0:1", ...). The text must outlive the configuration. Charts come before
   what is within them. Returns 0, or -1 and one line in `error`, with nothing changed. */
RF_API int rf_config_set(rf_config *config, const char *name, const char *value, char *error, size_t size);

/* After the last option: gives those that were not set the values that follow from the others. With `strict`, rejection, 100 attempts,
   no tests and the design pgh; 1,000 attempts with other samplers; the belief as rf_config_belief says. */
RF_API void rf_config_complete(rf_config *config);
/* The name of the option that means one Gaussian, if no belief was set and one does; else NULL. */
RF_API const char *rf_config_because(const rf_config *config);

/* Who reads a configuration. */
typedef enum rf_readers {
    RF_FOR_STEPS = 1,  /* a session: record by record */
    RF_FOR_PASSES = 2, /* rf_passes */
    RF_FOR_ALL = 4     /* rf_config_text: all options, also those that nobody reads */
} rf_readers;

/* Checks priors, and that every option that was set is read in such a run. Returns 0, or -1 and one line in `error` that begins with the
   option's name. */
RF_API int rf_config_check(const rf_config *config, rf_readers use, char *error, size_t size);

/* Gives those that nobody reads their default; a checkpoint from before may have others. */
RF_API void rf_config_forget(rf_config *config, rf_readers use);

/* Writes the options as lines "name = value", then sections [parameter NAME] and [setting NAME]; rf_config_set reads the values back.
   Those that nobody reads are left out. Returns the number of characters; what does not fit into `size` is left out. */
RF_API size_t rf_config_text(const rf_config *config, rf_readers use, char *text, size_t size);

/* ---- Records and steps ---- */

/* One measurement. */
typedef struct rf_record {
    double setting[RF_DESCRIBED_MAX]; /* in an answer to rf_session_ask, NaN means the setting that was asked for */
    double outcome;               /* NaN: nothing was measured; time still passes */
    double time;                  /* must not decrease; NaN: one unit after the record before */
    int is_anchor;                /* set by rf_session_ask: this experiment tests the belief */
} rf_record;

/* The state after an update, or after time passed without one. */
typedef struct rf_step {
    long step;                                                /* the latest record's number, from 0 */
    double time;                                              /* of the latest record; NaN: records have no times */
    uint32_t records;                                         /* used in this step; 0 when only time passed */
    unsigned dim;                                             /* parameters */
    /* Natural units, except fields named chart_. */
    double truth[RF_DESCRIBED_MAX];                       /* NaN: unknown */
    double mean[RF_DESCRIBED_MAX], sd[RF_DESCRIBED_MAX];  /* of the posterior; circular for periodic parameters */
    double low[RF_DESCRIBED_MAX], high[RF_DESCRIBED_MAX]; /* the 95 % interval; rf_session_quantile gives others */
    double error[RF_DESCRIBED_MAX];                                         /* mean − truth */
    double chart_mean[RF_DESCRIBED_MAX], chart_sd[RF_DESCRIBED_MAX];        /* what designers use */
    double chart_error[RF_DESCRIBED_MAX];                                   /* chart_mean − the truth's coordinate */
    double chart_covariance[RF_DESCRIBED_MAX * (RF_DESCRIBED_MAX + 1) / 2]; /* by rows of the lower triangle */
    double setting[RF_DESCRIBED_MAX], outcome;                    /* of the latest record */
    rf64_report report;                                       /* of the update */
    const rf_belief *belief; /* valid until the session changes */
    rf_health health;                                         /* result of the tests so far */
    int is_tested;              /* this step's test: 1 failed, -1 passed, 0 none */
    uint32_t widened, restarts; /* counts since the start */
    double log_evidence, log_evidence_variance; /* of all records so far */
    double drift[RF_DESCRIBED_MAX];             /* present standard deviation of a drift step of each parameter */
    double drift_spread;                        /* recent variation of a learnt drift, as ln of a factor; 0: not learnt */
    double loss;                                /* nats that updates have lost by approximating the posterior */
    int is_coarse;                              /* the loss is so large that intervals may be wrong */
    unsigned events;                            /* simulation only: bits of world.h */
    double seconds;                             /* time of the update, if measured */
} rf_step;

/* ---- Sessions ---- */

/* Opaque. */
typedef struct rf_session rf_session;

/* Tries the configuration's model with these settings, or with several if `setting` is null (rf64_instance_check). Returns 0, or -1 with
   one line in `error`: what a session says that refuses its first record with RF_REFUSED_MODEL. */
RF_API int rf_config_try(const rf_config *config, const double setting[], char *error, size_t size);

/* Opens a session at its prior, if its model passes. Returns NULL and fills `error` with one line on failure. */
RF_API rf_session *rf_session_open(const rf_config *config, char *error, size_t size);
/* Frees the session; NULL is allowed. Engine and model remain the caller's. */
RF_API void rf_session_close(rf_session *session);
/* Returns a copy in the same state, or NULL if memory is short. */
RF_API rf_session *rf_session_copy(const rf_session *session);

/* Fills `setting` and `is_anchor` of the next `count` experiments, 1 to RF_ASK_MAX; outcome and time become NaN. As much
   time as before the last record is assumed to pass per experiment; one unit until records have times. Anchors are among
   the first 32. Asking again forgets earlier questions. Refused: a session without a design. */
RF_API rf_status rf_session_ask(rf_session *session, uint32_t count, rf_record questions[]);
/* Forgets the questions, as if they had never been asked. */
RF_API void rf_session_unask(rf_session *session);

/* Updates with 1 to RF_BATCH_MAX records at once. After rf_session_ask they answer its questions, in order. Time
   advances to the last record. A negative status means refused, and nothing has changed; otherwise the status has the
   notes of rf64_update. If tests fail, on_lost decides what happens. `step` may be NULL. */
RF_API rf_status rf_session_tell(rf_session *session, const rf_record records[], uint32_t count, rf_step *step);

/* The same, but fills only report, records, setting, outcome, health, is_coarse and is_tested of `step`. This saves a few
   hundred instructions. rf_session_show fills the rest. */
RF_API rf_status rf_session_tell_briefly(rf_session *session, const rf_record records[], uint32_t count, rf_step *step);

/* Returns what rf_session_tell would return; changes nothing. */
RF_API rf_status rf_session_try(rf_session *session, const rf_record records[], uint32_t count);

/* Sets the belief back to its prior. */
RF_API rf_status rf_session_restart(rf_session *session);

/* Starts from the posterior of another run or from a correlated prior: 1 to RF_GAUSSIANS_TOGETHER Gaussians in the charts
   (rf_belief_gaussians). They may lie outside the configuration's prior; restarts return to it, and the limit on widening is
   still its own. Refused, with nothing
   changed: invalid Gaussians, and correlations on a grid of two parameters. */
RF_API rf_status rf_session_begin(rf_session *session, const rf_gaussian parts[], uint32_t count);

/* Lets time pass without a record. */
RF_API rf_status rf_session_pass(rf_session *session, double elapsed);

/* Fills `step` with the present state. */
RF_API void rf_session_show(const rf_session *session, rf_step *step);
/* The p-quantile of a parameter, in natural units. For a periodic parameter probability counts from half a period below the
   mean. */
RF_API double rf_session_quantile(const rf_session *session, unsigned parameter, double p);
/* Adds the known truth to a step, in natural units; NaN: unknown. */
RF_API void rf_session_show_truth(const rf_session *session, const double truth[], rf_step *step);
/* The belief; valid until the next call that changes the session. */
RF_API const rf_belief *rf_session_belief(const rf_session *session);
/* The configuration it was opened with. */
RF_API const rf_config *rf_session_config(const rf_session *session);
/* Changes design, drift, attempts, accepted_min, kappa, on_lost and anchor_every; nothing else. Forgets questions.
   Refused, with nothing changed: an unknown design. */
RF_API rf_status rf_session_change(rf_session *session, const rf_config *config);

/* Writes the session to `bytes`, unless that is NULL, and returns the number of bytes. They are the same on every machine;
   pending questions are left out. */
RF_API size_t rf_session_save(const rf_session *session, unsigned char *bytes);
/* Reads those bytes into a session opened with the same configuration. Returns 0, or -1 with nothing changed. */
RF_API int rf_session_load(rf_session *session, const unsigned char *bytes, size_t size);

/* A hash of the configuration: equal hashes give the same run from the same records, `batch` per update. Of the model only
   the description is hashed. */
RF_API uint64_t rf_config_fingerprint(const rf_config *config, uint32_t batch);
/* Adds a record to the hash of the records before it; start with 0. */
RF_API uint64_t rf_record_hash(uint64_t hash, const rf_record *record, unsigned settings);
/* Adds bytes to a hash (FNV-1a). */
RF_API uint64_t rf_hash(uint64_t hash, const void *bytes, size_t count);

/* ---- Simulation: a truth that walks, measurements of it, and a session that follows ---- */

/* What is simulated. */
typedef struct rf_simulation {
    rf_config config;      /* of each trial's session */
    long steps;            /* measurements */
    uint32_t batch;        /* measurements per update, 1 to RF_ASK_MAX */
    rf_world world;        /* how the simulated world differs from the model */
    int is_truth_gaussian; /* draw the truth from the belief's first Gaussian instead of the prior */
} rf_simulation;

/* Called after each step of each trial; return non-zero to stop the simulation. */
typedef int rf_observer(void *user, uint32_t trial, const rf_step *step);

/* Is the simulated world possible: truths within their charts, detectors stuck at outcomes of the model, events before the
   last measurement? Returns 0, or -1 and one line in `error`: "truth: parameter p of coin cannot be there". */
RF_API int rf_simulation_check(const rf_simulation *simulation, char *error, size_t size);

/* Runs trials first .. first + count − 1 in order. A negative status means refused. */
RF_API rf_status rf_simulate(const rf_simulation *simulation, uint32_t first, uint32_t count, rf_observer *observer,
                             void *user);

/* ---- Records that belong together ---- */

/* Groups a stream of records into updates: `together` records each, or consecutive records with the same id. */
typedef struct rf_batch {
    uint32_t together;              /* records per update, for records without an id */
    uint32_t count;                 /* records so far */
    uint64_t id;                    /* id of these records; 0: none */
    rf_record record[RF_BATCH_MAX]; /* the first `count` are used */
} rf_batch;

/* What became of a record. */
typedef enum rf_batch_state {
    RF_BATCH_OPEN,  /* taken; more may follow */
    RF_BATCH_WHOLE, /* taken; the batch is complete */
    RF_BATCH_NEXT,  /* not taken: it begins the next batch. Tell this one, set count to 0, add the record again */
    RF_BATCH_FULL   /* not taken: more than RF_BATCH_MAX records have this id */
} rf_batch_state;

/* Adds a record; `id` is 0 for none. A record without an outcome is a batch by itself. */
RF_API rf_batch_state rf_batch_add(rf_batch *batch, const rf_record *record, uint64_t id);

/* ---- Many sessions ---- */

/* Sessions with one configuration, any belief and any design, asked and told together. Session i gives the same bits as a
   session opened with trial = i. The engine's threads share the work; every MPI rank has all sessions. Opaque. */
typedef struct rf_sessions rf_sessions;

/* Opens `count` sessions. Returns NULL and fills `error` with one line on failure. */
RF_API rf_sessions *rf_sessions_open(const rf_config *config, uint32_t count, char *error, size_t size);
/* Frees them; NULL is allowed. */
RF_API void rf_sessions_close(rf_sessions *sessions);
/* Session `index`, to read, save or load it; NULL past the last. */
RF_API rf_session *rf_sessions_at(const rf_sessions *sessions, uint32_t index);

/* Asks for one experiment of sessions 0 to count − 1, or of which[0], which[1], ... if `which` is not NULL; they must
   differ. */
RF_API rf_status rf_sessions_ask(rf_sessions *sessions, const uint32_t which[], uint32_t count, rf_record questions[]);
/* Tells each session one record, as rf_session_tell does. `steps` has room for `count`, or is NULL. Returns the notes of
   all. All records are checked first: if one is refused, nothing has changed and the status is negative. If the model
   fails later, sessions whose step has a negative report.status have not changed. */
RF_API rf_status rf_sessions_tell(rf_sessions *sessions, const uint32_t which[], uint32_t count, const rf_record records[],
                                  rf_step steps[]);

#ifdef __cplusplus
}
#endif
#endif
