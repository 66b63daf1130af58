/* The options table: every option of a configuration, its type, its help, and who reads it. */
#define _POSIX_C_SOURCE 200809L
#include "options.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "beliefs.h"
#include "fail.h"
#include "session_state.h"
#include "text.h"

/* ---- Who reads an option ---- */

enum {
#define RF_BELIEF(identifier, name) NUMBER_##identifier,
#include "../beliefs/list.def"
#undef RF_BELIEF
    BELIEFS
};

enum {
#define RF_BELIEF(identifier, name) BY_##identifier = 1 << NUMBER_##identifier,
#include "../beliefs/list.def"
#undef RF_BELIEF
    BY_BELIEFS = (1 << BELIEFS) - 1,
    BY_PAPER_PLUS = 1 << BELIEFS, /* one Gaussian, without strict */
    BY_STEPS = 2 << BELIEFS,      /* records learnt one after the other, with any belief */
    BY_PASSES = 4 << BELIEFS,
    BY_TESTS = 8 << BELIEFS,
    BY_CHOICE = 16 << BELIEFS,
    BY_RISK = 32 << BELIEFS,
    BY_ANCHORS = 64 << BELIEFS,
    ANY = BY_STEPS | BY_PASSES,
    IMPLIES = 128 << BELIEFS /* given without a belief, it means one Gaussian */
};

/* What reads an option, for a message. */
static const struct {
    int by;
    const char *who;
} readers[] = {{BY_STEPS, "runs record by record"},
               {BY_PAPER_PLUS, "the belief gaussian without strict"},
               {BY_gaussian, "the belief gaussian"},
               {BY_mixture, "mixture"},
               {BY_particles, "particles"},
               {BY_grid, "grid"},
               {BY_TESTS, "tests of health, which strict leaves out"},
               {BY_RISK, "the design risk and a model's own"},
               {BY_ANCHORS, "designs with anchors and tests"}};

/* ---- The table ---- */

static const char design_help[] = "the rule that chooses the next experiment:\n"
#define RF_DESIGN(identifier, name, ...) name ", "
#include "../design/list.def"
#undef RF_DESIGN
                                  "model (the model's\nown), given (the data bring their settings), or auto\n(default)";

static const char belief_help[] = "what is kept of the parameters (default mixture; gaussian for\nmore than three "
                                  "parameters that move, and with --attempts,\n"
                                  "--sampler, --kappa, --shrink, --strict or float):\n"
#define RF_BELIEF(identifier, name) name ", "
#include "../beliefs/list.def"
#undef RF_BELIEF
                                  "N points";

const char *const rf_sampler_names[] = {"reject", "lattice", "weight", NULL}, *const rf_precision_names[] = {
                                                                                  "double", "float", NULL};
static const char *const on_lost_names[] = {"restart", "widen", "stop", "ignore", "watch", NULL};

typedef enum kind { FLAG, U32, U64, LONG, REAL, NAME, TEXT, LIST } kind;

typedef struct row {
    rf_option option;
    kind kind;
    size_t at;
    double low, high;
    int by;                                                                     /* who reads it */
    int (*set)(rf_config *config, const char *value, char *error, size_t size); /* instead of the kind's; may be null */
} row;

static int set_design(rf_config *c, const char *text, char *error, size_t size);
static int set_kappa(rf_config *c, const char *text, char *error, size_t size);

#define AT(field) offsetof(rf_config, field)

/* In the order of a text; a chart comes before what is said in it. */
/* clang-format off */
static const row table[] = {
    {{"belief", "NAME", belief_help, NULL, 0}, TEXT, AT(belief), 0, 0, BY_STEPS, NULL},
    {{"design", "NAME", design_help, NULL, 0}, TEXT, AT(design), 0, 0, ANY, set_design},
    {{"seed", "S", "the same seed gives the same run, to the bit (default 1)", NULL, 0}, U64, AT(seed), 0, 0, ANY, NULL},
    {{"trial", "N", "number of the run among those with its seed (default 0)", NULL, 0}, U32, AT(trial), 0, UINT32_MAX, ANY, NULL},
    {{"strict", NULL, "Algorithm 1 of the paper to the letter, without tests of\nhealth; the design is pgh unless another is given", NULL, 0}, FLAG, AT(strict), 0, 1, BY_gaussian | IMPLIES, NULL},
    {{"sampler", "NAME", "weight (default): every attempt counts, by its likelihood;\nreject or lattice: attempts are accepted or rejected", rf_sampler_names, 0}, NAME, AT(sampler), 0, 0, BY_gaussian | IMPLIES, NULL},
    {{"kappa", "K", "accept with probability P/K, K in units of the model's\nbound (default 1), or 'auto' to let it adapt", NULL, 0}, REAL, AT(kappa), 1e-9, 1e9, BY_gaussian | IMPLIES, set_kappa},
    {{"precision", "P", "the filter's numbers: float or double (default)", rf_precision_names, 0}, NAME, AT(is_float), 0, 0, BY_gaussian | IMPLIES, NULL},
    {{"shrink", "V", "with one Gaussian, the prior covariance of an update counts\nas V accepted attempts (default 1)", NULL, 0}, REAL, AT(shrink), 0, 1e9, BY_PAPER_PLUS | IMPLIES, NULL},
    {{"attempts", "M", "attempts per update (default 128 for each parameter; where\nattempts are accepted or rejected 1000, with --strict 100)", NULL, 0}, U32, AT(attempts), 1, RF_ATTEMPTS_MAX, BY_gaussian | IMPLIES, NULL},
    {{"accepted", "N", "with one Gaussian, make more attempts until N are accepted\n(default 20)", NULL, 0}, U32, AT(accepted_min), 1, 1e9, BY_PAPER_PLUS, NULL},
    {{"recovery", "R", "widen the covariance by 1+R when too few are accepted\n(default 0.1)", NULL, 0}, REAL, AT(recovery), 0, 1e9, BY_gaussian | BY_mixture, NULL},
    {{"on-lost", "WHAT", "after a failed test: restart (default: widen, then restart\nwhere the filter had been), widen (only that), stop,\nwatch (nothing) or ignore (no tests)", on_lost_names, 0}, NAME, AT(on_lost), 0, 0, BY_TESTS, NULL},
    {{"anchors", "N", "every Nth experiment tests the filter (quadrature: 5);\nsmaller is safer and slower; 0: none", NULL, 0}, LONG, AT(anchor_every), 0, 1e6, BY_ANCHORS, NULL},
    {{"chart", "[NAME=]C", "the space in which a parameter is Gaussian: real, positive,\nbounded:A:B, periodic:A:B (default: the model's)", NULL, 1}, LIST, 0, 0, 0, ANY, rf_set_chart},
    {{"prior", "[NAME=]A:B", "uniform prior from A to B; or M+-S, a Gaussian with mean M\nand standard deviation S", NULL, 1}, LIST, 0, 0, 0, ANY, rf_set_prior},
    {{"drift", "[NAME=]SD", "standard deviation of one step of the random walk (per unit\nof time if records have times); 0 means static. C+-SD~TIME:\nreverts to C. A:B~DWELL: switches between A and B. learn:\nthe drift is learnt", NULL, 1}, LIST, 0, 0, 0, ANY, rf_set_drift},
    {{"range", "NAME=A:B", "keep a setting within A..B, such as a time; of records that\nleave it you are told", NULL, 1}, LIST, 0, 0, 0, BY_STEPS, rf_set_range},
    {{"cost", "NAME=C", "cost of an experiment: 1, plus C per unit of this setting;\nused by the design risk", NULL, 1}, LIST, 0, 0, 0, BY_RISK, rf_set_cost},
    {{"unit", "NAME=UNIT", "show this unit beside a parameter, a setting or time; numbers\nstay as they are", NULL, 1}, LIST, 0, 0, 0, ANY, rf_set_unit},
};
/* clang-format on */

enum { ROWS = sizeof table / sizeof *table };

static const row *find_row(const char *name, size_t length)
{
    for (unsigned i = 0; i < ROWS; i++)
        if (strlen(table[i].option.name) == length && memcmp(table[i].option.name, name, length) == 0)
            return &table[i];
    return NULL;
}

const rf_option *rf_option_at(unsigned index) { return index < ROWS ? &table[index].option : NULL; }

const rf_option *rf_option_find(const char *name)
{
    const row *r = find_row(name, strlen(name));
    return r ? &r->option : NULL;
}

static uint32_t bit_of(const row *r) { return 1u << (r - table); }

/* ---- Setting ---- */

static int set_design(rf_config *c, const char *text, char *error, size_t size)
{
    (void)error, (void)size; /* whether there is such a design depends on the model */
    c->design = strcmp(text, "given") == 0 ? NULL : text;
    return 0;
}

static int set_kappa(rf_config *c, const char *text, char *error, size_t size)
{
    if (strcmp(text, "auto") != 0)
        return rf_parse_real(text, 1e-9, 1e9, &c->kappa, error, size);
    c->kappa = 0;
    return 0;
}

static int set_value(const row *r, rf_config *c, const char *value, char *error, size_t size)
{
    static const char *const words[] = {"no", "yes", "false", "true", "0", "1"};
    char *field = (char *)c + r->at;
    uint64_t whole = 0;
    if (r->set)
        return r->set(c, value, error, size);
    if (r->kind == TEXT) {
        *(const char **)(void *)field = value;
        return 0;
    }
    if (r->kind == REAL)
        return rf_parse_real(value, r->low, r->high, (double *)(void *)field, error, size);
    if (r->kind == NAME || r->kind == FLAG) {
        int which = r->kind == NAME ? rf_which(value, r->option.names, error, size) : 0;
        while (r->kind == FLAG && which < 6 && strcmp(value, words[which]) != 0)
            which++;
        if (r->kind == FLAG && which == 6)
            return rf_fail(error, size, "'%s' is neither yes nor no", value);
        if (which >= 0)
            *(int *)(void *)field = r->kind == FLAG ? which % 2 : which;
        return which < 0 ? -1 : 0;
    }
    if (rf_parse_whole(value, (uint64_t)r->low, r->high > 0 ? (uint64_t)r->high : UINT64_MAX, &whole, error, size) < 0)
        return -1;
    if (r->kind == U64)
        *(uint64_t *)(void *)field = whole;
    else if (r->kind == LONG)
        *(long *)(void *)field = (long)whole;
    else
        *(uint32_t *)(void *)field = (uint32_t)whole;
    return 0;
}

int rf_config_set(rf_config *config, const char *name, const char *value, char *error, size_t size)
{
    const row *r = config && name && value ? find_row(name, strlen(name)) : NULL;
    if (!r) {
        const char *names[ROWS + 1] = {NULL};
        char close[RF_SUGGESTION];
        for (unsigned i = 0; i < ROWS; i++)
            names[i] = table[i].option.name;
        return rf_fail(error, size, "there is no option '%.40s'%s", name ? name : "",
                       name ? rf_suggestion(name, names, close) : "");
    }
    if (!config->model)
        return rf_fail(error, size, "this configuration has no model; begin with rf_config_default");
    if (set_value(r, config, value, error, size) < 0)
        return -1;
    int is_fixed = r->set == rf_set_range; /* a fixed setting's value is read with any design */
    unsigned first, last;
    const char *rest;
    if (is_fixed && rf_parse_whose(&config->description, 1, value, &first, &last, &rest, error, size) == 0)
        for (unsigned i = first; i < last; i++)
            is_fixed &= config->description.setting[i].role == RF_SETTING_FIXED;
    const int is_no = (r->kind == FLAG || r->at == AT(is_float)) &&
                      !*(const int *)(const void *)((const char *)config + r->at); /* as if not given */
    config->told = is_no ? config->told & ~bit_of(r) : is_fixed ? config->told : config->told | bit_of(r);
    return 0;
}

/* ---- What follows from what was told ---- */

enum { MIXTURE_MOVES = 3 }; /* most parameters, some moving, with which a mixture is the default: docs/tracking.md */

static int is_told(const rf_config *c, const char *name)
{
    return (c->told & bit_of(find_row(name, strlen(name)))) != 0;
}

/* Does an option that means one Gaussian have another value than by default? */
static int is_changed(const row *r, const rf_config *c)
{
    const rf_config fresh = rf_config_default(c->model);
    const char *a = (const char *)c + r->at, *b = (const char *)&fresh + r->at;
    return memcmp(a, b, r->kind == REAL ? sizeof(double) : sizeof(uint32_t)) != 0;
}

/* Why the belief is one Gaussian, if it is not said: the option that means it, "" for the number of parameters, null
 * for no reason. */
static const char *reason(const rf_config *config)
{
    if (!config->model)
        return NULL;
    for (unsigned pass = 0; pass < 2; pass++) /* what was told comes before what follows from it */
        for (unsigned i = 0; i < ROWS; i++)
            if (table[i].by & IMPLIES &&
                (pass == 0 ? (config->told & bit_of(&table[i])) != 0 : is_changed(&table[i], config)))
                return table[i].option.name;
    const unsigned dim = config->description.dim;
    const int is_mixture = dim <= MIXTURE_MOVES || (rf_motion_all_still(config, dim) && !config->learns_drift);
    return is_mixture ? NULL : is_told(config, "drift") ? "drift" : "";
}

const char *rf_config_belief(const rf_config *config)
{
    return !config ? NULL : config->belief ? config->belief : reason(config) ? "gaussian" : "mixture";
}

const char *rf_config_because(const rf_config *config)
{
    const char *because = !config || !config->model || config->own ? NULL
                          : config->belief                         ? config->because
                                                                   : reason(config);
    return because && *because ? because : NULL;
}

void rf_config_complete(rf_config *c)
{
    if (!c || !c->model)
        return;
    const rf_config fresh = rf_config_default(c->model);
    if (c->strict && !is_told(c, "sampler"))
        c->sampler = RF_REJECT;
    if (!is_told(c, "attempts"))
        c->attempts = c->strict ? 100 : c->sampler == RF_WEIGHT ? fresh.attempts : 1000;
    if (c->strict && !is_told(c, "on-lost"))
        c->on_lost = RF_ON_LOST_IGNORE;
    if (c->strict && c->design && strcmp(c->design, "auto") == 0)
        c->design = "pgh"; /* the design of the paper's algorithm */
    if (!c->belief) {
        c->because = reason(c);
        c->belief = rf_config_belief(c);
    }
}

/* ---- Options without effect ---- */

/* Who reads options in this run. */
static int readers_of(const rf_config *c, rf_readers use)
{
    const rf64_design *design = c->design ? rf64_design_find(c->design, &c->description, c->model->f64->design) : NULL;
    const char *belief = rf_config_belief(c);
    int by = use & RF_FOR_PASSES ? BY_PASSES : 0;
    if (!(use & RF_FOR_STEPS))
        return by;
    by |= BY_STEPS | (c->own ? BY_BELIEFS | BY_PAPER_PLUS : 0) | (c->strict ? 0 : BY_TESTS);
    for (unsigned i = 0; i < BELIEFS && !c->own; i++)
        if (strncmp(belief, rf_belief_kind_at(i)->name, strcspn(belief, ":")) == 0 &&
            strlen(rf_belief_kind_at(i)->name) == strcspn(belief, ":"))
            by |= 1 << i;
    by |= by & BY_gaussian && !c->strict ? BY_PAPER_PLUS : 0;
    if (!design)
        return by;
    const int is_own = design == c->model->f64->design;
    by |= is_own || strcmp(design->name, "risk") == 0 ? BY_RISK : 0;
    return by | BY_CHOICE | (design->anchor_every > 0 && c->on_lost != RF_ON_LOST_IGNORE ? BY_ANCHORS : 0);
}

static int refuse_unread(const rf_config *c, const row *r, rf_readers use, char *error, size_t size)
{
    char who[200] = "";
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (r->by & readers[i].by)
            snprintf(who + strlen(who), sizeof who - strlen(who), "%s%s", *who ? ", " : "", readers[i].who);
    if (!(use & RF_FOR_STEPS))
        return rf_fail(error, size, "%s has no effect on passes; leave it out", r->option.name);
    if (r->by & (BY_BELIEFS | BY_PAPER_PLUS) && !c->strict)
        return rf_fail(error, size,
                       "%s is read by %s alone, and the belief is %s: leave it out, or say belief gaussian",
                       r->option.name, who, rf_config_belief(c));
    return rf_fail(error, size, "%s is read by %s alone; leave it out", r->option.name, who);
}

int rf_config_check(const rf_config *config, rf_readers use, char *error, size_t size)
{
    if (!config || !config->model)
        return rf_fail(error, size, "this configuration has no model; begin with rf_config_default");
    const int by = readers_of(config, use);
    if (rf_check_priors(config, error, size) < 0)
        return -1;
    if (config->strict && config->sampler != RF_REJECT)
        return rf_fail(error, size, "strict is rejection by definition; leave out the sampler");
    if (config->strict && !config->own && strcmp(rf_config_belief(config), "gaussian") != 0)
        return rf_fail(error, size, "strict is one Gaussian by definition; leave out the belief");
    if (config->design && !rf64_design_find(config->design, &config->description, config->model->f64->design))
        return 0; /* rf_session_open says that there is none */
    for (unsigned i = 0; i < ROWS; i++)
        if (!(table[i].by & by) && (config->told & bit_of(&table[i]) ||
                                    (table[i].by & IMPLIES && use & RF_FOR_STEPS && is_changed(&table[i], config))))
            return refuse_unread(config, &table[i], use, error, size);
    return 0;
}

void rf_config_forget(rf_config *config, rf_readers use)
{
    const rf_config fresh = rf_config_default(config->model);
    const int by = readers_of(config, use);
    for (const row *r = table; r < table + ROWS; r++) {
        static const size_t sizes[] = {[FLAG] = sizeof(int),  [U32] = sizeof(uint32_t), [U64] = sizeof(uint64_t),
                                       [LONG] = sizeof(long), [REAL] = sizeof(double),  [NAME] = sizeof(int)};
        if (r->by & by)
            continue;
        if (r->kind < TEXT)
            memcpy((char *)config + r->at, (const char *)&fresh + r->at, sizes[r->kind]);
        config->told &= ~bit_of(r);
    }
    for (unsigned i = 0; i < config->description.settings; i++) {
        rf_setting *s = &config->description.setting[i];
        const rf_setting *of = &fresh.description.setting[i];
        if (!(by & BY_CHOICE) && s->role != RF_SETTING_FIXED) { /* else only notes depend on it */
            s->low = of->low;
            s->high = of->high;
        }
        s->cost = by & BY_RISK ? s->cost : of->cost;
    }
}

/* ---- As text ---- */

/* Text being appended to; a piece that does not fit is left out. */
typedef struct growing {
    char *text;
    size_t size, used;
} growing;

__attribute__((format(printf, 2, 3))) static void add(growing *g, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(g->text + g->used, g->size - g->used, format, arguments);
    va_end(arguments);
    g->used += length > 0 && (size_t)length < g->size - g->used ? (size_t)length : 0;
    g->text[g->used] = '\0';
}

/* "key = value" of an option that is one value. */
static void add_value(growing *g, const row *r, const rf_config *c)
{
    const char *field = (const char *)c + r->at;
    const rf64_design *design = c->design ? rf64_design_find(c->design, &c->description, c->model->f64->design) : NULL;
    char number[RF_REAL_TEXT];
    const char *value = number;
    if (r->kind == FLAG)
        value = *(const int *)(const void *)field ? "yes" : "no";
    else if (r->kind == NAME)
        value = r->option.names[*(const int *)(const void *)field];
    else if (r->kind == REAL)
        rf_real_text(*(const double *)(const void *)field, number);
    else if (r->kind == U64)
        rf_whole_digits(*(const uint64_t *)(const void *)field, number);
    else if (r->kind == LONG)
        snprintf(number, sizeof number, "%ld", *(const long *)(const void *)field);
    else if (r->kind == U32)
        rf_whole_digits(*(const uint32_t *)(const void *)field, number);
    else
        value = r->set == set_design ? design ? design->name : "given" : c->own ? c->own->name : rf_config_belief(c);
    if (r->at == AT(accepted_min) && c->accepted_min == 0)
        rf_whole_digits(rf64_options_default().accepted_min, number);
    add(g, "%s = %s\n", r->option.name, r->set == set_kappa && c->kappa == 0 ? "auto" : value);
}

/* A unit that was set: not the model's own. */
static void add_unit(growing *g, rf_readers use, const char *what, const char *unit, const char *usual)
{
    if (use != RF_FOR_ALL && unit && !(usual && strcmp(unit, usual) == 0))
        add(g, "unit = %s%s\n", what, unit);
}

size_t rf_config_text(const rf_config *c, rf_readers use, char *text, size_t size)
{
    const rf_description *d = &c->description;
    const int by = use == RF_FOR_ALL ? -1 : readers_of(c, use);
    growing g = {text, size, 0};
    char first[RF_REAL_TEXT], second[RF_REAL_TEXT], word[256];
    for (const row *r = table; r < table + ROWS; r++)
        if (r->kind != LIST && r->by & by && (r->at != AT(trial) || c->trial > 0) &&
            (r->at != AT(anchor_every) || c->anchor_every >= 0))
            add_value(&g, r, c);
    if (c->learns_drift)
        add(&g, "drift = learn\n");
    const rf_description *usual = c->model->f64->description;
    add_unit(&g, use, "time=", d->time_unit, usual->time_unit);
    for (unsigned i = 0; i < d->dim; i++) {
        const rf_prior *prior = &c->prior[i];
        rf_chart_text(&d->parameter[i], word, sizeof word);
        add(&g, "\n[parameter %s]\nchart = %s\nprior = %s%s%s\n", d->parameter[i].name, word,
            rf_real_text(prior->first, first), prior->is_gaussian ? "+-" : ":", rf_real_text(prior->second, second));
        rf_drift_text(c, i, word, sizeof word);
        add(&g, "drift = %s\n", word);
        add_unit(&g, use, "", d->unit[i], usual->unit[i]);
    }
    for (unsigned i = 0; i < d->settings; i++) {
        const rf_setting *s = &d->setting[i];
        add(&g, "\n[setting %s]\n", s->name);
        if (s->role != RF_SETTING_GUESS && (by & BY_CHOICE || s->role == RF_SETTING_FIXED || is_told(c, "range")))
            add(&g, "range = %s:%s\n", rf_real_text(s->low, first), rf_real_text(s->high, second));
        if (by & BY_RISK)
            add(&g, "cost = %s\n", rf_real_text(s->cost, first));
        add_unit(&g, use, "", d->setting_unit[i], usual->setting_unit[i]);
    }
    return g.used;
}
