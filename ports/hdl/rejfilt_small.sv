// Small arithmetic of the filter: a product, a quotient and a root in parallel, one bit per cycle each, 16 cycles. Ports as
// of rejfilt_fast, with `count` for `coming`. `moved` marks a valid distance, `done` a valid wide (after ASK: distance and quotient).
module rejfilt_small (
    input  logic        clk,
    input  logic        reset,
    input  logic        start,
    input  logic [ 1:0] operation,
    input  logic [15:0] sd,        // hold this and the following inputs until done
    input  logic [31:0] q,
    input  logic [15:0] offset,
    input  logic [ 7:0] slope,
    input  logic [ 6:0] count,
    input  logic [13:0] sum,       // magnitude of Σz
    input  logic [19:0] squares,
    output logic        moved,
    output logic        done,
    output logic [18:0] distance,  // MOVE: sd·|Σz|/count; ASK: sd·offset
    output logic [18:0] wide,      // the new sd, not yet limited. MOVE: sd·spread of the accepted; DIFFUSE: √(sd² + q); WIDEN: sd·2.2
    output logic [15:0] quotient   // ASK: slope·65536/sd
);
    `include "tables.svh"
    `include "operations.svh"

    // A phase is 16 cycles. MOVE: |Σz|/count; Σz²/count and the square of the former; the root, and sd·mean; sd·root.
    // DIFFUSE: sd²; the root. ASK: sd·offset and slope/sd. WIDEN: sd·2.2.
    logic [1:0] phase;
    logic [4:0] left;  // cycles left in the phase, from 16
    logic running;
    wire ending = running && left == 0;
    wire final_phase = operation == MOVE ? phase == 3 : operation == DIFFUSE ? phase == 1 : 1'b1;
    wire load = start || (ending && !final_phase);
    wire [1:0] next = start ? 2'd0 : phase + 1;

    logic [15:0] high, low;                 // product; the second factor is shifted out of `low` while the product is shifted in
    logic [14:0] mean;
    logic [15:0] rest;                      // remainder of the division
    logic [31:0] value;                     // radicand
    logic [15:0] above, root;               // remainder of the root, and the root
    wire [31:0] product = {high, low};
    wire squaring = operation == MOVE && phase == 1;
    wire [16:0] added = {1'b0, high} + (low[0] ? {1'b0, squaring ? {1'b0, mean} : sd} : 17'd0);
    wire [16:0] brought = {rest, quotient[15]};
    wire [16:0] divided = brought - {1'b0, operation == MOVE ? 16'(count) : sd};
    wire [17:0] trial = {above, value[31:30]} - {root, 2'b01};

    always_ff @(posedge clk) begin
        if (load) begin
            phase <= next;
            left <= 16;
            running <= 1;
            high <= 0;
            case (operation)
                MOVE: low <= next == 1 ? quotient : next == 2 ? 16'(mean) : root;
                ASK: low <= offset;
                WIDEN: low <= 16'(STRETCH);
                default: low <= sd;
            endcase
            {rest, quotient} <= operation == ASK ? {8'd0, slope, 16'd0} : next == 0 ? 32'({sum, 8'd0}) : 32'(squares);
            if (next == 1) mean <= quotient[14:0];
            value <= (operation == MOVE ? {quotient, 16'd0} : q) + (operation == MOVE ? ~product : product) + 32'(operation == MOVE);
            above <= 0;
            root <= 0;
        end else if (running) begin
            left <= left - 1;
            if (left != 0) begin
                {high, low} <= {added, low[15:1]};
                quotient <= {quotient[14:0], !divided[16]};
                rest <= divided[16] ? brought[15:0] : divided[15:0];
                value <= value << 2;
                above <= trial[17] ? {above[13:0], value[31:30]} : trial[15:0];
                root <= {root[14:0], !trial[17]};
            end else running <= 0;
        end
        if (reset) running <= 0;
    end
    assign done = ending && final_phase;
    assign moved = ending && (operation == MOVE ? phase == 2 : operation == ASK);
    assign distance = product[31:13];
    assign wide = operation == DIFFUSE ? 19'(root) : product[31:13];
endmodule
