/* What is known of a model's parameters, behind one table of functions: one Gaussian, a few, particles, a grid.

   Everything above the engines works with beliefs, in double. A belief is one block of memory without pointers into
   itself, so that a copy of its bytes is a copy of it. Numbers are in the chart unless they are said to be natural. */
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

/* A model as one run has it: with its own charts and ranges, and priors. It does not change, and outlives its beliefs.
 */
typedef struct rf_problem {
    const rf_model *model;                 /* in both precisions */
    rf_description description;            /* the model's, with the run's charts, ranges and costs */
    rf_prior prior[RF_DESCRIBED_MAX];          /* one per parameter */
    rf64_chart charts[RF_DESCRIBED_MAX];       /* as described */
    rf32_chart charts_float[RF_DESCRIBED_MAX]; /* the same for filters on float */
} rf_problem;

/* Fills the charts from the description. */
RF_API void rf_problem_settle(rf_problem *problem);
/* The likelihood with the problem's charts, to which it points. */
RF_API rf64_model rf64_problem_model(const rf_problem *problem);
RF_API rf32_model rf32_problem_model(const rf_problem *problem);
/* Mean and variance, in the chart, of parameter i's prior. Refused: a prior outside the chart. */
RF_API rf_status rf_problem_prior(const rf_problem *problem, unsigned i, double *mean, double *variance);
/* Every parameter's, to mean[dim] and to a dim × dim covariance. */
RF_API rf_status rf_problem_priors(const rf_problem *problem, double mean[], double covariance[]);

/* How many parameters, the first ones, are interchangeable here: as described, where their charts and priors are the
   same; else 0. Beliefs and truths are then shown in ascending order. */
RF_API unsigned rf_problem_interchangeable(const rf_problem *problem);
/* order[dim] ← which of the values is the first, the second, ...: those of interchangeable parameters ascending.
   Returns whether any is out of place. */
RF_API int rf_problem_order(const rf_problem *problem, const double values[], unsigned order[]);

typedef struct rf_belief_kind rf_belief_kind;

/* Draws for RF_FOR_HEALTH with an index below this stand for the belief together: they need not be random. */
enum { RF_HEALTH_DRAWS = 32 };

/* How every belief's memory begins. */
typedef struct rf_belief {
    const rf_belief_kind *kind; /* its functions */
    const rf_problem *problem;  /* the caller's */
    uint64_t seed;              /* all its randomness is a function of it, of the update and of the draw */
    size_t bytes;               /* of its memory, this struct included */
    size_t used;                /* of these, from the first: what matters between records; behind it may be room */
    int as_one;                 /* the next records were chosen as for one Gaussian: a mixture does not split for them */
    double live;                /* nats lost by its shape that still matter; 0 for kinds that lose none */
} rf_belief;

/* A part of what is believed of one parameter that lies apart from the others. */
typedef struct rf_mode {
    double share;     /* of the probability */
    double low, high; /* 95 % of it lie between them */
} rf_mode;

enum { RF_MODES_MAX = 8 };

/* A Gaussian of all parameters, in their charts. */
typedef struct rf_gaussian {
    double weight;                                                    /* among others; of any sum */
    double mean[RF_DESCRIBED_MAX];                                    /* of each parameter */
    double covariance[RF_DESCRIBED_MAX * (RF_DESCRIBED_MAX + 1) / 2]; /* by rows of the lower triangle */
} rf_gaussian;

enum { RF_GAUSSIANS_TOGETHER = 64 }; /* that a belief can be, or begin as */

/* What a belief is opened with. */
typedef struct rf_belief_setup {
    const rf_problem *problem; /* what is unknown */
    uint64_t seed;             /* of all its randomness */
    int is_float;              /* Gaussians on float; mixtures work in double all the same, other kinds refuse it */
    const char *argument;      /* what follows the colon of the name, or null */
} rf_belief_setup;

/* A kind of belief. REQUIRED unless said otherwise. */
struct rf_belief_kind {
    const char *name;    /* "particles" */
    const char *summary; /* one line */
    double loss_max;     /* OPTIONAL: nats that may be live before it is too coarse for the data */

    /* Memory for the setup, zeroed but for kind, problem, seed and bytes; its parameters may be refused. Null with a
       message in `error`. rf_belief_close frees it. */
    rf_belief *(*open)(const rf_belief_setup *setup, char *error, size_t size);

    /* OPTIONAL: its bytes were copied, and `problem` may be another: for a belief that holds beliefs. */
    void (*moved)(rf_belief *belief);

    /* Back to the prior. The random numbers of later updates are new ones. */
    rf_status (*restart)(rf_belief *belief);

    /* Time passes. With F: x ← F·x + noise of covariance Q; both dim × dim by rows, and Q may be null. With a null F:
       noise of covariance Q · elapsed. */
    rf_status (*pass)(rf_belief *belief, const double F[], const double Q[], double elapsed);

    /* Learns from `count` records, row by row: the settings, then the outcome. As rf64_update, of which it takes the
       options it has a use for. When refused, the belief may be in any state: callers update a copy. */
    rf_status (*update)(rf_belief *belief, const double records[], uint32_t count, const rf64_options *options,
                        const rf_engine *engine, rf64_report *report);

    /* mean[dim], and unless null the lower triangle of the covariance by rows. */
    void (*moments)(const rf_belief *belief, double mean[], double covariance[]);

    /* OPTIONAL: *mean and *sd of a parameter, which are those in the chart, become those in natural units, of all that is
       believed; of a periodic parameter circular ones. Without it the belief is one Gaussian in the chart. */
    void (*natural)(const rf_belief *belief, unsigned parameter, double *mean, double *sd);

    /* A draw, in natural units, to x[dim]: the same for the same belief, index and purpose. */
    void (*draw)(const rf_belief *belief, uint32_t index, uint32_t purpose, double x[]);

    /* The coordinate with probability p below it. Of a periodic parameter it is counted from half a period below the
     * mean. */
    double (*quantile)(const rf_belief *belief, unsigned parameter, double p);

    /* OPTIONAL: up to RF_MODES_MAX modes of a parameter, from below, to modes[]; how many. Without it there is one. */
    unsigned (*modes)(const rf_belief *belief, unsigned parameter, rf_mode modes[]);

    /* OPTIONAL: coordinates of a parameter's two heaviest modes, the heavier first, however light the second one is, as long as
       the truth may well be there. Returns 0 where there is one. */
    int (*rivals)(const rf_belief *belief, unsigned parameter, double at[2]);

    /* Multiplies the standard deviation of each parameter by its factor > 0; of a mixture, of each Gaussian where it is. */
    rf_status (*stretch)(rf_belief *belief, const double factor[]);

    /* Moves all of it by a constant, to where by[dim] says. */
    rf_status (*shift)(rf_belief *belief, const double by[]);

    /* Becomes these Gaussians, 1 to RF_GAUSSIANS_TOGETHER, as well as it can: what is always one takes their mean and
       covariance. The random numbers of later updates are new ones. Refused: correlations, by what has none. */
    rf_status (*place)(rf_belief *belief, const rf_gaussian parts[], uint32_t count);

    /* OPTIONAL: the Gaussians that it is, to parts[RF_GAUSSIANS_TOGETHER]; how many. Without it one is made of its moments.
     */
    uint32_t (*gaussians)(const rf_belief *belief, rf_gaussian parts[]);

    /* OPTIONAL: a parameter may have gone to the other of two levels: what is nearer to level[k] has moved by the levels'
       distance with probability chance[k]. */
    rf_status (*telegraph)(rf_belief *belief, unsigned parameter, const double level[2], const double chance[2]);

    /* Updates so far: the number of the next one. */
    uint32_t (*updates)(const rf_belief *belief);

    /* OPTIONAL: what it is now, a word, where that changes from record to record. */
    const char *(*form)(const rf_belief *belief);

    /* Its numbers as bytes that are the same on every machine: how many; and if `bytes` is not null, written there. */
    size_t (*save)(const rf_belief *belief, unsigned char *bytes);
    /* And back, into a belief of the same setup. 0, or -1 when they are not such numbers. */
    int (*load)(rf_belief *belief, const unsigned char *bytes, size_t size);
};

/* Opens the belief of that name, "gaussian" or "particles:2000", at its prior. Null with a one-line message in `error`.
 */
RF_API rf_belief *rf_belief_open(const char *name, const rf_problem *problem, uint64_t seed, int is_float, char *error,
                                 size_t size);
/* The same of a kind that has no name here. */
RF_API rf_belief *rf_belief_open_kind(const rf_belief_kind *kind, const rf_belief_setup *setup, char *error,
                                      size_t size);
/* What is the same for all: memory of `bytes` that begins with an rf_belief of the setup; the rest is zero. For
 * rf_belief_kind.open. */
RF_API rf_belief *rf_belief_new(const rf_belief_kind *kind, const rf_belief_setup *setup, size_t bytes, char *error,
                                size_t size);
/* Frees it; null is fine. */
RF_API void rf_belief_close(rf_belief *belief);
/* Makes `to` what `from` is. Both were opened alike. */
RF_API void rf_belief_copy(rf_belief *to, const rf_belief *from);

/* Mean and standard deviation of one Gaussian, which are those in the chart, become those in natural units. */
RF_API void rf_gaussian_natural(const rf64_chart *chart, double *mean, double *sd);

/* The modes of a parameter, in natural units, to modes[RF_MODES_MAX], from below; how many: 1 where it is of one piece, and
   where its kind does not know better. */
RF_API unsigned rf_belief_modes(const rf_belief *belief, unsigned parameter, rf_mode modes[]);

/* The Gaussians that it is, to parts[RF_GAUSSIANS_TOGETHER]; how many. Of particles and grids one, with their moments. */
RF_API uint32_t rf_belief_gaussians(const rf_belief *belief, rf_gaussian parts[]);
/* It becomes these, as kinds can: rf_belief_kind.place. Refused: numbers that are not finite, weights that are negative or all
   zero, covariances that are not positive definite. */
RF_API rf_status rf_belief_become(rf_belief *belief, const rf_gaussian parts[], uint32_t count);

/* Makes it one about this problem, after its bytes were copied from elsewhere. */
RF_API void rf_belief_move(rf_belief *belief, const rf_problem *problem);

/* Kind number `index`, or null past the last. */
RF_API const rf_belief_kind *rf_belief_kind_at(unsigned index);

#ifdef __cplusplus
}
#endif
#endif
