"""The six scripts of the seed, pasted as they are, behave as the seed says, in every version of the protocol."""

import json
import os
import subprocess
import unittest

from harness import CAPABILITIES, CLAIM, LOG_LEVEL, MCPD, MODERN, VERSIONS, Case, ProtocolError, initialize_params, parse_line

HELLO = r'''#!/usr/bin/env sh

if [ "$1" = "--help" ]; then
  echo '{"description": "Says hello"}'
  exit 0
fi

echo '{"message": "Hello, World!"}'
'''

GREET = r'''#!/usr/bin/env sh

if [ "$1" = "--help" ]; then
  echo '{"description": "Greet someone by name"}'
  echo '{"name": {"description": "Name to greet", "required": true, "value_type": "string"}}' >&2
  exit 0
fi

# Read from environment variable
echo "{\"greeting\": \"Hello, ${MCPD_OPT_name}!\"}"
'''

CALCULATOR = r'''#!/usr/bin/env sh

if [ "$1" = "--help" ]; then
  echo '{"description": "Calculator", "version": "1.0"}'
  cat >&2 << 'EOF'
{
  "operation": {
    "description": "Math operation",
    "required": true,
    "value_type": {"enum": ["add", "subtract", "multiply", "divide"]}
  },
  "a": {"required": true, "value_type": "float"},
  "b": {"required": true, "value_type": "float"}
}
EOF
  exit 0
fi

a="$MCPD_OPT_a"
b="$MCPD_OPT_b"
op="$MCPD_OPT_operation"

case "$op" in
  add)      result=$(echo "$a + $b" | bc -l) ;;
  subtract) result=$(echo "$a - $b" | bc -l) ;;
  multiply) result=$(echo "$a * $b" | bc -l) ;;
  divide)   result=$(echo "$a / $b" | bc -l) ;;
esac

echo "{\"result\": $result}"
'''

COUNTER = r'''#!/usr/bin/env sh

STATE_FILE="/tmp/mcpd-counter.json"

if [ "$1" = "--help" ]; then
  echo '{"description": "Persistent counter", "state": true}'
  echo '{"increment": {"description": "Amount to add", "required": false, "value_type": "integer", "default_value": 1}}' >&2
  exit 0
fi

if [ "$1" = "--state" ]; then
  [ -f "$STATE_FILE" ] && cat "$STATE_FILE" || echo '{"count": 0}'
  exit 0
fi

# Read current count
count=$(cat "$STATE_FILE" 2>/dev/null | grep -o '"count":[0-9]*' | grep -o '[0-9]*' || echo 0)
increment="${MCPD_OPT_increment:-1}"
new_count=$((count + increment))

# Save and return
echo "{\"count\": $new_count}" > "$STATE_FILE"
echo "{\"count\": $new_count, \"incremented_by\": $increment}"
'''

PROCESS = r'''#!/usr/bin/env python3
import sys
import json
import os

if len(sys.argv) > 1 and sys.argv[1] == "--help":
    print(json.dumps({
        "description": "Process data with Python",
        "version": "1.0.0"
    }))
    print(json.dumps({
        "text": {
            "description": "Text to process",
            "required": True,
            "value_type": "string"
        },
        "uppercase": {
            "description": "Convert to uppercase",
            "required": False,
            "value_type": "boolean",
            "default_value": False
        }
    }), file=sys.stderr)
    sys.exit(0)

# Read options from environment
text = os.environ.get("MCPD_OPT_text", "")
uppercase = os.environ.get("MCPD_OPT_uppercase", "false").lower() == "true"

if uppercase:
    text = text.upper()

print(json.dumps({"processed": text, "length": len(text)}))
'''

READ_FILE = r'''#!/usr/bin/env sh

if [ "$1" = "--help" ]; then
  echo '{"description": "Read a file"}'
  echo '{"path": {"description": "File path", "required": true, "value_type": "string"}}' >&2
  exit 0
fi

path="$MCPD_OPT_path"

if [ ! -f "$path" ]; then
  echo "ERROR File not found: $path" >&2
  echo '{"error": "File not found"}'
  exit 4  # 404 Not Found
fi

if [ ! -r "$path" ]; then
  echo "ERROR Permission denied: $path" >&2
  echo '{"error": "Permission denied"}'
  exit 3  # 403 Forbidden
fi

echo "INFO Reading file: $path" >&2
cat "$path"
'''

# What clients are told, in this order of keys.
LIST = [
    {'name': 'calculator', 'title': 'calculator', 'description': 'Calculator', 'version': '1.0', 'schema': {
        'type': 'object',
        'properties': {
            'operation': {'type': 'string', 'description': 'Math operation', 'enum': ['add', 'subtract', 'multiply', 'divide']},
            'a': {'type': 'number'},
            'b': {'type': 'number'},
        },
        'required': ['operation', 'a', 'b']}},
    {'name': 'counter', 'title': 'counter', 'description': 'Persistent counter', 'version': None, 'schema': {
        'type': 'object',
        'properties': {'increment': {'type': 'integer', 'description': 'Amount to add', 'default': 1}}}},
    {'name': 'greet', 'title': 'greet', 'description': 'Greet someone by name', 'version': None, 'schema': {
        'type': 'object',
        'properties': {'name': {'type': 'string', 'description': 'Name to greet'}},
        'required': ['name']}},
    {'name': 'hello', 'title': 'hello', 'description': 'Says hello', 'version': None, 'schema': {
        'type': 'object', 'properties': {}}},
    {'name': 'process', 'title': 'process', 'description': 'Process data with Python', 'version': '1.0.0', 'schema': {
        'type': 'object',
        'properties': {
            'text': {'type': 'string', 'description': 'Text to process'},
            'uppercase': {'type': 'boolean', 'description': 'Convert to uppercase', 'default': False},
        },
        'required': ['text']}},
    {'name': 'read-file', 'title': 'read-file', 'description': 'Read a file', 'version': None, 'schema': {
        'type': 'object',
        'properties': {'path': {'type': 'string', 'description': 'File path'}},
        'required': ['path']}},
]

NOBODY = 65534


def as_nobody():
    """How to start a program as a user without privileges; empty when the tests are run by one."""
    return {'user': NOBODY, 'group': NOBODY, 'extra_groups': []} if os.geteuid() == 0 else {}


class SeedCase(Case):
    def setUp(self):
        super().setUp()
        self.count_file = self.world.tmp / 'mcpd-counter.json'

    def paste(self):
        self.world.script('hello', HELLO)
        self.world.script('greet', GREET)
        self.world.script('calculator', CALCULATOR)
        self.world.script('counter', COUNTER.replace('/tmp/mcpd-counter.json', str(self.count_file)))
        self.world.script('process', PROCESS)
        self.world.script('read-file', READ_FILE)

    def in_all_versions(self, check):
        """Calls `check` with a client in each version, one after another."""
        for version in VERSIONS:
            with self.subTest(version=version):
                self.count_file.unlink(missing_ok=True)
                client = self.world.serve(version=version)
                check(client)
                self.assertEqual(client.close(), 0)

    def only_text(self, result):
        self.assertIs(result['isError'], False, result)
        self.assertEqual([block['type'] for block in result['content']], ['text'])
        return result['content'][0]['text']


class TheSixScripts(SeedCase):
    def test_they_are_listed_with_the_seeds_schemas(self):
        self.paste()

        def check(client):
            tools = client.result('tools/list')['tools']
            # As text, since the order of the keys is promised too.
            listed = [{'name': tool['name'], 'title': tool['title'], 'description': tool['description'],
                       'version': tool.get('_meta', {}).get('mcpd/version'), 'schema': tool['inputSchema']} for tool in tools]
            self.assertEqual(json.dumps(listed, indent=1), json.dumps(LIST, indent=1))

        self.in_all_versions(check)

    def test_two_lists_are_the_same_bytes(self):
        self.paste()

        def check(client):
            first, second = (client.request('tools/list', id=7).raw for _ in range(2))
            self.assertEqual(first, second)

        self.in_all_versions(check)

    def test_the_minimal_tool_says_hello(self):
        self.paste()

        def check(client):
            self.assertEqual(self.only_text(client.call('hello')), '{"message": "Hello, World!"}')
            self.assertEqual(self.only_text(client.call('hello', None)), '{"message": "Hello, World!"}')

        self.in_all_versions(check)

    def test_an_option_reaches_the_script_as_it_was_sent(self):
        self.paste()
        # Not by the seed's own script: its echo is dash's, which reads backslashes.
        self.world.script('greet', GREET.replace('echo "{\\"greeting', 'printf "%s\\n" "{\\"greeting'))

        def check(client):
            for name in ('John', 'Zoë 猫 🐈', '$(id) `id` ; "x" \\n', 'two\nlines', ''):
                self.assertEqual(self.only_text(client.call('greet', {'name': name})), f'{{"greeting": "Hello, {name}!"}}')

        self.in_all_versions(check)

    def test_a_missing_or_wrong_option_is_a_result_that_says_so(self):
        self.paste()

        def check(client):
            self.assertEqual(self.only_text(client.call('greet', {'name': 'John'})), '{"greeting": "Hello, John!"}')
            for arguments, complaint in (({}, 'name: required'), ({'name': 5}, 'name: must be a string')):
                result = client.call('greet', arguments)
                self.assertIs(result['isError'], True)
                self.assertIn(complaint, result['content'][0]['text'])

        self.in_all_versions(check)

    def test_the_calculator_calculates_and_knows_its_four_operations(self):
        self.paste()

        def check(client):
            for operation, a, b, answer in (('add', 1, 2, '3'), ('subtract', 1.5, 2, '-.5'), ('multiply', 6, 7, '42'),
                                            ('divide', 1, 4, '.25000000000000000000'),
                                            ('add', 1e21, 1, '1000000000000000000001'), ('add', 1e-7, 0, '.0000001')):
                text = self.only_text(client.call('calculator', {'operation': operation, 'a': a, 'b': b}))
                self.assertEqual(text, f'{{"result": {answer}}}')

            result = client.call('calculator', {'operation': 'power', 'a': 'one'})
            self.assertIs(result['isError'], True)
            for complaint in ('operation: must be one of: add, subtract, multiply, divide', 'a: must be a number', 'b: required'):
                self.assertIn(complaint, result['content'][0]['text'])

        self.in_all_versions(check)

    def test_the_counters_state_is_a_resource(self):
        self.paste()

        def check(client):
            def read():
                return client.result('resources/read', {'uri': 'mcpd://counter/state'})['contents']

            listed = client.result('resources/list')['resources']
            self.assertEqual([resource['uri'] for resource in listed], ['mcpd://counter/state'])
            self.assertEqual(read(), [{'uri': 'mcpd://counter/state', 'mimeType': 'application/json', 'text': '{"count": 0}\n'}])
            self.assertEqual(self.only_text(client.call('counter')), '{"count": 1, "incremented_by": 1}')
            self.assertEqual(json.loads(read()[0]['text']), {'count': 1})

        self.in_all_versions(check)

    def test_the_counters_default_is_one_and_can_be_replaced(self):
        self.paste()

        def check(client):
            for arguments, increment in (({}, 1), ({'increment': None}, 1), ({'increment': 5}, 5), ({'increment': 7.0}, 7)):
                self.count_file.unlink(missing_ok=True)
                answer = json.loads(self.only_text(client.call('counter', arguments)))
                self.assertEqual(answer, {'count': increment, 'incremented_by': increment})
            self.assertIs(client.call('counter', {'increment': 1.5})['isError'], True)

        self.in_all_versions(check)

    def test_python_reads_its_options_and_their_defaults(self):
        self.paste()

        def check(client):
            self.assertEqual(json.loads(self.only_text(client.call('process', {'text': 'abc'}))), {'processed': 'abc', 'length': 3})
            self.assertEqual(json.loads(self.only_text(client.call('process', {'text': 'abc', 'uppercase': True}))),
                             {'processed': 'ABC', 'length': 3})

        self.in_all_versions(check)

    def test_the_file_reader_reads_and_logs(self):
        self.paste()
        path = self.world.tmp / 'a file'
        path.write_text('one\ntwo\n')

        def check(client):
            meta = {LOG_LEVEL: 'info'} if client.version == MODERN else None
            self.assertEqual(self.only_text(client.call('read-file', {'path': str(path)}, meta=meta)), 'one\ntwo')
            logged = client.wait_notification('notifications/message')['params']
            self.assertEqual((logged['level'], logged['logger'], logged['data']), ('info', 'read-file', f'Reading file: {path}'))

        self.in_all_versions(check)

    def test_the_file_reader_exits_with_4_when_there_is_no_file(self):
        self.paste()

        def check(client):
            result = client.call('read-file', {'path': '/no/such/file'})
            self.assertIs(result['isError'], True)
            self.assertEqual(result['content'][0]['text'], '{"error": "File not found"}')
            last = result['content'][-1]['text']
            self.assertIn('exit code 4: not found', last)
            self.assertIn('File not found: /no/such/file', last)
            self.assertEqual(result['_meta']['mcpd/exitCode'], 4)
            self.assertEqual(result['_meta']['mcpd/error'], 'not found')

        self.in_all_versions(check)

    def test_a_user_without_privileges_gets_exit_3_for_what_it_may_not_read(self):
        try:
            subprocess.run([MCPD, '--version'], check=True, capture_output=True, **as_nobody())
        except PermissionError:
            self.skipTest(f'{MCPD} cannot be reached by user {NOBODY}')
        self.paste()
        secret = self.world.tmp / 'secret'
        secret.write_text('secret')
        secret.chmod(0o600 if as_nobody() else 0)
        if as_nobody():
            for path in (self.world.home, self.world.root, *self.world.root.iterdir()):
                os.chown(path, NOBODY, NOBODY)

        for version in VERSIONS:
            with self.subTest(version=version):
                call = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call',
                        'params': {'name': 'read-file', 'arguments': {'path': str(secret)}}}
                lines = [call]
                if version == MODERN:
                    call['params']['_meta'] = {CLAIM: version, CAPABILITIES: {}}
                else:
                    lines = [{'jsonrpc': '2.0', 'id': 0, 'method': 'initialize', 'params': initialize_params(version)},
                             {'jsonrpc': '2.0', 'method': 'notifications/initialized'}, call]
                done = self.world.run('--root-directory', self.world.root, '--stdio', **as_nobody(),
                                      input=b''.join(json.dumps(line).encode() + b'\n' for line in lines))
                self.assertEqual(done.returncode, 0, done.stderr)
                answers = [parse_line(line) for line in done.stdout.splitlines()]
                result = next(answer['result'] for answer in answers if answer.get('id') == 1)
                self.assertIs(result['isError'], True)
                self.assertEqual(result['content'][0]['text'], '{"error": "Permission denied"}')
                self.assertIn('exit code 3: forbidden', result['content'][-1]['text'])
                self.assertEqual(result['_meta']['mcpd/exitCode'], 3)


class TheRepairedCounter(SeedCase):
    def test_two_increments_at_once_give_two(self):
        # It counts, and it takes its time between reading and writing: two at once would lose one.
        repaired = COUNTER.replace('/tmp/mcpd-counter.json', str(self.count_file)).replace('"count":[0-9]*', '"count": *[0-9]*')
        self.world.script('counter', repaired.replace('new_count=', 'sleep 0.05\nnew_count=', 1))

        def check(client):
            ids = [client.start_call('counter') for _ in range(2)]
            counts = sorted(json.loads(self.only_text(client.wait(id)['result']))['count'] for id in ids)
            self.assertEqual(counts, [1, 2])
            state = client.result('resources/read', {'uri': 'mcpd://counter/state'})['contents'][0]
            self.assertEqual(json.loads(state['text']), {'count': 2})

        self.in_all_versions(check)


class Translation(SeedCase):
    """The seed's chapter "MCP Translation", and the one on directories."""

    def test_options_become_the_seeds_json_schema(self):
        self.world.script('count', r'''#!/usr/bin/env sh
if [ "$1" = "--help" ]; then
  echo '{}'
  echo '{"count": {"required": true, "value_type": "integer", "size": {"min": 1, "max": 100}}}' >&2
  exit 0
fi
echo '{"result": 42}'
''')
        expected = '{"type":"object","properties":{"count":{"type":"integer","minimum":1,"maximum":100}},"required":["count"]}'

        def check(client):
            answer = client.request('tools/list')
            self.assertIn(b'"inputSchema":' + expected.encode(), answer.raw)
            self.assertEqual(answer['result']['tools'][0]['inputSchema'], json.loads(expected))

            result = client.call('count', {'count': 1})
            self.assertEqual({key: result[key] for key in ('content', 'isError')},
                             {'content': [{'type': 'text', 'text': '{"result": 42}'}], 'isError': False})
            for arguments, complaint in (({'count': 200}, 'count: 200 is more than the maximum 100'),
                                         ({'count': 0}, 'count: 0 is less than the minimum 1')):
                result = client.call('count', arguments)
                self.assertIs(result['isError'], True)
                self.assertIn(complaint, result['content'][0]['text'])

        self.in_all_versions(check)

    def test_names_are_paths_below_the_root(self):
        for name in ('greet', 'math/add', 'math/multiply', 'system/info'):
            self.world.script(name, HELLO.replace('World', name))

        def check(client):
            names = [tool['name'] for tool in client.result('tools/list')['tools']]
            self.assertEqual(names, ['greet', 'math/add', 'math/multiply', 'system/info'])
            self.assertEqual(self.only_text(client.call('math/add')), '{"message": "Hello, math/add!"}')
            with self.assertRaises(ProtocolError) as unknown:
                client.call('math/ad')
            self.assertEqual(unknown.exception.code, -32602)
            self.assertIn('math/add', unknown.exception.message)

        self.in_all_versions(check)


if __name__ == '__main__':
    unittest.main()
