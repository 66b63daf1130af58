// After a reset, and whatever the numbers are: an operation ends within MOST cycles, none ends that was not begun, and MOVE and ASK
// announce the distance once before or when they end. The arithmetic is then as it was after the reset, so this holds for every operation.
module formal #(parameter int FAST = 0, parameter int MOST = 72) (
    input logic clk, start,
    input logic [1:0] operation,
    input logic [15:0] sd, input logic [31:0] q, input logic [14:0] offset, input logic [7:0] slope,
    input logic [6:0] count, input logic [13:0] sum, input logic [19:0] squares
);
    `include "operations.svh"
    logic moved, done;
    logic [18:0] distance, wide;
    logic [15:0] quotient;
    logic reset = 1, busy = 0, told = 0;
    logic [7:0] age = 0;
    logic [1:0] begun = 0;
    generate
        if (FAST != 0) begin : g_fast
            rejfilt_fast arithmetic (.clk, .reset, .start(start && !reset), .operation, .sd, .q, .offset, .slope, .coming(count), .sum, .squares, .moved, .done, .distance, .wide, .quotient);
        end else begin : g_small
            rejfilt_small arithmetic (.clk, .reset, .start(start && !reset), .operation, .sd, .q, .offset, .slope, .count, .sum, .squares, .moved, .done, .distance, .wide, .quotient);
        end
    endgenerate
    always_ff @(posedge clk) begin
        reset <= 0;
        age <= age + 1;
        if (start && !reset) {busy, age, begun, told} <= {1'b1, 8'd1, operation, 1'b0};
        else if (done) busy <= 0;
        if (moved) told <= 1;
    end
    always_comb begin
        assume (!(start && busy));              // the filter waits
        if (busy) assume (operation == begun);  // and holds what it asked for
        if (!reset) begin
            assert (!busy || age <= MOST);
            assert (!done || busy);
            assert (!moved || (busy && !told && (begun == MOVE || begun == ASK)));
            if (done && (begun == MOVE || begun == ASK)) assert (told || moved);
        end
    end
endmodule
