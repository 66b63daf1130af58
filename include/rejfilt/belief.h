/* The posterior of a model's parameters behind one table of functions: a Gaussian, a mixture, particles or a grid.

   All code above the engines uses beliefs, in double. A belief is one block of memory without internal pointers, so copying
   the bytes copies the belief. Numbers are chart coordinates unless called natural. */
#ifndef REJFILT_BELIEF_H
#define REJFILT_BELIEF_H

#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A parameter's prior, in natural units. */
typedef struct rf_prior {
    int is_gaussian;      /* else uniform */
    double first, second; /* mean and standard deviation; else low and high */
} rf_prior;

/* A model with the charts, ranges and priors of one run. It is constant and must outlive its beliefs. */
typedef struct rf_problem {
    const rf_model *model;                 /* in both precisions */
    rf_description description;            /* the model's, with the run's charts, ranges and costs */
    rf_prior prior[RF_DESCRIBED_MAX];          /* one per parameter */
    rf64_chart charts[RF_DESCRIBED_MAX];       /* as described */
    rf32_chart charts_float[RF_DESCRIBED_MAX]; /* the same for filters on float */
    double low[RF_DESCRIBED_MAX], high[RF_DESCRIBED_MAX]; /* range that a parameter never leaves, in the chart: that of a uniform
                                                             prior, if it does not move. low < high does not hold: none */
} rf_problem;

/* Fills the charts from the description. */
RF_API void rf_problem_settle(rf_problem *problem);
/* The likelihood with the problem's charts; it points into the problem. */
RF_API rf64_model rf64_problem_model(const rf_problem *problem);
RF_API rf32_model rf32_problem_model(const rf_problem *problem);
/* Mean and variance, in the chart, of parameter i's prior. Refused: a prior outside the chart. */
RF_API rf_status rf_problem_prior(const rf_problem *problem, unsigned i, double *mean, double *variance);
/* Every parameter's, to mean[dim] and to a dim × dim covariance. */
RF_API rf_status rf_problem_priors(const rf_problem *problem, double mean[], double covariance[]);

/* The number of leading parameters that are interchangeable: as described if their charts and priors are equal, else 0.
   Such parameters and their truths are shown in ascending order. */
RF_API unsigned rf_problem_interchangeable(const rf_problem *problem);
/* Fills order[dim] with the permutation that sorts the values of interchangeable parameters in ascending order. Returns 1
   if it is not the identity. */
RF_API int rf_problem_order(const rf_problem *problem, const double values[], unsigned order[]);

typedef struct rf_belief_kind rf_belief_kind;

/* Draws for RF_FOR_HEALTH with indices below this represent the belief as a set; they need not be random. */
enum { RF_HEALTH_DRAWS = 32 };

/* How every belief's memory begins. */
typedef struct rf_belief {
    const rf_belief_kind *kind; /* its functions */
    const rf_problem *problem;  /* the caller's */
    uint64_t seed;              /* random numbers depend only on this, the update's number and the draw's */
    size_t bytes;               /* of memory, this struct included */
    size_t used;                /* bytes from the start that matter between records; the rest is scratch space */
    int as_one;                 /* the next records were designed for one Gaussian: a mixture does not split */
    double live;                /* nats of approximation loss that still matter; 0 for exact kinds */
} rf_belief;

/* A separate part of one parameter's posterior. */
typedef struct rf_mode {
    double share;     /* of the probability */
    double low, high; /* 95 % of it lie between them */
} rf_mode;

enum { RF_MODES_MAX = 8 };

/* A Gaussian of all parameters, in their charts. */
typedef struct rf_gaussian {
    double weight;                                                    /* relative; the sum is arbitrary */
    double mean[RF_DESCRIBED_MAX];                                    /* of each parameter */
    double covariance[RF_DESCRIBED_MAX * (RF_DESCRIBED_MAX + 1) / 2]; /* by rows of the lower triangle */
} rf_gaussian;

enum { RF_GAUSSIANS_TOGETHER = 64 }; /* most Gaussians in one belief */

/* What a belief is opened with. */
typedef struct rf_belief_setup {
    const rf_problem *problem; /* model, charts and priors */
    uint64_t seed;             /* of all its random numbers */
    int is_float;              /* compute in float: one Gaussian only; mixtures ignore it, other kinds refuse */
    const char *argument;      /* text after the colon of the name, or null */
} rf_belief_setup;

/* A kind of belief. REQUIRED unless said otherwise. */
struct rf_belief_kind {
    const char *name;    /* "particles" */
    const char *summary; /* one line */
    double loss_max[2];  /* OPTIONAL: above this many live nats the belief is too coarse; with records designed for one Gaussian */

    /* Allocates a belief: zeros, except kind, problem, seed and bytes. rf_belief_close frees it. Returns NULL and fills
       `error` if the setup is refused. */
    rf_belief *(*open)(const rf_belief_setup *setup, char *error, size_t size);

    /* OPTIONAL, for beliefs that contain beliefs: called after the bytes were copied; `problem` may have changed. */
    void (*moved)(rf_belief *belief);

    /* Sets it back to the prior. Later updates use fresh random numbers. */
    rf_status (*restart)(rf_belief *belief);

    /* Time passes. With F: x ← F·x + noise of covariance Q; both dim × dim by rows, and Q may be null. With a null F:
       noise of covariance Q · elapsed. */
    rf_status (*pass)(rf_belief *belief, const double F[], const double Q[], double elapsed);

    /* Updates with `count` records: rows of settings and outcome. Works like rf64_update and uses those options that
       apply. If it refuses, the belief's state is undefined, so callers update a copy. */
    rf_status (*update)(rf_belief *belief, const double records[], uint32_t count, const rf64_options *options,
                        const rf_engine *engine, rf64_report *report);

    /* mean[dim], and unless null the lower triangle of the covariance by rows. */
    void (*moments)(const rf_belief *belief, double mean[], double covariance[]);

    /* OPTIONAL: replaces *mean and *sd of a parameter, given in the chart, by those in natural units; circular for a
       periodic parameter. Without it the belief is taken as one Gaussian in the chart. */
    void (*natural)(const rf_belief *belief, unsigned parameter, double *mean, double *sd);

    /* A draw in natural units to x[dim], determined by belief, index and purpose. */
    void (*draw)(const rf_belief *belief, uint32_t index, uint32_t purpose, double x[]);

    /* OPTIONAL: draws 0 to count - 1 of that purpose, one after the other in x[count * dim], with the same bits. */
    void (*draws)(const rf_belief *belief, uint32_t count, uint32_t purpose, double x[]);

    /* The p-quantile, in the chart. For a periodic parameter probability counts from half a period below the mean. */
    double (*quantile)(const rf_belief *belief, unsigned parameter, double p);

    /* OPTIONAL: writes up to RF_MODES_MAX modes of a parameter to modes[], in ascending order; returns their number. Without
       it there is one mode. */
    unsigned (*modes)(const rf_belief *belief, unsigned parameter, rf_mode modes[]);

    /* OPTIONAL: coordinates of a parameter's two heaviest modes, the heavier first. The second may be light, but must be
       plausible. Returns 0 if there is only one. */
    int (*rivals)(const rf_belief *belief, unsigned parameter, double at[2]);

    /* Multiplies each parameter's standard deviation by its factor > 0. In a mixture each Gaussian is widened in place. */
    rf_status (*stretch)(rf_belief *belief, const double factor[]);

    /* Shifts the belief by by[dim]. */
    rf_status (*shift)(rf_belief *belief, const double by[]);

    /* Replaces the belief by these 1 to RF_GAUSSIANS_TOGETHER Gaussians, or its best approximation of them: a single
       Gaussian takes their mean and covariance. Later updates use fresh random numbers. Kinds without correlations
       return RF_REFUSED_OPTIONS if there are any. */
    rf_status (*place)(rf_belief *belief, const rf_gaussian parts[], uint32_t count);

    /* OPTIONAL: writes its Gaussians to parts[RF_GAUSSIANS_TOGETHER] and returns their number. Without it one Gaussian with
       its moments is used. */
    uint32_t (*gaussians)(const rf_belief *belief, rf_gaussian parts[]);

    /* OPTIONAL: takes parameters that have left their range (rf_problem's low, high) back. Without it the belief becomes one
       Gaussian then. */
    void (*confine)(rf_belief *belief);

    /* OPTIONAL: a parameter may have switched between two levels. Probability near level[k] moves to the other level with
       chance[k]. */
    rf_status (*telegraph)(rf_belief *belief, unsigned parameter, const double level[2], const double chance[2]);

    /* The number of updates so far. */
    uint32_t (*updates)(const rf_belief *belief);


    /* Writes its numbers to `bytes`, unless NULL, and returns the number of bytes. They are the same on every machine. */
    size_t (*save)(const rf_belief *belief, unsigned char *bytes);
    /* Reads them into a belief of the same setup. Returns 0, or -1 if they are invalid. */
    int (*load)(rf_belief *belief, const unsigned char *bytes, size_t size);
};

/* Opens the named belief ("gaussian", "particles:2000") at its prior. Returns NULL and fills `error` on failure. */
RF_API rf_belief *rf_belief_open(const char *name, const rf_problem *problem, uint64_t seed, int is_float, char *error,
                                 size_t size);
/* The same for a kind that is not in the list. */
RF_API rf_belief *rf_belief_open_kind(const rf_belief_kind *kind, const rf_belief_setup *setup, char *error,
                                      size_t size);
/* For rf_belief_kind.open: allocates `bytes` that start with an rf_belief of the setup; the rest is zero. */
RF_API rf_belief *rf_belief_new(const rf_belief_kind *kind, const rf_belief_setup *setup, size_t bytes, char *error,
                                size_t size);
/* Frees the belief; NULL is allowed. */
RF_API void rf_belief_close(rf_belief *belief);
/* Copies `from` to `to`. Both must have been opened with the same setup. */
RF_API void rf_belief_copy(rf_belief *to, const rf_belief *from);

/* Converts mean and standard deviation of one Gaussian from the chart to natural units. */
RF_API void rf_gaussian_natural(const rf64_chart *chart, double *mean, double *sd);

/* Writes the modes of a parameter to modes[RF_MODES_MAX], in natural units and ascending order. Returns their number; 1
   for kinds without `modes`. */
RF_API unsigned rf_belief_modes(const rf_belief *belief, unsigned parameter, rf_mode modes[]);

/* Writes the belief's Gaussians to parts[RF_GAUSSIANS_TOGETHER]; returns their number. Particles and grids write one
   Gaussian with their moments. */
RF_API uint32_t rf_belief_gaussians(const rf_belief *belief, rf_gaussian parts[]);
/* Replaces the belief by these Gaussians (rf_belief_kind.place). Refused: numbers that are not finite, weights that are
   negative or all zero, covariances that are not positive definite. */
RF_API rf_status rf_belief_become(rf_belief *belief, const rf_gaussian parts[], uint32_t count);

/* Attaches a belief whose bytes were copied to this problem. */
RF_API void rf_belief_move(rf_belief *belief, const rf_problem *problem);

/* Kind number `index`, or null past the last. */
RF_API const rf_belief_kind *rf_belief_kind_at(unsigned index);

#ifdef __cplusplus
}
#endif
#endif
