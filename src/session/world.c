/* Simulated worlds: truths that walk and jump, detectors that fail. All randomness is a function of the seed and the
   measurement. Also compiled for a GPU. */
#include "world.h"

#include <math.h>
#include <string.h>

#include "common.h"

/* Purposes of the random numbers of one measurement. */
enum { FOR_STEP = 0, FOR_FIRST = 1, FOR_READOUT = 2, FOR_JUMP = 3, FOR_OTHER_TRUTH = 4, FOR_SWITCH = 5, FOR_AGAIN = 6 };
enum { TRUTH_DRAWS = 200 }; /* most draws of a truth until one is in the chart */

static rf_words draw(const rf_worldly *w, uint32_t shot, uint32_t index, uint32_t what)
{
    return rf_draw(w->seed, shot, index, what, RF_FOR_TRUTH);
}

/* Draws from a distribution, uniform or Gaussian in natural units, in the chart; not finite if outside of it. */
static double draw_natural(const rf64_chart *chart, const rf_prior *from, rf_words words, double z)
{
    if (from->is_gaussian)
        return rf64_chart_coordinate(chart, from->first + from->second * z);
    return rf64_chart_coordinate(chart, from->first + (from->second - from->first) * rf64_uniform(words.word[2]));
}

/* Draws parameter i of a truth, in the chart: from its own distribution; else from the prior itself, or from the Gaussian by
   which the belief represents it. A Gaussian may be drawn outside the chart; its own is then drawn again. */
static RF_APART double draw_truth(const rf_worldly *w, unsigned i, rf_words words)
{
    const rf_world *world = &w->simulation->world;
    const int is_own = world->has_truth >> i & 1;
    const rf64_chart *chart = &w->session->problem->charts[i];
    const rf_prior *prior = is_own ? &world->truth[i] : &w->simulation->config.prior[i];
    const uint32_t first = words.word[3];
    double z, other, mean, variance;
    rf64_normal_pair(words.word[0], words.word[1], &z, &other);
    double truth = draw_natural(chart, prior, words, z);
    for (uint32_t k = 0; is_own && !rf64_is_finite(truth) && k < TRUTH_DRAWS; k++) {
        words = draw(w, first + k, i, FOR_AGAIN);
        rf64_normal_pair(words.word[0], words.word[1], &z, &other);
        truth = draw_natural(chart, prior, words, z);
    }
    if (is_own && !rf64_is_finite(truth))
        return rf64_chart_coordinate(chart, prior->first);
    if (!w->simulation->is_truth_gaussian && rf64_is_finite(truth))
        return truth;
    rf_problem_prior(w->session->problem, i, &mean, &variance);
    return mean + w->session->prior_sd[i] * z;
}

/* How parameter i's truth moves. */
static const rf_motion *motion_of(const rf_worldly *w, unsigned i)
{
    const rf_world *world = &w->simulation->world;
    return world->has_drift >> i & 1 ? &world->motion[i] : &w->simulation->config.motion[i];
}

/* Unless a truth is given, a reverting or switching parameter begins in its stationary distribution. */
static double first_truth(const rf_worldly *w, unsigned i)
{
    const rf_world *world = &w->simulation->world;
    const rf_motion *motion = motion_of(w, i);
    const rf_words words = draw(w, 0, i, FOR_FIRST);
    double z, other;
    rf64_normal_pair(words.word[0], words.word[1], &z, &other);
    if (world->has_truth >> i & 1 || RF_MOTION_KIND(motion) == RF_MOTION_WALK)
        return draw_truth(w, i, words);
    if (RF_MOTION_KIND(motion) == RF_MOTION_REVERTING)
        return motion->centre + motion->sd * z;
    return motion->level[rf64_uniform(words.word[2]) * (motion->dwell[0] + motion->dwell[1]) > motion->dwell[0]];
}

RF_APART void rf_world_begin(rf_worldly *w, const rf_simulation *simulation, const rf_session *session, uint64_t seed)
{
    const rf_worldly begin = {.simulation = simulation, .session = session, .seed = seed};
    *w = begin;
    for (unsigned i = 0; i < simulation->config.description.dim; i++)
        w->truth[i] = first_truth(w, i);
}

/* ---- The truth ---- */

/* The index of the level nearer to x. */
static unsigned is_at(const rf_motion *motion, double x)
{
    return rf64_abs(x - motion->level[1]) < rf64_abs(x - motion->level[0]);
}

static void walk(rf_worldly *w, uint32_t shot)
{
    const rf_config *config = &w->simulation->config;
    const rf_world *world = &w->simulation->world;
    const unsigned dim = config->description.dim;
    double z[RF_ROOM], f[RF_ROOM * RF_ROOM], q[RF_ROOM * RF_ROOM], root[RF_TRIANGLE(RF_ROOM)];
    for (unsigned i = 0; i < dim; i++) {
        const rf_words words = draw(w, shot, i, FOR_STEP);
        double other;
        rf64_normal_pair(words.word[0], words.word[1], &z[i], &other);
    }
    if (rf_instance_of(config)->dynamics) {
        double moved[RF_ROOM];
        rf_instance_of(config)->dynamics(1, f, q);
        rf64_covariance_factor(q, dim, root);
        for (unsigned i = 0; i < dim; i++) {
            moved[i] = 0;
            for (unsigned j = 0; j < dim; j++)
                moved[i] += f[i * dim + j] * w->truth[j] + (j <= i ? root[RF_TRIANGLE(i) + j] * z[j] : 0);
        }
        memcpy(w->truth, moved, dim * sizeof moved[0]);
        return;
    }
    for (unsigned i = 0; i < dim; i++) {
        const int is_own = world->has_drift >> i & 1;
        const rf_motion *motion = motion_of(w, i);
        double f = 1, q = is_own ? world->drift[i] : config->drift[i], shift = 0, chance[2];
        q *= q;
        if (RF_MOTION_KIND(motion) == RF_MOTION_REVERTING)
            rf_motion_revert(motion, 1, &f, &q, &shift);
        if (RF_MOTION_KIND(motion) == RF_MOTION_TELEGRAPH) {
            rf_motion_switch(motion, 1, chance);
            const unsigned at = is_at(motion, w->truth[i]);
            const int switches = rf64_uniform(draw(w, shot, i, FOR_SWITCH).word[0]) < chance[at];
            q = 0;
            shift = switches ? motion->level[!at] - motion->level[at] : 0;
            w->events |= switches ? RF_EVENT_JUMP : 0;
        }
        w->truth[i] = f * w->truth[i] + shift + rf64_sqrt(q) * z[i];
    }
}

static void jump(rf_worldly *w, uint32_t shot)
{
    const rf_world *world = &w->simulation->world;
    for (uint32_t k = 0; k < world->jumps; k++) {
        const rf_jump *j = &world->jump[k];
        const rf_words words = draw(w, shot, k, FOR_JUMP);
        if (j->every > 0 ? !(rf64_uniform(words.word[0]) * (double)j->every < 1) : shot != (uint32_t)j->at)
            continue;
        const double sign = j->low != j->high && words.word[1] & 1 ? -1 : 1;
        w->truth[j->parameter] += sign * (j->low + (j->high - j->low) * rf64_uniform(words.word[2]));
        w->events |= RF_EVENT_JUMP;
    }
}

/* ---- Outcomes ---- */

static void natural_truth(const rf_worldly *w, double natural[])
{
    for (unsigned i = 0; i < w->simulation->config.description.dim; i++)
        natural[i] = rf64_chart_natural(&w->session->problem->charts[i], w->truth[i]);
}

/* An uninformative outcome: uniform over the possible ones; if their number is unlimited, that of another truth drawn
   from the prior. */
static RF_APART double noise(const rf_worldly *w, const rf_record *record, uint32_t shot, double uniform)
{
    const double outcomes = rf64_outcomes_of(&w->simulation->config.description, record->setting);
    if (outcomes > 0)
        return rf64_min(rf64_floor(uniform * outcomes), outcomes - 1.0);
    rf_worldly other = *w;
    double natural[RF_ROOM];
    for (unsigned i = 0; i < w->simulation->config.description.dim; i++)
        other.truth[i] = draw_truth(w, i, draw(w, shot, i, FOR_OTHER_TRUTH));
    natural_truth(&other, natural);
    return rf64_instance_outcome(rf_instance_of(&w->simulation->config), natural, record->setting, ~w->seed, shot);
}

/* A different outcome. */
static double misread(const rf_worldly *w, const rf_record *record, uint32_t shot, double outcome, double uniform)
{
    const double outcomes = rf64_outcomes_of(&w->simulation->config.description, record->setting);
    if (outcomes < 2)
        return noise(w, record, shot, uniform);
    const double another = rf64_min(rf64_floor(uniform * (outcomes - 1.0)), outcomes - 2.0);
    return another + (another >= outcome);
}

/* The probability that this experiment's outcome is uninformative. */
static double blindness(const rf_worldly *w, const rf_record *record)
{
    const rf_world *world = &w->simulation->world;
    const rf_description *description = &w->simulation->config.description;
    double seen = 1 - world->blind;
    for (unsigned i = 0; i < description->settings; i++)
        if (description->setting[i].role == RF_SETTING_TIME)
            seen *= rf64_exp(-world->decay * record->setting[i]);
    return 1 - seen;
}

static const rf_outage *outage_at(const rf_worldly *w, long shot)
{
    const rf_world *world = &w->simulation->world;
    for (uint32_t k = 0; k < world->outages; k++)
        if (shot >= world->outage[k].at && shot < world->outage[k].at + world->outage[k].length)
            return &world->outage[k];
    return NULL;
}

static double read_out(const rf_worldly *w, const rf_record *record, uint32_t shot)
{
    const rf_words words = draw(w, shot, 0, FOR_READOUT);
    const double u = rf64_uniform(words.word[0]), which = rf64_uniform(words.word[1]);
    const rf_outage *outage = outage_at(w, (long)shot);
    double natural[RF_ROOM];
    if (outage && outage->kind == RF_OUTAGE_MISSING)
        return NAN;
    if (outage && outage->kind == RF_OUTAGE_COIN)
        return noise(w, record, shot, which);
    if (outage && outage->kind == RF_OUTAGE_STUCK)
        return u < outage->flips ? misread(w, record, shot, outage->outcome, which) : outage->outcome;
    if (u < blindness(w, record))
        return noise(w, record, shot, which);
    natural_truth(w, natural);
    const double outcome =
        rf64_instance_outcome(rf_instance_of(&w->simulation->config), natural, record->setting, w->seed, shot);
    const int is_flipped = rf64_uniform(words.word[2]) < w->simulation->world.flips, is_swapped = outage != NULL;
    return is_flipped != is_swapped ? misread(w, record, shot, outcome, which) : outcome;
}

static RF_APART void measure(rf_worldly *w, long first, uint32_t count, rf_record records[])
{
    w->events = 0;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t shot = (uint32_t)first + k;
        const int is_out = outage_at(w, (long)shot) != NULL, was_out = outage_at(w, (long)shot - 1) != NULL;
        if (shot > 0) {
            walk(w, shot);
            jump(w, shot);
        }
        w->events |= (is_out ? RF_EVENT_OUT : 0) | (is_out && !was_out ? RF_EVENT_OUTAGE : 0) |
                     (was_out && !is_out ? RF_EVENT_BACK : 0);
        records[k].outcome = read_out(w, &records[k], shot);
    }
}

rf_status rf_world_ask(rf_worldly *w, rf_session *session, long first, rf_record records[])
{
    const long left = w->simulation->steps - first;
    const uint32_t count = left < (long)w->simulation->batch ? (uint32_t)left : w->simulation->batch;
    const rf_status status = rf_session_ask(session, count, records);
    if (status < 0)
        return status;
    measure(w, first, count, records);
    return (rf_status)count;
}

void rf_world_show(const rf_worldly *w, rf_step *step)
{
    rf_session_show_chart_truth(w->session, w->truth, step);
    step->events = w->events;
}
