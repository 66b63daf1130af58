// Operations of the arithmetic, and commands of the filter.
// verilator lint_off UNUSEDPARAM
localparam logic [1:0] MOVE = 0, DIFFUSE = 1, ASK = 2, WIDEN = 3;
localparam logic [2:0] DO_NOTHING = 0, DO_INIT = 1, DO_DIFFUSE = 2, DO_ASK = 3, DO_ASK_PGH = 4, DO_LEARN_0 = 5, DO_LEARN_1 = 6;
// verilator lint_on UNUSEDPARAM
