// The registers on a Wishbone B4 bus (classic, 32 bits, byte select, byte addresses). A write is acknowledged in the next cycle, a
// read in the one after.
module rejfilt_wishbone #(
    parameter int LANES = 1,
    parameter int FAST = 0,
    parameter int DECAY = 0
) (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        cyc_i,
    input  logic        stb_i,
    input  logic        we_i,
    input  logic [ 5:0] adr_i,
    input  logic [ 3:0] sel_i,
    input  logic [31:0] dat_i,
    output logic [31:0] dat_o,
    output logic        ack_o,
    output logic        asking,
    output logic [31:0] duration,
    output logic [31:0] base,
    input  logic        answer,
    input  logic        outcome
);
    logic looked;
    wire access = cyc_i && stb_i && !ack_o;
    wire write = access && we_i;
    rejfilt_registers #(.LANES(LANES), .FAST(FAST), .DECAY(DECAY)) registers (
        .clk(clk_i), .reset(rst_i), .write, .address(adr_i[5:2]), .bytes(sel_i), .written(dat_i), .look(1'b1), .read(dat_o),
        .asking, .duration, .base, .answer, .outcome);
    always_ff @(posedge clk_i) begin
        looked <= access && !we_i && !looked && !rst_i;
        ack_o <= (write || (access && looked)) && !rst_i;
    end
    wire unused = &{1'b0, adr_i[1:0]};
endmodule
