/* Which pixels are asked for, and which vary? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"
#include "ranking.h"

static const struct {
    const char *task, *title;
} tasks[] = {{"zero-one", "zero or one"}, {"even-odd", "even or odd"}};

static unsigned jobs(const lab *l)
{
    (void)l;
    return 2;
}

static int run(lab *l, unsigned job)
{
    const classify_data *d = digits_load(l, tasks[job].task, 0);
    classify_config c = digits_config(l, RFC_PAPER, 0);
    classify_trial t;
    digits_result r;
    c.limit = lab_whole(l, "objects");
    c.particles = lab_whole(l, "particles");
    if (!d || classify_trial_open(&c, d, 0, &t) != CLI_OK)
        return lab_fail(l, "there are no digits");
    uint64_t *asked = calloc(d->train.features, sizeof *asked);
    int status = asked ? digits_classify(l, &t, asked, &r) : lab_fail(l, "not enough memory");
    for (uint32_t j = 0; j < d->train.features && status == 0; j++) {
        lab_put(l, "asked", tasks[job].task, j, (double)asked[j] / (double)r.objects, NAN);
        lab_put(l, "variance", tasks[job].task, j, (double)rfc_training_variance(t.training)[j], NAN);
    }
    free(asked);
    classify_trial_close(&t);
    return status;
}

/* ---- Report ---- */

/* Reads the pixels of a task from the rows. */
static int rank(lab *l, const char *task, classify_ranking *asked, classify_ranking *variance)
{
    const uint32_t pixels = 28 * 28;
    if (classify_ranking_make(asked, pixels) < 0 || classify_ranking_make(variance, pixels) < 0)
        return lab_fail(l, "not enough memory");
    for (uint32_t j = 0; j < pixels; j++) {
        const double often = lab_find(l, "asked", task, j).value, varies = lab_find(l, "variance", task, j).value;
        asked->asked[j] = (uint64_t)(1e6 * often);
        asked->variance[j] = variance->variance[j] = varies;
        variance->asked[j] = (uint64_t)(1e6 * varies);
    }
    classify_ranking_sort(asked);
    classify_ranking_sort(variance);
    return 0;
}

static uint32_t place_of(const classify_ranking *r, uint32_t pixel)
{
    uint32_t place = 0;
    while (r->order[place] != pixel)
        place++;
    return place;
}

/* Spearman's correlation of the frequency of questions and the variance, over the pixels of largest variance. Pixels
   near the edge carry no information. */
static double correlation(const classify_ranking *asked, const classify_ranking *variance, uint32_t max)
{
    double squares = 0, n = max, place = 0;
    for (uint32_t k = 0; k < asked->features; k++) {
        const uint32_t other = place_of(variance, asked->order[k]);
        if (other >= max)
            continue;
        squares += (place - other) * (place - other);
        place++;
    }
    return 1 - 6 * squares / (n * (n * n - 1));
}

/* Of the pixels of largest variance, how many are asked less than `share` times as often as the pixel asked most. */
static uint32_t spared(const classify_ranking *asked, const classify_ranking *variance, uint32_t max, double share)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < max; k++) {
        const double own = (double)asked->asked[variance->order[k]];
        count += own == 0 || own < share * (double)asked->asked[asked->order[0]];
    }
    return count;
}

static void put_table(lab *l, const char *title, const classify_ranking *asked, const classify_ranking *variance)
{
    char text[128];
    snprintf(text, sizeof text, "The pixels asked most, %s", title);
    lab_table(l, text, "row | column | asked per object | variance / largest | place by variance");
    for (int i = 0; i < 5; i++) {
        const uint32_t pixel = asked->order[i];
        lab_line(l, "%u | %u | %.3f | %.2f | %u", pixel / 28, pixel % 28, 1e-6 * (double)asked->asked[pixel],
                 asked->variance[pixel] / variance->variance[variance->order[0]], place_of(variance, pixel) + 1);
    }
}

static void put_maps(lab *l, int task, const classify_ranking *asked)
{
    char file[32], title[96], alt[256];
    const uint32_t max = asked->order[0], next = asked->order[1];
    snprintf(file, sizeof file, "asked-%s", tasks[task].task);
    snprintf(title, sizeof title, "How often a pixel is asked for, %s", tasks[task].title);
    snprintf(alt, sizeof alt, "A map of 28 by 28 pixels. Darkest is row %u, column %u, asked %.2f times per object; next comes row %u, column %u, with %.2f. "
             "At the edge no pixel is asked.",
             max / 28, max % 28, 1e-6 * (double)asked->asked[max], next / 28, next % 28, 1e-6 * (double)asked->asked[next]);
    lab_figure(l, file, title, alt);
    lab_map(l, "asked", tasks[task].task, 28, "per object");
    snprintf(file, sizeof file, "variance-%s", tasks[task].task);
    snprintf(title, sizeof title, "Variance of a pixel over the training images, %s", tasks[task].title);
    lab_figure(l, file, title, "A map of 28 by 28 pixels: the variance is large over the whole middle of the image and falls smoothly to its edge.");
    lab_map(l, "variance", tasks[task].task, 28, "variance");
}

static void report(lab *l)
{
    for (int task = 0; task < 2; task++) {
        classify_ranking asked, variance;
        if (rank(l, tasks[task].task, &asked, &variance) < 0)
            return;
        if (task == 0) {
            lab_claim(l, "middle", place_of(&variance, asked.order[0]) + 1, NAN);
            lab_claim(l, "second", asked.variance[asked.order[1]] / variance.variance[variance.order[0]], NAN);
            lab_claim(l, "never", spared(&asked, &variance, 50, 0), NAN);
            lab_claim_changed(l, "never", spared(&asked, &variance, 50, 0.05), NAN);
        }
        lab_claim(l, tasks[task].task, correlation(&asked, &variance, 200), NAN);
        put_maps(l, task, &asked);
        put_table(l, tasks[task].title, &asked, &variance);
        classify_ranking_free(&asked);
        classify_ranking_free(&variance);
    }
}

const lab_experiment experiment_heatmaps = {.open = digits_open, .jobs = jobs, .run = run, .report = report};
