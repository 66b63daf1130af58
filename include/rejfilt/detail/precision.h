/* Sets the precision of the declarations that follow: set RF_BITS to 32 or 64, then include; 0 undefines the names
   again. Source written with rf_real, RF(name) and RF_C(constant) exists once and is compiled twice. The constant may
   be a macro; the name is not expanded. rf_order and rf_unsigned are integers of the same width: as rf_order, the bits
   of non-negative numbers are in the order of the numbers. */
#undef rf_real
#undef rf_order
#undef rf_unsigned
#undef RF
#undef RF_C
#undef RF_C_
#undef RF_EPSILON
#undef RF_LIMIT
#undef RF_TINY

#if RF_BITS == 32
#define rf_real float
#define rf_order int32_t
#define rf_unsigned uint32_t
#define RF(name) rf32_##name
#define RF_C_(constant) constant##f
#define RF_C(constant) RF_C_(constant)
#define RF_EPSILON RF32_EPSILON
#define RF_LIMIT RF32_LIMIT
#define RF_TINY RF32_TINY
#elif RF_BITS == 64
#define rf_real double
#define rf_order int64_t
#define rf_unsigned uint64_t
#define RF(name) rf64_##name
#define RF_C(constant) constant
#define RF_EPSILON RF64_EPSILON
#define RF_LIMIT RF64_LIMIT
#define RF_TINY RF64_TINY
#elif RF_BITS != 0
#error "RF_BITS must be 32, 64 or 0"
#endif
