/*
 * fmi2.h -- the interface of FMI 2.0 for C, as far as an FMU declares it
 *
 * Types and functions of the standard "Functional Mock-up Interface for Model Exchange and
 * Co-Simulation", version 2.0.4 (Modelica Association, 2022), chapters 2.1, 3.2 and 4.2,
 * under its names.
 */
#ifndef FA_FMI2_H
#define FA_FMI2_H

#include <stddef.h>

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;
typedef char fmi2Byte;

typedef enum {
    fmi2OK,
    fmi2Warning,
    fmi2Discard,
    fmi2Error,
    fmi2Fatal,
    fmi2Pending
} fmi2Status;

typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;

typedef enum {
    fmi2DoStepStatus,
    fmi2PendingStatus,
    fmi2LastSuccessfulTime,
    fmi2Terminated
} fmi2StatusKind;

typedef struct {
    void (*logger)(fmi2ComponentEnvironment, fmi2String instance, fmi2Status,
                   fmi2String category, fmi2String message, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

/* what a tool finds in the shared library */
#define FMI2(result) __attribute__((visibility("default"))) result

/* of both kinds */
FMI2(const char *) fmi2GetTypesPlatform(void);
FMI2(const char *) fmi2GetVersion(void);
FMI2(fmi2Status)
fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n,
                    const fmi2String categories[]);
FMI2(fmi2Component)
fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                const fmi2CallbackFunctions *functions, fmi2Boolean visible,
                fmi2Boolean logging);
FMI2(void) fmi2FreeInstance(fmi2Component c);
FMI2(fmi2Status)
fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance,
                    fmi2Real start, fmi2Boolean has_stop, fmi2Real stop);
FMI2(fmi2Status) fmi2EnterInitializationMode(fmi2Component c);
FMI2(fmi2Status) fmi2ExitInitializationMode(fmi2Component c);
FMI2(fmi2Status) fmi2Terminate(fmi2Component c);
FMI2(fmi2Status) fmi2Reset(fmi2Component c);
FMI2(fmi2Status)
fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real x[]);
FMI2(fmi2Status)
fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n,
               fmi2Integer x[]);
FMI2(fmi2Status)
fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n,
               fmi2Boolean x[]);
FMI2(fmi2Status)
fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String x[]);
FMI2(fmi2Status)
fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n,
            const fmi2Real x[]);
FMI2(fmi2Status)
fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n,
               const fmi2Integer x[]);
FMI2(fmi2Status)
fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n,
               const fmi2Boolean x[]);
FMI2(fmi2Status)
fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n,
              const fmi2String x[]);
FMI2(fmi2Status) fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state);
FMI2(fmi2Status) fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state);
FMI2(fmi2Status) fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state);
FMI2(fmi2Status)
fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size);
FMI2(fmi2Status)
fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[],
                      size_t size);
FMI2(fmi2Status)
fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size,
                        fmi2FMUstate *state);
FMI2(fmi2Status)
fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[],
                             size_t n_unknown, const fmi2ValueReference known[],
                             size_t n_known, const fmi2Real dv_known[],
                             fmi2Real dv_unknown[]);

/* of co-simulation */
FMI2(fmi2Status)
fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                            const fmi2Integer order[], const fmi2Real x[]);
FMI2(fmi2Status)
fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                             const fmi2Integer order[], fmi2Real x[]);
FMI2(fmi2Status)
fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean no_return);
FMI2(fmi2Status) fmi2CancelStep(fmi2Component c);
FMI2(fmi2Status) fmi2GetStatus(fmi2Component c, fmi2StatusKind kind, fmi2Status *x);
FMI2(fmi2Status) fmi2GetRealStatus(fmi2Component c, fmi2StatusKind kind, fmi2Real *x);
FMI2(fmi2Status)
fmi2GetIntegerStatus(fmi2Component c, fmi2StatusKind kind, fmi2Integer *x);
FMI2(fmi2Status)
fmi2GetBooleanStatus(fmi2Component c, fmi2StatusKind kind, fmi2Boolean *x);
FMI2(fmi2Status)
fmi2GetStringStatus(fmi2Component c, fmi2StatusKind kind, fmi2String *x);

/* of model exchange */
FMI2(fmi2Status) fmi2EnterEventMode(fmi2Component c);
FMI2(fmi2Status) fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info);
FMI2(fmi2Status) fmi2EnterContinuousTimeMode(fmi2Component c);
FMI2(fmi2Status)
fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_set_state,
                            fmi2Boolean *enter_event_mode, fmi2Boolean *terminate);
FMI2(fmi2Status) fmi2SetTime(fmi2Component c, fmi2Real time);
FMI2(fmi2Status)
fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n);
FMI2(fmi2Status) fmi2GetDerivatives(fmi2Component c, fmi2Real x[], size_t n);
FMI2(fmi2Status) fmi2GetEventIndicators(fmi2Component c, fmi2Real x[], size_t n);
FMI2(fmi2Status) fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n);
FMI2(fmi2Status)
fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x[], size_t n);

#endif
