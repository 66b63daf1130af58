/* Between updates: diffusion, linear dynamics, widening. */

rf_status RF(widen)(RF(filter) *filter, rf_real factor)
{
    if (!filter)
        return RF_REFUSED_NULL;
    if (!(factor > 0) || !RF(usable)(factor))
        return RF_REFUSED_VALUE;
    RF(triangle_scale)(RF(factor)(filter), RF_DIM(filter->tally.dim), RF(sqrt)(factor));
    return RF(triangle_clamp)(RF(factor)(filter), RF_DIM(filter->tally.dim));
}

rf_status RF(stretch)(RF(filter) *filter, const rf_real factor[])
{
    if (!filter || !factor)
        return RF_REFUSED_NULL;
    const unsigned dim = RF_DIM(filter->tally.dim);
    for (unsigned i = 0; i < dim; i++)
        if (!(factor[i] > 0) || !RF(usable)(factor[i]))
            return RF_REFUSED_VALUE;
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j <= i; j++)
            RF(factor)(filter)[RF(at)(i, j)] *= factor[i];
    return RF(triangle_clamp)(RF(factor)(filter), dim);
}

rf_status RF(diffuse)(RF(filter) *filter, rf_real rate, rf_real elapsed)
{
    if (!filter)
        return RF_REFUSED_NULL;
    if (!(rate >= 0) || !RF(usable)(rate))
        return RF_REFUSED_VALUE;
    if (!(elapsed >= 0) || !RF(usable)(elapsed))
        return RF_REFUSED_TIME;
    unsigned dim = RF_DIM(filter->tally.dim);
    rf_real one, *v = dim > 1 ? RF(vectors)(filter) : &one;
    rf_real sd = RF(sqrt)(rate * elapsed);
    for (unsigned j = 0; j < dim; j++) {
        for (unsigned i = 0; i < dim; i++)
            v[i] = i == j ? sd : 0;
        RF(triangle_add)(RF(factor)(filter), v, j, dim);
    }
    return RF(triangle_clamp)(RF(factor)(filter), dim);
}

/* l·lᵀ ← l·lᵀ + scale²·q·qᵀ. `v` is workspace. */
static void RF(add_factor)(rf_real *l, const rf_real *q, rf_real scale, unsigned dim, rf_real *v)
{
    for (unsigned j = 0; j < dim; j++) {
        for (unsigned i = 0; i < dim; i++)
            v[i] = i < j ? 0 : q[RF(at)(i, j)] * scale;
        RF(triangle_add)(l, v, j, dim);
    }
}

/* q ← factor of the dim × dim covariance, checked. */
static rf_status RF(covariance_read)(rf_real *q, const rf_real covariance[], unsigned dim)
{
    for (size_t i = 0; i < (size_t)dim * dim; i++)
        if (!RF(usable)(covariance[i]))
            return RF_REFUSED_VALUE;
    return RF(triangle_from_covariance)(q, covariance, dim) ? RF_OK : RF_REFUSED_COVARIANCE;
}

rf_status RF(covariance_factor)(const rf_real covariance[], unsigned dim, rf_real factor[])
{
    if (!covariance || !factor)
        return RF_REFUSED_NULL;
    return RF(covariance_read)(factor, covariance, dim);
}

rf_status RF(diffuse_covariance)(RF(filter) *filter, const rf_real rate[], rf_real elapsed)
{
    if (!filter || !rate)
        return RF_REFUSED_NULL;
    if (!(elapsed >= 0) || !RF(usable)(elapsed))
        return RF_REFUSED_TIME;
    unsigned dim = RF_DIM(filter->tally.dim);
    rf_real one[2], *q = dim > 1 ? RF(triangle_two)(filter) : &one[0];
    rf_real *v = dim > 1 ? RF(vectors)(filter) : &one[1];
    rf_status status = RF(covariance_read)(q, rate, dim);
    if (status < 0)
        return status;
    RF(add_factor)(RF(factor)(filter), q, RF(sqrt)(elapsed), dim, v);
    return RF(triangle_clamp)(RF(factor)(filter), dim);
}

rf_status RF(evolve)(RF(filter) *filter, const rf_real F[], const rf_real Q[])
{
    if (!filter || !F)
        return RF_REFUSED_NULL;
    unsigned dim = RF_DIM(filter->tally.dim);
    for (size_t i = 0; i < (size_t)dim * dim; i++)
        if (!RF(usable)(F[i]))
            return RF_REFUSED_VALUE;
    rf_real one[5];
    rf_real *l = dim > 1 ? RF(triangle_one)(filter) : &one[0];
    rf_real *q = dim > 1 ? RF(triangle_two)(filter) : &one[1];
    rf_real *v = dim > 1 ? RF(vectors)(filter) : &one[2];
    rf_real *mean = dim > 1 ? v + dim : &one[3], *rest = dim > 1 ? mean + dim : &one[4];
    if (Q) {
        rf_status status = RF(covariance_read)(q, Q, dim);
        if (status < 0)
            return status;
    }

    /* mean and rest ← F·μ; l ← factor of F·L·(F·L)ᵀ, one column of F·L after the other */
    for (unsigned i = 0; i < dim; i++) {
        rf_real sum = 0, lost = 0;
        for (unsigned k = 0; k < dim; k++) {
            lost += RF(add_rounded)(&sum, F[i * dim + k] * RF(mean)(filter)[k]);
            lost += F[i * dim + k] * RF(rest)(filter, k);
        }
        rest[i] = RF(add_rounded)(&sum, lost);
        mean[i] = sum;
        if (!RF(usable)(sum))
            return RF_REFUSED_OVERFLOW;
    }
    const rf_real *old = RF(factor)(filter);
    for (size_t i = 0; i < RF_TRIANGLE(dim); i++)
        l[i] = 0;
    for (unsigned j = 0; j < dim; j++) {
        for (unsigned i = 0; i < dim; i++) {
            rf_real sum = 0;
            for (unsigned k = j; k < dim; k++)
                sum += F[i * dim + k] * old[RF(at)(k, j)];
            if (!RF(usable)(sum))
                return RF_REFUSED_OVERFLOW;
            v[i] = sum;
        }
        RF(triangle_add)(l, v, 0, dim);
    }
    if (Q)
        RF(add_factor)(l, q, RF_C(1.0), dim, v);

    for (unsigned i = 0; i < dim; i++)
        RF(mean)(filter)[i] = mean[i];
    RF(rests_put)(filter, dim, rest);
    for (size_t i = 0; i < RF_TRIANGLE(dim); i++)
        RF(factor)(filter)[i] = l[i];
    return RF(triangle_clamp)(RF(factor)(filter), dim);
}
