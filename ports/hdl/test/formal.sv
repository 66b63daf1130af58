// After a reset, for any operation and any numbers: it ends once, within MOST cycles; no operation ends that was not started; MOVE and
// ASK announce the distance once, not later than their end. Sequences of operations are tested by co-simulation.
module formal #(parameter int FAST = 0, parameter int MOST = 72) (
    input logic clk, start,
    input logic [1:0] operation,
    input logic [15:0] sd, input logic [31:0] q, input logic [15:0] offset, input logic [7:0] slope,
    input logic [6:0] count, input logic [13:0] sum, input logic [19:0] squares
);
    `include "operations.svh"
    logic moved, done;
    logic [18:0] distance, wide;
    logic [15:0] quotient;
    logic reset = 1, fresh = 0, busy = 0, told = 0;
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
        fresh <= reset;
        age <= age + 1;
        if (start && !reset) {busy, age, begun, told} <= {1'b1, 8'd1, operation, 1'b0};
        else if (done) busy <= 0;
        if (moved) told <= 1;
    end
    always_comb begin
        assume (start == fresh);                // one operation
        if (busy || (age != 0 && age < 4)) assume (operation == begun);  // inputs are held; the filter waits longer before the next operation
        if (!reset) begin
            assert (!busy || age <= MOST);
            assert (!done || busy);
            assert (!moved || (busy && !told && (begun == MOVE || begun == ASK)));
            if (done && (begun == MOVE || begun == ASK)) assert (told || moved);
        end
    end
endmodule
