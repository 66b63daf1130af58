// The likelihood of a decay, P(1) = exp(−t/T), and the waits for it: decay.h. Same ports as rejfilt_fringe.
module rejfilt_decay (
    input  logic        clk,
    input  logic        reset,
    input  logic        start,
    input  logic        pgh,
    input  logic [ 7:0] random,
    input  logic [ 7:0] due,
    input  logic [15:0] sd,
    input  logic [31:0] mean,
    input  logic [15:0] quotient,
    input  logic [ 7:0] slope,
    output logic        tested,
    output logic        anchor,
    output logic [ 7:0] next_slope,
    output logic [ 7:0] next_phase,
    output logic [ 7:0] next_due,
    output logic [15:0] offset,
    output logic        timed,
    output logic [31:0] duration
);
    `include "tables.svh"
    wire [15:0] rounded = sd + {8'd0, random};
    assign next_slope = rounded[15:8];
    assign next_phase = 0;
    assign next_due = due;
    assign offset = 0;
    assign {tested, anchor} = 0;

    // the wait: a table entry, shifted by one bit per cycle
    logic [15:0] entry;
    logic [4:0] left;
    logic [2:1] since;
    rejfilt_rom #(.WIDTH(16), .DEPTH(256), .BLOCK(1), .CONTENT(DECAY_OCTAVE)) octaves (.clk, .address(mean[14:7]), .data(entry));
    wire below = mean[31], beyond = mean[30:15] >= 31;
    always_ff @(posedge clk) begin
        since <= {since[1], start};
        if (since[2]) begin
            duration <= below ? 32'd1 : beyond ? 32'hffffffff : {entry, 16'd0};
            left <= below || beyond ? 5'd0 : 5'd30 - mean[19:15];
        end else if (left != 0) begin
            duration <= duration >> 1;
            left <= left - 1;
        end
        if (start) timed <= 0;
        else if (left == 0 && since[2:1] == 0) timed <= 1;
        if (reset) {timed, since, left} <= {1'b1, 2'd0, 5'd0};
    end
    wire unused = &{1'b0, pgh, quotient, slope};
endmodule
