#include "hermite.h"

#include <math.h>

/* The normalised polynomial He_n / √n! at z; *below receives He_{n−1} / √(n−1)!, a factor of its derivative. */
static double polynomial(unsigned n, double z, double *below)
{
    double value = 1, before = 0;
    for (unsigned k = 0; k < n; k++) {
        double next = (z * value - sqrt((double)k) * before) / sqrt((double)k + 1);
        before = value;
        value = next;
    }
    *below = before;
    return value;
}

/* Finds the roots from the largest down by Newton's method, with the roots already found divided out. */
hermite hermite_rule(unsigned points)
{
    hermite rule = {.points = points};
    double guess = sqrt(4.0 * points + 2);
    for (unsigned i = 0; i < points; i++) {
        double z = guess, below;
        for (int step = 0; step < 200; step++) {
            const double value = polynomial(points, z, &below), slope = sqrt((double)points) * below;
            double sum = 0;
            for (unsigned k = 0; k < i; k++)
                sum += 1 / (z - rule.z[k]);
            const double move = value / (slope - value * sum);
            z -= move;
            if (fabs(move) < 1e-15 * (1 + fabs(z)))
                break;
        }
        polynomial(points, z, &below);
        rule.z[i] = z;
        rule.weight[i] = 1 / (points * below * below);
        guess = z - 1e-6;
    }
    return rule;
}

void hermite_update(const hermite *rule, const rf64_model *model, const double record[], double *mean, double *variance)
{
    const double sd = sqrt(*variance);
    double all = 0, first = 0, second = 0;
    for (unsigned i = 0; i < rule->points; i++) {
        const double y = *mean + sd * rule->z[i], x = model->charts ? rf64_chart_natural(model->charts, y) : y;
        const double w = rule->weight[i] * model->likelihood(&x, record, record[model->settings]);
        all += w;
        first += w * rule->z[i];
        second += w * rule->z[i] * rule->z[i];
    }
    if (!(all > 0))
        return;
    first /= all;
    const double left = second / all - first * first;
    *mean += sd * first;
    if (left > 1e-6)
        *variance *= left;
}
