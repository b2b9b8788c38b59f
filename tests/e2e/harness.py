"""What the end-to-end tests stand on: a private world for each test, and a client that speaks to the real binary.

    world = World()                      # or: with World() as world, or class Case below
    world.script('greet', sh_tool('echo "Hello, $MCPD_OPT_name!"', {'name': {'required': True}}))
    client = world.serve(version='2025-06-18')
    client.call('greet', {'name': 'World'})['content']

The binary is $MCPD. Each message that it sends is validated against the official schema of its version, from
$MCPD_TEST_DATA/mcp-schema; whatever was wrong with any of them fails the test when the client is closed, at the latest by
the world's cleanup. $MCPD_TEST_PATIENCE multiplies every deadline (for a sanitizer or a slow machine).
"""

import collections
import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

MODERN = '2026-07-28'
LEGACY = ('2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25')
VERSIONS = LEGACY + (MODERN,)

CLAIM = 'io.modelcontextprotocol/protocolVersion'
CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
LOG_LEVEL = 'io.modelcontextprotocol/logLevel'
SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'

PATIENCE = float(os.environ.get('MCPD_TEST_PATIENCE', '1'))
HERE = pathlib.Path(__file__).resolve().parent
MCPD = os.path.abspath(os.environ.get('MCPD') or HERE.parent.parent / 'build' / 'src' / 'app' / 'mcpd')

_UNSET = object()


class ProtocolError(Exception):
    """A JSON-RPC error that came instead of a result."""

    def __init__(self, code, message, data=None):
        super().__init__(f'{code}: {message}' + ('' if data is None else f' {json.dumps(data)}'))
        self.code, self.message, self.data = code, message, data


class Late(AssertionError):
    """What was waited for did not come before the deadline, or cannot come any more."""


class Message(dict):
    """One object that mcpd sent; `raw` is the line as it came (of a batch: the whole line)."""

    raw = b''


class Batch(list):
    """One array that mcpd sent."""

    raw = b''


def text(result):
    """All text blocks of a tool's result, or all text contents of a resource, joined by newlines."""
    return '\n'.join(block['text'] for block in result.get('content', result.get('contents', [])) if 'text' in block)


def sh_tool(body, options=None, **metadata):
    """The text of a sh script that keeps the contract: `metadata` and `options` on --help, otherwise `body`.
    With state=True, `body` sees "$1" = --state as well."""
    metadata.setdefault('description', 'A tool of the tests')
    lines = ['#!/bin/sh', 'if [ "$1" = --help ]; then', "  cat <<'END-OF-METADATA'", json.dumps(metadata), 'END-OF-METADATA']
    if options is not None:
        lines += ["  cat >&2 <<'END-OF-OPTIONS'", json.dumps(options), 'END-OF-OPTIONS']
    return '\n'.join(lines + ['  exit 0', 'fi', body, ''])


# --- validation against the official schemas


class Schemas:
    """The official schemas, compiled once for each type that is asked for."""

    RESULTS = {
        'initialize': 'InitializeResult',
        'ping': 'EmptyResult',
        'server/discover': 'DiscoverResult',
        'tools/list': 'ListToolsResult',
        'tools/call': 'CallToolResult',
        'resources/list': 'ListResourcesResult',
        'resources/templates/list': 'ListResourceTemplatesResult',
        'resources/read': 'ReadResourceResult',
        'resources/subscribe': 'EmptyResult',
        'resources/unsubscribe': 'EmptyResult',
        'prompts/list': 'ListPromptsResult',
        'prompts/get': 'GetPromptResult',
        'completion/complete': 'CompleteResult',
        'logging/setLevel': 'EmptyResult',
        'subscriptions/listen': 'SubscriptionsListenResult',
    }
    NOTIFICATIONS = {
        'notifications/cancelled': 'CancelledNotification',
        'notifications/progress': 'ProgressNotification',
        'notifications/message': 'LoggingMessageNotification',
        'notifications/tools/list_changed': 'ToolListChangedNotification',
        'notifications/resources/list_changed': 'ResourceListChangedNotification',
        'notifications/resources/updated': 'ResourceUpdatedNotification',
        'notifications/prompts/list_changed': 'PromptListChangedNotification',
        'notifications/subscriptions/acknowledged': 'SubscriptionsAcknowledgedNotification',
    }
    REQUESTS = {
        'ping': 'PingRequest',
        'roots/list': 'ListRootsRequest',
        'sampling/createMessage': 'CreateMessageRequest',
        'elicitation/create': 'ElicitRequest',
    }
    ERRORS = {
        -32020: 'HeaderMismatchError',
        -32021: 'MissingRequiredClientCapabilityError',
        -32022: 'UnsupportedProtocolVersionError',
    }

    def __init__(self):
        self._documents = {}
        self._validators = {}
        self._lock = threading.Lock()
        self._folder = None
        self._engine = None
        self._looked = False

    def ready(self):
        """Whether messages can be validated; says once, in a line, when they cannot."""
        with self._lock:
            if not self._looked:
                self._looked = True
                why = self._open()
                if why:
                    print(f'skipped: the messages are not validated against the official schemas; {why}', file=sys.stderr, flush=True)
            return self._folder is not None

    def _open(self):
        data = os.environ.get('MCPD_TEST_DATA')
        if not data:
            return 'MCPD_TEST_DATA names no directory'
        folder = pathlib.Path(data) / 'mcp-schema'
        if not folder.is_dir():
            return f'{folder} is missing'
        try:
            import jsonschema
        except ImportError:
            return 'python3-jsonschema is missing'
        self._engine = jsonschema
        self._folder = folder

    def _document(self, version):
        if version not in self._documents:
            self._documents[version] = json.loads((self._folder / f'{version}.json').read_text())
        return self._documents[version]

    def _types(self, version):
        document = self._document(version)
        return '$defs' if '$defs' in document else 'definitions'

    def has(self, version, name):
        return name in self._document(version)[self._types(version)]

    def complaints(self, version, name, value):
        """Why `value` is not a `name` of `version`; empty when it is one."""
        key = version, name
        with self._lock:
            validator = self._validators.get(key)
            if validator is None:
                types = self._types(version)
                assert self.has(version, name), f'{version} has no {name}'
                schema = dict(self._document(version), **{'$ref': f'#/{types}/{name}'})
                validator = self._engine.validators.validator_for(schema)(schema)
                self._validators[key] = validator
        return [f'{name} of {version}: {"/".join(map(str, error.absolute_path)) or "it"}: {error.message[:400]}'
                for error in validator.iter_errors(value)]

    def response(self, version, method, message):
        """Complaints about an answer to `method`. An error without an id is an answer to something that had none to echo:
        the schemas know no null; those before 2025-11-25 demand an id, which nobody can give, so either is taken there."""
        if 'error' in message:
            if version in LEGACY[:3]:
                return self.complaints(version, 'JSONRPCError', message if message.get('id') is not None else {**message, 'id': 0})
            name = self.ERRORS.get(message['error'].get('code') if isinstance(message['error'], dict) else None)
            if name is None or not self.has(version, name):
                name = 'JSONRPCErrorResponse'
            return self.complaints(version, name, message)
        envelope = 'JSONRPCResultResponse' if self.has(version, 'JSONRPCResultResponse') else 'JSONRPCResponse'
        found = self.complaints(version, envelope, message)
        name = self.RESULTS.get(method) if isinstance(method, str) else None
        if name is not None:
            if not self.has(version, name):
                return found + [f'{version} has no {method}, yet there is a result']
            if self.has(version, 'InputRequiredResult') and message['result'].get('resultType') == 'input_required':
                name = 'InputRequiredResult'
            found += self.complaints(version, name, message['result'])
        return found

    def notification(self, version, message):
        found = self.complaints(version, 'JSONRPCNotification', message)
        name = self.NOTIFICATIONS.get(message['method'])
        if name is None or not self.has(version, name):
            return found + [f'{version} has no {message["method"]}']
        return found + self.complaints(version, name, message)

    def request(self, version, message):
        name = self.REQUESTS.get(message['method'])
        if name is None or version == MODERN or not self.has(version, name):
            return [f'{version} has no request {message["method"]} of a server']
        return self.complaints(version, 'JSONRPCRequest', message) + self.complaints(version, name, message)


SCHEMAS = Schemas()


def _no_constants(word):
    raise ValueError(f'{word} is not JSON')


def _no_duplicates(pairs):
    found = Message(pairs)
    if len(found) != len(pairs):
        raise ValueError('an object with duplicate keys')
    return found


def parse_line(line):
    """One line of stdout as a Message or a Batch; ValueError when it is anything else."""
    message = json.loads(line.decode('utf-8'), object_pairs_hook=_no_duplicates, parse_constant=_no_constants)
    if isinstance(message, list):
        if not message or not all(isinstance(each, dict) for each in message):
            raise ValueError('an array that is not a batch')
        message = Batch(message)
        for each in message:
            each.raw = line
    elif not isinstance(message, dict):
        raise ValueError('neither an object nor an array')
    message.raw = line
    return message


def _key(id):
    """Ids compare by their JSON, so that 1 and "1" and 1.0 and true stay apart."""
    return json.dumps(id, sort_keys=True)


class Asked:
    """A request that was sent: what an answer to it is measured by."""

    def __init__(self, method, version, token, check):
        self.method, self.version, self.token, self.check = method, version, token, check


class Client:
    """A connection to one mcpd over pipes. Made by World.serve."""

    def __init__(self, command, cwd, env, version, capabilities, check, stderr_path):
        self.version = version          # requests are sent in this one unless they say otherwise
        self.negotiated = None          # what initialize agreed on
        self.initialized = None         # the result of initialize
        self.capabilities = capabilities or {}
        self.problems = []              # whatever was wrong with what mcpd sent
        self.messages = []              # all that came, in order
        self.code = None
        self._check = check
        self._next_id = 0
        self._asked = collections.defaultdict(list)     # key of an id -> what waits for an answer
        self._tokens = collections.Counter()            # progress tokens of requests without an answer so far
        self._fresh = []                # came, and was not consumed
        self._ended = False             # stdout reached its end
        self._changed = threading.Condition()
        self._stderr_path = stderr_path
        self._closed_stdin = False
        with open(stderr_path, 'wb') as stderr:
            self._process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, bufsize=0)
        self.pid = self._process.pid
        os.set_blocking(self._process.stdin.fileno(), False)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    # --- out

    def send_raw(self, data, timeout=10, check=True):
        """Writes these bytes as they are."""
        self._register_bytes(data, check)
        view = memoryview(data)
        deadline = time.monotonic() + timeout * PATIENCE
        fd = self._process.stdin.fileno()
        while view:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([], [fd], [], left)[1]:
                raise Late(f'mcpd does not read its stdin: {len(view)} of {len(data)} bytes are left{self._trouble()}')
            try:
                view = view[os.write(fd, view[:65536]):]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise Late(f'mcpd closed its stdin{self._trouble()}') from None

    def send(self, message, timeout=10, check=True):
        """Sends any JSON value as one line; check=False spares the answer the schema, for what truly needs it."""
        self.send_raw(json.dumps(message).encode() + b'\n', timeout, check)

    def start(self, method, params=None, id=None, meta=None, version=None, check=True):
        """Sends a request and returns its id. In the modern era, and in a request whose `version` is modern, params._meta
        gets the two keys that each request needs; `meta` adds to them and wins."""
        if id is None:
            self._next_id += 1
            id = self._next_id
        message = {'jsonrpc': '2.0', 'id': id, 'method': method}
        params = self._with_meta(params, meta, version or self.version)
        if params is not None:
            message['params'] = params
        self.send(message, check=check)
        return id

    def notify(self, method, params=None, meta=None, version=None):
        message = {'jsonrpc': '2.0', 'method': method}
        params = self._with_meta(params, meta, version or self.version)
        if params is not None:
            message['params'] = params
        self.send(message)

    def cancel(self, id, reason='the test wants it so'):
        self.notify('notifications/cancelled', {'requestId': id, 'reason': reason})

    def _with_meta(self, params, meta, version):
        all_meta = {}
        if version not in LEGACY:
            all_meta = {CLAIM: version, CAPABILITIES: self.capabilities}
        all_meta.update(meta or {})
        if not all_meta:
            return params
        params = dict(params or {})
        params['_meta'] = {**all_meta, **params.get('_meta', {})}
        return params

    def _register_bytes(self, data, check):
        """Remembers which requests these bytes hold, to know what their answers have to be."""
        for line in data.split(b'\n'):
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue
            for each in message if isinstance(message, list) else [message]:
                if isinstance(each, dict) and 'id' in each and ('method' in each or not {'result', 'error'} & set(each)):
                    self._register(each, check)

    def _register(self, message, check):
        params = message.get('params')
        meta = params.get('_meta') if isinstance(params, dict) else None
        meta = meta if isinstance(meta, dict) else {}
        asked = Asked(message.get('method'), MODERN if CLAIM in meta else None, None, check)
        with self._changed:
            if 'progressToken' in meta:
                asked.token = _key(meta['progressToken'])
                self._tokens[asked.token] += 1
            self._asked[_key(message['id'])].append(asked)

    # --- in

    def request(self, method, params=None, id=None, meta=None, timeout=10, version=None, check=True):
        """The whole answer, be it a result or an error."""
        return self.wait(self.start(method, params, id, meta, version, check), timeout)

    def result(self, method, params=None, id=None, meta=None, timeout=10, version=None, check=True):
        """The result; an error is raised as ProtocolError."""
        return unwrap(self.request(method, params, id, meta, timeout, version, check))

    def call(self, tool, arguments=_UNSET, **kw):
        """The result of tools/call; arguments=None leaves the member out."""
        params = {'name': tool}
        if arguments is not None:
            params['arguments'] = {} if arguments is _UNSET else arguments
        return self.result('tools/call', params, **kw)

    def start_call(self, tool, arguments=_UNSET, **kw):
        """Sends tools/call and returns its id."""
        params = {'name': tool}
        if arguments is not None:
            params['arguments'] = {} if arguments is _UNSET else arguments
        return self.start('tools/call', params, **kw)

    def wait(self, id, timeout=10):
        """The answer to the request of that id; consumes it."""
        key = _key(id)
        return self._take(lambda message: _is_response(message) and 'id' in message and _key(message['id']) == key,
                          timeout, f'an answer to the request {key}')

    def receive(self, timeout=10):
        """The next message of any kind that nobody consumed yet."""
        return self._take(lambda message: True, timeout, 'any message')

    def wait_error(self, timeout=10):
        """The next error that answers no id (nothing to echo, or null); consumes it."""
        return self._take(lambda message: _is_response(message) and message.get('id') is None, timeout, 'an error without an id')

    def wait_notification(self, method, timeout=10, where=lambda message: True):
        """The first notification of that method, not consumed yet, that `where` holds for; consumes it."""
        return self._take(lambda message: isinstance(message, Message) and message.get('method') == method and 'id' not in message and where(message),
                          timeout, f'a notification {method}')

    def notifications(self, method=None):
        """All notifications so far, consumed or not."""
        with self._changed:
            return [message for message in self.messages if isinstance(message, Message) and 'method' in message and 'id' not in message
                    and method in (None, message['method'])]

    def unconsumed(self):
        with self._changed:
            return list(self._fresh)

    def settled(self, timeout=10):
        """All that mcpd had to say up to now has come: it answered a request sent after everything else."""
        if self.negotiated:
            self.result('ping', timeout=timeout, version=self.negotiated)
        else:
            self.result('server/discover', timeout=timeout, version=MODERN)

    def _take(self, matches, timeout, what):
        deadline = time.monotonic() + timeout * PATIENCE

        with self._changed:
            while True:
                index = next((at for at, message in enumerate(self._fresh) if matches(message)), None)
                if index is not None:
                    return self._fresh.pop(index)
                left = deadline - time.monotonic()
                if self._ended or left <= 0:
                    break
                self._changed.wait(left)
            ended, fresh = self._ended, self._fresh[-3:]
        why = 'mcpd closed its stdout' if ended else f'none within {timeout * PATIENCE:g} s'
        raise Late(f'waited for {what}: {why}; not consumed: {[m.raw[:300] for m in fresh]}{self._trouble()}')

    def _read(self):
        parts = []
        while True:
            try:
                chunk = os.read(self._process.stdout.fileno(), 1 << 20)
            except OSError:
                chunk = b''
            if not chunk:
                break
            *lines, rest = chunk.split(b'\n')
            if lines:
                lines[0] = b''.join(parts) + lines[0]
                parts = []
            parts.append(rest)
            for line in lines:
                self._take_in(line)
        pending = b''.join(parts)
        with self._changed:
            if pending and self._process.poll() != -signal.SIGKILL:
                self.problems.append(f'stdout ends within a line: {pending[:200]!r}')
            self._ended = True
            self._changed.notify_all()

    def _take_in(self, line):
        try:
            message = parse_line(line)
        except (ValueError, RecursionError) as error:
            with self._changed:
                self.problems.append(f'a line on stdout is not a message: {error}: {line[:300]!r}')
            return
        try:
            found = []
            for each in message if isinstance(message, Batch) else [message]:
                found += self._judge(each)
            if isinstance(message, Batch) and self.negotiated != '2025-03-26':
                found.append('a batch, which only 2025-03-26 has')
        except Exception as error:  # a broken message must not end the reader
            found = [f'cannot be judged: {error!r}']
        with self._changed:
            self.problems += [f'{each}; the line was {line[:500]!r}' for each in found]
            self.messages.append(message)
            self._fresh.append(message)
            self._changed.notify_all()

    def _legacy_version(self):
        return self.negotiated or (self.version if self.version in LEGACY else '2025-11-25')

    def _judge(self, message):
        """What is wrong with one message; keeps the books of requests and tokens."""
        if _is_response(message):
            return self._judge_response(message)
        if not isinstance(message.get('method'), str):
            return ['neither a request, a notification nor an answer']
        if 'id' in message:
            return self._valid(SCHEMAS.request, self._legacy_version(), message)
        found = []
        params = message.get('params') or {}
        modern = self.version == MODERN and not self.negotiated or SUBSCRIPTION in params.get('_meta', {})
        if message['method'] == 'notifications/progress':
            with self._changed:
                if not self._tokens.get(_key(params.get('progressToken'))):
                    found.append('progress for a token that no unanswered request gave')
        return found + self._valid(SCHEMAS.notification, MODERN if modern else self._legacy_version(), message)

    def _judge_response(self, message):
        if ('result' in message) == ('error' in message):
            return ['an answer with both or neither of result and error']
        if message.get('id') is None:
            version = MODERN if self.version == MODERN and not self.negotiated else self._legacy_version()
            return self._valid(SCHEMAS.response, version, None, message)
        with self._changed:
            waiting = self._asked.get(_key(message['id']))
            if not waiting:
                return ['an answer to a request that was not sent, or a second answer'] if self._check else []
            waiting = list(waiting)
        # Several may have had this id, some of them refused without it: the newest that the answer fits is the one.
        verdicts = [(asked, self._judge_answer(asked, message)) for asked in reversed(waiting)]
        asked, found = next((each for each in verdicts if not each[1]), verdicts[0])
        with self._changed:
            self._asked[_key(message['id'])].remove(asked)
            if asked.token is not None:
                self._tokens[asked.token] -= 1
        if asked.method == 'initialize' and 'result' in message and not found:
            self.negotiated, self.initialized = message['result']['protocolVersion'], message['result']
        return found

    def _judge_answer(self, asked, message):
        version = asked.version or self._legacy_version()
        if asked.method == 'initialize' and 'result' in message:
            version = message['result'].get('protocolVersion')
            if version not in LEGACY:
                return [f'initialize agreed on {version!r}']
        if not asked.check:
            return []
        found = self._valid(SCHEMAS.response, version, asked.method, message)
        if version == MODERN and 'error' in message and message['error'].get('code') in (-32002, -32042):
            found.append(f'{message["error"]["code"]} does not exist in {MODERN}')
        return found

    def _valid(self, judge, *args):
        return judge(*args) if self._check and SCHEMAS.ready() else []

    # --- the end

    def stderr_text(self):
        return pathlib.Path(self._stderr_path).read_text(errors='replace')

    def alive(self):
        return self._process.poll() is None

    def signal(self, number):
        self._process.send_signal(number)

    def close_stdin(self):
        """EOF, without waiting for what comes of it."""
        if not self._closed_stdin:
            self._closed_stdin = True
            self._process.stdin.close()

    def wait_exit(self, timeout=10):
        """The exit code, once the process is gone and all it said was read."""
        if self.code is None:
            try:
                self.code = self._process.wait(timeout * PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
                self._finish()
                raise Late(f'mcpd was not gone after {timeout * PATIENCE:g} s{self._trouble()}') from None
            self._finish()
        return self.code

    def _finish(self):
        self.close_stdin()
        self._reader.join(10 * PATIENCE)
        if not self._reader.is_alive():
            self._process.stdout.close()

    def close(self, timeout=10):
        """Closes stdin, waits for the exit and returns its code; fails when anything on stdout was not as it should be."""
        self.close_stdin()
        code = self.wait_exit(timeout)
        self.assert_clean()
        return code

    def assert_clean(self):
        with self._changed:
            problems, self.problems = self.problems, []
        if problems:
            more = f'\n… and {len(problems) - 5} more' if len(problems) > 5 else ''
            raise AssertionError('what mcpd sent is wrong:\n' + '\n'.join(problems[:5]) + more)

    def dispose(self):
        """For cleanups: ends the process if it still runs, gently where it can be, and fails as close() does."""
        try:
            if self.code is None:
                died = self._process.poll()
                busy = any(self._asked.values())
                self.close_stdin()
                if busy and died is None:
                    self._process.terminate()
                code = self.wait_exit()
                if code < 0 and -code not in (signal.SIGTERM, signal.SIGKILL):
                    raise AssertionError(f'mcpd died of {signal.Signals(-code).name}{self._trouble()}')
                if code != 0 and not busy:
                    raise AssertionError(f'mcpd exited with {code} at EOF{self._trouble()}')
        finally:
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
            self.assert_clean()

    def _trouble(self):
        code = self._process.poll()
        said = self.stderr_text()[-1500:].strip()
        return ('' if code is None else f'; it exited with {code}') + (f'; its stderr ends:\n{said}' if said else '; its stderr is empty')


def _is_response(message):
    return isinstance(message, Message) and 'method' not in message and ('result' in message or 'error' in message)


def unwrap(message):
    """The result of an answer; an error is raised as ProtocolError."""
    if 'error' in message:
        error = message['error']
        raise ProtocolError(error['code'], error['message'], error.get('data'))
    return message['result']


class World:
    """A directory of its own for one test: a home, a root directory for scripts, and an environment that knows nothing else."""

    def __init__(self, root_name='root'):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix='e2e-')).resolve()
        self.base.chmod(0o755)
        self.home = self.folder(self.base / 'home')
        self.root = self.folder(self.base / root_name)
        self.tmp = self.folder(self.base / 'tmp')
        runtime = self.folder(self.base / 'run')
        runtime.chmod(0o700)
        self.env = {
            'HOME': str(self.home),
            'USER': 'tester',
            'LOGNAME': 'tester',
            'SHELL': '/bin/sh',
            'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
            'LANG': 'C.UTF-8',
            'TMPDIR': str(self.tmp),
            'XDG_CONFIG_HOME': str(self.home / '.config'),
            'XDG_DATA_HOME': str(self.home / '.local/share'),
            'XDG_STATE_HOME': str(self.home / '.local/state'),
            'XDG_CACHE_HOME': str(self.home / '.cache'),
            'XDG_RUNTIME_DIR': str(runtime),
        }
        for name, value in os.environ.items():  # how a sanitizer reports is the runner's business
            if name in ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS', 'TSAN_OPTIONS'):
                self.env[name] = value
        self._clients = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cleanup()

    def cleanup(self):
        """Ends every client and removes the directory; fails when a client has something to complain of."""
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, self.base, ignore_errors=True)
            for client in self._clients:
                stack.callback(client.dispose)
        self._clients = []

    def folder(self, path, mode=0o755):
        """Makes a directory and those above it, with this mode whatever the umask."""
        path = pathlib.Path(path)
        missing = [path]
        while not missing[-1].parent.exists():
            missing.append(missing[-1].parent)
        for each in reversed(missing):
            each.mkdir(exist_ok=True)
            each.chmod(mode)
        return path

    def file(self, name, content, mode=0o644):
        """Writes a file below the root and returns its path. It appears whole and with its mode: by rename."""
        path = self.root / name
        if not path.parent.exists():
            self.folder(path.parent)
        fresh = self.tmp / f'writing-{threading.get_ident()}'
        fresh.write_bytes(content.encode() if isinstance(content, str) else content)
        fresh.chmod(mode)
        fresh.rename(path)
        return path

    def script(self, name, text, mode=0o755):
        """Writes an executable below the root, makes the folders that it needs, and returns its path."""
        return self.file(name, text, mode)

    def run(self, *args, input=b'', **kw):
        """Runs `$MCPD ARGS` to its end; stdout and stderr are captured unless said otherwise."""
        kw['env'] = {**self.env, **(kw.get('env') or {})}
        kw.setdefault('cwd', self.home)
        kw.setdefault('timeout', 60 * PATIENCE)
        kw.setdefault('stdout', subprocess.PIPE)
        kw.setdefault('stderr', subprocess.PIPE)
        if 'stdin' not in kw:
            kw['input'] = input
        return subprocess.run([MCPD, *map(str, args)], **kw)

    def serve(self, *args, version=VERSIONS[-1], capabilities=None, handshake=True, cwd=None, env=None, check=True):
        """Starts `$MCPD --root-directory ROOT --stdio ARGS`. A legacy version is agreed on by initialize; the modern one
        needs nothing. handshake=False leaves even that to the test; check=False leaves out the schemas."""
        client = Client([MCPD, '--root-directory', str(self.root), '--stdio', *map(str, args)], cwd or self.home, {**self.env, **(env or {})},
                        version, capabilities, check, self.base / f'stderr-{len(self._clients)}')
        self._clients.append(client)
        if handshake and version in LEGACY:
            client.result('initialize', initialize_params(version, capabilities))
            assert client.negotiated == version, f'asked for {version}, got {client.negotiated}'
            client.notify('notifications/initialized')
        return client


def initialize_params(version, capabilities=None):
    return {'protocolVersion': version, 'capabilities': capabilities or {}, 'clientInfo': {'name': 'e2e', 'version': '1'}}


class Case(unittest.TestCase):
    """A test with a world of its own."""

    maxDiff = None

    def setUp(self):
        self.world = World()
        self.addCleanup(self.world.cleanup)

    def assertProtocolError(self, code, message, text=None):
        """`message` is an error answer with this code, and `text` occurs in its message; returns the error."""
        self.assertIn('error', message, f'a result where error {code} was due: {message}')
        self.assertEqual(message['error']['code'], code, message['error'])
        if text is not None:
            self.assertIn(text.lower(), message['error']['message'].lower())
        self.assertTrue(message['error']['message'].strip(), 'an error without a word')
        return message['error']


def wait_until(condition, timeout=10, what='the condition'):
    """Asks `condition` until it is true, and returns what it said; for facts outside of the connection (files, processes)."""
    deadline = time.monotonic() + timeout * PATIENCE
    pause = 0.001
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Late(f'waited {timeout * PATIENCE:g} s for {what}')
        time.sleep(pause)  # only between two looks
        pause = min(pause * 2, 0.05)
