/* Opens mixtures by name, saves and loads them, and gives others access. */
#include <string.h>

#include "beliefs.h"
#include "bytes.h"
#include "evaluate.h"
#include "mixture_state.h"

/* Default numbers. With one or two parameters an update evaluates about a thousand points at most. */
enum { GAUSSIANS = 32, OF_TWO = 52 };

double rf_mixture_loss(const rf_belief *belief) { return ((const mixture *)belief)->loss; }
uint32_t rf_mixture_count(const rf_belief *belief) { return ((const mixture *)belief)->count; }
const double *rf_mixture_component(const rf_belief *belief, uint32_t i)
{
    return component_in((const mixture *)belief, i);
}

const rf64_chart *rf_mixture_charts(const rf_belief *belief) { return ((const mixture *)belief)->charts; }

rf_belief *rf_mixture_open(const rf_belief_setup *setup, char *error, size_t size)
{
    const unsigned dim = setup->problem->description.dim, settings = setup->problem->description.settings;
    const uint32_t max =
        rf_belief_number(&rf_belief_mixture, setup, 1, RF_MIXTURE_MAX, dim == 2 ? OF_TWO : GAUSSIANS, error, size);
    rf_belief *belief =
        max > 0 ? rf_belief_new(&rf_belief_mixture, setup, rf_mixture_bytes(dim, settings, max), error, size) : NULL;
    if (belief)
        rf_mixture_lay(belief, max);
    return belief;
}

/* ---- Bytes ---- */

size_t rf_mixture_save(const rf_belief *belief, unsigned char *bytes)
{
    const mixture *m = (const mixture *)belief;
    rf_writer w = {bytes, 0};
    rf_write_u64(&w, m->updates);
    rf_write_u64(&w, m->count);
    rf_write_u64(&w, m->boxed);
    rf_write_real(&w, m->loss);
    rf_write_real(&w, m->kept);
    rf_write_real(&w, m->drifted);
    for (size_t i = 0; i < m->count * rf_component_size(dim_of(m)); i++)
        rf_write_real(&w, component_in(m, 0)[i]);
    if (dim_of(m) < RF_KEEPS_FROM)
        return w.size;
    rf_write_u64(&w, m->remembered);
    rf_write_u64(&w, m->next);
    for (size_t i = 0; i < rf_mixture_kept(m); i++)
        rf_write_real(&w, rf_mixture_record(m, 0)[i]);
    return w.size;
}

static int is_component(const double *c, unsigned dim)
{
    for (size_t i = 0; i < rf_component_size(dim); i++)
        if (!(rf64_abs(c[i]) <= RF64_LIMIT))
            return 0;
    for (unsigned i = 0; i < dim; i++)
        if (!(c[1 + dim + RF_TRIANGLE(i) + i] >= RF64_TINY))
            return 0;
    return c[0] >= 0 && c[0] <= 1;
}

static int load_records(mixture *m, rf_reader *r)
{
    m->remembered = RF_FORGOTTEN;
    if (dim_of(m) < RF_KEEPS_FROM)
        return 0;
    const uint64_t remembered = rf_read_u64(r);
    m->next = (uint32_t)rf_read_u64(r);
    if (remembered > RF_RECORDS_KEPT && remembered != RF_FORGOTTEN)
        return -1;
    m->remembered = (uint32_t)remembered;
    double *to = (double *)(uintptr_t)rf_mixture_record(m, 0);
    for (size_t i = 0; i < rf_mixture_kept(m); i++) {
        to[i] = rf_read_real(r);
        if (!rf64_is_finite(to[i]))
            return -1;
    }
    rf_mixture_settle(m);
    return 0;
}

int rf_mixture_load(rf_belief *belief, const unsigned char *bytes, size_t size)
{
    mixture *m = (mixture *)belief;
    const unsigned dim = dim_of(m);
    rf_reader r = {bytes, size, 0, 0};
    m->updates = rf_read_u32(&r);
    const uint64_t count = rf_read_u64(&r);
    const uint64_t boxed = rf_read_u64(&r);
    m->loss = rf_read_real(&r);
    m->kept = rf_read_real(&r);
    m->drifted = rf_read_real(&r);
    if (count < 1 || (boxed & ~(uint64_t)rf_mixture_boxes(belief->problem)) ||
        !(m->drifted >= 0 && m->drifted <= RF64_LIMIT) || count > m->max || !(m->loss >= 0 && m->loss <= RF64_LIMIT) ||
        !(m->kept >= 0 && m->kept <= 1))
        return -1;
    m->count = (uint32_t)count;
    rf_mixture_settle(m);
    rf_mixture_take_charts(m, (uint32_t)boxed);
    double total = 0;
    for (uint32_t k = 0; k < m->count; k++) {
        double *c = component_of(m, k);
        for (size_t i = 0; i < rf_component_size(dim); i++)
            c[i] = rf_read_real(&r);
        if (r.failed || !is_component(c, dim))
            return -1;
        total += c[0];
    }
    return load_records(m, &r) == 0 && rf_read_all(&r) && rf64_abs(total - 1) <= 1e-9 ? 0 : -1;
}
