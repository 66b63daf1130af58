// Fast arithmetic of the filter: products by multipliers, quotients by a table of reciprocals, roots with two bits per cycle.
// Ports as of rejfilt_small, which describes them, with `coming` for `count`.
module rejfilt_fast (
    input  logic        clk,
    input  logic        reset,
    input  logic        start,
    input  logic [ 1:0] operation,
    input  logic [15:0] sd,
    input  logic [31:0] q,
    input  logic [15:0] offset,
    input  logic [ 7:0] slope,
    input  logic [ 6:0] coming,    // count, one cycle earlier
    input  logic [13:0] sum,
    input  logic [19:0] squares,
    output logic        moved,
    output logic        done,
    output logic [18:0] distance,
    output logic [18:0] wide,
    output logic [15:0] quotient
);
    `include "tables.svh"
    `include "operations.svh"

    // 2²⁹/count, rounded up. 256·sum·count and squares·count are below 2²⁹, so the rounding adds less to a quotient than its
    // distance from the next whole number.
    function automatic logic [30*128-1:0] reciprocals();
        for (integer k = 0; k < 128; k = k + 1) reciprocals[30*k+:30] = k == 0 ? 30'd0 : 30'(((1 << 29) + k - 1) / k);
    endfunction
    logic [29:0] reciprocal;
    rejfilt_rom #(.WIDTH(30), .DEPTH(128), .BLOCK(1), .CONTENT(reciprocals())) reciprocal_of (.clk, .address(coming), .data(reciprocal));

    logic [29:0] by;
    always_ff @(posedge clk) by <= reciprocal;

    // |Σz|/count and Σz²/count, in two cycles
    logic [31:0] sum_low, squares_top;
    logic [25:0] sum_high;
    logic [35:0] squares_low;
    logic [29:0] squares_high;
    logic [14:0] mean;
    logic [12:0] square;
    wire [43:0] sum_by = 44'(sum_low) + {sum_high, 18'd0};
    wire [49:0] squares_by = 50'(squares_low) + {50'(squares_high) + 50'(squares_top)} * 50'd262144;
    always_ff @(posedge clk) begin
        sum_low <= 32'(sum) * 32'(by[17:0]);
        sum_high <= 26'(sum) * 26'(by[29:18]);
        squares_low <= 36'(squares[17:0]) * 36'(by[17:0]);
        squares_high <= 30'(squares[17:0]) * 30'(by[29:18]);
        squares_top <= (squares[18] ? 32'(by) : 32'd0) + (squares[19] ? {1'b0, by, 1'b0} : 32'd0);
        mean <= sum_by[35:21];
        square <= squares_by[41:29];
    end

    // One product per cycle; its second factor depends on the operation
    logic rooted;
    logic [15:0] factor, root;
    logic [31:0] product;
    logic [29:0] mean_squared;
    always_comb begin
        case (operation)
            WIDEN: factor = 16'(STRETCH);
            ASK: factor = offset;
            DIFFUSE: factor = sd;
            default: factor = rooted ? root : 16'(mean);
        endcase
    end
    always_ff @(posedge clk) begin
        product <= sd * factor;
        mean_squared <= mean * mean;
    end

    // The root, two bits per cycle
    logic [31:0] value;
    logic [15:0] above;
    logic [2:0] left;
    logic rooting;
    wire [17:0] first = {above, value[31:30]} - {root, 2'b01};
    wire [15:0] above_1 = first[17] ? {above[13:0], value[31:30]} : first[15:0];
    wire [15:0] root_1 = {root[14:0], !first[17]};
    wire [17:0] second = {above_1, value[29:28]} - {root_1, 2'b01};

    // slope·65536/sd, one bit per cycle
    logic [15:0] rest;
    logic [4:0] digits;
    wire [16:0] brought = {rest, quotient[15]};
    wire [16:0] divided = brought - {1'b0, sd};

    logic [3:1] since;  // cycles since start
    wire valued = operation == MOVE ? since[3] : operation == DIFFUSE && since[1];
    always_ff @(posedge clk) begin
        since <= {since[2:1], start && (operation == MOVE || operation == DIFFUSE)};
        if (valued) begin
            value <= (operation == MOVE ? {3'd0, square, 16'd0} : q) + (operation == MOVE ? ~{2'd0, mean_squared} : product) + 32'(operation == MOVE);
            above <= 0;
            root <= 0;
            left <= 7;
        end else if (rooting) begin
            value <= value << 4;
            above <= second[17] ? {above_1[13:0], value[29:28]} : second[15:0];
            root <= {root_1[14:0], !second[17]};
            left <= left - 1;
        end
        rooting <= valued || (rooting && left != 0);
        rooted <= rooting && left == 0;

        if (start) begin
            {rest, quotient} <= {8'd0, slope, 16'd0};
            digits <= operation == ASK ? 5'd16 : 5'd0;
        end else if (digits != 0) begin
            rest <= divided[16] ? brought[15:0] : divided[15:0];
            quotient <= {quotient[14:0], !divided[16]};
            digits <= digits - 1;
        end

        moved <= operation == MOVE ? since[2] : operation == ASK && start;
        case (operation)
            MOVE: done <= rooted;
            DIFFUSE: done <= rooting && left == 0;
            ASK: done <= digits == 1;
            default: done <= start;
        endcase
        if (reset) {since, rooting, rooted, moved, done, digits} <= 0;
    end
    assign distance = product[31:13];
    assign wide = operation == DIFFUSE ? 19'(root) : product[31:13];
endmodule
