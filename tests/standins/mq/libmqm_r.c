/* A stand-in for IBM's libmqm_r.so: the entry points of the MQI that the library ibmmq needs, each carried to a stand-in queue manager
 * in another process (tests/standins/mq/server.py). Our own code and our own wire format, for tests only; 64-bit Linux.
 *
 * Wire: a frame is a 32-bit length and values; a value is 'i' and 64 bits, 'b' and a 32-bit length and bytes, or 'n'. Big-endian.
 * A question is the verb, the connection's handle and arguments; an answer is outputs, completion code, reason. */
#define _DEFAULT_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef int32_t Long;                                                     /* MQLONG, MQHCONN, MQHOBJ */
typedef struct { char *pointer; Long offset, size, length, ccsid; } Text; /* MQCHARV */

enum { FAILED = 2 };
enum { CONNECTION_BROKEN = 2009, HCONN_ERROR = 2018, MAX_CONNS = 2025, NOT_SUPPORTED = 2298, HOST_NOT_AVAILABLE = 2538 };
enum { MOST = 1024, LONGEST = 256 << 20 };

const int isthmus_stand_in = 1; /* whoever loads this can tell */

static struct connection { int used, socket; int64_t handle; pthread_mutex_t busy; } connections[MOST];
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;

#define AT(base, offset, type) (*(type *)((char *)(base) + (offset)))

/* ---- frames ---- */

typedef struct { unsigned char *data; size_t length, room, at; } Frame;

static void add(Frame *f, const void *bytes, size_t n) {
    if (f->length + n > f->room) {
        f->room = (f->length + n) * 2 + 256;
        f->data = realloc(f->data, f->room);
        if (!f->data) abort();
    }
    if (n) memcpy(f->data + f->length, bytes, n);
    f->length += n;
}

static void add_number(Frame *f, int64_t value) {
    unsigned char octets[9] = {'i'};
    for (int i = 0; i < 8; i++) octets[1 + i] = (unsigned char)(value >> (56 - 8 * i));
    add(f, octets, sizeof octets);
}

static void add_bytes(Frame *f, const void *bytes, size_t n) {
    if (!bytes) { add(f, "n", 1); return; }
    uint32_t length = htonl((uint32_t)n);
    add(f, "b", 1);
    add(f, &length, 4);
    add(f, bytes, n);
}

/* A character field that blanks or a NUL may end. */
static void add_field(Frame *f, const char *field, size_t n) {
    n = strnlen(field, n);
    while (n && field[n - 1] == ' ') n--;
    add_bytes(f, field, n);
}

static void add_text(Frame *f, const void *structure, size_t offset) {
    const Text *text = (const void *)((const char *)structure + offset);
    if (!text->pointer || !text->length) { add_bytes(f, "", 0); return; }
    add_bytes(f, text->pointer, text->length == -1 ? strlen(text->pointer) : (size_t)text->length);
}

static int64_t number(Frame *f) {
    int64_t value = 0;
    if (f->at + 9 > f->length || f->data[f->at] != 'i') { f->at = f->length; return 0; }
    for (int i = 1; i <= 8; i++) value = (int64_t)((uint64_t)value << 8 | f->data[f->at + i]);
    f->at += 9;
    return value;
}

static void copy(Frame *f, void *to, size_t most) {
    uint32_t n;
    if (f->at + 5 > f->length || f->data[f->at] != 'b') { f->at++; return; }
    memcpy(&n, f->data + f->at + 1, 4);
    n = ntohl(n);
    if (to && f->at + 5 + n <= f->length) memcpy(to, f->data + f->at + 5, n < most ? n : most);
    f->at += 5 + n;
}

/* ---- one question, one answer ---- */

static int transfer(int fd, void *bytes, size_t n, int sending) {
    for (char *at = bytes; n;) {
        ssize_t done = sending ? send(fd, at, n, MSG_NOSIGNAL) : recv(fd, at, n, 0);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return -1;
        at += done;
        n -= (size_t)done;
    }
    return 0;
}

static int ask(int fd, Frame *question, Frame *answer) {
    uint32_t n = htonl((uint32_t)question->length);
    if (transfer(fd, &n, 4, 1) || transfer(fd, question->data, question->length, 1) || transfer(fd, &n, 4, 0)) return -1;
    memset(answer, 0, sizeof *answer);
    n = ntohl(n);
    if (n > LONGEST) return -1; /* no stand-in answers so */
    answer->room = n + 1;
    answer->data = malloc(answer->room);
    if (!answer->data) abort();
    answer->length = n;
    if (!transfer(fd, answer->data, n, 0)) return 0;
    free(answer->data);
    return -1;
}

static struct connection *begin(Frame *question, const char *verb, Long handle, Long *completion, Long *reason) {
    memset(question, 0, sizeof *question);
    if (handle <= 0 || handle >= MOST || !connections[handle].used) {
        *completion = FAILED;
        *reason = HCONN_ERROR;
        return NULL;
    }
    add_bytes(question, verb, strlen(verb));
    add_number(question, connections[handle].handle);
    return &connections[handle];
}

/* 0 when there is an answer to read; `end` must follow. */
static int run(struct connection *c, Frame *question, Frame *answer, Long *completion, Long *reason) {
    pthread_mutex_lock(&c->busy);
    int bad = c->socket < 0 || ask(c->socket, question, answer);
    if (bad && c->socket >= 0) { close(c->socket); c->socket = -1; }
    pthread_mutex_unlock(&c->busy);
    free(question->data);
    if (bad) { *completion = FAILED; *reason = CONNECTION_BROKEN; }
    return bad;
}

static void end(Frame *answer, Long *completion, Long *reason) {
    *completion = (Long)number(answer);
    *reason = (Long)number(answer);
    free(answer->data);
}

/* How long a structure is, by its Version. */
static size_t length_of(const void *structure, const int *lengths) {
    Long version = AT(structure, 4, Long);
    return (size_t)lengths[version >= 1 && version <= lengths[0] ? version : lengths[0]];
}
static const int MD[] = {2, 324, 364}, PMO[] = {3, 128, 160, 184}, GMO[] = {4, 72, 80, 100, 112}, OD[] = {4, 168, 208, 344, 424};
enum { SD = 344, OD_OBJECT_STRING = 344, SD_OBJECT_STRING = 120, SD_SUB_NAME = 144 };

/* ---- connections ---- */

/* "host(port),host(port)": on this machine only, by design. The next of them; -1 where there is none any more. */
static int dial(char **rest) {
    for (char *name = strsep(rest, ","); name; name = strsep(rest, ",")) {
        if (!*name) continue;
        char *port = strchr(name, '(');
        struct sockaddr_in address = {.sin_family = AF_INET};
        int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons((uint16_t)(port ? atoi(port + 1) : 1414));
        if (fd < 0) continue;
        if (!connect(fd, (void *)&address, sizeof address)) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            return fd;
        }
        close(fd);
    }
    return -1;
}

/* Hosts of the first channel in a client channel definition table, `file:///…` in JSON, as its writers set it out. */
static void hosts_of_table(const char *url, size_t length, char *names, size_t room) {
    char path[512], text[8192];
    snprintf(path, sizeof path, "%.*s", (int)length, url);
    FILE *file = fopen(strncmp(path, "file://", 7) ? path : path + 7, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0, used = 0;
    if (file) fclose(file);
    text[n] = 0;
    for (char *host = strstr(text, "\"host\""); host; host = strstr(host + 1, "\"host\"")) {
        char *port = strstr(host, "\"port\"");
        port = port ? strchr(port, ':') : NULL;
        if (used < room) used += (size_t)snprintf(names + used, room - used, "host(%d),", port ? atoi(port + 1) : 1414);
    }
}

static void add_pointed(Frame *f, const void *structure, size_t offset, int length_at, int there) {
    if (there) add_bytes(f, AT(structure, offset, char *), (size_t)AT(structure, length_at, Long));
    else add_bytes(f, NULL, 0);
}

/* The structures go as they are, and what their pointers lead to behind them: see adapters/mq/standin/logins.py. */
static void add_login(Frame *f, const char *name, const void *cno) {
    static const int CNO[] = {8, 12, 24, 152, 168, 200, 224, 256, 272}, SCO[] = {7, 536, 544, 560, 568, 632, 648, 672};
    Long version = cno ? AT(cno, 4, Long) : 0;
    const char *cd = version >= 2 ? AT(cno, 16, char *) : NULL, *sco = version >= 4 ? AT(cno, 152, char *) : NULL;
    const char *csp = version >= 5 ? AT(cno, 192, char *) : NULL;
    Long login = csp ? AT(csp, 8, Long) : 0;
    add_bytes(f, "MQCONNX", 7);
    add_field(f, name ? name : "", 48);
    add_bytes(f, cno ? cno : "", cno ? length_of(cno, CNO) : 0);
    add_bytes(f, cd, cd && AT(cd, 20, Long) >= 7 ? 1732 : 1288); /* what the cipher specification is behind came with version 7 */
    add_bytes(f, sco, sco ? length_of(sco, SCO) : 0);
    add_pointed(f, csp, 16, 28, login == 1);
    add_pointed(f, csp, 40, 52, login == 1);
    add_pointed(f, csp, 88, 100, login == 2);
    add_pointed(f, cd, 1720, 1728, cd && AT(cd, 20, Long) >= 7);
    add_pointed(f, sco, 632, 644, sco && AT(sco, 4, Long) >= 6);
    add_pointed(f, cno, 200, 212, version >= 6);
}

void MQCONNX(char *name, void *cno, Long *handle, Long *completion, Long *reason) {
    char names[2048] = "", *rest = names;
    Frame question = {0}, answer;
    int fd, bad = 1;
    *handle = -1;
    if (cno && AT(cno, 4, Long) >= 2 && AT(cno, 16, char *)) memcpy(names, AT(cno, 16, char *) + 1024, 264);
    else if (cno && AT(cno, 4, Long) >= 6 && AT(cno, 200, char *))
        hosts_of_table(AT(cno, 200, char *), (size_t)AT(cno, 212, Long), names, sizeof names);
    add_login(&question, name, cno);
    do {
        fd = dial(&rest);
        bad = fd < 0 || ask(fd, &question, &answer);
        if (bad && fd >= 0) close(fd);
    } while (bad && fd >= 0); /* somebody else listens there: the next */
    free(question.data);
    if (bad) { *completion = FAILED; *reason = HOST_NOT_AVAILABLE; return; }
    int64_t theirs = number(&answer);
    end(&answer, completion, reason);
    if (*completion == FAILED) { close(fd); return; }
    pthread_mutex_lock(&table);
    int free_place = 1;
    while (free_place < MOST && connections[free_place].used) free_place++;
    if (free_place < MOST) {
        struct connection *c = &connections[free_place];
        c->used = 1;
        c->socket = fd;
        c->handle = theirs;
        pthread_mutex_init(&c->busy, NULL);
        *handle = free_place;
    } else {
        close(fd);
        *completion = FAILED;
        *reason = MAX_CONNS;
    }
    pthread_mutex_unlock(&table);
}

void MQCONN(char *name, Long *handle, Long *completion, Long *reason) { MQCONNX(name, NULL, handle, completion, reason); }

void MQDISC(Long *handle, Long *completion, Long *reason) {
    Frame question, answer;
    struct connection *c = begin(&question, "MQDISC", *handle, completion, reason);
    if (!c) return;
    if (!run(c, &question, &answer, completion, reason)) end(&answer, completion, reason);
    if (c->socket >= 0) close(c->socket);
    c->socket = -1;
    c->used = 0;
    *handle = -1;
}

#define UNIT_OF_WORK(VERB)                                                            \
    void VERB(Long handle, Long *completion, Long *reason) {                          \
        Frame question, answer;                                                       \
        struct connection *c = begin(&question, #VERB, handle, completion, reason);   \
        if (c && !run(c, &question, &answer, completion, reason)) end(&answer, completion, reason); \
    }
UNIT_OF_WORK(MQCMIT)
UNIT_OF_WORK(MQBACK)

void MQBEGIN(Long handle, void *options, Long *completion, Long *reason) {
    Frame question, answer;
    struct connection *c = begin(&question, "MQBEGIN", handle, completion, reason);
    (void)options;
    if (c && !run(c, &question, &answer, completion, reason)) end(&answer, completion, reason);
}

/* ---- objects ---- */

static void add_topic(Frame *f, const void *od) {
    if (AT(od, 4, Long) >= 4) add_text(f, od, OD_OBJECT_STRING); else add_bytes(f, "", 0);
}

void MQOPEN(Long handle, void *od, Long options, Long *object, Long *completion, Long *reason) {
    Frame question, answer;
    struct connection *c = begin(&question, "MQOPEN", handle, completion, reason);
    *object = -1;
    if (!c) return;
    add_bytes(&question, od, length_of(od, OD));
    add_number(&question, options);
    add_topic(&question, od);
    if (run(c, &question, &answer, completion, reason)) return;
    *object = (Long)number(&answer);
    copy(&answer, od, length_of(od, OD));
    end(&answer, completion, reason);
}

void MQCLOSE(Long handle, Long *object, Long options, Long *completion, Long *reason) {
    Frame question, answer;
    struct connection *c = begin(&question, "MQCLOSE", handle, completion, reason);
    if (!c) return;
    add_number(&question, *object);
    add_number(&question, options);
    if (run(c, &question, &answer, completion, reason)) return;
    end(&answer, completion, reason);
    if (*completion != FAILED) *object = -1;
}

/* ---- messages ---- */

static void put(struct connection *c, Frame *question, void *md, void *pmo, Long *completion, Long *reason) {
    Frame answer;
    if (run(c, question, &answer, completion, reason)) return;
    copy(&answer, md, length_of(md, MD));
    copy(&answer, pmo, length_of(pmo, PMO));
    end(&answer, completion, reason);
}

void MQPUT(Long handle, Long object, void *md, void *pmo, Long length, void *data, Long *completion, Long *reason) {
    Frame question;
    struct connection *c = begin(&question, "MQPUT", handle, completion, reason);
    if (!c) return;
    add_number(&question, object);
    add_bytes(&question, md, length_of(md, MD));
    add_bytes(&question, pmo, length_of(pmo, PMO));
    add_bytes(&question, data ? data : "", (size_t)length);
    put(c, &question, md, pmo, completion, reason);
}

void MQPUT1(Long handle, void *od, void *md, void *pmo, Long length, void *data, Long *completion, Long *reason) {
    Frame question;
    struct connection *c = begin(&question, "MQPUT1", handle, completion, reason);
    if (!c) return;
    add_bytes(&question, od, length_of(od, OD));
    add_bytes(&question, md, length_of(md, MD));
    add_bytes(&question, pmo, length_of(pmo, PMO));
    add_bytes(&question, data ? data : "", (size_t)length);
    add_topic(&question, od);
    put(c, &question, md, pmo, completion, reason);
}

void MQGET(Long handle, Long object, void *md, void *gmo, Long room, void *data, Long *length, Long *completion, Long *reason) {
    Frame question, answer;
    struct connection *c = begin(&question, "MQGET", handle, completion, reason);
    if (!c) return;
    add_number(&question, object);
    add_bytes(&question, md, length_of(md, MD));
    add_bytes(&question, gmo, length_of(gmo, GMO));
    add_number(&question, room);
    if (run(c, &question, &answer, completion, reason)) return;
    copy(&answer, data, (size_t)room);
    copy(&answer, md, length_of(md, MD));
    copy(&answer, gmo, length_of(gmo, GMO));
    *length = (Long)number(&answer);
    end(&answer, completion, reason);
}

/* ---- attributes, subscriptions ---- */

void MQINQ(Long handle, Long object, Long selectors, Long *selector, Long numbers, Long *found, Long room, char *text,
           Long *completion, Long *reason) {
    Frame question, answer;
    struct connection *c = begin(&question, "MQINQ", handle, completion, reason);
    if (!c) return;
    add_number(&question, object);
    add_bytes(&question, selector, (size_t)selectors * 4);
    if (run(c, &question, &answer, completion, reason)) return;
    copy(&answer, found, (size_t)numbers * 4);
    copy(&answer, text, (size_t)room);
    end(&answer, completion, reason);
}

void MQSUB(Long handle, void *sd, Long *object, Long *subscription, Long *completion, Long *reason) {
    Frame question, answer;
    struct connection *c = begin(&question, "MQSUB", handle, completion, reason);
    if (!c) return;
    add_bytes(&question, sd, SD);
    add_number(&question, *object);
    add_text(&question, sd, SD_OBJECT_STRING);
    add_text(&question, sd, SD_SUB_NAME);
    if (run(c, &question, &answer, completion, reason)) return;
    copy(&answer, sd, SD);
    *object = (Long)number(&answer);
    *subscription = (Long)number(&answer);
    end(&answer, completion, reason);
}

void MQSUBRQ(Long handle, Long subscription, Long action, void *sro, Long *completion, Long *reason) {
    Frame question, answer;
    struct connection *c = begin(&question, "MQSUBRQ", handle, completion, reason);
    if (!c) return;
    add_number(&question, subscription);
    add_number(&question, action);
    add_bytes(&question, sro, 16);
    if (run(c, &question, &answer, completion, reason)) return;
    copy(&answer, sro, 16);
    end(&answer, completion, reason);
}

/* ---- message handles ---- */

void MQCRTMH(Long handle, void *options, int64_t *message, Long *completion, Long *reason) {
    Frame question, answer;
    struct connection *c = begin(&question, "MQCRTMH", handle, completion, reason);
    *message = -1;
    if (!c) return;
    add_bytes(&question, options, 12);
    if (run(c, &question, &answer, completion, reason)) return;
    *message = number(&answer);
    end(&answer, completion, reason);
}

void MQDLTMH(Long handle, int64_t *message, void *options, Long *completion, Long *reason) {
    Frame question, answer;
    struct connection *c = begin(&question, "MQDLTMH", handle, completion, reason);
    if (!c) return;
    add_number(&question, *message);
    add_bytes(&question, options, 12);
    if (run(c, &question, &answer, completion, reason)) return;
    end(&answer, completion, reason);
    if (*completion != FAILED) *message = -1;
}

void MQSETMP(Long handle, int64_t message, void *options, Text *name, void *pd, Long type, Long length, void *value,
             Long *completion, Long *reason) {
    Frame question, answer;
    struct connection *c = begin(&question, "MQSETMP", handle, completion, reason);
    (void)options, (void)pd;
    if (!c) return;
    add_number(&question, message);
    add_text(&question, name, 0);
    add_number(&question, type);
    add_bytes(&question, value ? value : "", length == -1 ? strlen(value) : (size_t)length);
    if (!run(c, &question, &answer, completion, reason)) end(&answer, completion, reason);
}

void MQINQMP(Long handle, int64_t message, void *options, Text *name, void *pd, Long *type, Long room, void *value, Long *length,
             Long *completion, Long *reason) {
    Frame question, answer;
    Text *shown = (Text *)((char *)options + 32); /* MQIMPO.ReturnedName */
    struct connection *c = begin(&question, "MQINQMP", handle, completion, reason);
    (void)pd;
    *length = 0;
    if (!c) return;
    add_number(&question, message);
    add_number(&question, AT(options, 8, Long));
    add_text(&question, name, 0);
    add_number(&question, room);
    if (run(c, &question, &answer, completion, reason)) return;
    copy(&answer, value, (size_t)room);
    *length = (Long)number(&answer);
    *type = (Long)number(&answer);
    if (shown->pointer && shown->size > 0) {
        memset(shown->pointer, 0, (size_t)shown->size);
        copy(&answer, shown->pointer, (size_t)shown->size);
        shown->length = (Long)strnlen(shown->pointer, (size_t)shown->size);
    } else copy(&answer, NULL, 0);
    end(&answer, completion, reason);
}

void MQDLTMP(Long handle, int64_t message, void *options, Text *name, Long *completion, Long *reason) {
    Frame question, answer;
    struct connection *c = begin(&question, "MQDLTMP", handle, completion, reason);
    if (!c) return;
    add_number(&question, message);
    add_bytes(&question, options, 12);
    add_text(&question, name, 0);
    if (!run(c, &question, &answer, completion, reason)) end(&answer, completion, reason);
}

void MQSET(Long handle, Long object, Long count, Long *selectors, Long values, Long *numbers, Long room, char *text,
           Long *completion, Long *reason) {
    Frame question, answer;
    struct connection *c = begin(&question, "MQSET", handle, completion, reason);
    if (!c) return;
    add_number(&question, object);
    add_bytes(&question, selectors, (size_t)count * 4);
    add_bytes(&question, numbers, (size_t)values * 4);
    add_bytes(&question, text ? text : "", (size_t)room);
    if (!run(c, &question, &answer, completion, reason)) end(&answer, completion, reason);
}

/* ---- what nobody here uses ---- */

#define ABSENT(VERB, ...) \
    void VERB(Long handle, __VA_ARGS__, Long *completion, Long *reason) { (void)handle; *completion = FAILED; *reason = NOT_SUPPORTED; }
#pragma GCC diagnostic ignored "-Wunused-parameter"
ABSENT(MQSTAT, Long type, void *sts)
ABSENT(MQCB, Long operation, void *cbd, Long object, void *md, void *gmo)
ABSENT(MQCTL, Long operation, void *options)
