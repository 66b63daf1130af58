/* Following a parameter: who chooses the next experiment, and what to do when the filter has lost it. Included
   by host.h, once for each precision. Nothing here allocates.

       RF(tracker) tracker;
       RF(track_open)(&tracker, filter, instance, about, RF(design_find)("auto", instance));
       for (;;) {
           RF(track_pass)(&tracker, elapsed);
           RF(track_ask)(&tracker, record);                         // the settings of the next experiment
           record[settings] = the outcome of the experiment;
           RF(track_tell)(&tracker, record, 1, engine, &report);
       } */
#include "detail/precision.h"

/* ---- Designers: who chooses the next experiment ---- */

/* What a designer sees. */
typedef struct RF(situation) {
    const RF(filter) *filter;     /* mean and factor as they are before the experiment */
    const RF(model) *model;       /* of the filter */
    const RF(instance) *instance; /* the model as it was compiled */
    const rf_description *about;  /* names, roles and ranges of the settings, and what they cost */
    const rf_real *mean;          /* what the filter believes: natural units */
    const rf_real *sd;            /* in the chart */
    uint32_t number;              /* of the experiment, from 0 */
    int is_anchor;                /* test the filter: ask what it believes to know the answer to */
} RF(situation);

/* Fills setting[]. It must give the same for the same situation. */
typedef void RF(designer)(const RF(situation) *s, rf_real setting[]);

/* Parameters (natural units) drawn from the filter, and a uniform number in (0, 1]; each `which` is another. */
RF_API void RF(situation_draw)(const RF(situation) *s, uint32_t which, rf_real x[]);
RF_API rf_real RF(situation_uniform)(const RF(situation) *s, uint32_t which);

/* Every setting by its role, held in its range, rounded where it is whole: a time is 1 / width of its
   parameter, a guess is the guess of its parameter. */
RF_API void RF(situation_roles)(const RF(situation) *s, const rf_real guess[], const rf_real width[], rf_real setting[]);

/* Who chooses experiments; by name:
   pgh            the particle guess heuristic: the guess is a draw x', the time 1 / standard deviation
   pgh-distance   the same with time 1 / |x − x'| of two draws
   quadrature     where a fringe is steepest, with anchors; for models whose description has a fringe
   risk           any model: the candidate that is expected to leave the least variance per cost
   model          the designer that the model file brings */
typedef struct RF(design) {
    const char *name;      /* as above */
    RF(designer) *choose;  /* fills the settings of the next experiment */
    uint32_t anchor_every; /* one experiment of so many is an anchor; 0: none */
    int is_blind;          /* its other experiments say nothing about the filter's health */
    int needs_fringe;      /* of the model: rf_description */
} RF(design);

/* Null when there is no such designer, or it cannot work with this model. "auto" is quadrature for models with
   a fringe, the model's own where there is one, else risk. */
RF_API const RF(design) *RF(design_find)(const char *name, const RF(instance) *instance);

/* ---- Health: does the filter still hold the truth? ---- */

/* Of what outcomes say. All numbers are part of a checkpoint. */
typedef struct RF(health) {
    rf_health state;            /* what is thought of the filter now */
    uint32_t next_anchor;       /* experiments until one is due */
    uint32_t failed;            /* tests failed in a row */
    uint32_t widened, restarts; /* since the start */
    int32_t verdict;            /* of the latest test: 1 failed, -1 passed, 0 none */
    int32_t is_anchored;        /* it was an anchor */
    rf_real surprise, variance; /* running sum of surprise less what was expected of it, and its variance */
} RF(health);

/* ---- Tracker ---- */

/* A filter, its design and its health. RF(track_open) fills it; then options, on_lost, drift, anchor_every and adapts_kappa may
   be changed. */
typedef struct RF(tracker) {
    RF(filter) *filter;           /* the caller's */
    const RF(instance) *instance; /* the caller's */
    const rf_description *about;  /* the caller's */
    const RF(design) *design; /* null: settings come with the data */
    RF(model) model;     /* of the instance, with the charts below */
    RF(options) options; /* of updates */
    rf_on_lost on_lost;  /* what to do when tests fail */
    rf_real drift[RF_NAMES_MAX]; /* standard deviation of what a parameter wanders per unit of time, in the chart */
    uint32_t anchor_every;      /* the design's, unless set otherwise */
    int adapts_kappa;           /* options.kappa follows the controller */
    uint32_t experiments;       /* asked for or given, from the start */
    RF(health) health;              /* what outcomes have said so far */
    RF(evidence) evidence;          /* of all records so far */
    RF(chart) charts[RF_NAMES_MAX]; /* as described */
    rf_real prior_mean[RF_NAMES_MAX], prior_sd[RF_NAMES_MAX]; /* where a restart goes, in the chart */
    uint32_t anchors; /* bit k: experiment k of the batch under way is an anchor */
    uint32_t asked;   /* experiments of the batch under way */
} RF(tracker);

/* A tracker of the filter, whose prior it remembers for restarts. `about` may have other charts, ranges and costs
   than the instance's own description. A null design: settings come with the data. */
RF_API void RF(track_open)(RF(tracker) *t, RF(filter) *filter, const RF(instance) *instance, const rf_description *about,
                           const RF(design) *design);

/* Time passes: the parameters wander, or follow the model's dynamics. */
RF_API rf_status RF(track_pass)(RF(tracker) *t, rf_real elapsed);

/* The settings of the next experiment. Ask up to 32 times for a batch. */
RF_API void RF(track_ask)(RF(tracker) *t, rf_real setting[]);

/* Question number `index` of the batch, from 0, stays without an answer: the records that follow are those of the others. */
RF_API void RF(track_skip)(RF(tracker) *t, uint32_t index);

/* Learns from `count` records, in the order of the questions. Returns what RF(update) does. When lost, acts as
   on_lost says; with RF_ON_LOST_STOP the state says lost, and the caller stops. */
RF_API rf_status RF(track_tell)(RF(tracker) *t, const rf_real records[], uint32_t count, const RF(engine) *engine, RF(report) *report);

/* The two halves of RF(track_tell), for those who update in between, as fleets do. */
RF_API void RF(track_before)(RF(tracker) *t, const rf_real records[], uint32_t count);
RF_API void RF(track_after)(RF(tracker) *t, const RF(report) *report);
