/* A session: a model, what is believed of its parameters, who designs the experiments, and whether the belief still
   holds the truth. Ask it what to measure, tell it what was measured. It reads and prints nothing; different sessions
   may be used by different threads.

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
    rf_motion motion[RF_DESCRIBED_MAX]; /* how it moves, where that is no walk */
    int learns_drift;             /* the drifts are where it begins: how fast parameters walk is learnt */
    const char *belief;           /* "mixture", "particles:2000", ...; null: rf_config_belief */
    const rf_belief_kind *own;    /* a kind of belief of the caller's, which `belief` then names; else null */
    const char *design;           /* "auto", "risk", ...; null: settings come with the records */
    const rf_engine *engine;      /* null: serial */
    uint64_t seed;                /* the same seed and trial give the same session */
    uint32_t trial;               /* of several with one seed */
    int is_float;                 /* the filter's numbers: float, else double */
    uint32_t attempts;            /* of an update */
    uint32_t accepted_min;        /* 0: the default of rf64_options */
    rf_sampler sampler;           /* how attempts are drawn and judged */
    int strict;                   /* Algorithm 1 of the paper to the letter */
    double kappa;                 /* in units of the model's bound; 0: controlled, from 1 */
    double recovery;              /* as in rf64_options, and so is: */
    double shrink;                /* of one Gaussian's attempts */
    rf_on_lost on_lost;           /* what to do when tests fail */
    rf_on_health *on_health;      /* null: nobody is told */
    void *on_health_user;         /* given to it */
    long anchor_every;            /* one experiment of so many is an anchor; -1: as the design has it */
} rf_config;

/* The model's priors and drifts, its own or the automatic design, 128 weighted attempts a parameter, seed 1. */
RF_API rf_config rf_config_default(const rf_model *model);
/* The belief's name: as given, or else a mixture, which is one Gaussian where that is enough; and one Gaussian where the
   configuration asks for what only that has (another sampler, number of attempts, κ, float, strict), and for more than
   three parameters. */
RF_API const char *rf_config_belief(const rf_config *config);

/* How a parameter moves that does not walk. Reverting: to the level levels[0], about which it has the standard deviation levels[1] (in
   the chart) after a long time, with the correlation time times[0]. Telegraph: between the two levels, where it dwells for times[k] on
   average. Levels are in natural units. Fills `drift`, too. 0; -1: times or widths that are not positive, -2: levels that are one, or
   are not within the chart. */
RF_API int rf_motion_make(const rf_parameter *parameter, rf_motion_kind kind, const double levels[2], const double times[2], rf_motion *motion,
                          double *drift);

/* Can each parameter have its prior, in its chart? Returns a refusal, and in `parameter` whose prior it is about. */
RF_API rf_status rf_config_check(const rf_config *config, unsigned *parameter);

/* ---- Records and steps ---- */

/* One measurement. */
typedef struct rf_record {
    double setting[RF_DESCRIBED_MAX]; /* NaN after rf_session_ask: the one that was asked for */
    double outcome;               /* NaN: nothing was measured, and time passes all the same */
    double time;                  /* when, not before the record before; NaN: one unit after it */
    int is_anchor;                /* of a question: it tests the belief */
} rf_record;

/* What is known after an update, or after time that only passed. */
typedef struct rf_step {
    long step;                                                /* the latest record's number, from 0 */
    double time;                                              /* of the latest record; NaN: records have no times */
    uint32_t records;                                         /* learnt from in this step: 0 when only time passed */
    unsigned dim;                                             /* parameters */
    double truth[RF_DESCRIBED_MAX]; /* natural units, and so are all but those of the chart; NaN: not known */
    double mean[RF_DESCRIBED_MAX], sd[RF_DESCRIBED_MAX]; /* of all that is believed; of a periodic parameter circular */
    double low[RF_DESCRIBED_MAX], high[RF_DESCRIBED_MAX]; /* the 95 % interval; for others rf_session_quantile */
    double error[RF_DESCRIBED_MAX];                                         /* mean − truth */
    double chart_mean[RF_DESCRIBED_MAX], chart_sd[RF_DESCRIBED_MAX];        /* in the chart, as designs see it */
    double chart_error[RF_DESCRIBED_MAX];                                   /* in the chart, too */
    double chart_covariance[RF_DESCRIBED_MAX * (RF_DESCRIBED_MAX + 1) / 2]; /* by rows of the lower triangle */
    double setting[RF_DESCRIBED_MAX], outcome;                    /* of the latest record */
    rf64_report report;                                       /* of the update */
    const rf_belief *belief; /* all that is known, until the session changes */
    const char *form; /* what the belief is now: "gaussian", "mixture" or "particles"; null where it is always the same */
    rf_health health;                                         /* what the tests say */
    int is_tested;              /* this step's outcomes tested the belief: 1 it failed, -1 it passed, 0 no test */
    uint32_t widened, restarts; /* since the start */
    double log_evidence, log_evidence_variance; /* of all records so far */
    double drift[RF_DESCRIBED_MAX];             /* standard deviation of a step of each parameter's walk, as believed now; */
    double drift_spread;                        /* ln of the factor by which a learnt one has varied of late; 0: not learnt */
    double loss;                                /* what the updates so far lost by the belief's shape, in nats */
    int is_coarse;                              /* so much of it still matters that intervals may be wrong */
    unsigned events;                            /* of a simulated world: bits as in world.h */
    double seconds;                             /* spent in the update, where somebody measured it */
} rf_step;

/* ---- Sessions ---- */

/* Opaque. */
typedef struct rf_session rf_session;

/* A session at its prior. Null with a one-line message in `error`. */
RF_API rf_session *rf_session_open(const rf_config *config, char *error, size_t size);
/* Frees it; null is fine. The engine and the model stay the caller's. */
RF_API void rf_session_close(rf_session *session);
/* Another session in the same state. Null when memory is short. */
RF_API rf_session *rf_session_copy(const rf_session *session);

/* The next `count` experiments, 1 to RF_ASK_MAX: fills setting and is_anchor; outcome and time become NaN. They are
   what the belief wants after one unit of time per experiment; anchors are among the first 32. Asking again forgets the questions before. Refused: no
   design. */
RF_API rf_status rf_session_ask(rf_session *session, uint32_t count, rf_record questions[]);
/* Forgets the questions: they were never asked. */
RF_API void rf_session_unask(rf_session *session);

/* Learns from 1 to RF_BATCH_MAX records at once; after rf_session_ask they answer its questions, in order. Time passes
   up to the last of them. All or nothing: a negative status is a refusal, and then nothing has changed. Else notes, as
   rf64_update has. When lost, acts as on_lost says. A null step is not filled. */
RF_API rf_status rf_session_tell(rf_session *session, const rf_record records[], uint32_t count, rf_step *step);

/* Would rf_session_tell take them? Nothing changes. */
RF_API rf_status rf_session_try(rf_session *session, const rf_record records[], uint32_t count);

/* The belief goes back to its prior. */
RF_API rf_status rf_session_restart(rf_session *session);

/* It goes on from the posterior of another run, or from a prior with correlations: 1 to RF_GAUSSIANS_TOGETHER Gaussians, in
   the charts of its parameters (rf_belief_gaussians). The configuration's prior stays what it restarts from, and how wide it
   may become. Refused, and nothing changed: what are no Gaussians, and correlations on a grid of two parameters. */
RF_API rf_status rf_session_begin(rf_session *session, const rf_gaussian parts[], uint32_t count);

/* Time passes without a record. */
RF_API rf_status rf_session_pass(rf_session *session, double elapsed);

/* What is known now. */
RF_API void rf_session_show(const rf_session *session, rf_step *step);
/* The value of a parameter, in natural units, with probability p below it. Of a periodic one it is counted from half a period
   below the mean. */
RF_API double rf_session_quantile(const rf_session *session, unsigned parameter, double p);
/* Adds the truth to a step, where it is known: natural units; NaN: not known. */
RF_API void rf_session_show_truth(const rf_session *session, const double truth[], rf_step *step);
/* The belief itself, until the next call that changes the session. */
RF_API const rf_belief *rf_session_belief(const rf_session *session);
/* What it was opened with. */
RF_API const rf_config *rf_session_config(const rf_session *session);
/* Takes over design, drift, attempts, accepted_min, kappa, on_lost and anchor_every; the rest stays as it was opened.
   Forgets questions. Refused, and nothing changed: a design that there is not. */
RF_API rf_status rf_session_change(rf_session *session, const rf_config *config);

/* The session as bytes, the same on every machine, without questions under way: how many; and if `bytes` is not null,
   written there. */
RF_API size_t rf_session_save(const rf_session *session, unsigned char *bytes);
/* And back, into a session that was opened alike. 0, or -1 and nothing changed. */
RF_API int rf_session_load(rf_session *session, const unsigned char *bytes, size_t size);

/* A number that is the same for configurations that give the same run from the same records, learnt from `batch` at a time;
   of the model its description counts. */
RF_API uint64_t rf_config_fingerprint(const rf_config *config, uint32_t batch);
/* A number that tells records apart: that of those before, from 0 on, and of one more. */
RF_API uint64_t rf_record_hash(uint64_t hash, const rf_record *record, unsigned settings);
/* The hash of those before, and of more bytes (FNV-1a). */
RF_API uint64_t rf_hash(uint64_t hash, const void *bytes, size_t count);

/* ---- Simulation: a truth that walks, measurements of it, and a session that follows ---- */

/* What is simulated. */
typedef struct rf_simulation {
    rf_config config;      /* of each trial's session */
    long steps;            /* measurements */
    uint32_t batch;        /* of them that are asked for and learnt from together, 1 to RF_ASK_MAX */
    rf_world world;        /* where it differs from what is believed */
    int is_truth_gaussian; /* the truth is drawn from the belief's Gaussian, not from the prior that it stands for */
} rf_simulation;

/* Called after each step of each trial; a non-zero answer ends the simulation. */
typedef int rf_observer(void *user, uint32_t trial, const rf_step *step);

/* Runs trials first .. first + count − 1, one after the other. A negative status is a refusal. */
RF_API rf_status rf_simulate(const rf_simulation *simulation, uint32_t first, uint32_t count, rf_observer *observer,
                             void *user);

/* ---- Records that belong together ---- */

/* Groups a stream of records into updates: up to `together` of them, or all those in a row with the same id. */
typedef struct rf_batch {
    uint32_t together;              /* without ids */
    uint32_t count;                 /* records so far */
    uint64_t id;                    /* of them; 0: none */
    rf_record record[RF_BATCH_MAX]; /* of which the first `count` belong together */
} rf_batch;

/* What became of a record. */
typedef enum rf_batch_state {
    RF_BATCH_OPEN,  /* taken; more may follow */
    RF_BATCH_WHOLE, /* taken; it is complete */
    RF_BATCH_NEXT,  /* not taken: it begins the next batch. Learn from this one, set count to 0, add it again */
    RF_BATCH_FULL   /* not taken: more than RF_BATCH_MAX records have this id */
} rf_batch_state;

/* Adds a record with its id, 0 for none. A record without an outcome is a batch of its own. */
RF_API rf_batch_state rf_batch_add(rf_batch *batch, const rf_record *record, uint64_t id);

/* ---- Many sessions ---- */

/* Sessions of one configuration, with any belief and design, that are asked and told together. Session i is that of trial i:
   it gives the bits of a session that is opened with that trial. The engine's threads share the sessions; every MPI rank
   has all of them. Opaque. */
typedef struct rf_sessions rf_sessions;

/* `count` of them. Null with a one-line message in `error`. */
RF_API rf_sessions *rf_sessions_open(const rf_config *config, uint32_t count, char *error, size_t size);
/* Frees them; null is fine. */
RF_API void rf_sessions_close(rf_sessions *sessions);
/* One of them, to be read, saved and loaded; null past the last. */
RF_API rf_session *rf_sessions_at(const rf_sessions *sessions, uint32_t index);

/* The next experiment of sessions 0 to count − 1, or with `which` of which[0], which[1], ...: no session comes twice. */
RF_API rf_status rf_sessions_ask(rf_sessions *sessions, const uint32_t which[], uint32_t count, rf_record questions[]);
/* A record for each of them, as rf_session_tell. `steps` has room for `count`, or is null. Returns the notes of all. A negative
   status is a refusal. Records are checked first: if one of them is refused, nothing has changed. If the model fails later on,
   the sessions whose step has a negative report.status have not changed. */
RF_API rf_status rf_sessions_tell(rf_sessions *sessions, const uint32_t which[], uint32_t count, const rf_record records[],
                                  rf_step steps[]);

#ifdef __cplusplus
}
#endif
#endif
