/* A stand-in for a compiler without --Ofast-compile, for test_nvrtc. The program it returns is the number of
   compilations. */
#include <stdio.h>
#include <string.h>

static char asked = '0';

int nvrtcCreateProgram(void **made, const char *source, const char *name, int count, const char *const *texts, const char *const *names)
{
    (void)source, (void)name, (void)count, (void)texts, (void)names;
    *made = &asked;
    return 0;
}

int nvrtcCompileProgram(void *made, int count, const char *const *options)
{
    (void)made;
    asked++;
    for (int i = 0; i < count; i++)
        if (strncmp(options[i], "--Ofast-compile", 15) == 0)
            return 5;
    return 0;
}

int nvrtcGetCUBINSize(void *made, size_t *bytes)
{
    (void)made;
    *bytes = 1;
    return 0;
}

int nvrtcGetCUBIN(void *made, char *bytes)
{
    (void)made;
    *bytes = asked;
    return 0;
}

int nvrtcGetProgramLogSize(void *made, size_t *bytes)
{
    (void)made;
    *bytes = 0;
    return 0;
}

int nvrtcGetProgramLog(void *made, char *log)
{
    (void)made, (void)log;
    return 1;
}

int nvrtcDestroyProgram(void **made)
{
    *made = NULL;
    return 0;
}

const char *nvrtcGetErrorString(int code) { return code == 5 ? "invalid option" : "another error"; }
