/* Properties of a model. A GPU program is compiled for one model, so there they are constants. */
#ifndef REJFILT_KNOWN_H
#define REJFILT_KNOWN_H

#ifndef RF_MODEL_IS_LOG
#define RF_MODEL_IS_LOG(model) ((model)->is_log)
#ifdef RF_OUTCOMES_ONLY /* of all models of the program */
#define RF_OUTCOMES(description) ((void)(description), (unsigned)RF_OUTCOMES_ONLY)
#else
#define RF_OUTCOMES(description) ((description)->outcomes)
#endif
#endif

#endif
