/* A plugin of QEMU 7 and 8: counts the instructions of a program, and writes the count to the file
 * `out` whenever the program closes a file number that no program has, `MARK` of emulated.py. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of qemu-plugin.h, which Debian does not package. */
typedef uint64_t Id;
struct qemu_plugin_tb;
typedef void Translated(Id, struct qemu_plugin_tb *);
typedef void Syscall(Id, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                     uint64_t, uint64_t, uint64_t);
extern void qemu_plugin_register_vcpu_tb_trans_cb(Id, Translated *);
extern void qemu_plugin_register_vcpu_syscall_cb(Id, Syscall *);
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int, void *, uint64_t);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
enum { ADD_U64, MARK = 1000000 };

int qemu_plugin_version = 1;
static uint64_t n;
static const char *path;

static void translated(Id id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &n, qemu_plugin_tb_n_insns(block));
}

static void syscall_begins(Id id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2,
                           uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
                           uint64_t a8)
{
    FILE *out;
    (void)id, (void)cpu, (void)number, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7;
    (void)a8;
    if (a1 == MARK && (out = fopen(path, "w"))) {
        fprintf(out, "%" PRIu64, n);
        fclose(out);
    }
}

int qemu_plugin_install(Id id, const void *info, int argc, char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], "out=", 4))
        return 1;
    path = strdup(argv[0] + 4);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_vcpu_syscall_cb(id, syscall_begins);
    return 0;
}
