// iCEBreaker (iCE40 UP5K, 12 MHz): the filter on the board's USB serial port, 1,000,000 baud, and its loop at PMOD 1A.
//   answer   in: a pulse with the outcome       outcome  in: 1 or 0
//   asking   out: the settings of an experiment are there; read them over the serial line, or use duration and base inside the chip
//   gate     out: high for `duration` clock cycles, from the moment it asks: for an experiment that waits for that time
module rejfilt_icebreaker (
    input  logic CLK,
    input  logic BTN_N,
    input  logic RX,
    output logic TX,
    input  logic P1A1,  // answer
    input  logic P1A2,  // outcome
    output logic P1A3,  // asking
    output logic P1A4,  // gate
    output logic LEDG_N
);
    logic [1:0] button, outcome;
    logic [2:0] answer;
    logic [4:0] held = 0;  // reset after power-on
    always_ff @(posedge CLK) begin
        button <= {button[0], BTN_N};
        answer <= {answer[1:0], P1A1};
        outcome <= {outcome[0], P1A2};
        held <= !button[1] ? 5'd0 : held[4] ? held : held + 1;
    end
    logic asking, asked;
    logic [31:0] duration, base, left;
    rejfilt_uart #(.LANES(1), .FAST(0), .DIVIDER(12)) filter (
        .clk(CLK), .reset(!held[4]), .rx(RX), .tx(TX), .asking, .duration, .base, .answer(answer[1] && !answer[2]), .outcome(outcome[1]));
    always_ff @(posedge CLK) begin
        asked <= asking;
        left <= asking && !asked ? duration : left != 0 ? left - 1 : 0;
        P1A4 <= left != 0;
    end
    assign P1A3 = asking;
    assign LEDG_N = !asking;
    wire unused = &{1'b0, base};
endmodule
