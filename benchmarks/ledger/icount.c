/* A plugin of QEMU 7 and 8: counts the instructions of a program, and writes the count to the file
 * `out` whenever the program closes a file number that no program has, `MARK` of emulated.py. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of qemu-plugin.h, which Debian does not package. */
typedef uint64_t Id;
struct qemu_plugin_tb;
extern void qemu_plugin_register_vcpu_tb_trans_cb(Id, void (*)(Id, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_syscall_cb(Id, void (*)());
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int, void *, uint64_t);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
enum { ADD_U64, MARK = 1000000 };

int qemu_plugin_version = 1;
static uint64_t n;
static const char *path;

static void translated(Id id, struct qemu_plugin_tb *block)
{
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &n, qemu_plugin_tb_n_insns(block));
}

static void syscall_begins(Id id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2,
                           uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
                           uint64_t a8)
{
    FILE *out = a1 == MARK ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out, "%" PRIu64, n);
        fclose(out);
    }
}

int qemu_plugin_install(Id id, const void *info, int argc, char **argv)
{
    path = strdup(argv[0] + strlen("out="));
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_vcpu_syscall_cb(id, syscall_begins);
    return 0;
}
