// The registers over a serial line, 8N1. Each access begins with a byte: bit 7 set means write, else read; bit 6 set means a whole
// word, four bytes, lowest first, else one byte; bits 5 to 0 are the byte address. Then come the bytes written, or the bytes read.
module rejfilt_uart #(
    parameter int LANES = 1,
    parameter int FAST = 0,
    parameter int DECAY = 0,
    parameter int DIVIDER = 12  // clock cycles per bit
) (
    input  logic        clk,
    input  logic        reset,
    input  logic        rx,
    output logic        tx,
    output logic        asking,
    output logic [31:0] duration,
    output logic [31:0] base,
    input  logic        answer,
    input  logic        outcome
);
    localparam int BITS = $clog2(DIVIDER) + 1;
    logic write, look;
    logic [3:0] bytes;
    logic [31:0] read;
    logic [7:0] received;
    logic [5:0] at;      // byte address
    logic [1:0] left;    // bytes left, minus one
    rejfilt_registers #(.LANES(LANES), .FAST(FAST), .DECAY(DECAY)) registers (
        .clk, .reset, .write, .address(at[5:2]), .bytes, .written({4{received}}), .look, .read, .asking, .duration, .base, .answer, .outcome);
    assign bytes = 4'b0001 << at[1:0];

    // receiver: samples each bit in its middle
    logic rx_old, rx_now, receiving, arrived;
    logic [BITS-1:0] rx_wait;
    logic [3:0] rx_left;
    always_ff @(posedge clk) begin
        {rx_now, rx_old} <= {rx_old, rx};
        arrived <= 0;
        rx_wait <= rx_wait - 1;
        if (!receiving) begin
            receiving <= !rx_now;
            rx_wait <= BITS'(DIVIDER / 2 - 1);
            rx_left <= 9;
        end else if (rx_wait == 0) begin
            rx_wait <= BITS'(DIVIDER - 1);
            rx_left <= rx_left - 1;
            if (rx_left == 0) begin
                receiving <= 0;
                arrived <= rx_now;  // the stop bit
            end else received <= {rx_now, received[7:1]};
            if (rx_left == 9 && rx_now) receiving <= 0;  // no start bit
        end
        if (reset) {receiving, arrived} <= 0;
    end

    // transmitter
    logic [9:0] shift;
    logic [3:0] tx_left;
    logic [BITS-1:0] tx_wait;
    logic send;
    assign tx = shift[0];
    always_ff @(posedge clk) begin
        tx_wait <= tx_wait - 1;
        if (send) begin
            shift <= {1'b1, read[8*at[1:0]+:8], 1'b0};
            tx_left <= 9;
            tx_wait <= BITS'(DIVIDER - 1);
        end else if (tx_wait == 0) begin
            tx_wait <= BITS'(DIVIDER - 1);
            shift <= {1'b1, shift[9:1]};
            if (tx_left != 0) tx_left <= tx_left - 1;
        end
        if (reset) {shift, tx_left} <= {10'h3ff, 4'd0};
    end

    typedef enum logic [1:0] {HEADER, WRITE, LOOK, SEND} state_t;
    state_t state;
    wire sent = tx_left == 0 && tx_wait == 0;
    assign write = state == WRITE && arrived;
    assign send = state == SEND && sent;
    logic first;  // first byte of an access; it reads the whole word, so all bytes of a word are from the same moment
    assign look = state == LOOK && (first || at[1:0] == 0);
    always_ff @(posedge clk) begin
        case (state)
            HEADER: begin
                at <= received[5:0];
                left <= received[6] ? 2'd3 : 2'd0;
                first <= 1;
                if (arrived) state <= received[7] ? WRITE : LOOK;
            end
            LOOK: state <= SEND;
            default:
                if (write || send) begin
                    at <= at + 1;
                    left <= left - 1;
                    first <= 0;
                    state <= left == 0 ? HEADER : state == WRITE ? WRITE : LOOK;
                end
        endcase
        if (reset) state <= HEADER;
    end
endmodule
