/* Who chooses the next experiment. A designer sees a belief through its moments and draws, whatever kind it is.
   Included by host.h, once for each precision; the library has the designers in double, a firmware may compile them for
   float. */
#include "detail/precision.h"

/* A draw from a belief, in natural units, to x[dim]: the same for the same belief, index and purpose. */
typedef void RF(draw)(const void *self, uint32_t index, uint32_t purpose, rf_real x[]);

/* What a designer sees. */
typedef struct RF(design_input) {
    const RF(instance) * instance;     /* the model as it was compiled */
    const RF(model) * model;           /* its likelihood, with the charts of the run */
    const rf_description *description; /* names, roles and ranges of the settings, and what they cost */
    const rf_real *mean;               /* what is believed: natural units */
    const rf_real *chart_mean, *sd;    /* in the chart */
    const void *self;                  /* whose belief it is, ... */
    RF(draw) * draw;                   /* ... and how to draw from it */
    uint64_t seed;                     /* of uniform numbers */
    uint32_t number;                   /* of the experiment, from 0 */
    int is_anchor;                     /* not 0: test the belief, ask what it should know the answer to; which test it is, from 1 on */
    const rf_real (*rivals)[2];        /* of each parameter, where its two heaviest modes are: natural units; the same twice: there is one mode. Or null */
} RF(design_input);

/* Fills setting[]. It must give the same for the same input. */
typedef void RF(designer)(const RF(design_input) * in, rf_real setting[]);

/* Parameters (natural units) drawn from the belief, and a uniform number in (0, 1]; each `which` is another. */
RF_API void RF(design_draw)(const RF(design_input) * in, uint32_t which, rf_real x[]);
RF_API rf_real RF(design_uniform)(const RF(design_input) * in, uint32_t which);

/* Every setting by its role, held in its range, rounded where it is whole: a time is 1 / width of its
   parameter, a guess is the guess of its parameter. */
RF_API void RF(design_roles)(const RF(design_input) * in, const rf_real guess[], const rf_real width[],
                             rf_real setting[]);

/* Who chooses experiments; by name:
   pgh            the particle guess heuristic: the guess is a draw x', the time 1 / standard deviation
   pgh-distance   the same with time 1 / |x − x'| of two draws
   quadrature     where a fringe is steepest, with anchors; for models whose description has a fringe
   risk           any model: the candidate that is expected to leave the least variance per cost
   model          the designer that the model file brings */
typedef struct RF(design) {
    const char *name;      /* as above */
    RF(designer) * choose; /* fills the settings of the next experiment */
    uint32_t anchor_every; /* one experiment of so many is an anchor; 0: none */
    int is_blind;          /* its other experiments say nothing about the belief's health */
    int needs_fringe;      /* of the model: rf_description */
} RF(design);

/* Null when there is no such designer, or it cannot work with this model. "auto" is the model's own where there is one,
   else quadrature for models with a fringe, else risk. */
RF_API const RF(design) * RF(design_find)(const char *name, const rf_description *description, const RF(design) * own);
