/* Engines to test, from the library's own list. */
#ifndef REJFILT_ENGINE_NAMES_H
#define REJFILT_ENGINE_NAMES_H

#include <stdio.h>
#include <string.h>

#include "simd/targets.h"

enum { ENGINE_NAMES_MAX = 32 };

typedef struct engine_name {
    char text[40];
    int is_module; /* may be missing, and may leak */
} engine_name;

typedef struct engine_list {
    engine_name name[ENGINE_NAMES_MAX];
    unsigned count;
} engine_list;

static inline void add_engine(engine_list *l, const char *name, const char *argument, int is_module)
{
    engine_name *n = &l->name[l->count];
    if (l->count < ENGINE_NAMES_MAX && l->count++ < ENGINE_NAMES_MAX) {
        snprintf(n->text, sizeof n->text, "%s%s%s", name, *argument ? ":" : "", argument);
        n->is_module = is_module;
    }
}

/* Adds an engine with every kind of argument that the list allows: every target, 1 to `threads`, another engine, or
   none. */
static inline void add_engines(engine_list *l, const char *name, const char *argument, int is_module, unsigned threads)
{
    char number[12];
    const int takes_target = strcmp(argument, "[:TARGET]") == 0, takes_number = strcmp(argument, "[:N]") == 0;
    for (unsigned i = 0; takes_target && rf_target_names[i]; i++)
        add_engine(l, name, rf_target_names[i], is_module);
    for (unsigned n = 1; takes_number && n <= threads; n++)
        add_engine(l, name, (snprintf(number, sizeof number, "%u", n), number), is_module);
    if (!takes_target && !takes_number)
        add_engine(l, name, "", is_module);
    if (strcmp(argument, "[:E]") == 0 && !is_module)
        add_engine(l, name, "threads:3", is_module);
}

static inline engine_list list_engines(unsigned threads)
{
    engine_list l = {.count = 0};
#define RF_ENGINE(name, argument, is_module) add_engines(&l, #name, argument, is_module, threads);
#include "list.def"
#undef RF_ENGINE
    return l;
}

#endif
