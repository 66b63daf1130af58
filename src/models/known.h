/* What code asks a model for that a program for a GPU, made for one model, knows when it is compiled. */
#ifndef REJFILT_KNOWN_H
#define REJFILT_KNOWN_H

#ifndef RF_MODEL_IS_LOG
#define RF_MODEL_IS_LOG(model) ((model)->is_log)
#define RF_OUTCOMES(description) ((description)->outcomes)
#endif

#endif
