/* Who chooses the next experiment. A designer sees a belief through its moments and draws, whatever kind it is. */
#ifndef REJFILT_DESIGN_H
#define REJFILT_DESIGN_H

#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rf_belief;

/* What a designer sees. */
typedef struct rf_design_input {
    const struct rf_belief *belief;    /* before the experiment */
    const rf64_instance *instance;     /* the model as it was compiled */
    const rf64_model *model;           /* its likelihood, with the charts of the run */
    const rf_description *description; /* names, roles and ranges of the settings, and what they cost */
    const double *mean;                /* what is believed: natural units */
    const double *chart_mean, *sd;     /* in the chart */
    uint64_t seed;                     /* of the belief */
    uint32_t number;                   /* of the experiment, from 0 */
    int is_anchor;                     /* test the belief: ask what it should know the answer to */
} rf_design_input;

/* Fills setting[]. It must give the same for the same input. */
typedef void rf_designer(const rf_design_input *in, double setting[]);

/* Parameters (natural units) drawn from the belief, and a uniform number in (0, 1]; each `which` is another. */
RF_API void rf_design_draw(const rf_design_input *in, uint32_t which, double x[]);
RF_API double rf_design_uniform(const rf_design_input *in, uint32_t which);

/* Every setting by its role, held in its range, rounded where it is whole: a time is 1 / width of its
   parameter, a guess is the guess of its parameter. */
RF_API void rf_design_roles(const rf_design_input *in, const double guess[], const double width[], double setting[]);

/* Who chooses experiments; by name:
   pgh            the particle guess heuristic: the guess is a draw x', the time 1 / standard deviation
   pgh-distance   the same with time 1 / |x − x'| of two draws
   quadrature     where a fringe is steepest, with anchors; for models whose description has a fringe
   risk           any model: the candidate that is expected to leave the least variance per cost
   model          the designer that the model file brings */
typedef struct rf_design {
    const char *name;      /* as above */
    rf_designer *choose;   /* fills the settings of the next experiment */
    uint32_t anchor_every; /* one experiment of so many is an anchor; 0: none */
    int is_blind;          /* its other experiments say nothing about the belief's health */
    int needs_fringe;      /* of the model: rf_description */
} rf_design;

/* Null when there is no such designer, or it cannot work with this model. "auto" is the model's own where there is one, else
   quadrature for models with a fringe, else risk. */
RF_API const rf_design *rf_design_find(const char *name, const rf_description *description, const rf_design *own);

/* Designer number `index` of those every model can be given, or null past the last. */
RF_API const rf_design *rf_design_at(unsigned index);

#ifdef __cplusplus
}
#endif
#endif
