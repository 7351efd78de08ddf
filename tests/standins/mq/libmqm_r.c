/* A stand-in for IBM's libmqm_r.so: the entry points of the MQI that the library ibmmq needs, each carried to a stand-in queue manager
 * in another process (tests/standins/mq/server.py). Our own code and our own wire format, for tests only; 64-bit Linux.
 *
 * Wire: a frame is a 32-bit length and values; a value is 'i' and 64 bits, 'b' and a 32-bit length and bytes, or 'n'. Big-endian.
 * A question is the verb, the connection's handle and arguments; an answer is outputs, completion code, reason. */
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
enum { MOST = 1024 };

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

/* "host(port),host(port)": on this machine only, by design. */
static int dial(const char *names) {
    char buffer[512], *rest = NULL;
    snprintf(buffer, sizeof buffer, "%s", names);
    for (char *name = strtok_r(buffer, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
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

void MQCONNX(char *name, void *cno, Long *handle, Long *completion, Long *reason) {
    char names[265] = "", channel[21] = "";
    char *cd = NULL, *csp = NULL, *application = NULL;
    Frame question = {0}, answer;
    *handle = -1;
    if (cno) {
        Long version = AT(cno, 4, Long);
        if (version >= 2) cd = AT(cno, 16, char *);
        if (version >= 5) csp = AT(cno, 192, char *);
        if (version >= 7) application = (char *)cno + 224;
    }
    if (cd) { memcpy(channel, cd, 20); memcpy(names, cd + 1024, 264); }
    int fd = dial(names);
    if (fd < 0) { *completion = FAILED; *reason = HOST_NOT_AVAILABLE; return; }
    add_bytes(&question, "MQCONNX", 7);
    add_field(&question, name ? name : "", 48);
    add_field(&question, channel, 20);
    add_field(&question, names, 264);
    if (csp && AT(csp, 8, Long) == 1) {
        add_bytes(&question, AT(csp, 16, char *), (size_t)AT(csp, 28, Long));
        add_bytes(&question, AT(csp, 40, char *), (size_t)AT(csp, 52, Long));
    } else {
        add_bytes(&question, NULL, 0);
        add_bytes(&question, NULL, 0);
    }
    add_field(&question, application ? application : "", 28);
    int bad = ask(fd, &question, &answer);
    free(question.data);
    if (bad) { close(fd); *completion = FAILED; *reason = CONNECTION_BROKEN; return; }
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

/* ---- what this wire does not use ---- */

#define ABSENT(VERB, ...) \
    void VERB(Long handle, __VA_ARGS__, Long *completion, Long *reason) { (void)handle; *completion = FAILED; *reason = NOT_SUPPORTED; }
#pragma GCC diagnostic ignored "-Wunused-parameter"
ABSENT(MQSET, Long object, Long n, Long *selectors, Long m, Long *numbers, Long room, char *text)
ABSENT(MQSUBRQ, Long subscription, Long action, void *sro)
ABSENT(MQCRTMH, void *options, int64_t *message)
ABSENT(MQDLTMH, int64_t *message, void *options)
ABSENT(MQSETMP, int64_t message, void *options, Text *name, void *pd, Long type, Long length, void *value)
ABSENT(MQINQMP, int64_t message, void *options, Text *name, void *pd, Long *type, Long room, void *value, Long *length)
ABSENT(MQDLTMP, int64_t message, void *options, Text *name)
ABSENT(MQSTAT, Long type, void *sts)
ABSENT(MQCB, Long operation, void *cbd, Long object, void *md, void *gmo)
ABSENT(MQCTL, Long operation, void *options)
