// The likelihood of a fringe, P(1) = (1 + cos)/2, and the experiments for it. To use another likelihood, replace this module, with the
// same ports, and the table (docs/hardware.md).
module rejfilt_fringe (
    input  logic        clk,
    input  logic        reset,
    input  logic        start,     // together with the command; `random` and the following ports are valid one cycle later
    input  logic        pgh,       // 0: quadrature
    input  logic [ 7:0] random,
    input  logic [ 7:0] due,
    input  logic [15:0] sd,
    input  logic [31:0] mean,
    input  logic [15:0] quotient,  // slope·65536/sd, when the core has computed it
    input  logic [ 7:0] slope,     // of the last experiment
    output logic        tested,    // outcomes 0 and 1 are equally probable: many equal ones in a row mean a stuck detector
    output logic        anchor,    // outcome 0 on the top, or 1 at the bottom, means that the filter is wrong
    // valid four cycles after start:
    output logic [ 7:0] next_slope,
    output logic [ 7:0] next_phase,
    output logic [ 7:0] next_due,
    output logic [15:0] offset,    // distance of the reference from the mean, in sd/4096; its sign is opposite to that of phase
    // valid when the experiment was chosen and the quotient computed:
    output logic        timed,
    output logic [31:0] duration
);
    `include "tables.svh"
    wire test = !pgh && due == 0;
    logic [6:0] size;
    logic [22:0] row;
    rejfilt_rom #(.WIDTH(23), .DEPTH(256), .BLOCK(1), .CONTENT(EXPERIMENTS)) experiments (
        .clk, .address(pgh ? {1'b0, random[6:0]} : test ? {3'b111, random[4:0]} : 8'd128), .data(row));
    always_ff @(posedge clk) {offset, size} <= test && !random[7] ? 23'd0 : row;  // the top is at the mean: offset 0
    assign next_slope = pgh ? 8'(PGH) : test ? 8'(ANCHOR) + 8'(random[4:0]) : 8'(STEEP);
    assign next_phase = !pgh ? {random[7], !test, 6'd0} : random[7] ? 8'd0 - 8'(size) : 8'(size);
    assign next_due = test ? 8'(ANCHOR_EVERY - 1) : due - 1;
    assign tested = slope != 0 && slope <= 8'(STEEP);
    assign anchor = tested && slope != 8'(STEEP);
    assign timed = 1;
    assign duration = 32'(quotient);
    wire unused = &{1'b0, reset, start, sd, mean};
endmodule
