// Top module of the co-simulation: the filter with the parameters of the configuration, and assertions of what is proved for fixed.c.
module bench #(parameter int LANES = 1, parameter int FAST = 0, parameter int DECAY = 0) (
    input  logic        clk, reset, start,
    input  logic [ 2:0] command,
    input  logic [31:0] operand,
    input  logic [15:0] first_sd, seed,
    output logic        ready,
    output logic [31:0] duration, base,
    output logic [ 6:0] count,
    output logic [ 4:0] passes,
    output logic        lost, stuck,
    output logic [15:0] random,
    output logic [31:0] mean,
    output logic [15:0] sd, widest,
    output logic [ 7:0] slope, phase, due, alike,
    output logic [31:0] home, evidence
);
    rejfilt #(.LANES(LANES), .FAST(FAST), .DECAY(DECAY)) filter (.*);

    logic known = 0, tried = 0;
    always_ff @(posedge clk) begin
        if (start && ready && command == 1) known <= 1;
        if (filter.tried && known) tried <= 1;
        if (reset) {known, tried} <= 0;
        if (known && !reset) assert (256 <= sd && sd <= widest && widest <= 46340);
        if (known && tried && !reset) begin
            assert (1 <= count && count <= 120 && passes <= 20);
            if (filter.tried) begin
                assert (32'(filter.sum_size) <= 85 * (32'(count) - 1));
                assert (32'(filter.squares) <= 1600 + 7225 * (32'(count) - 1));
            end
        end
    end
endmodule
