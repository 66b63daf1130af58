// A table; data is valid one cycle after the address. BLOCK: in a memory block; else in logic, for small tables.
module rejfilt_rom #(
    parameter int WIDTH = 8,
    parameter int DEPTH = 256,
    parameter int BLOCK = 1,
    parameter logic [WIDTH*DEPTH-1:0] CONTENT = '0
) (
    input  logic                     clk,
    input  logic [$clog2(DEPTH)-1:0] address,
    output logic [WIDTH-1:0]         data
);
    integer k;
    generate
        if (BLOCK != 0) begin : g_block
            (* ram_style = "block" *) logic [WIDTH-1:0] cells[0:DEPTH-1];
            initial for (k = 0; k < DEPTH; k = k + 1) cells[k] = CONTENT[WIDTH*k+:WIDTH];
            always_ff @(posedge clk) data <= cells[address];
        end else begin : g_logic
            logic [WIDTH-1:0] cells[0:DEPTH-1];
            initial for (k = 0; k < DEPTH; k = k + 1) cells[k] = CONTENT[WIDTH*k+:WIDTH];
            always_ff @(posedge clk) data <= cells[address];
        end
    endgenerate
endmodule
