/* Finds built-in models by name. */
#include <string.h>

#include "rejfilt/host.h"

#ifndef RF_MODEL_LIST
#define RF_MODEL_LIST "list.def"
#endif

#define RF_MODEL(name)                                                                                                 \
    extern const rf32_instance rf32_model_##name;                                                                      \
    extern const rf64_instance rf64_model_##name;
#include RF_MODEL_LIST
#undef RF_MODEL

static const rf_model models[] = {
#define RF_MODEL(name) {&rf32_model_##name, &rf64_model_##name},
#include RF_MODEL_LIST
#undef RF_MODEL
};

const rf_model *rf_model_at(unsigned index) { return index < sizeof models / sizeof models[0] ? &models[index] : NULL; }

const rf_model *rf_model_find(const char *name)
{
    const rf_model *model;
    for (unsigned i = 0; name && (model = rf_model_at(i)) != NULL; i++)
        if (strcmp(model->f64->description->name, name) == 0)
            return model;
    return NULL;
}
