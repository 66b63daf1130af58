// The attempts of an update, LANES per cycle: passes of 100 until more than 20 are accepted, at most 20 passes. LANES
// is 1 or even. If it is even, attempts at z and −z run in parallel, for LANES/2 slices at once. The sums are over the
// accepted attempts plus one at the mean, whose square counts as one, as in fixed.c.
module rejfilt_attempts #(
    parameter int LANES = 1,
    parameter int FAST = 0,  // a product in one cycle, with a multiplier
    parameter logic [2047:0] PROBABILITY = '0,  // of outcome 1, by angle, in 1/255
    parameter int STEP = 159,  // of the sequence of acceptance thresholds
    parameter int PAIRED = 0,  // z and −z use the same step of the sequence
    parameter int FIRST_SQUARE = 1024
) (
    input  logic               clk,
    input  logic               reset,
    input  logic               start,
    input  logic               outcome,  // held until done
    input  logic        [ 7:0] random,   // start of the sequence of thresholds; read a cycle after start
    input  logic        [ 7:0] slope,    // the angle at z is phase + (2·slope·|z| + 128)/256, with the sign of z
    input  logic        [ 7:0] phase,
    output logic               done,     // for one cycle, with the sums
    output logic        [ 6:0] count,    // valid a cycle before done
    output logic        [ 6:0] coming,   // count, one cycle earlier
    output logic               minus,    // sign of Σz,
    output logic        [13:0] sum,      // and its magnitude
    output logic        [19:0] squares,
    output logic        [ 4:0] passes
);
    `include "tables.svh"
    localparam int PAIRS = LANES == 1 ? 1 : LANES / 2;
    localparam int SIGNS = LANES == 1 ? 1 : 2;
    localparam int STEPS = ATTEMPTS / LANES;
    localparam int SLICES = ATTEMPTS / 2 / PAIRS;  // per pair of lanes
    localparam int IN_BLOCKS = SLICES > 16 ? 1 : 0;
    localparam int PLACE = $clog2(SLICES);
    localparam int WIDTH = $clog2(STEPS);

    // Pipeline: bit k of `valid` is set k cycles after the address of its slices.
    localparam int PRODUCT = FAST != 0 ? 2 : 3, LOOKED_UP = PRODUCT + 1, KNOWN = PRODUCT + 2, JUDGED = PRODUCT + 3;
    localparam int COUNTED = LANES == 1 ? JUDGED : JUDGED + 1;  // with several lanes, the count is added up first
    logic stepping, issued;
    logic [WIDTH-1:0] step, tail;
    logic [COUNTED+1:1] valid;
    logic [PLACE-1:0] head_slice, tail_slice;
    logic head_minus;
    generate
        if (LANES == 1) begin : g_one_place
            logic [PRODUCT:1] odd;
            always_ff @(posedge clk) odd <= {odd[PRODUCT-1:1], step[0]};
            assign {head_slice, tail_slice} = {step[WIDTH-1:1], tail[WIDTH-1:1]};
            assign head_minus = odd[PRODUCT];
        end else begin : g_places
            assign {head_slice, tail_slice} = {step, tail};
            assign head_minus = 0;
        end
    endgenerate

    wire finished = valid[COUNTED+1] && !valid[COUNTED];  // the count is final; the sums follow
    wire enough = count > 7'(ACCEPTED_LEAST) || passes == 5'(PASSES_MAX - 1);
    assign issued = step == WIDTH'(STEPS - 1);
    always_ff @(posedge clk) begin
        done <= finished && enough;
        if (finished) passes <= passes + 1;
        if (stepping) step <= issued ? '0 : step + 1;
        if (stepping && issued) stepping <= 0;
        if (valid[KNOWN]) tail <= tail == WIDTH'(STEPS - 1) ? '0 : tail + 1;
        if (start) begin
            passes <= 0;
            step <= 0;
            tail <= 0;
        end
        if (start || (finished && !enough)) stepping <= 1;
        valid <= {valid[COUNTED:1], stepping};
        if (reset || start) begin
            valid <= 0;
            done <= 0;
        end
        if (reset) stepping <= 0;
    end

    logic fresh, second;
    logic [7:0] u;  // last value of the step before
    always_ff @(posedge clk) begin
        fresh <= start;
        if (fresh) u <= random;
        else if (valid[LOOKED_UP] && (second || LANES > 1 || PAIRED == 0)) u <= u + 8'(STEP * (PAIRED != 0 ? PAIRS : LANES));
        second <= !fresh && (second ^ valid[LOOKED_UP]);  // with one lane: attempt at −z
    end

    // Slices of a pair of lanes: every PAIRS-th slice.
    function automatic logic [7*SLICES-1:0] own_sizes(input integer pair);
        for (integer i = 0; i < SLICES; i = i + 1) own_sizes[7*i+:7] = HALF_GAUSSIAN[7*(PAIRS*i+pair)+:7];
    endfunction
    function automatic logic [13*SLICES-1:0] own_squares(input integer pair);
        for (integer i = 0; i < SLICES; i = i + 1)
            own_squares[13*i+:13] = 13'(HALF_GAUSSIAN[7*(PAIRS*i+pair)+:7]) * 13'(HALF_GAUSSIAN[7*(PAIRS*i+pair)+:7]);
    endfunction

    // For each pair of lanes: the angle at its slice, the probabilities at z and at −z, and which attempts are
    // accepted.
    logic [6:0] tail_size[PAIRS];
    logic [12:0] tail_square[PAIRS];
    logic accepted[LANES];
    genvar p, s;
    generate
        for (p = 0; p < PAIRS; p = p + 1) begin : g_pair
            logic [6:0] size;
            logic [7:0] turn;
            rejfilt_rom #(.WIDTH(7), .DEPTH(SLICES), .BLOCK(IN_BLOCKS), .CONTENT(own_sizes(p)))
                head_sizes (.clk, .address(head_slice), .data(size));
            rejfilt_rom #(.WIDTH(7), .DEPTH(SLICES), .BLOCK(IN_BLOCKS), .CONTENT(own_sizes(p)))
                tail_sizes (.clk, .address(tail_slice), .data(tail_size[p]));
            rejfilt_rom #(.WIDTH(13), .DEPTH(SLICES), .BLOCK(IN_BLOCKS), .CONTENT(own_squares(p)))
                tail_squares (.clk, .address(tail_slice), .data(tail_square[p]));
            if (FAST != 0) begin : g_fast
                logic [14:0] product;
                always_ff @(posedge clk) product <= slope * size;
                assign turn = 8'((product + 15'd64) >> 7);
            end else begin : g_small
                logic [11:0] low;
                logic [10:0] high;
                logic [14:0] product;
                always_ff @(posedge clk) begin
                    low <= slope * size[3:0] + 64;
                    high <= slope * size[6:4];
                    product <= 15'(low) + {high, 4'd0};
                end
                assign turn = product[14:7];
            end
            for (s = 0; s < SIGNS; s = s + 1) begin : g_sign
                logic [7:0] angle, one, likelihood, threshold;
                wire mirrored = LANES == 1 ? head_minus : s == 1;
                assign angle = mirrored ? phase - turn : phase + turn;
                rejfilt_rom #(.WIDTH(8), .DEPTH(256), .BLOCK(1), .CONTENT(PROBABILITY)) table_of_outcome_1 (.clk, .address(angle), .data(one));
                always_ff @(posedge clk) begin
                    likelihood <= outcome ? one : ~one;
                    threshold <= u + 8'(STEP * (PAIRED != 0 ? p + 1 : SIGNS * p + s + 1));
                    accepted[SIGNS*p+s] <= threshold < likelihood;
                end
            end
        end
    endgenerate

    generate
        if (LANES == 1) begin : g_sum_one
            logic tail_minus;
            logic signed [14:0] total;
            assign minus = total[14];
            assign sum = 14'(minus ? -total : total);
            assign coming = count + 7'(valid[JUDGED] && accepted[0]);
            always_ff @(posedge clk) begin
                tail_minus <= tail[0];
                if (start) begin
                    count <= 1;
                    total <= 0;
                    squares <= 20'(FIRST_SQUARE);
                end else if (valid[JUDGED] && accepted[0]) begin
                    count <= coming;
                    total <= tail_minus ? total - 15'(tail_size[0]) : total + 15'(tail_size[0]);
                    squares <= squares + 20'(tail_square[0]);
                end
            end
        end else begin : g_sum_many
            integer k;
            logic signed [7:0] pair_sum[PAIRS];
            logic [13:0] pair_squares[PAIRS];
            logic [6:0] now_accepted, more;
            logic signed [14:0] all_sum, more_sum, total, negated;  // both signs are computed, because the sign is known late
            assign minus = total[14];
            assign sum = minus ? negated[13:0] : total[13:0];
            logic [19:0] all_squares, more_squares;
            assign coming = valid[COUNTED] ? count + now_accepted : count;
            always_comb begin
                more = 0;
                more_sum = 0;
                more_squares = 0;
                for (k = 0; k < LANES; k = k + 1) more = more + 7'(accepted[k]);
                for (k = 0; k < PAIRS; k = k + 1) begin
                    more_sum = more_sum + 15'(pair_sum[k]);
                    more_squares = more_squares + 20'(pair_squares[k]);
                end
            end
            always_ff @(posedge clk) begin
                for (k = 0; k < PAIRS; k = k + 1) begin
                    pair_sum[k] <= accepted[2*k] == accepted[2*k+1] ? 0 : accepted[2*k] ? 8'(tail_size[k]) : 8'd0 - 8'(tail_size[k]);
                    pair_squares[k] <= accepted[2*k] && accepted[2*k+1] ? {tail_square[k], 1'b0} : accepted[2*k] || accepted[2*k+1] ? 14'(tail_square[k]) : 0;
                end
                now_accepted <= more;
                all_sum <= more_sum;
                all_squares <= more_squares;
                if (start) begin
                    count <= 1;
                    total <= 0;
                    negated <= 0;
                    squares <= 20'(FIRST_SQUARE);
                end else begin
                    count <= coming;
                    if (valid[COUNTED+1]) begin
                        total <= total + all_sum;
                        negated <= negated - all_sum;
                        squares <= squares + all_squares;
                    end
                end
            end
        end
    endgenerate
endmodule
