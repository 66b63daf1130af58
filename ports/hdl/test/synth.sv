// Top module for place and route, for the budgets: the filter with its serial line, so that few pins are needed.
module synth #(parameter int LANES = 1, parameter int FAST = 0, parameter int DECAY = 0) (
    input logic clk, reset, rx, answer, outcome, pick, output logic tx, asking, turned);
    logic [31:0] duration, base;
    logic [31:0] shown;  // keeps all bits of the settings in use
    rejfilt_uart #(.LANES(LANES), .FAST(FAST), .DECAY(DECAY), .DIVIDER(100)) filter (
        .clk, .reset, .rx, .tx, .asking, .duration, .base, .answer, .outcome);
    always_ff @(posedge clk) shown <= asking ? (pick ? base : duration) : {shown[30:0], 1'b0};
    assign turned = shown[31];
endmodule
