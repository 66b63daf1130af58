/* Designers choose the next experiment. They see moments and draws of a belief, whatever its kind. host.h includes this
   file once per precision: the library has designers in double, a firmware may compile them for float. */
#include "detail/precision.h"

/* Draws from a belief to x[dim], in natural units. The draw depends only on belief, index and purpose. */
typedef void RF(draw)(const void *self, uint32_t index, uint32_t purpose, rf_real x[]);

/* Input of a designer. */
typedef struct RF(design_input) {
    const RF(instance) * instance;     /* the model as it was compiled */
    const RF(model) * model;           /* its likelihood, with the charts of the run */
    const rf_description *description; /* names, roles, ranges and costs of the settings */
    const rf_real *mean;               /* of the posterior, in natural units */
    const rf_real *chart_mean, *sd;    /* of the posterior, in the chart */
    const void *self;                  /* first argument of `draw` */
    RF(draw) * draw;                   /* draws from the posterior */
    uint64_t seed;                     /* of the uniform numbers */
    uint32_t number;                   /* of the experiment, from 0 */
    int is_anchor;                     /* not 0: choose an experiment whose outcome the belief predicts; number of the test, from 1 */
    const rf_real (*rivals)[2];        /* positions of each parameter's two heaviest modes, natural units; equal: it has one mode. Or null */
    rf_real latest;                    /* the outcome that has come again and again, ... */
    rf_real other_least;               /* ... and how probable another one should be, 0 for any: choose an experiment to show that the detector works */
} RF(design_input);

/* Fills setting[]; the result may depend on the input only. */
typedef void RF(designer)(const RF(design_input) * in, rf_real setting[]);

/* Draws parameters (natural units) from the belief; a uniform number in (0, 1]. Each `which` gives another draw. */
RF_API void RF(design_draw)(const RF(design_input) * in, uint32_t which, rf_real x[]);
RF_API rf_real RF(design_uniform)(const RF(design_input) * in, uint32_t which);

/* Chooses every setting by its role, clamped to its range and rounded if integer: a time is 1 / width of its parameter, a
   guess is the guess of its parameter. */
RF_API void RF(design_roles)(const RF(design_input) * in, const rf_real guess[], const rf_real width[],
                             rf_real setting[]);

/* Designers, by name:
   pgh            the particle guess heuristic: the guess is a draw x', the time 1 / standard deviation
   pgh-distance   the same with time 1 / |x − x'| of two draws
   quadrature     where a fringe is steepest, with anchors; for models whose description has a fringe
   risk           any model: the candidate with the least expected variance per cost
   model          the model file's own designer */
typedef struct RF(design) {
    const char *name;      /* as above */
    RF(designer) * choose; /* fills the settings of the next experiment */
    uint32_t anchor_every; /* one in this many experiments is an anchor; 0: none */
    int is_blind;          /* its other experiments do not test the belief */
    int needs_fringe;      /* only for models with a fringe (rf_description) */
} RF(design);

/* Finds a designer; NULL if there is none of that name or it does not suit the model. "auto" means the model's own, else
   quadrature for models with a fringe, else risk. */
RF_API const RF(design) * RF(design_find)(const char *name, const rf_description *description, const RF(design) * own);
