/* The contents of a session. */
#ifndef REJFILT_SESSION_STATE_H
#define REJFILT_SESSION_STATE_H

#include "rejfilt/session.h"

#define RF_BITS 64
#include "rejfilt/detail/precision.h"
#include "health.h"
#undef RF_BITS
#ifdef RF_PRECISION
#define RF_BITS RF_PRECISION
#else
#define RF_BITS 0
#endif
#include "rejfilt/detail/precision.h"
#undef RF_BITS

#define UPDATES_MAX (0xffffffffu - 8) /* of a belief: a record takes one number, a reaction of health another */

enum { ANCHORS_MAX = 32 }; /* per batch: bits of rf_moving.anchors */

#define USUAL_STEPS 8.0 /* in steps of the drift from record to record: a belief may be this wide even if its prior is narrower */

/* The learnt speeds of parameter walks: learning.c. */
typedef struct rf_learning {
    double factor[RF_ROOM]; /* ln of the factor on the variance of a step */
    double trend[RF_ROOM];  /* running sum of the directions in which the mean moved */
    double mean, square;             /* running averages of the first learnt factor and its square */
    uint32_t pending;                /* the latest anchor failed */
} rf_learning;

/* State that changes from record to record, besides the belief. */
typedef struct rf_moving {
    uint64_t records;     /* number told so far */
    uint32_t experiments; /* asked for or told, from the start */
    uint32_t asked;       /* pending questions */
    uint32_t anchors;     /* bit k: question k, or record k, is an anchor */
    int is_capped;        /* a pending question is at the end of a setting's range */
    double time;          /* of the last record; NaN: none had a time */
    double interval;      /* time that passed before the last record; 1 until there are two records at different times */
    double kappa;         /* of the next update */
    rf64_watch watch;
    rf64_evidence evidence;
    double held_for;          /* time since `held` was stored */
    rf_learning learning;
    double loss; /* nats, sum over all updates */
    uint32_t is_begun; /* the belief came from rf_session_begin: no parameter is kept within the configuration's prior */
    uint32_t is_doubted; /* a test has failed, and the cause is undecided */
    double doubt;        /* nats by which the belief explains later records better than the unshaken one */
} rf_moving;

struct rf_session {
    rf_config *config; /* own copy */
    rf_problem *problem; /* of the configuration; on a GPU shared by all sessions */
    rf64_model model; /* without charts; the problem has them */
    const rf64_design *design;
    uint32_t anchor_every;
    rf64_options options; /* except κ */
    double prior_sd[RF_ROOM]; /* of the belief at its beginning, */
    double exact_sd[RF_ROOM]; /* and of the prior itself */
    double usual_sd[RF_ROOM]; /* the larger of the prior's and what the drift needs; changes with the interval */
    double widest_sd[RF_ROOM]; /* greatest width of a belief, */
    double widened_sd[RF_ROOM]; /* and of one that failed tests widen: that of the prior, if the parameter stands still */
    rf_belief *belief;
    rf_belief *ahead; /* a copy: while questions are pending, the belief after ahead_by of time; else for the next
                         update */
    double ahead_by;
    rf_belief *held; /* the belief before outcomes stopped varying; restored after a fault */
    rf_belief *unshaken; /* during doubt: the belief as if no test had failed */
    rf_moving now, asked; /* asked: the state before pending questions */
    double *question; /* settings of pending questions, rf_question_size each */
    uint32_t room;    /* most questions in that memory */
    int is_open;
    int is_tried; /* the model, with the settings of the first record */
};

/* Numbers per question; at least 1, since a model may have no settings. */
static inline size_t rf_question_size(const rf_session *s) { return s->model.settings + 1u; }

/* Calls the design's function; GPU code calls it by name. */
#ifndef RF_DEVICE_KIND
#define rf_choose(design, in, setting) (design)->choose(in, setting)
#endif

/* The kind of a parameter's motion; GPU code has random walks only. */
#ifndef RF_MOTION_KIND
#define RF_MOTION_KIND(motion) ((motion)->kind)
#endif

/* Returns 0 if a session can be opened with this configuration, as far as its own numbers and names say; else -1 with one line. */
int rf_config_refuse(const rf_config *config, char *error, size_t size);

/* Sets the ranges that parameters do not leave: of their uniform priors, if they stand still; none after rf_session_begin. */
void rf_session_set_ranges(rf_session *session);

/* Fills the problem from a configuration. */
void rf_session_settle(rf_problem *problem, const rf_config *config);

/* Resets everything but the belief, which must be at its prior. Refuses a belief that cannot follow the parameters'
   motion. */
rf_status rf_session_start(rf_session *session);

/* Sets usual_sd and widest_sd: call it when the drift or the interval has changed. */
void rf_session_set_widths(rf_session *session);

/* The seed of a trial: of its belief and of its world. */
uint64_t rf_session_seed(uint64_t seed, uint32_t trial);

/* Moves the belief by `elapsed` time: by the model's dynamics, or each parameter by its motion. */
rf_status rf_session_drift(const rf_session *session, rf_belief *belief, double elapsed);

/* Does parameter i stand still? */
int rf_motion_is_still(const rf_config *config, unsigned i);
/* Do all `dim` parameters? */
int rf_motion_all_still(const rf_config *config, unsigned dim);

/* Places switching parameters at either level. */
rf_status rf_motion_begin(const rf_session *session, rf_belief *belief);

/* F and Q of a mean-reverting parameter, and the shift of its mean. */
void rf_motion_revert(const rf_motion *motion, double elapsed, double *f, double *q, double *shift);

/* Probability of being at the other level after `elapsed`, from each level. */
void rf_motion_switch(const rf_motion *motion, double elapsed, double chance[2]);

/* After an update with `count` records of this joint probability: raises or lowers the learnt drift. before, after: means. */
void rf_learning_step(rf_session *session, const double before[], const double after[], uint32_t count, double log_probability);

/* Standard deviation of a step of parameter i's walk, as learnt so far. */
double rf_learning_drift(const rf_session *session, unsigned i);

/* Are the update numbers of this seed used up? */
int rf_session_is_used_up(const rf_session *session);

/* Would rf_session_tell accept this record? Checks without an update. */
rf_status rf_session_check(const rf_session *session, const rf_record *record);

/* rf_session_show_truth with truths in the chart. */
void rf_session_show_chart_truth(const rf_session *session, const double truth[], rf_step *step);

#endif
