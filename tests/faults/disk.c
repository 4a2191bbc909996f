/* A disk that fails on command: preloaded before libc, it counts the operations that change files below a folder, and at
 * the chosen one returns an error, kills the process, or stalls: it makes the file FOLDER.stalled and waits until that is
 * removed.
 *
 * With a record folder it also notes what a loss of power would leave, as POSIX promises it:
 *   RECORD/file-INODE   content of a file at its last fsync; empty for a new file without one
 *   RECORD/dir-INODE    entries of a folder at its last fsync, "NAME\tINODE\n"; empty for a new folder without one
 * Inodes that are removed stay open, so that their numbers are not given to other files.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode { COUNT = 0, KILL = 1, ONCE = 2, STICKY = 3, STALL = 4 };

static char folder[1024], record[1024];
static size_t folder_length;
static atomic_long counted;
static long chosen;
static int mode, error_number, armed;

/* Below `at_folder`, the `at`-th operation (from 1) fails or kills; with COUNT nothing does. */
void faults_arm(const char *at_folder, const char *record_folder, long at, int how, int error) {
  snprintf(folder, sizeof folder, "%s/", at_folder);
  folder_length = strlen(folder);
  snprintf(record, sizeof record, "%s", record_folder ? record_folder : "");
  atomic_store(&counted, 0);
  chosen = at; mode = how; error_number = error; armed = 1;
}

void faults_disarm(void) { armed = 0; }

long faults_counted(void) { return atomic_load(&counted); }

static int absolute(int at, const char *path, char *out, size_t size) {
  char base[2048], link[64];
  if (path[0] == '/') return snprintf(out, size, "%s", path), 1;
  if (at == AT_FDCWD) { if (!getcwd(base, sizeof base)) return 0; }
  else {
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    long length = readlink(link, base, sizeof base - 1);
    if (length <= 0) return 0;
    base[length] = 0;
  }
  return snprintf(out, size, "%s/%s", base, path), 1;
}

static int path_of(int fd, char *out, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  long length = readlink(link, out, size - 1);
  if (length <= 0) return 0;
  out[length] = 0;
  return 1;
}

static int is_below(const char *path) { return armed && !strncmp(path, folder, folder_length); }

static void stall(void) {
  char gate[1100];
  snprintf(gate, sizeof gate, "%.*s.stalled", (int)folder_length - 1, folder);
  syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, gate, O_WRONLY | O_CREAT, 0600));
  while (!faccessat(AT_FDCWD, gate, F_OK, 0)) usleep(10000);
}

/* Whether this operation fails, with errno set. Removing files needs no space.
 * Writes to one file in a row are one operation: between them only a file changes that nobody has synced yet. */
static int strikes_as(const char *path, int needs_space, int is_write) {
  static char written[4096];
  if (!is_below(path)) return 0;
  int is_first = !is_write || strcmp(path, written);
  snprintf(written, sizeof written, "%s", is_write ? path : "");
  long number = is_first ? atomic_fetch_add(&counted, 1) + 1 : atomic_load(&counted);
  if (mode == COUNT || number < chosen || (number > chosen && mode != STICKY)) return 0;
  if (!is_first && mode != STICKY) return 0;
  if (mode == KILL) { syscall(SYS_kill, getpid(), SIGKILL); for (;;) pause(); }
  if (mode == STALL) { stall(); return 0; }
  if (error_number == ENOSPC && !needs_space) return 0;
  errno = error_number;
  return 1;
}

static int strikes(const char *path, int needs_space) { return strikes_as(path, needs_space, 0); }

static int strikes_at(int at, const char *path, int needs_space) {
  char full[4096];
  return armed && absolute(at, path, full, sizeof full) && strikes(full, needs_space);
}

static int strikes_fd(int fd, int needs_space) {
  char full[4096];
  return armed && fd >= 0 && path_of(fd, full, sizeof full) && strikes(full, needs_space);
}

static int strikes_write(int fd) {
  char full[4096];
  return armed && fd >= 0 && path_of(fd, full, sizeof full) && strikes_as(full, 1, 1);
}

/* --- what a loss of power leaves --- */

static int note(const char *kind, ino_t inode) {
  char name[1200];
  snprintf(name, sizeof name, "%s/%s-%lu", record, kind, (unsigned long)inode);
  return syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

static void note_empty(const char *kind, ino_t inode) { syscall(SYS_close, note(kind, inode)); }

static void note_file(const char *path, ino_t inode) {
  char block[65536];
  long length;
  int in = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0), out = note("file", inode);
  while ((length = syscall(SYS_read, in, block, sizeof block)) > 0) syscall(SYS_write, out, block, length);
  syscall(SYS_close, in); syscall(SYS_close, out);
}

static void note_entries(const char *path, ino_t inode) {
  char line[600];
  DIR *entries = opendir(path);
  if (!entries) return;
  int out = note("dir", inode);
  for (struct dirent *entry; (entry = readdir(entries));)
    if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
      int length = snprintf(line, sizeof line, "%s\t%lu\n", entry->d_name, (unsigned long)entry->d_ino);
      syscall(SYS_write, out, line, length);
    }
  syscall(SYS_close, out);
  closedir(entries);
}

static void synced(int fd) {
  char path[4096];
  struct stat state;
  if (!record[0] || !path_of(fd, path, sizeof path) || fstat(fd, &state)) return;
  size_t length = strlen(path);
  int is_folder = !strncmp(path, folder, folder_length - 1) && length == folder_length - 1;
  if (!is_below(path) && !is_folder) return;
  if (S_ISDIR(state.st_mode)) note_entries(path, state.st_ino); else note_file(path, state.st_ino);
}

static int exists(int at, const char *path) { return !faccessat(at, path, F_OK, AT_SYMLINK_NOFOLLOW); }

static void emptied(int at, const char *path, const char *kind) {
  char full[4096];
  struct stat state;
  if (record[0] && absolute(at, path, full, sizeof full) && is_below(full) && !fstatat(at, path, &state, AT_SYMLINK_NOFOLLOW))
    note_empty(kind, state.st_ino);
}

static void keep_inode(int at, const char *path) {
  char full[4096];
  if (record[0] && absolute(at, path, full, sizeof full) && is_below(full))
    syscall(SYS_openat, AT_FDCWD, full, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

/* --- wrapped functions of libc --- */

#define NEXT(result, name, ...) static result (*next)(__VA_ARGS__); if (!next) next = dlsym(RTLD_NEXT, #name)

static int open_any(int at, const char *path, int flags, mode_t rights, int (*next)(int, const char *, int, mode_t)) {
  int is_new = armed && (flags & O_CREAT) && !exists(at, path), is_cut = armed && (flags & O_TRUNC);
  if ((is_new || is_cut) && strikes_at(at, path, 1)) return -1;
  int fd = next(at, path, flags, rights);
  if (fd >= 0 && (is_new || is_cut)) emptied(at, path, "file");
  return fd;
}

static int raw_openat(int at, const char *path, int flags, mode_t rights) {
  return syscall(SYS_openat, at, path, flags, rights);
}

#define RIGHTS mode_t rights = 0; if (flags & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); rights = va_arg(rest, int); va_end(rest); }
int open(const char *path, int flags, ...) { RIGHTS return open_any(AT_FDCWD, path, flags, rights, raw_openat); }
int open64(const char *path, int flags, ...) { RIGHTS return open_any(AT_FDCWD, path, flags, rights, raw_openat); }
int openat(int at, const char *path, int flags, ...) { RIGHTS return open_any(at, path, flags, rights, raw_openat); }
int openat64(int at, const char *path, int flags, ...) { RIGHTS return open_any(at, path, flags, rights, raw_openat); }

static FILE *fopen_any(const char *path, const char *how, FILE *(*next)(const char *, const char *)) {
  int writes = armed && strpbrk(how, "wa+") != 0, empties = writes && (strchr(how, 'w') || !exists(AT_FDCWD, path));
  if (empties && strikes_at(AT_FDCWD, path, 1)) return 0;
  FILE *file = next(path, how);
  if (file && empties) emptied(AT_FDCWD, path, "file");
  return file;
}
FILE *fopen(const char *path, const char *how) { NEXT(FILE *, fopen, const char *, const char *); return fopen_any(path, how, next); }
FILE *fopen64(const char *path, const char *how) { NEXT(FILE *, fopen64, const char *, const char *); return fopen_any(path, how, next); }

ssize_t write(int fd, const void *data, size_t size) {
  NEXT(ssize_t, write, int, const void *, size_t); return strikes_write(fd) ? -1 : next(fd, data, size); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  NEXT(ssize_t, pwrite, int, const void *, size_t, off_t); return strikes_write(fd) ? -1 : next(fd, data, size, at); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  NEXT(ssize_t, pwrite64, int, const void *, size_t, off64_t); return strikes_write(fd) ? -1 : next(fd, data, size, at); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
  NEXT(ssize_t, writev, int, const struct iovec *, int); return strikes_write(fd) ? -1 : next(fd, parts, count); }
size_t fwrite(const void *data, size_t size, size_t count, FILE *file) {
  NEXT(size_t, fwrite, const void *, size_t, size_t, FILE *); return armed && strikes_write(fileno(file)) ? 0 : next(data, size, count, file); }
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags) {
  NEXT(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned); return strikes_write(out) ? -1 : next(in, from, out, to, size, flags); }
ssize_t sendfile(int out, int in, off_t *from, size_t size) {
  NEXT(ssize_t, sendfile, int, int, off_t *, size_t); return strikes_write(out) ? -1 : next(out, in, from, size); }
ssize_t sendfile64(int out, int in, off64_t *from, size_t size) {
  NEXT(ssize_t, sendfile64, int, int, off64_t *, size_t); return strikes_write(out) ? -1 : next(out, in, from, size); }
int ftruncate(int fd, off_t size) { NEXT(int, ftruncate, int, off_t); return strikes_fd(fd, size > 0) ? -1 : next(fd, size); }
int ftruncate64(int fd, off64_t size) { NEXT(int, ftruncate64, int, off64_t); return strikes_fd(fd, size > 0) ? -1 : next(fd, size); }
int fallocate(int fd, int how, off_t at, off_t size) { NEXT(int, fallocate, int, int, off_t, off_t); return strikes_fd(fd, 1) ? -1 : next(fd, how, at, size); }
int posix_fallocate(int fd, off_t at, off_t size) { NEXT(int, posix_fallocate, int, off_t, off_t); return strikes_fd(fd, 1) ? errno : next(fd, at, size); }
int posix_fallocate64(int fd, off64_t at, off64_t size) { NEXT(int, posix_fallocate64, int, off64_t, off64_t); return strikes_fd(fd, 1) ? errno : next(fd, at, size); }

int fsync(int fd) { NEXT(int, fsync, int); if (strikes_fd(fd, 1)) return -1; int failed = next(fd); if (armed && !failed) synced(fd); return failed; }
int fdatasync(int fd) { NEXT(int, fdatasync, int); if (strikes_fd(fd, 1)) return -1; int failed = next(fd); if (armed && !failed) synced(fd); return failed; }

static int struck_name(int at, const char *new, int removes) {
  if (!armed) return 0;
  if (strikes_at(at, new, 1)) return 1;
  if (removes) keep_inode(at, new);
  return 0;
}
int rename(const char *old, const char *new) {
  NEXT(int, rename, const char *, const char *); return struck_name(AT_FDCWD, new, 1) ? -1 : next(old, new); }
int renameat(int from, const char *old, int to, const char *new) {
  NEXT(int, renameat, int, const char *, int, const char *); return struck_name(to, new, 1) ? -1 : next(from, old, to, new); }
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
  NEXT(int, renameat2, int, const char *, int, const char *, unsigned); return struck_name(to, new, 1) ? -1 : next(from, old, to, new, flags); }
int link(const char *old, const char *new) {
  NEXT(int, link, const char *, const char *); return struck_name(AT_FDCWD, new, 0) ? -1 : next(old, new); }
int linkat(int from, const char *old, int to, const char *new, int flags) {
  NEXT(int, linkat, int, const char *, int, const char *, int); return struck_name(to, new, 0) ? -1 : next(from, old, to, new, flags); }
int mkdir(const char *path, mode_t rights) {
  NEXT(int, mkdir, const char *, mode_t);
  if (armed && !exists(AT_FDCWD, path) && strikes_at(AT_FDCWD, path, 1)) return -1;
  int failed = next(path, rights);
  if (armed && !failed) emptied(AT_FDCWD, path, "dir");
  return failed; }
int mkdirat(int at, const char *path, mode_t rights) {
  NEXT(int, mkdirat, int, const char *, mode_t);
  if (armed && !exists(at, path) && strikes_at(at, path, 1)) return -1;
  int failed = next(at, path, rights);
  if (armed && !failed) emptied(at, path, "dir");
  return failed; }

static int struck_removal(int at, const char *path) {
  if (!armed || !exists(at, path)) return 0;
  if (strikes_at(at, path, 0)) return 1;
  keep_inode(at, path);
  return 0;
}
int unlink(const char *path) { NEXT(int, unlink, const char *); return struck_removal(AT_FDCWD, path) ? -1 : next(path); }
int rmdir(const char *path) { NEXT(int, rmdir, const char *); return struck_removal(AT_FDCWD, path) ? -1 : next(path); }
int unlinkat(int at, const char *path, int flags) {
  NEXT(int, unlinkat, int, const char *, int); return struck_removal(at, path) ? -1 : next(at, path, flags); }
