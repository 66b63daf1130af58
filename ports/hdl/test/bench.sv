// What the co-simulation drives: the filter, with the parameters of the configuration, and assertions about it.
module bench #(parameter int LANES = 1, parameter int FAST = 0, parameter int DECAY = 0) (
    input  logic        clk, reset, start,
    input  logic [ 2:0] command,
    input  logic [31:0] operand,
    input  logic [15:0] first_sd, seed,
    output logic        ready,
    output logic [31:0] duration, base,
    output logic [ 6:0] count,
    output logic [ 4:0] passes,
    output logic        lost,
    output logic [15:0] random,
    output logic [31:0] mean,
    output logic [15:0] sd, widest,
    output logic [ 7:0] slope, phase, due,
    output logic [31:0] evidence
);
    rejfilt #(.LANES(LANES), .FAST(FAST), .DECAY(DECAY)) filter (.*);
endmodule
