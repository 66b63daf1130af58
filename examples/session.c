/* A session: ask what to measure, tell what was measured.
   cc examples/session.c $(pkg-config --cflags --libs rejfilt) -o session && ./session */
#include <stdio.h>

#include "rejfilt/session.h"

int main(void)
{
    rf_config config = rf_config_default(rf_model_find("ramsey")); /* a frequency, and how fast the fringes fade */
    config.belief = "particles:2000";                              /* its posterior is no Gaussian */
    config.seed = 42;
    char error[200];
    rf_session *session = rf_session_open(&config, error, sizeof error);
    if (!session)
        return fprintf(stderr, "%s\n", error), 1;
    const double truth[] = {0.7, 0.02};
    rf_step step;
    for (unsigned k = 0; k < 200; k++) {
        rf_record record;
        rf_session_ask(session, 1, &record); /* fills record.setting */
        record.outcome = rf64_instance_outcome(config.model->f64, truth, record.setting, 1, k); /* your experiment */
        const rf_status status = rf_session_tell(session, &record, 1, &step);
        if (status < 0)
            return fprintf(stderr, "%s\n", rf_status_text(status)), 1;
    }
    for (unsigned i = 0; i < step.dim; i++)
        printf("%s: %.5f in %.5f .. %.5f, truth %.5f\n", config.description.parameter[i].name, step.mean[i],
               step.low[i], step.high[i], truth[i]);
    printf("after %ld measurements: %s\n", step.step + 1, rf_health_name(step.health));
    rf_session_close(session);
}
