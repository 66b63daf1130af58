/* What a session is made of. */
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

enum { ANCHORS_MAX = 32 }; /* of a batch: bits of rf_moving.anchors */

#define USUAL_STEPS 8.0 /* of the drift: a belief may be as wide as that even if its prior is narrower */

/* How fast parameters walk, as learnt: learning.c. */
typedef struct rf_learning {
    double factor[RF_ROOM]; /* ln of what the variance of a step is multiplied by */
    double trend[RF_ROOM];  /* running sum of the directions in which the mean moved */
    double mean, square;             /* running ones of the first factor that is learnt */
    uint32_t pending;                /* the latest anchor failed */
} rf_learning;

/* State that changes from record to record, besides the belief. */
typedef struct rf_moving {
    uint64_t records;     /* told so far */
    uint32_t experiments; /* asked for or given, from the start */
    uint32_t asked;       /* questions under way */
    uint32_t anchors;     /* bit k: question k, or record k, is an anchor */
    int is_capped;        /* a pending question is at the end of a setting's range */
    double time;          /* of the latest record; NaN: none had one */
    double kappa;         /* of the next update */
    rf64_watch watch;
    rf64_evidence evidence;
    double held_for;          /* time since what is held */
    rf_learning learning;
    double loss; /* nats, of all updates */
    uint32_t is_doubted; /* a test has failed, and it is not clear yet whether rightly */
    double doubt;        /* nats by which the belief explains the records since better than the unshaken one does */
} rf_moving;

struct rf_session {
    rf_config *config; /* its own, */
    rf_problem *problem; /* and what that is about; on a GPU those of all */
    rf64_model model; /* without charts, which are the problem's */
    const rf64_design *design;
    uint32_t anchor_every;
    rf64_options options; /* but for κ */
    double prior_sd[RF_ROOM];
    double usual_sd[RF_ROOM]; /* the prior's, or what the drift needs */
    double widest_sd[RF_ROOM]; /* no belief is wider */
    rf_belief *belief;
    rf_belief *ahead; /* a copy: of the belief after ahead_by of time while questions are under way, else for the next
                         update */
    double ahead_by;
    rf_belief *held; /* what was believed before outcomes became all alike: a fault goes back to it */
    rf_belief *unshaken; /* while it is doubted: what would be believed if no test had failed */
    rf_moving now, asked; /* and, while questions are under way, what was before them */
    double *question; /* settings of those under way, rf_question_size for each, */
    uint32_t room;    /* of so many */
    int is_open;
};

/* Room for its settings, of which there may be none. */
static inline size_t rf_question_size(const rf_session *s) { return s->model.settings + 1u; }

/* The design chooses; what is compiled for a GPU calls each by its name. */
#ifndef RF_DEVICE_KIND
#define rf_choose(design, in, setting) (design)->choose(in, setting)
#endif

/* How a parameter moves; what is compiled for a GPU has walks alone. */
#ifndef RF_MOTION_KIND
#define RF_MOTION_KIND(motion) ((motion)->kind)
#endif

/* What a configuration is about. */
void rf_session_settle(rf_problem *problem, const rf_config *config);

/* Resets everything but the belief, which is at its prior. Refused: a belief that cannot follow the parameters' motion. */
rf_status rf_session_start(rf_session *session);

/* The seed of a trial: that of its belief, and of its world. */
uint64_t rf_session_seed(uint64_t seed, uint32_t trial);

/* Moves the belief by `elapsed` time: by the model's dynamics, or each parameter by its motion. */
rf_status rf_session_drift(const rf_session *session, rf_belief *belief, double elapsed);

/* Parameter i does not move. */
int rf_motion_is_still(const rf_config *config, unsigned i);
/* None of `dim` does. */
int rf_motion_all_still(const rf_config *config, unsigned dim);

/* Starts parameters that switch between levels at either level. */
rf_status rf_motion_begin(const rf_session *session, rf_belief *belief);

/* F and Q of a parameter that is drawn back; and what it is shifted by. */
void rf_motion_revert(const rf_motion *motion, double elapsed, double *f, double *q, double *shift);

/* Probability of being at the other level after `elapsed`, from either. */
void rf_motion_switch(const rf_motion *motion, double elapsed, double chance[2]);

/* After an update: adapts a learnt drift that was too small or too large. */
void rf_learning_step(rf_session *session, const double before[], const double after[]);

/* Standard deviation of a step of parameter i's walk, as believed now. */
double rf_learning_drift(const rf_session *session, unsigned i);

/* Has a record numbers that rf_session_tell would take? It finds out without an update. */
rf_status rf_session_check(const rf_session *session, const rf_record *record);

/* rf_session_show_truth with truths in the chart. */
void rf_session_show_chart_truth(const rf_session *session, const double truth[], rf_step *step);

#endif
