"""Hostile requests: each gets the documented answer, and the server goes on."""

import json
import os
import pathlib
import random
import re
import sys
import unittest

from harness import CAPABILITIES, CLAIM, LEGACY, MODERN, VERSIONS, Case, sh_tool, text

# Writes what it got to the file .dump beside it, so that no limit on output matters.
DUMP = '''#!/usr/bin/python3
import json, os, sys
if sys.argv[1:] == ['--help']:
    print(json.dumps({'description': 'Keeps what it was given'}))
    print(json.dumps(OPTIONS), file=sys.stderr)
    sys.exit()
environment = {os.fsdecode(name): os.fsdecode(value) for name, value in os.environb.items() if name.startswith(b'MCPD_')}
with open(os.path.join(os.path.dirname(sys.argv[0]), '.dump'), 'w') as file:
    json.dump({'stdin': sys.stdin.buffer.read().decode(), 'env': environment}, file)
print('ran')
'''


class Hostile(Case):
    def setUp(self):
        super().setUp()
        self.world.script('greet', sh_tool('echo "Hello, $MCPD_OPT_name!"', {'name': {'default_value': 'you'}}))

    def refused(self, client, *codes, id=None):
        """The next message is an error with one of these codes, for that id or for none."""
        message = client.receive(timeout=20)
        self.assertIn('error', message)
        self.assertIn(message['error']['code'], codes, message)
        self.assertTrue(message['error']['message'].strip())
        self.assertIn(message.get('id'), (id, None))
        return message

    def goes_on(self, client):
        self.assertEqual(text(client.call('greet', {'name': 'World'})), 'Hello, World!')
        self.assertEqual([message for message in client.unconsumed() if 'method' not in message], [])

    def request(self, client, **parts):
        """A tools/list of the client's era, with these members put over it; None takes one away."""
        message = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/list', 'params': {}}
        if client.version == MODERN:
            message['params']['_meta'] = {CLAIM: MODERN, CAPABILITIES: {}}
        message.update(parts)
        return message


class Lines(Hostile):
    NOT_JSON = (b'hello', b'{', b'}', b'[', b'"', b'{"jsonrpc":"2.0","id":1,"method":"ping"', b"{'jsonrpc':'2.0','id':1,'method':'ping'}",
                b'{"jsonrpc":"2.0","id":1,"method":"ping",}', b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', b'{"jsonrpc":"2.0","id":1,"method":"ping"}{}',
                b'\xff\xfe', b'\x00', b'{"jsonrpc":"2.0","id":1,"method":"pi\xffng"}', b'{"jsonrpc":"2.0","id":1,"method":"pi\x01ng"}', b'{"jsonrpc":"2.0","id":01,"method":"ping"}',
                b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":"ping\\ud800"}x', b'// {}', b'undefined', b'GET / HTTP/1.1',
                b'Content-Length: 46')

    def test_what_is_not_json_is_a_parse_error(self):
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for line in self.NOT_JSON:
                with self.subTest(version=version, line=line):
                    client.send_raw(line + b'\n')
                    self.refused(client, -32700)
            self.goes_on(client)

    def test_before_any_handshake_too(self):
        client = self.world.serve(version='2025-11-25', handshake=False)
        client.send_raw(b'hello\n')
        self.refused(client, -32700)

    def test_an_error_without_an_id_has_no_null_where_the_schema_knows_none(self):
        for version in ('2025-11-25', MODERN):
            with self.subTest(version):
                client = self.world.serve(version=version)
                client.send_raw(b'hello\n')
                self.assertNotIn('id', client.receive())

    def test_blank_lines_are_ignored_and_crlf_is_a_line_end(self):
        for version in VERSIONS:
            with self.subTest(version):
                client = self.world.serve(version=version)
                client.send_raw(b'\n\n\r\n   \n\t\r\n')
                client.send_raw(json.dumps(self.request(client)).encode() + b'\r\n')
                self.assertIn('result', client.wait(1))
                self.assertEqual(client.unconsumed(), [])

    def test_blanks_around_a_message_do_no_harm(self):
        client = self.world.serve()
        client.send_raw(b' \t ' + json.dumps(self.request(client), indent='\t').replace('\n', ' ').encode() + b' \t \n')
        self.assertIn('result', client.wait(1))

    def test_duplicate_keys_are_refused(self):
        ran = self.world.tmp / 'ran'
        self.world.script('touch', sh_tool(f'touch "{ran}"', {'a': {'value_type': 'any'}}))
        lines = (b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
                 b'{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}',
                 b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"touch","arguments":{"a":1,"a":1}}}',
                 b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"touch","arguments":{"a":1,"\\u0061":2}}}',
                 b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"touch","arguments":{"a":[{"deep":{"x":1,"y":2,"x":3}}]}}}',
                 b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","name":"touch"}}',
                 b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"},"params":{"name":"touch"}}')
        for version in ('2024-11-05', '2025-11-25'):
            client = self.world.serve(version=version)
            for line in lines:
                with self.subTest(version=version, line=line):
                    client.send_raw(line + b'\n')
                    self.refused(client, -32600, -32700, id=1)
            self.goes_on(client)
        self.assertFalse(ran.exists())

    def test_among_many_keys_as_well(self):
        client = self.world.serve()
        keys = [f'"k{number}":{number}' for number in range(5000)]
        for extra, fine in (([], True), (['"k77":1'], False)):
            with self.subTest(fine):
                meta = f'"_meta":{{"{CLAIM}":"{MODERN}","{CAPABILITIES}":{{}}}}'
                client.send_raw(f'{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{meta},"x":{{{",".join(keys + extra)}}}}}}}\n'.encode())
                if fine:
                    self.assertIn('result', client.wait(1))
                else:
                    self.refused(client, -32600, -32700, id=1)

    def nested(self, client, depth):
        """A call whose JSON nests that deep: the message, params and arguments are three of them."""
        message = json.dumps(self.request(client, method='tools/call'))
        inner = depth - 3
        return message.replace('"params": {', '"params": {"name": "any", "arguments": {"v": ' + '[' * inner + ']' * inner + '}, ').replace(', }', '}').encode() + b'\n'

    def test_json_nests_at_most_128_deep(self):
        self.world.script('any', sh_tool('cat', {'v': {'value_type': 'any'}}))
        for version in VERSIONS:
            client = self.world.serve(version=version)
            with self.subTest(version=version, depth=128):
                client.send_raw(self.nested(client, 128))
                self.assertEqual(text(client.wait(1)['result']), '{"v":' + '[' * 125 + ']' * 125 + '}')
            for depth in (129, 130, 1000, 500_000):
                with self.subTest(version=version, depth=depth):
                    client.send_raw(self.nested(client, depth))
                    self.refused(client, -32600, -32700, id=1)
            for opening in (b'[', b'{"a":'):
                with self.subTest(version=version, opening=opening):
                    client.send_raw(opening * 200_000 + b'\n')
                    self.refused(client, -32600, -32700)
            self.goes_on(client)

    def test_a_line_of_five_mib_is_refused_and_the_next_one_read(self):
        for version in VERSIONS:
            with self.subTest(version):
                client = self.world.serve(version=version)
                message = self.request(client, method='tools/call')
                message['params'].update(name='greet', arguments={'name': 'x' * (5 << 20)})
                client.send(message, timeout=30)
                error = self.refused(client, -32600, -32700, id=1)['error']
                self.assertRegex(error['message'].lower(), 'large|long|big|limit|more than')
                self.goes_on(client)

    def test_a_line_of_three_mib_is_fine(self):
        self.world.script('size', sh_tool('wc -c', {'v': {'required': True}}))
        client = self.world.serve()
        self.assertEqual(text(client.call('size', {'v': 'x' * (3 << 20)}, timeout=30)), str((3 << 20) + len('{"v":""}\n')))

    def test_the_limit_can_be_set(self):
        client = self.world.serve('--max-request', '2000')
        message = self.request(client)
        message['params']['x'] = ''
        message['params']['x'] = 'x' * (2000 - len(json.dumps(message)))
        client.send(message)
        self.assertIn('result', client.wait(1))
        message['params']['x'] += 'xx'
        client.send(message)
        self.refused(client, -32600, -32700, id=1)
        self.goes_on(client)

    def test_an_endless_line_takes_no_memory(self):
        def resident():
            status = pathlib.Path(f'/proc/{client.pid}/status').read_text()
            return int(re.search(r'VmRSS:\s*(\d+) kB', status)[1])
        client = self.world.serve()
        self.goes_on(client)
        before = resident()
        for _ in range(40):
            client.send_raw(b'x' * (1 << 20), timeout=30)
        self.assertLess(resident() - before, 20_000)
        client.send_raw(b'\n')
        self.refused(client, -32600, -32700)
        self.goes_on(client)

    def test_a_thousand_lines_of_garbage(self):
        for version in ('2024-11-05', '2025-03-26', MODERN):
            with self.subTest(version):
                chance = random.Random(f'mcpd {version}')
                client = self.world.serve(version=version)
                good = json.dumps(self.request(client, id=1_000_000)).encode()
                for _ in range(1000):
                    kind = chance.randrange(4)
                    if kind == 0:
                        line = chance.randbytes(chance.randrange(1, 300))
                    elif kind == 1:
                        line = bytes(chance.choice(b'{}[]",:0123456789.eE+-truefalsn\\u \t') for _ in range(chance.randrange(1, 200)))
                    elif kind == 2:
                        at = chance.randrange(len(good))
                        line = good[:at] + bytes([chance.randrange(256)]) + good[at + 1:]
                    else:
                        at = chance.randrange(len(good))
                        line = good[:at] + good[at + chance.randrange(1, 9):]
                    client.send_raw(line.replace(b'\n', b' ') + b'\n')
                self.assertEqual(text(client.call('greet', {'name': 'World'}, timeout=30)), 'Hello, World!')
                self.assertGreater(len(client.messages), 900)


class Envelopes(Hostile):
    def test_wrong_jsonrpc(self):
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for jsonrpc in ('1.0', '2', '2.00', '', 2.0, 2, None, True, ['2.0'], {}):
                with self.subTest(version=version, jsonrpc=jsonrpc):
                    client.send(self.request(client, jsonrpc=jsonrpc))
                    self.assertProtocolError(-32600, client.wait(1))
            with self.subTest(version=version, jsonrpc='missing'):
                message = self.request(client)
                del message['jsonrpc']
                client.send(message)
                self.assertProtocolError(-32600, client.wait(1))
            self.goes_on(client)

    def test_ids_that_are_neither_a_string_nor_an_integer(self):
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for id in (None, 1.5, -0.1, 1e-3, {}, {'a': 1}, [], [1], True, False):
                with self.subTest(version=version, id=id):
                    client.send(self.request(client, id=id))
                    self.refused(client, -32600)
            self.goes_on(client)

    def test_a_request_without_an_id_is_a_notification(self):
        for version in VERSIONS:
            with self.subTest(version):
                client = self.world.serve(version=version)
                message = self.request(client)
                del message['id']
                client.send(message)
                self.goes_on(client)

    def test_wrong_methods(self):
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for method in (5, None, True, {}, [], ['tools/list']):
                with self.subTest(version=version, method=method):
                    client.send(self.request(client, method=method))
                    self.assertProtocolError(-32600, client.wait(1))
            with self.subTest(version=version, method='missing'):
                message = self.request(client)
                del message['method']
                client.send(message)
                self.assertProtocolError(-32600, client.wait(1))
            self.goes_on(client)

    def test_what_is_no_object(self):
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for message in (1, -1.5, 'ping', '', None, True, False, {}, {'jsonrpc': '2.0'}, {'method': 5}, {'a': {'b': 'c'}}):
                with self.subTest(version=version, message=message):
                    client.send(message)
                    self.refused(client, -32600)
            self.goes_on(client)

    def test_wrong_params(self):
        for version in LEGACY:     # where params are no object, there is no claim
            client = self.world.serve(version=version)
            for params in ([], ['x'], 'x', '', 5, True):
                for method in ('tools/list', 'tools/call', 'resources/read', 'logging/setLevel', 'completion/complete'):
                    with self.subTest(version=version, method=method, params=params):
                        client.send(self.request(client, method=method, params=params))
                        self.assertIn(client.wait(1)['error']['code'], (-32600, -32602))
            self.goes_on(client)

    def test_params_of_null_and_none_at_all_are_as_good_as_empty(self):
        for version in LEGACY:
            client = self.world.serve(version=version)
            with self.subTest(version=version, params='none'):
                client.send({'jsonrpc': '2.0', 'id': 1, 'method': 'tools/list'})
                self.assertEqual(len(client.wait(1)['result']['tools']), 1)
            with self.subTest(version=version, params=None):
                client.send({'jsonrpc': '2.0', 'id': 1, 'method': 'tools/list', 'params': None})
                answer = client.wait(1)
                self.assertTrue('result' in answer or answer['error']['code'] in (-32600, -32602))
            with self.subTest(version=version, method='tools/call'):
                client.send({'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call'})
                self.assertProtocolError(-32602, client.wait(1))

    def test_wrong_meta(self):
        for version in LEGACY:
            client = self.world.serve(version=version)
            for meta in ('x', 5, [], True):
                with self.subTest(version=version, meta=meta):      # nothing of it matters here: overlooked or refused
                    client.send(self.request(client, params={'_meta': meta}))
                    self.assertIn(client.wait(1).get('error', {}).get('code'), (None, -32600, -32602))
            self.goes_on(client)

    def test_unknown_members_do_no_harm(self):
        for version in VERSIONS:
            with self.subTest(version):
                client = self.world.serve(version=version)
                message = self.request(client, extra=[1], Id=5)
                message['params']['extra'] = {'x': 1}
                client.send(message)
                self.assertIn('result', client.wait(1))

    def test_keys_are_case_sensitive(self):
        client = self.world.serve(version='2025-11-25')
        client.send({'JSONRPC': '2.0', 'ID': 1, 'METHOD': 'ping'})
        self.refused(client, -32600)

    def test_a_batch_where_there_is_none(self):
        for version in VERSIONS:
            if version == '2025-03-26':
                continue
            with self.subTest(version):
                client = self.world.serve(version=version)
                for batch in ([], [self.request(client)], [1], [[]], [self.request(client, id=number) for number in range(100)]):
                    client.send(batch)
                    self.refused(client, -32600)
                self.goes_on(client)


class Names(Hostile):
    def test_a_path_is_not_a_name(self):
        ran = self.world.tmp / 'ran'
        outside = self.world.base / 'x'
        outside.write_text(sh_tool(f'touch "{ran}"'))
        outside.chmod(0o755)
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for name in ('../x', '', '/bin/sh', 'bin/sh', './greet', 'greet/', '/greet', 'greet/../greet', 'greet\0', 'greet\n', ' greet', str(outside),
                         str(self.world.root / 'greet'), '..', '.', '/', '~', '*', '$(id)', '-', '--help', 'x' * 100_000, 'ü', '%2e%2e/x'):
                with self.subTest(version=version, name=name[:40]):
                    self.assertProtocolError(-32602, client.request('tools/call', {'name': name, 'arguments': {}}))
            self.goes_on(client)
        self.assertFalse(ran.exists())

    def test_names_of_the_wrong_type(self):
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for params in ({}, {'name': None}, {'name': 5}, {'name': ['greet']}, {'name': {'name': 'greet'}}, {'name': True}, {'tool': 'greet'}, {'arguments': {}}):
                with self.subTest(version=version, params=params):
                    self.assertProtocolError(-32602, client.request('tools/call', params))
            self.goes_on(client)

    def test_near_names_are_offered_three_at_most(self):
        for number in range(6):
            self.world.script(f'greet{number}', sh_tool('echo'))
        self.world.script('weather', sh_tool('echo'))
        client = self.world.serve()
        error = self.assertProtocolError(-32602, client.request('tools/call', {'name': 'greet9'}))
        offered = set(re.findall(r'\bgreet\d?\b', error['message'])) - {'greet9'}
        self.assertIn(len(offered), (1, 2, 3), error['message'])
        self.assertNotIn('weather', error['message'])
        self.assertIn('weather', self.assertProtocolError(-32602, client.request('tools/call', {'name': 'wether'}))['message'])
        far = self.assertProtocolError(-32602, client.request('tools/call', {'name': 'qqqqqqqqqqqq'}))['message']
        self.assertNotRegex(far, 'greet|weather')

    def test_both_spellings_of_a_tool_are_accepted(self):
        self.world.script('math/add', sh_tool('echo sum'))
        for names in ((), ('--tool-names', 'portable')):
            with self.subTest(names):
                client = self.world.serve(*names)
                self.assertIn('math_add' if names else 'math/add', [tool['name'] for tool in client.result('tools/list')['tools']])
                self.assertEqual([text(client.call(name)) for name in ('math/add', 'math_add')], ['sum', 'sum'])

    def test_an_exact_name_beats_a_portable_spelling(self):
        self.world.script('math/add', sh_tool('echo path'))
        self.world.script('math_add', sh_tool('echo exact'))
        client = self.world.serve()
        self.assertEqual((text(client.call('math/add')), text(client.call('math_add'))), ('path', 'exact'))


class Arguments(Hostile):
    def dump(self, options, name='dump'):
        return self.world.script(name, DUMP.replace('OPTIONS', repr(options)))

    def given(self, client, arguments, name='dump', timeout=20):
        """What the script got on stdin (as text) and in its environment."""
        file = self.world.root / '.dump'
        file.unlink(missing_ok=True)
        result = client.call(name, arguments, timeout=timeout)
        self.assertFalse(result['isError'], result)
        found = json.loads(file.read_text())
        return found['stdin'], found['env'], result

    def complaint(self, client, arguments, name='dump'):
        """The text of a failed validation: a result, in every version; the script was not run."""
        file = self.world.root / '.dump'
        file.unlink(missing_ok=True)
        result = client.call(name, arguments)
        self.assertIs(result['isError'], True, result)
        self.assertFalse(file.exists(), 'the script ran')
        return text(result)

    def test_missing_arguments_are_an_empty_object(self):
        for version in VERSIONS:
            with self.subTest(version):
                self.assertEqual(text(self.world.serve(version=version).call('greet', None)), 'Hello, you!')

    def test_arguments_of_the_wrong_type(self):
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for arguments in ([], ['x'], 'x', '', 5, True):
                with self.subTest(version=version, arguments=arguments):
                    self.assertProtocolError(-32602, client.request('tools/call', {'name': 'greet', 'arguments': arguments}))
            self.goes_on(client)

    def test_all_complaints_come_at_once_in_every_version(self):
        self.dump({'name': {'required': True, 'value_type': 'string'}, 'count': {'required': True, 'value_type': 'integer', 'size': {'min': 1, 'max': 100}},
                   'format': {'default_value': 'json', 'value_type': {'enum': ['json', 'text', 'csv']}}, 'dry_run': {'value_type': 'boolean', 'default_value': False},
                   'short': {'value_type': 'string', 'default_value': 'abc', 'size': {'min': 2, 'max': 3}}})
        for version in VERSIONS:
            with self.subTest(version):
                said = self.complaint(self.world.serve(version=version), {'count': 200, 'format': 'xml', 'dry_run': 'yes', 'short': 'äöüß', 'nmae': 'x', 'mcpd:x': 1})
                for part in ('count: 200 is more than the maximum 100', 'format: must be one of: json, text, csv', 'name: required', 'nmae: unknown; did you mean name?'):
                    self.assertIn(part, said)
                for name in ('dry_run', 'short', 'mcpd:x'):
                    self.assertRegex(said, rf'(?m)\b{name}: ')

    def test_every_type_with_every_value(self):
        kinds = {'string': 'string', 'integer': 'integer', 'float': 'float', 'boolean': 'boolean', 'any': 'any', 'array': 'array', 'object': 'object', 'enum': {'enum': ['x', 'y']}}
        for name, kind in kinds.items():
            self.dump({'v': {'required': True, 'value_type': kind}}, name)
        # value -> the types that take it
        values = (('x', 'string any enum'), ('', 'string any'), ('5', 'string any'), ('true', 'string any'), (5, 'integer float any'), (-3, 'integer float any'),
                  (5.0, 'integer float any'), (5.5, 'float any'), (True, 'boolean any'), (False, 'boolean any'), ([], 'array any'), ([1, 'a'], 'array any'),
                  ({}, 'object any'), ({'a': {'b': [1]}}, 'object any'), (None, 'any'))
        client = self.world.serve()
        for name in kinds:
            for value, takers in values:
                with self.subTest(type=name, value=value):
                    if name in takers.split():
                        stdin, _, _ = self.given(client, {'v': value}, name)
                        self.assertEqual(json.loads(stdin), {'v': value})
                    else:
                        self.assertRegex(self.complaint(client, {'v': value}, name), r'^v: ')

    def test_null_means_not_given(self):
        self.dump({'need': {'required': True}, 'word': {'value_type': 'string', 'default_value': 'usual'}, 'free': {'value_type': 'integer'}, 'any': {'value_type': 'any', 'default_value': 1}})
        for version in VERSIONS:
            with self.subTest(version):
                client = self.world.serve(version=version)
                stdin, env, _ = self.given(client, {'need': 'x', 'word': None, 'free': None, 'any': None})
                self.assertEqual(json.loads(stdin), {'need': 'x', 'word': 'usual', 'any': None})
                self.assertEqual((env['MCPD_OPT_word'], env['MCPD_OPT_any']), ('usual', ''))
                self.assertNotIn('MCPD_OPT_free', env)

    def test_null_for_what_is_required_is_missing(self):
        self.dump({'need': {'required': True, 'value_type': 'string'}})
        self.assertIn('need: required', self.complaint(self.world.serve(), {'need': None}))

    def test_numbers_reach_the_script_in_plain_decimal(self):
        self.dump({'i': {'value_type': 'integer'}, 'f': {'value_type': 'float'}})
        client = self.world.serve()
        for argument, expected in (({'i': 5.0}, '5'), ({'i': -0}, '0'), ({'i': 9007199254740993}, '9007199254740993'), ({'f': 0.1}, '0.1'), ({'f': 5}, '5'),
                                   ({'f': 1e21}, '1000000000000000000000'), ({'f': 1e-7}, '0.0000001'), ({'f': -2.5e-3}, '-0.0025')):
            with self.subTest(argument):
                stdin, env, _ = self.given(client, argument)
                [(name, value)] = argument.items()
                self.assertEqual(env[f'MCPD_OPT_{name}'], expected)
                self.assertEqual(json.loads(stdin)[name], value)
                if name == 'i':
                    self.assertEqual(stdin, f'{{"i":{expected}}}\n')

    def test_the_input_is_one_compact_line(self):
        self.dump({'a': {'value_type': 'any'}, 'b': {'value_type': 'string', 'default_value': 'ü'}, 'c': {'value_type': 'boolean', 'default_value': True}})
        stdin, env, _ = self.given(self.world.serve(), {'a': {'x': [1, 2, {'y': None}]}})
        self.assertEqual(stdin.count('\n'), 1)
        self.assertTrue(stdin.endswith('\n'))
        self.assertNotIn(' ', stdin)
        self.assertEqual(json.loads(stdin), {'a': {'x': [1, 2, {'y': None}]}, 'b': 'ü', 'c': True})
        self.assertEqual((env['MCPD_OPT_a'], env['MCPD_OPT_b'], env['MCPD_OPT_c']), ('{"x":[1,2,{"y":null}]}', 'ü', 'true'))

    def test_a_near_miss_is_refused_with_a_question(self):
        self.dump({'dry_run': {'value_type': 'boolean'}, 'path': {'value_type': 'string'}})
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for name, meant in (('dryrun', 'dry_run'), ('dry-run', 'dry_run'), ('DRY_RUN', 'dry_run'), ('dryRun', 'dry_run'), ('dry_rum', 'dry_run'), ('paht', 'path')):
                with self.subTest(version=version, name=name):
                    said = self.complaint(client, {name: True})
                    self.assertIn(f'did you mean {meant}?', said)
                    self.assertIn(name, said)

    def test_also_beside_the_right_name(self):
        self.dump({'dry_run': {'value_type': 'boolean'}})
        self.assertIn('did you mean dry_run?', self.complaint(self.world.serve(), {'dry_run': True, 'dryrun': False}))

    def test_other_unknown_arguments_are_dropped_and_named(self):
        self.dump({'path': {'value_type': 'string'}})
        for version in VERSIONS:
            with self.subTest(version):
                stdin, env, result = self.given(self.world.serve(version=version), {'zebra': 1, 'path': 'x', 'quokka': {'a': 1}, '': 5})
                self.assertEqual(json.loads(stdin), {'path': 'x'})
                self.assertEqual(sorted(result['_meta']['mcpd/ignored']), ['', 'quokka', 'zebra'])
                self.assertEqual([name for name in env if name.startswith('MCPD_OPT_')], ['MCPD_OPT_path'])

    def test_nothing_ignored_nothing_said(self):
        self.assertNotIn('mcpd/ignored', self.world.serve().call('greet', {'name': 'x'}).get('_meta', {}))

    def test_an_argument_of_our_own_prefix_is_always_refused(self):
        self.dump({'path': {'value_type': 'string'}})
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for name in ('mcpd:x', 'mcpd:input', 'mcpd:state', 'mcpd:'):
                with self.subTest(version=version, name=name):
                    self.assertIn(name, self.complaint(client, {'path': 'x', name: {'who': {'action': 'accept'}}}))

    def test_a_nul_stays_out_of_the_environment_only(self):
        self.dump({'a': {'value_type': 'string'}, 'b': {'value_type': 'string'}, 'c': {'value_type': 'any'}})
        stdin, env, _ = self.given(self.world.serve(), {'a': 'x\0y', 'b': 'fine', 'c': ['\0']})
        self.assertEqual(json.loads(stdin), {'a': 'x\0y', 'b': 'fine', 'c': ['\0']})
        self.assertNotIn('MCPD_OPT_a', env)
        self.assertEqual(env['MCPD_OPT_b'], 'fine')
        self.assertEqual(env['MCPD_OPT_c'], '["\\u0000"]')      # escaped: there is no NUL in it
        self.assertEqual(env['MCPD_OMITTED'], 'a')

    def test_a_value_longer_than_the_kernel_takes(self):
        self.dump({name: {'value_type': 'string'} for name in ('long', 'short')})
        for version in ('2024-11-05', MODERN):
            with self.subTest(version):
                value = 'ä' * (100 << 10)
                stdin, env, _ = self.given(self.world.serve(version=version), {'long': value, 'short': 'x'})
                self.assertEqual(json.loads(stdin), {'long': value, 'short': 'x'})
                self.assertNotIn('MCPD_OPT_long', env)
                self.assertEqual((env['MCPD_OPT_short'], env['MCPD_OMITTED']), ('x', 'long'))

    def test_just_below_and_just_above_what_the_kernel_takes(self):
        self.dump({'v': {'value_type': 'string'}})
        client = self.world.serve()
        limit = 128 << 10       # MAX_ARG_STRLEN: name, '=', value and the closing NUL
        fits = 'x' * (limit - len('MCPD_OPT_v=') - 1)
        stdin, env, _ = self.given(client, {'v': fits})
        self.assertEqual(env.get('MCPD_OPT_v'), fits)
        self.assertNotIn('MCPD_OMITTED', env)
        stdin, env, _ = self.given(client, {'v': fits + 'x'})
        self.assertNotIn('MCPD_OPT_v', env)
        self.assertEqual((env['MCPD_OMITTED'], len(json.loads(stdin)['v'])), ('v', len(fits) + 1))

    def test_too_much_in_all_leaves_out_the_largest_first(self):
        names = [f'v{number:02}' for number in range(14)]
        self.dump({name: {'value_type': 'string'} for name in names + ['small']})
        arguments = {name: 'x' * ((90 << 10) + 10 * at) for at, name in enumerate(names)}
        stdin, env, _ = self.given(self.world.serve(), {**arguments, 'small': 'x'})
        self.assertEqual(json.loads(stdin), {**arguments, 'small': 'x'})
        omitted = set(re.split(r'[\s,:;]+', env['MCPD_OMITTED']))
        self.assertEqual(omitted, {name for name in names if f'MCPD_OPT_{name}' not in env})
        self.assertEqual(omitted, set(names[-len(omitted):]), 'not the largest')
        self.assertEqual(env['MCPD_OPT_small'], 'x')
        self.assertLessEqual(sum(len(name) + len(value) + 2 for name, value in env.items() if name.startswith('MCPD_OPT_')), 1 << 20)
        self.assertLessEqual(len(omitted), 4, 'more than had to')

    def test_option_names_that_are_no_identifiers(self):
        self.dump({'a-b': {'value_type': 'string'}, 'x.y z': {'value_type': 'string'}, '2nd': {'value_type': 'string'}})
        _, env, _ = self.given(self.world.serve(), {'a-b': '1', 'x.y z': '2', '2nd': '3'})
        for name in ('a-b', 'a_b'):
            self.assertEqual(env[f'MCPD_OPT_{name}'], '1')
        for name in ('x.y z', 'x_y_z'):
            self.assertEqual(env[f'MCPD_OPT_{name}'], '2')
        self.assertEqual(env['MCPD_OPT_2nd'], '3')

    def test_option_names_that_would_collide(self):
        self.dump({'a-b': {'value_type': 'string'}, 'a_b': {'value_type': 'string'}, 'c-d': {'value_type': 'string'}, 'c.d': {'value_type': 'string'}})
        stdin, env, _ = self.given(self.world.serve(), {'a-b': 'dash', 'a_b': 'line', 'c-d': '1', 'c.d': '2'})
        self.assertEqual((env['MCPD_OPT_a-b'], env['MCPD_OPT_a_b'], env['MCPD_OPT_c-d'], env['MCPD_OPT_c.d']), ('dash', 'line', '1', '2'))
        self.assertNotIn('MCPD_OPT_c_d', env)

    def test_a_value_never_passes_for_an_option_that_was_not_given(self):
        self.dump({'a-b': {'value_type': 'string'}, 'a_b': {'value_type': 'string'}})
        _, env, _ = self.given(self.world.serve(), {'a-b': 'dash'})
        self.assertEqual(env['MCPD_OPT_a-b'], 'dash')
        self.assertNotIn('MCPD_OPT_a_b', env)

    def test_the_environment_holds_what_is_promised_and_nothing_of_the_servers_own(self):
        self.dump({'v': {'value_type': 'string'}}, 'sub/dump')
        client = self.world.serve('--config', 'CITY=Köln', env={'MCPD_OPT_forged': 'x', 'MCPD_LOG_LEVEL': 'error', 'MCPD_OMITTED': 'v', 'MCPD_TOOL': 'other'}, cwd=self.world.base)
        result = client.call('sub/dump', {'v': '1'})
        self.assertFalse(result['isError'], result)
        env = json.loads((self.world.root / 'sub/.dump').read_text())['env']
        self.assertTrue(env.pop('MCPD_CALL_ID'))
        self.assertEqual(env, {'MCPD_OPT_v': '1', 'MCPD_TOOL': 'sub/dump', 'MCPD_ROOT_DIRECTORY': str(self.world.root), 'MCPD_CONFIG_CITY': 'Köln', 'MCPD_CLIENT_CAPABILITIES': '{}'})

    def test_values_are_data_whatever_they_look_like(self):
        self.dump({'v': {'value_type': 'string'}})
        client = self.world.serve()
        for value in ('$(touch x)', '`id`', '; rm -rf .', "'\"\\", '\n\r\t', '--help', '%s%n', '\u202e\u2028\ufeff', '𝄞', '\x1b[31m', '\x7f', 'a' * 60_000):
            with self.subTest(value[:20]):
                stdin, env, _ = self.given(client, {'v': value})
                self.assertEqual((json.loads(stdin)['v'], env['MCPD_OPT_v']), (value, value))

    def test_a_lone_surrogate_does_no_harm(self):
        client = self.world.serve(version='2025-11-25')
        client.send_raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"\\ud800"}}}\n')
        message = client.receive()
        self.assertTrue('result' in message or message['error']['code'] in (-32700, -32600, -32602))
        self.goes_on(client)

    def test_a_script_that_does_not_read_its_input_is_fine(self):
        self.world.script('deaf', sh_tool('exec <&-; echo fine', {'v': {'value_type': 'string'}}))
        self.assertEqual(text(self.world.serve().call('deaf', {'v': 'x' * (2 << 20)}, timeout=20)), 'fine')


class Suite(Hostile):
    """The files of the JSON parsing suite, each sent as a line."""

    def setUp(self):
        super().setUp()
        folder = os.environ.get('MCPD_TEST_DATA') and pathlib.Path(os.environ['MCPD_TEST_DATA']) / 'json-parsing'
        if not folder or not folder.is_dir():
            print('skipped: the JSON parsing suite; MCPD_TEST_DATA names no directory', file=sys.stderr)
            self.skipTest('no data')
        self.files = {path.name: path.read_bytes() for path in sorted(folder.glob('*.json'))}
        self.assertGreater(len(self.files), 300)

    def send_all(self, prefix, *codes, also=()):
        """Sends each file of that prefix; those named by `also` may be refused as bad JSON or as a bad request."""
        for version in ('2025-11-25', MODERN):
            client = self.world.serve(version=version)
            sent = 0
            for name, content in self.files.items():
                line = content.removesuffix(b'\n')
                if not name.startswith(prefix) or b'\n' in line:
                    continue
                with self.subTest(version=version, file=name):
                    sent += 1
                    client.send_raw(line + b'\n')
                    if line.strip(b' \t\r'):
                        self.refused(client, *((-32700, -32600) if name.startswith(also) else codes), id=self.id_in(line))
            self.assertGreater(sent, 20)
            self.goes_on(client)

    def id_in(self, line):
        try:
            return json.loads(line).get('id')
        except (ValueError, AttributeError, RecursionError):
            return None

    def test_what_must_not_parse(self):
        self.send_all('n_', -32700, also=('n_structure_100000_opening_arrays', 'n_structure_open_array_object'))

    def test_what_must_parse_is_no_request_all_the_same(self):
        self.send_all('y_', -32600, also=('y_object_duplicated_key',))

    def test_what_may_parse_or_not(self):
        self.send_all('i_', -32600, -32700)


if __name__ == '__main__':
    unittest.main()
