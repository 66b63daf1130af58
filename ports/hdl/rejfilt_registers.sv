// The filter behind 32-bit registers, and a loop that needs no host. docs/hardware.md has the register map. Reads return data one
// cycle after `look` and the address. Writes while a command runs are refused and set a status bit.
module rejfilt_registers #(
    parameter int LANES = 1,
    parameter int FAST = 0,
    parameter int DECAY = 0
) (
    input  logic        clk,
    input  logic        reset,
    input  logic        write,
    input  logic [ 3:0] address,        // word address
    input  logic [ 3:0] bytes,          // byte enables of a write
    input  logic [31:0] written,
    input  logic        look,           // samples the word at the address; `read` is valid from the next cycle on
    output logic [31:0] read,
    // the experiment, in automatic mode
    output logic        asking,         // the settings are valid; ends with the outcome
    output logic [31:0] duration,
    output logic [31:0] base,
    input  logic        answer,         // high for one cycle, while asking
    input  logic        outcome
);
    `include "operations.svh"
    localparam logic [3:0] CONTROL = 0, OPERAND = 1, PRIOR = 2, DURATION = 3, BASE = 4, MEAN = 5, WIDTH = 6, EVIDENCE = 7, REST = 8, MORE = 9;

    logic ready, start, lost, stuck, refused, looping, looping_pgh;
    logic [2:0] command;
    logic [31:0] operand, prior, mean, home, evidence;
    logic [15:0] random, sd, widest;
    logic [7:0] slope, phase, due, alike;
    logic [6:0] count;
    logic [4:0] passes;
    rejfilt #(.LANES(LANES), .FAST(FAST), .DECAY(DECAY)) filter (
        .clk, .reset, .start, .command, .operand, .first_sd(prior[15:0]), .seed(prior[31:16]), .ready, .duration, .base, .count, .passes, .lost, .stuck,
        .random, .mean, .sd, .widest, .slope, .phase, .due, .alike, .home, .evidence);

    // Automatic mode: diffuse by the operand, ask, wait for the answer, learn; until control is written again.
    typedef enum logic [1:0] {DRIFTS, ASKS, WAITS} turn_t;
    turn_t turn;
    wire idle = ready && !start && (!looping || asking);
    wire told = write && address == CONTROL && bytes[0];
    always_ff @(posedge clk) begin
        start <= 0;
        if (told && idle) begin
            start <= written[2:0] != DO_NOTHING;
            command <= written[2:0];
            looping <= written[3];
            looping_pgh <= written[4];
            turn <= ASKS;  // no drift before the first experiment
            asking <= 0;
        end else if (looping && ready && !start) begin
            start <= turn != WAITS || (asking && answer);
            case (turn)
                DRIFTS: command <= DO_DIFFUSE;
                ASKS: command <= looping_pgh ? DO_ASK_PGH : DO_ASK;
                default: command <= outcome ? DO_LEARN_1 : DO_LEARN_0;
            endcase
            case (turn)
                DRIFTS: turn <= ASKS;
                ASKS: turn <= WAITS;
                default: begin
                    asking <= !(asking && answer);
                    if (asking && answer) turn <= DRIFTS;
                end
            endcase
        end
        if (told && idle && written[5]) refused <= 0;
        if (write && !idle) refused <= 1;  // until cleared by a write to control; later bytes of the same word may have been accepted
        if (write && idle) begin
            for (integer k = 0; k < 4; k = k + 1) begin
                if (bytes[k] && address == OPERAND) operand[8*k+:8] <= written[8*k+:8];
                if (bytes[k] && address == PRIOR) prior[8*k+:8] <= written[8*k+:8];
            end
        end
        if (reset) {start, looping, asking, refused} <= 0;
    end

    wire [6:0] accepted = count - 1;
    always_ff @(posedge clk) begin
        if (look) case (address)
            CONTROL: read <= {due, 3'd0, passes, 1'd0, accepted, 2'd0, stuck, looping, asking, refused, lost, !idle};
            DURATION: read <= duration;
            BASE: read <= base;
            MEAN: read <= mean;
            WIDTH: read <= {widest, sd};
            EVIDENCE: read <= evidence;
            MORE: read <= {24'd0, alike};
            default: read <= {phase, slope, random};
        endcase
    end
    wire unused = &{1'b0, REST, home};
endmodule
