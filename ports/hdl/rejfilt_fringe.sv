// The likelihood of a fringe, P(1) = (1 + cos)/2, and the experiments asked of it. Another likelihood is another module with these ports
// and another table (docs/hardware.md).
module rejfilt_fringe (
    input  logic        clk,
    input  logic        reset,
    input  logic        start,     // with the command; `random` and what follows are there a cycle later
    input  logic        pgh,       // else quadrature
    input  logic [ 7:0] random,
    input  logic [ 7:0] due,
    input  logic [15:0] sd,
    input  logic [31:0] mean,
    input  logic [15:0] quotient,  // slope·65536/sd, when the core has divided
    input  logic [ 7:0] slope,     // of the experiment that was asked last
    output logic        anchor,    // outcome 0 of that one says that the filter is wrong
    // four cycles after start:
    output logic [ 7:0] next_slope,
    output logic [ 7:0] next_phase,
    output logic [ 7:0] next_due,
    output logic [14:0] offset,    // of the reference from the mean, in sd/8192; opposite to the phase
    // when asked for and divided:
    output logic        timed,
    output logic [31:0] duration
);
    `include "tables.svh"
    wire on_top = !pgh && due == 0;
    logic [6:0] size;
    logic [21:0] row;
    rejfilt_rom #(.WIDTH(22), .DEPTH(130), .BLOCK(1), .CONTENT(EXPERIMENTS)) experiments (
        .clk, .address(pgh ? {1'b0, random[6:0]} : {7'b1000000, on_top}), .data(row));
    always_ff @(posedge clk) {offset, size} <= row;
    assign next_slope = pgh ? 8'(PGH) : on_top ? 8'(ANCHOR) : 8'(STEEP);
    assign next_phase = random[7] ? 8'd0 - 8'(size) : 8'(size);
    assign next_due = on_top ? 8'(ANCHOR_EVERY - 1) : due - 1;
    assign anchor = slope == 8'(ANCHOR);
    assign timed = 1;
    assign duration = 32'(quotient);
    wire unused = &{1'b0, reset, start, sd, mean};
endmodule
