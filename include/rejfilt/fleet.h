/* The first batch of attempts of many filters, one filter per vector lane: the same attempts as
   attempts.h makes, turned by ninety degrees. Included after attempts.h with the same macros, and
     RF_FLEET              the name of the function it defines, an RF(run_lanes) */

#define RF_FLEET_NAME__(kernel, part) kernel##_##part
#define RF_FLEET_NAME_(kernel, part) RF_FLEET_NAME__(kernel, part)
#define RF_FLEET_NAME(part) RF_FLEET_NAME_(RF_FLEET, part)

/* What the lanes share and what each has of its own; [k][lane] throughout. */
typedef struct RF_FLEET_NAME(lanes) {
    uint32_t seed_low[RF_FLEET_LANES], seed_high[RF_FLEET_LANES], update[RF_FLEET_LANES];
    rf_real mean[RF_KERNEL_DIM_MAX][RF_FLEET_LANES];
    rf_real factor[RF_KERNEL_DIM_MAX * (RF_KERNEL_DIM_MAX + 1) / 2][RF_FLEET_LANES];
    rf_real record[RF_KERNEL_SETTINGS_MAX + 1][RF_FLEET_LANES], scale[RF_FLEET_LANES];
    uint32_t accepted[RF_FLEET_LANES], odd[RF_FLEET_LANES]; /* odd: a bad value */
    rf_order highest[RF_FLEET_LANES];
    int32_t z[RF_KERNEL_DIM_MAX][RF_FLEET_LANES]; /* of 2¹⁴ attempts at most: see RF_FLEET */
    uint32_t square[RF_KERNEL_DIM_MAX][RF_FLEET_LANES]; /* Σz² modulo 2³² */
    uint32_t square_high[RF_KERNEL_DIM_MAX][RF_FLEET_LANES]; /* Σ of z² without its last 16 bits, which makes up for the modulo */
    int64_t zz[RF_KERNEL_DIM_MAX * (RF_KERNEL_DIM_MAX + 1) / 2][RF_FLEET_LANES]; /* below the diagonal */
} RF_FLEET_NAME(lanes);

/* Fills the lanes from the filters; lanes without one repeat the first. */
RF_FN void RF_FLEET_NAME(load)(const RF(fleet) *fleet, unsigned dim, RF_FLEET_NAME(lanes) *s)
{
    const unsigned settings = fleet->model->settings;
    for (unsigned lane = 0; lane < RF_FLEET_LANES; lane++) {
        unsigned from = lane < fleet->count ? lane : 0;
        const RF(filter) *filter = fleet->filters[from];
        const rf_real *mean = RF(filter_mean_of)(filter), *factor = mean + dim, *record = fleet->records + from * (settings + 1u);
        s->seed_low[lane] = (uint32_t)filter->seed;
        s->seed_high[lane] = (uint32_t)(filter->seed >> 32);
        s->update[lane] = filter->tally.update;
        for (unsigned i = 0; i < dim; i++)
            s->mean[i][lane] = mean[i];
        for (unsigned i = 0; i < RF_TRIANGLE(dim); i++)
            s->factor[i][lane] = factor[i] * (RF_C(1.0) / RF_GRID);
        for (unsigned i = 0; i <= settings; i++)
            s->record[i][lane] = record[i];
        rf_real most = RF_KERNEL_BOUND(record, record[settings]);
        s->scale[lane] = RF_KERNEL_IS_LOG ? -(most + RF(log)(fleet->options->kappa)) : RF_C(1.0) / (most * fleet->options->kappa);
        s->accepted[lane] = s->odd[lane] = 0;
        s->highest[lane] = 0;
        for (unsigned i = 0; i < dim; i++) {
            s->z[i][lane] = 0;
            s->square[i][lane] = s->square_high[i][lane] = 0;
        }
        for (unsigned i = 0; i < RF_TRIANGLE(dim); i++)
            s->zz[i][lane] = 0;
    }
}

/* One attempt of every lane: q[d][lane] and u[lane] decide it. */
RF_ONCE void RF_FLEET_NAME(attempt)(const RF(fleet) *fleet, unsigned dim, RF_FLEET_NAME(lanes) *s, int32_t (*q)[RF_FLEET_LANES], const float *u)
{
    const unsigned settings = RF_KERNEL_SETTINGS;
    const RF(chart) *charts = fleet->model->charts;
    rf_real x[RF_KERNEL_DIM_MAX][RF_FLEET_LANES], accept[RF_FLEET_LANES];
    uint32_t mask[RF_FLEET_LANES];
    for (unsigned i = 0; i < dim; i++) {
        for (unsigned lane = 0; lane < RF_FLEET_LANES; lane++) {
            rf_real sum = s->factor[RF_TRIANGLE(i)][lane] * (rf_real)q[0][lane];
            for (unsigned j = 1; j <= i; j++)
                sum += s->factor[RF_TRIANGLE(i) + j][lane] * (rf_real)q[j][lane];
            x[i][lane] = s->mean[i][lane] + sum;
        }
        RF(to_natural)(charts ? &charts[i] : 0, RF_FLEET_LANES, x[i]);
    }
    for (unsigned lane = 0; lane < RF_FLEET_LANES; lane++) {
        rf_real own[RF_KERNEL_DIM_MAX], setting[RF_KERNEL_SETTINGS_MAX + 1];
        RF_UNROLL_ALL
        for (unsigned i = 0; i < dim; i++)
            own[i] = x[i][lane];
        RF_UNROLL_ALL
        for (unsigned i = 0; i < settings; i++)
            setting[i] = s->record[i][lane];
        accept[lane] = RF_KERNEL_LIKELIHOOD(own, setting, s->record[settings][lane]);
    }
    for (unsigned lane = 0; lane < RF_FLEET_LANES; lane++) {
        rf_real value = accept[lane];
        s->odd[lane] |= (uint32_t)RF(is_bad)(value, RF_KERNEL_IS_LOG);
        accept[lane] = RF(ratio)(value, s->scale[lane], RF_KERNEL_IS_LOG);
    }
    for (unsigned lane = 0; lane < RF_FLEET_LANES; lane++) {
        rf_order order = (rf_order)RF(bits)(accept[lane]);
        s->highest[lane] = s->highest[lane] > order ? s->highest[lane] : order;
    }
    for (unsigned lane = 0; lane < RF_FLEET_LANES; lane++) {
        mask[lane] = 0u - (uint32_t)((rf_real)u[lane] <= accept[lane]);
        s->accepted[lane] -= mask[lane];
    }
    for (unsigned i = 0; i < dim; i++) {
        for (unsigned lane = 0; lane < RF_FLEET_LANES; lane++) {
            uint32_t z = (uint32_t)q[i][lane] & mask[lane], square = z * z;
            q[i][lane] = (int32_t)z;
            s->z[i][lane] += (int32_t)z;
            s->square[i][lane] += square;
            s->square_high[i][lane] += square >> 16;
        }
        for (unsigned j = 0; j < i; j++)
            for (unsigned lane = 0; lane < RF_FLEET_LANES; lane++)
                s->zz[RF_TRIANGLE(i) + j][lane] += (int64_t)q[i][lane] * q[j][lane];
    }
}

/* The attempts [0, 2·pairs) of every lane for one real parameter, each pair in one pass: the same as `attempt`
   as long as no value is bad; lanes that have one are `odd`. */
RF_FN void RF_FLEET_NAME(plain)(RF_FLEET_NAME(lanes) *s, const rf_wide *keys, uint32_t pairs)
{
    const unsigned settings = RF_KERNEL_SETTINGS;
    uint32_t words[4 * RF_FLEET_LANES];
    rf_unsigned highest[RF_FLEET_LANES] = {0}; /* of the bits of values: NaN and negative numbers are above all others */
    for (uint32_t pair = 0; pair < pairs; pair++) {
        rf_draw_seeds(keys, pair, 0, RF_FOR_ATTEMPTS, RF_FLEET_LANES, words);
        RF_UNROLL(8)
        for (unsigned lane = 0; lane < RF_FLEET_LANES; lane++) {
            float z[2];
            rf_real setting[RF_KERNEL_SETTINGS_MAX + 1];
            RF_UNROLL_ALL
            for (unsigned i = 0; i < settings; i++)
                setting[i] = s->record[i][lane];
            rf32_normal_pair(words[lane], words[RF_FLEET_LANES + lane], &z[0], &z[1]);
            for (unsigned parity = 0; parity < 2; parity++) {
                const int32_t q = rf_to_grid(z[parity]);
                const float u = rf32_uniform(words[(2 + parity) * RF_FLEET_LANES + lane]);
                const rf_real x = s->mean[0][lane] + s->factor[0][lane] * (rf_real)q;
                const rf_real value = RF_KERNEL_LIKELIHOOD(&x, setting, s->record[settings][lane]);
                const rf_unsigned bits = RF(bits)(value);
                highest[lane] = bits > highest[lane] ? bits : highest[lane];
                const uint32_t mask = 0u - (uint32_t)((rf_real)u <= value * s->scale[lane]), chosen = (uint32_t)q & mask, square = chosen * chosen;
                s->accepted[lane] -= mask;
                s->z[0][lane] += (int32_t)chosen;
                s->square[0][lane] += square;
                s->square_high[0][lane] += square >> 16;
            }
        }
    }
    for (unsigned lane = 0; lane < RF_FLEET_LANES; lane++) {
        s->odd[lane] = highest[lane] > RF(bits)(RF_LIMIT);
        s->highest[lane] = (rf_order)RF(bits)(RF(from_bits)(highest[lane]) * s->scale[lane]);
    }
}

RF_ONCE void RF_FLEET_NAME(draw)(const rf_wide *keys, uint32_t pair, uint32_t block, uint32_t *words)
{
    rf_draw_seeds(keys, pair, block, RF_FOR_ATTEMPTS, RF_FLEET_LANES, words);
}

uint64_t RF_FLEET(const RF(fleet) *fleet)
{
    /* filters with bad values or values above κ are left to attempts.h, which counts them */
    const unsigned dim = RF_KERNEL_DIM;
    const uint32_t attempts = fleet->options->attempts;
    RF_FLEET_NAME(lanes) s;
    int32_t q[2][RF_KERNEL_DIM_MAX][RF_FLEET_LANES];
    float u[2][RF_FLEET_LANES];
    uint32_t words[4 * RF_FLEET_LANES];
    rf_wide keys[RF_SEED_KEYS(RF_FLEET_LANES)];
    if (fleet->options->sampler != RF_REJECT || attempts > 1u << 14 || dim > RF_KERNEL_DIM_MAX || RF_KERNEL_SETTINGS > RF_KERNEL_SETTINGS_MAX)
        return ~(uint64_t)0;

    RF_FLEET_NAME(load)(fleet, dim, &s);
    rf_seed_keys(s.seed_low, s.seed_high, s.update, RF_FLEET_LANES, keys);
    const int is_plain = dim == 1 && !RF_KERNEL_IS_LOG && (!fleet->model->charts || fleet->model->charts[0].kind == RF_REAL);
    if (is_plain)
        RF_FLEET_NAME(plain)(&s, keys, attempts / 2);
    for (uint32_t pair = is_plain ? attempts / 2 : 0; 2 * pair < attempts; pair++) {
        for (unsigned block = 0; block <= dim / 2; block++) {
            RF_FLEET_NAME(draw)(keys, pair, block, words);
            for (unsigned half = 0; half < 2; half++) {
                const uint32_t *first = words + 2 * half * RF_FLEET_LANES, *second = first + RF_FLEET_LANES;
                unsigned d = 2 * block + half;
                if (d < dim)
                    for (unsigned lane = 0; lane < RF_FLEET_LANES; lane++) {
                        float even, odd;
                        rf32_normal_pair(first[lane], second[lane], &even, &odd);
                        q[0][d][lane] = rf_to_grid(even);
                        q[1][d][lane] = rf_to_grid(odd);
                    }
                else if (d == dim)
                    for (unsigned lane = 0; lane < RF_FLEET_LANES; lane++) {
                        u[0][lane] = rf32_uniform(first[lane]);
                        u[1][lane] = rf32_uniform(second[lane]);
                    }
            }
        }
        for (unsigned parity = 0; parity < 2 && 2 * pair + parity < attempts; parity++)
            RF_FLEET_NAME(attempt)(fleet, dim, &s, q[parity], u[parity]);
    }

    uint64_t alone = 0;
    for (unsigned lane = 0; lane < fleet->count; lane++) {
        RF(tally) *tally = &fleet->filters[lane]->tally;
        const rf_real largest = RF(from_bits)((rf_unsigned)s.highest[lane]);
        if (s.odd[lane] || largest > 1) {
            alone |= (uint64_t)1 << lane;
            continue;
        }
        RF(tally) fresh = {0};
        fresh.update = tally->update;
        fresh.dim = (uint16_t)dim;
        fresh.accepted = s.accepted[lane];
        fresh.largest = largest;
        *tally = fresh;
        for (unsigned i = 0; i < dim; i++) {
            RF(tally_z)(tally)[i] = s.z[i][lane];
            for (unsigned j = 0; j < i; j++)
                RF(tally_zz)(tally)[RF_TRIANGLE(i) + j] = s.zz[RF_TRIANGLE(i) + j][lane];
            const uint64_t high = (uint64_t)s.square_high[i][lane] << 16;
            RF(tally_zz)(tally)[RF_TRIANGLE(i) + i] = (int64_t)(high + (uint32_t)(s.square[i][lane] - high)); /* the rest is below 2³⁰ */
        }
    }
    return alone;
}
