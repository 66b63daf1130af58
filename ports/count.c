/* A QEMU plugin that counts the instructions from one address to another, and reports the mean and the largest
   count. Debian has no qemu-plugin.h, so the functions used are declared here.
   -plugin count.so,begin=ADDRESS,end=ADDRESS,out=FILE (addresses in hexadecimal) */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef struct qemu_info_t qemu_info_t;
typedef uint64_t qemu_plugin_id_t;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, void *), void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, void (*cb)(unsigned, void *),
                                            enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, enum qemu_plugin_op op, void *counter,
                                                uint64_t add);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t begin, end, executed, since, times, total, most;
static int is_counting;
static char out[1024];

static void at_begin(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    since = executed;
    is_counting = 1;
}

static void at_end(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    if (!is_counting)
        return;
    const uint64_t count = executed - since;
    times++;
    total += count;
    most = count > most ? count : most;
    is_counting = 0;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        const uint64_t address = qemu_plugin_insn_vaddr(insn);
        if (address == begin)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, at_begin, QEMU_PLUGIN_CB_NO_REGS, 0);
        if (address == end)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, at_end, QEMU_PLUGIN_CB_NO_REGS, 0);
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &executed, 1);
    }
}

static void finished(qemu_plugin_id_t id, void *data)
{
    (void)id, (void)data;
    FILE *file = fopen(out, "w");
    if (!file)
        return;
    fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", times, times ? total / times : 0, most);
    fclose(file);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                                               char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "begin=", 6))
            begin = strtoull(argv[i] + 6, 0, 16);
        else if (!strncmp(argv[i], "end=", 4))
            end = strtoull(argv[i] + 4, 0, 16);
        else if (!strncmp(argv[i], "out=", 4))
            snprintf(out, sizeof out, "%s", argv[i] + 4);
    }
    if (!begin || !end || !out[0])
        return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, finished, 0);
    return 0;
}
