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

static unsigned cells(const lab *l)
{
    (void)l;
    return 2;
}

static int run(lab *l, unsigned cell)
{
    const cloud_data *d = digits_load(l, tasks[cell].task, 0);
    cloud_config c = digits_config(l, RF_PAPER, 0);
    cloud_trial t;
    digits_result r;
    c.limit = lab_whole(l, "objects");
    c.particles = lab_whole(l, "particles");
    if (!d || cloud_trial_open(&c, d, 0, &t) != CLI_OK)
        return lab_fail(l, "there are no digits");
    uint64_t *asked = calloc(d->train.features, sizeof *asked);
    int status = asked ? digits_classify(l, &t, asked, &r) : lab_fail(l, "not enough memory");
    for (uint32_t j = 0; j < d->train.features && status == 0; j++) {
        lab_put(l, "asked", tasks[cell].task, j, (double)asked[j] / (double)r.objects, NAN);
        lab_put(l, "variance", tasks[cell].task, j, (double)t.training.variance[j], NAN);
    }
    free(asked);
    cloud_trial_close(&t);
    return status;
}

/* ---- Report ---- */

/* The pixels of a task, as the rows have them. */
static int rank(lab *l, const char *task, cloud_ranking *asked, cloud_ranking *variance)
{
    const uint32_t pixels = 28 * 28;
    if (cloud_ranking_make(asked, pixels) < 0 || cloud_ranking_make(variance, pixels) < 0)
        return lab_fail(l, "not enough memory");
    for (uint32_t j = 0; j < pixels; j++) {
        const double often = lab_find(l, "asked", task, j).value, varies = lab_find(l, "variance", task, j).value;
        asked->asked[j] = (uint64_t)(1e6 * often);
        asked->variance[j] = variance->variance[j] = varies;
        variance->asked[j] = (uint64_t)(1e6 * varies);
    }
    cloud_ranking_sort(asked);
    cloud_ranking_sort(variance);
    return 0;
}

static uint32_t place_of(const cloud_ranking *r, uint32_t pixel)
{
    uint32_t place = 0;
    while (r->order[place] != pixel)
        place++;
    return place;
}

/* Spearman's coefficient of the pixels that vary at all. */
static double correlation(const cloud_ranking *asked, const cloud_ranking *variance)
{
    const double n = variance->ever;
    double squares = 0;
    for (uint32_t k = 0; k < variance->ever; k++) {
        const double difference = (double)k - place_of(asked, variance->order[k]);
        squares += difference * difference;
    }
    return 1 - 6 * squares / (n * (n * n - 1));
}

static void put_table(lab *l, const char *title, const cloud_ranking *asked, const cloud_ranking *variance)
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

static void put_maps(lab *l, int task)
{
    char file[32], title[96];
    snprintf(file, sizeof file, "asked-%s", tasks[task].task);
    snprintf(title, sizeof title, "How often a pixel is asked for, %s", tasks[task].title);
    lab_figure(l, file, title,
               task ? "A map of 28 by 28 pixels: queries are spread over the middle of the image, in patches, with few at its edge."
                    : "A map of 28 by 28 pixels: one pixel in the middle is asked far more often than all others; some above and below it follow.");
    lab_map(l, "asked", tasks[task].task, 28, "per object");
    snprintf(file, sizeof file, "variance-%s", tasks[task].task);
    snprintf(title, sizeof title, "Variance of a pixel over the training images, %s", tasks[task].title);
    lab_figure(l, file, title, "A map of 28 by 28 pixels: the variance is large over the whole middle of the image and falls smoothly to its edge.");
    lab_map(l, "variance", tasks[task].task, 28, "variance");
}

static void report(lab *l)
{
    for (int task = 0; task < 2; task++) {
        cloud_ranking asked, variance;
        if (rank(l, tasks[task].task, &asked, &variance) < 0)
            return;
        if (task == 0) {
            const double half = 0.5 * (double)asked.asked[asked.order[0]];
            uint32_t rarely = 0;
            for (uint32_t k = 1; k <= 50; k++)
                rarely += (double)asked.asked[variance.order[k]] < 0.1 * half;
            lab_claim(l, "middle", place_of(&variance, asked.order[0]) + 1, NAN);
            lab_claim(l, "second", asked.variance[asked.order[1]] / variance.variance[variance.order[0]], NAN);
            uint32_t never = 0;
            for (uint32_t k = 0; k < 50; k++)
                never += asked.asked[variance.order[k]] == 0;
            lab_claim(l, "never", never, NAN);
            lab_claim_changed(l, "never", rarely, NAN);
        } else {
            lab_claim(l, "even-odd", correlation(&asked, &variance), NAN);
        }
        put_maps(l, task);
        put_table(l, tasks[task].title, &asked, &variance);
        cloud_ranking_free(&asked);
        cloud_ranking_free(&variance);
    }
}

const lab_experiment experiment_heatmaps = {.open = digits_open, .cells = cells, .run = run, .report = report};
