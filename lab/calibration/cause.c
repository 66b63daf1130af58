#include "cause.h"

#include <math.h>
#include <stdio.h>

#include "hermite.h"
#include "runs.h"

enum { TOSSES = 200, POINTS = 32 };

typedef struct ending {
    double sigmas, log_width; /* error in standard deviations; ln σ */
} ending;

static ending toss(const rf64_model *coin, const hermite *rule, uint64_t seed, int noisy_mean, int noisy_width)
{
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
    const rf64_options options = rf64_options_default();
    rf64_filter *filter;
    double truth, other;
    rf_words w = rf_draw(seed, 0, 0, 1, RF_FOR_TRUTH);
    rf64_filter_init(&filter, memory, sizeof memory, 1, seed); /* N(0, 1) in the chart is uniform in natural units */
    rf64_normal_pair(w.word[0], w.word[1], &truth, &other);
    const double p = rf64_chart_natural(&coin->charts[0], truth);
    for (uint32_t k = 0; k < TOSSES; k++) {
        const double outcome = rf64_uniform(rf_draw(seed, k, 0, 0, RF_FOR_OUTCOME).word[0]) <= p;
        double mean = rf64_filter_mean(filter)[0], variance = rf64_filter_covariance(filter, 0, 0);
        rf64_report report;
        hermite_update(rule, coin, &outcome, &mean, &variance);
        rf64_update(filter, coin, &outcome, 1, &options, NULL, &report);
        if (noisy_mean) {
            mean = rf64_filter_mean(filter)[0];
            variance *= 1 + 1.0 / report.accepted;
        }
        if (noisy_width)
            variance = rf64_filter_covariance(filter, 0, 0);
        rf64_prior_covariance(filter, &mean, &variance);
    }
    const double sd = rf64_filter_sd(filter, 0);
    return (ending){(rf64_filter_mean(filter)[0] - truth) / sd, log(sd)};
}

void cause_print(uint32_t sets, uint64_t seed)
{
    const rf_simulation run = runs_ordinary("coin", TOSSES, seed);
    rf64_chart charts[RF_DESCRIBED_MAX];
    const rf64_model coin = rf64_instance_model(run.config.model->f64, charts);
    const hermite rule = hermite_rule(POINTS);
    static const char *const names[] = {"neither", "the mean", "the width", "both"};
    printf("sampling error of   95 %% covers   ln of width\n");
    for (int k = 0; k < 4; k++) {
        double covered = 0, sum = 0, squares = 0;
        for (uint32_t i = 0; i < sets; i++) {
            const ending e = toss(&coin, &rule, runs_seed(&run, i), k & 1, k >> 1);
            covered += fabs(e.sigmas) <= 1.959963984540054;
            sum += e.log_width;
            squares += e.log_width * e.log_width;
        }
        const double share = covered / sets, mean = sum / sets;
        printf("%-16s %6.1f ± %.1f    %6.2f ± %.2f\n", names[k], 100 * share, 100 * sqrt(share * (1 - share) / sets), mean, sqrt(squares / sets - mean * mean));
        fflush(stdout);
    }
}
