// The integer filter (fixed.h) as hardware, with bit-identical results. A command is accepted in a cycle with `start` and `ready`;
// its results are valid when `ready` is high again. Inputs of a command must be held until then.
module rejfilt #(
    parameter int LANES = 1,  // attempts per cycle: 1, 2, 4, 10 or 20
    parameter int FAST = 0,   // multipliers and tables instead of one bit per cycle
    parameter int DECAY = 0   // likelihood: 0 a fringe, 1 a decay
) (
    input  logic        clk,
    input  logic        reset,
    input  logic        start,
    input  logic [ 2:0] command,        // operations.svh
    input  logic [31:0] operand,        // DO_INIT: the mean; DO_DIFFUSE: q
    input  logic [15:0] first_sd,       // DO_INIT
    input  logic [15:0] seed,
    output logic        ready,
    output logic [31:0] duration,       // of the experiment (rfi_time), after DO_ASK
    output logic [31:0] base,           // its reference, after DO_ASK
    output logic [ 6:0] count,          // number accepted, plus one; after DO_LEARN
    output logic [ 4:0] passes,
    output logic        lost,           // the last update widened the filter, because it was wrong
    output logic        stuck,          // there was no update, because the detector is stuck
    // state, as in rfi_filter
    output logic [15:0] random    /* verilator public_flat_rw */,
    output logic [31:0] mean      /* verilator public_flat_rw */,
    output logic [15:0] sd        /* verilator public_flat_rw */,
    output logic [15:0] widest    /* verilator public_flat_rw */,
    output logic [ 7:0] slope     /* verilator public_flat_rw */,
    output logic [ 7:0] phase     /* verilator public_flat_rw */,
    output logic [ 7:0] due       /* verilator public_flat_rw */,
    output logic [ 7:0] alike     /* verilator public_flat_rw */,
    output logic [31:0] home      /* verilator public_flat_rw */,
    output logic [31:0] evidence  /* verilator public_flat_rw */
);
    `include "tables.svh"
    `include "operations.svh"

    generate
        if (LANES != 1 && LANES != 2 && LANES != 4 && LANES != 10 && LANES != 20) $error("LANES is 1, 2, 4, 10 or 20");
    endgenerate

    typedef enum logic [2:0] {IDLE, SETTLE, CHOOSE, ASKING, TRYING, WAITING, WIDENING} state_t;
    state_t state;
    logic outcome, pgh, asked, chosen, divided;
    assign ready = state == IDLE;
    wire accept = ready && start;
    wire learn = command == DO_LEARN_0 || command == DO_LEARN_1;
    wire ask = command == DO_ASK || command == DO_ASK_PGH;

    // Random numbers: the next one is ready two cycles after the last was used.
    logic [15:0] times_85, upcoming;
    always_ff @(posedge clk) begin
        times_85 <= (random + (random << 2)) + ((random + (random << 2)) << 4);
        upcoming <= times_85 + {random[6:0] + {random[2:0] + {random[1:0], 1'b0}, 4'd0}, 9'd0} + 16'd13849;
    end

    // Equal outcomes in a row
    wire one = command == DO_LEARN_1;
    wire differs = alike[0] != one;
    logic counted, full, narrow, homing;  // valid when a command comes; `narrow` one cycle later
    wire frozen = full && !differs;
    always_ff @(posedge clk) begin
        counted <= tested;
        full <= tested && alike[7:1] >= 7'(ALIKE);
        narrow <= (sd <= widest >> 1);
    end

    // Attempts
    logic tried;
    logic [6:0] coming;
    logic minus;
    logic [19:0] squares;
    logic [13:0] sum_size;
    rejfilt_attempts #(.LANES(LANES), .FAST(FAST), .PROBABILITY(DECAY != 0 ? DECAY_SURVIVAL : FRINGE), .STEP(DECAY != 0 ? DECAY_GOLDEN : GOLDEN),
                       .PAIRED(DECAY), .FIRST_SQUARE(DECAY != 0 ? DECAY_PINCH : PINCH)) attempts (
        .clk, .reset, .start(accept && learn && !frozen), .outcome, .random(random[15:8]), .slope, .phase, .done(tried), .count, .coming, .minus, .sum(sum_size), .squares, .passes);

    // Experiment
    logic tested, anchor, timed;
    logic [7:0] next_slope, next_phase, next_due;
    logic [15:0] offset;
    logic [15:0] quotient;
    logic [31:0] next_duration;
    generate
        if (DECAY != 0) begin : g_decay
            rejfilt_decay experiment (.clk, .reset, .start(accept && ask), .pgh, .random(random[15:8]), .due, .sd, .mean, .quotient, .slope,
                                      .tested, .anchor, .next_slope, .next_phase, .next_due, .offset, .timed, .duration(next_duration));
        end else begin : g_fringe
            rejfilt_fringe experiment (.clk, .reset, .start(accept && ask), .pgh, .random(random[15:8]), .due, .sd, .mean, .quotient, .slope,
                                      .tested, .anchor, .next_slope, .next_phase, .next_due, .offset, .timed, .duration(next_duration));
        end
    endgenerate

    // Arithmetic
    logic [1:0] operation;  // DIFFUSE while idle
    logic moved, done;
    logic [18:0] distance, wide;
    wire compute = (accept && command == DO_DIFFUSE) || (state == ASKING && !asked) || (state == TRYING && tried) || state == WIDENING;
    generate
        if (FAST != 0) begin : g_fast
            rejfilt_fast arithmetic (.clk, .reset, .start(compute), .operation, .sd, .q(operand), .offset, .slope, .coming, .sum(sum_size), .squares,
                                     .moved, .done, .distance, .wide, .quotient);
        end else begin : g_small
            rejfilt_small arithmetic (.clk, .reset, .start(compute), .operation, .sd, .q(operand), .offset, .slope, .count, .sum(sum_size), .squares,
                                      .moved, .done, .distance, .wide, .quotient);
        end
    endgenerate
    wire below = operation == ASK ? !phase[7] : minus;
    wire [31:0] apart = operation == ASK ? {12'd0, distance, 1'b0} : {13'd0, distance};
    wire [32:0] beside_and_carry = {mean, 1'b1} + {below ? ~apart : apart, below};  // mean ± distance
    wire [31:0] beside = beside_and_carry[32:1];
    wire [15:0] limited = wide > 19'(widest) ? widest : wide < 19'(SD_LEAST) ? 16'(SD_LEAST) : wide[15:0];

    // Evidence: the sum of two table entries, until it reaches its limits
    logic [15:0] looked_up, entry;
    logic [3:1] since;  // cycles since the attempts ended
    logic open;
    rejfilt_rom #(.WIDTH(16), .DEPTH(128 + PASSES_MAX + 1), .BLOCK(1), .CONTENT(EVIDENCE)) evidences (
        .clk, .address(since[1] ? {3'b100, passes} : {1'b0, count}), .data(looked_up));
    always_ff @(posedge clk) begin
        since <= {since[2:1], tried && !reset};
        entry <= looked_up;
        if (tried) open <= evidence[31:30] == 2'b00 || (evidence[31:30] == 2'b11 && evidence[29:0] != 0);
        if (reset) since <= 0;
    end

    wire wrong = count <= 2 || (anchor && phase[7] == outcome);
    always_ff @(posedge clk) begin
        if ((since[1] || since[3]) && open) evidence <= evidence + {{16{entry[15]}}, entry};
        case (state)
            IDLE:
                if (start) begin
                    {asked, chosen, divided} <= 0;
                    pgh <= command == DO_ASK_PGH;
                    outcome <= command == DO_LEARN_1;
                    if ((learn && !frozen) || ask) random <= upcoming;
                    if (learn) stuck <= frozen;
                    if (learn && frozen) begin
                        state <= SETTLE;
                        mean <= home;
                        lost <= 0;
                    end
                    homing <= learn && counted && differs;
                    if (learn && counted && !frozen) alike <= (differs ? 8'(one) : alike) + 2;
                    if (learn && !frozen) begin
                        state <= TRYING;
                        operation <= MOVE;
                        lost <= 0;
                    end
                    if (ask) begin
                        state <= CHOOSE;
                        operation <= ASK;
                    end
                    if (command == DO_DIFFUSE) state <= WAITING;
                    if (command == DO_INIT) begin
                        state <= SETTLE;
                        random <= seed;
                        mean <= operand;
                        sd <= first_sd;
                        widest <= first_sd > 16'(SD_MAX / 3) ? 16'(SD_MAX) : {first_sd[14:0], 1'b0} + first_sd;
                        slope <= 0;
                        phase <= 0;
                        due <= 8'(ANCHOR_EVERY - 1);
                        alike <= 0;
                        home <= operand;
                        evidence <= 0;
                    end
                end
            SETTLE: begin  // two cycles, to compute the next random number; one cycle, with a return home, after a test that failed at the widest
                asked <= 1;
                homing <= 0;
                if (homing && sd == widest) mean <= home;
                if (asked) state <= IDLE;
            end
            CHOOSE: begin
                asked <= chosen;
                chosen <= 1;  // the first two cycles read the table
                if (asked) begin
                    slope <= next_slope;
                    phase <= next_phase;
                    due <= next_due;
                    asked <= 0;
                    state <= ASKING;
                end
            end
            ASKING: begin
                asked <= 1;
                if (moved) base <= beside;
                if (done) divided <= 1;
                if ((done || divided) && timed) begin
                    duration <= next_duration;
                    state <= IDLE;
                    operation <= DIFFUSE;
                end
            end
            TRYING: begin
                homing <= 0;
                if (homing && narrow) home <= mean;
                if (tried) state <= WAITING;
            end
            WIDENING: state <= WAITING;
            default: begin  // WAITING for MOVE, DIFFUSE or WIDEN
                if (moved) mean <= beside;
                if (done) begin
                    sd <= limited;
                    state <= IDLE;
                    operation <= DIFFUSE;
                    if (operation == WIDEN) begin
                        state <= SETTLE;
                        {asked, homing} <= {1'b1, anchor};
                    end
                    if (operation == MOVE && wrong) begin
                        state <= WIDENING;
                        operation <= WIDEN;
                        due <= 0;
                        lost <= 1;
                    end
                end
            end
        endcase
        if (reset) begin
            state <= IDLE;
            operation <= DIFFUSE;
        end
    end
    wire unused = &{1'b0, coming};
endmodule
