"""The protocol as BEHAVIOUR 7 and PROTOCOL 1 tell it, in all five versions, over stdio."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

from harness import (CAPABILITIES, CLAIM, LEGACY, LOG_LEVEL, MODERN, SERVER_INFO, SUBSCRIPTION, VERSIONS, Batch, Case, World,
                     initialize_params, parse_line, sh_tool, text, wait_until)

# Reads its state from the file "state" beside it, and exits with what the file "code" says.
STATEFUL = sh_tool('''
here=$(dirname "$0")
if [ "$1" = --state ]; then
  cat "$here/.state"
  exit "$(cat "$here/.code" 2>/dev/null || echo 0)"
fi
cat > "$here/.state"
''', {'value': {'value_type': 'any'}}, state=True)

# Says that it runs, by a log line, and waits for the file named by the argument.
WAITS = sh_tool('''
echo "$$" > "$MCPD_OPT_pid"
until [ -e "$MCPD_OPT_flag" ]; do sleep 0.02; done
echo "$MCPD_OPT_say"
''', {'flag': {'required': True}, 'pid': {'default_value': '/dev/null'}, 'say': {'default_value': 'done'}})


def gone(pid):
    """Whether no process, not even a zombie, has this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def read_pid(path):
    def ready():
        content = path.read_text() if path.exists() else ''
        return int(content) if content.endswith('\n') else None
    return wait_until(ready, what=f'a process id in {path}')


class Handshake(Case):
    def test_each_legacy_version_is_echoed(self):
        for version in LEGACY:
            with self.subTest(version):
                client = self.world.serve(version=version, handshake=False)
                result = client.result('initialize', initialize_params(version))
                self.assertEqual(result['protocolVersion'], version)
                client.notify('notifications/initialized')
                self.assertEqual(client.result('tools/list')['tools'], [])
                self.assertEqual(client.close(), 0)

    def test_an_unknown_version_gets_the_newest_legacy_one_and_never_an_error(self):
        for version in ('2023-01-01', '2099-12-31', '2024-11-06', MODERN, 'draft', ''):
            with self.subTest(version):
                client = self.world.serve(version='2025-11-25', handshake=False)
                self.assertEqual(client.result('initialize', initialize_params(version))['protocolVersion'], '2025-11-25')

    def test_what_the_server_says_of_itself(self):
        said = self.world.run('--version').stdout.decode()
        for version in VERSIONS:
            with self.subTest(version):
                client = self.world.serve(version=version)
                info = client.result('server/discover')['_meta'][SERVER_INFO] if version == MODERN else client.initialized['serverInfo']
                self.assertEqual(info['name'], 'mcpd')
                self.assertEqual(info['title'], 'root')
                self.assertIn(info['version'], said)
                self.assertRegex(info['version'], r'^\d+\.\d+')

    def test_a_name_of_the_operators_choice(self):
        for version in VERSIONS:
            with self.subTest(version):
                client = self.world.serve('--name', 'tool box', version=version)
                info = client.result('server/discover')['_meta'][SERVER_INFO] if version == MODERN else client.initialized['serverInfo']
                self.assertEqual(info['name'], 'tool box')
                self.assertEqual(info['title'], 'root')

    def test_the_title_is_the_name_of_the_root_directory_however_it_is_spelled(self):
        line = json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': 'initialize', 'params': initialize_params('2025-11-25')}).encode() + b'\n'
        with World('Büro tools') as world:
            for spelling in ('.', './', str(world.root) + '/', '../Büro tools'):
                with self.subTest(spelling):
                    done = world.run('--root-directory', spelling, '--stdio', input=line, cwd=world.root)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(json.loads(done.stdout)['result']['serverInfo']['title'], 'Büro tools')

    def test_capabilities_are_objects_and_the_same_in_both_eras(self):
        discovered = self.world.serve().result('server/discover')['capabilities']
        for version in LEGACY:
            with self.subTest(version):
                capabilities = self.world.serve(version=version).initialized['capabilities']
                for name in ('tools', 'resources', 'prompts', 'logging', 'completions'):
                    if name == 'completions' and version == '2024-11-05':
                        continue    # not a word of that version: may be there, need not be
                    self.assertIsInstance(capabilities.get(name), dict, name)
                    self.assertIsInstance(discovered.get(name), dict, name)
                self.assertEqual(capabilities['tools'], discovered['tools'])
                self.assertNotIn('tasks', capabilities)

    def test_the_handshake_does_not_wait_for_a_slow_script(self):
        self.world.script('good', sh_tool('echo good'))
        self.world.script('slow', '#!/bin/sh\n[ "$1" = --help ] && exec sleep 60\n')
        begin = time.monotonic()
        client = self.world.serve('--help-timeout', '3', version='2025-06-18')
        client.request('ping')
        self.assertLess(time.monotonic() - begin, 2)
        self.assertEqual([tool['name'] for tool in client.result('tools/list', timeout=9)['tools']], ['good'])

    def test_discover(self):
        client = self.world.serve()
        result = client.result('server/discover')
        self.assertEqual(result['supportedVersions'], [MODERN])
        self.assertEqual(result['resultType'], 'complete')
        self.assertIsInstance(result['ttlMs'], int)
        self.assertIn(result['cacheScope'], ('public', 'private'))
        self.assertEqual(set(result['_meta'][SERVER_INFO]) - {'icons', 'description', 'websiteUrl'}, {'name', 'title', 'version'})
        self.assertNotIn('instructions', result)

    def test_discover_may_be_followed_by_initialize(self):
        self.world.script('greet', sh_tool('echo hello'))
        for version in LEGACY:
            with self.subTest(version):
                client = self.world.serve(version=version, handshake=False)
                client.result('server/discover', version=MODERN)
                self.assertEqual(client.result('initialize', initialize_params(version))['protocolVersion'], version)
                client.notify('notifications/initialized')
                self.assertEqual(text(client.call('greet')), 'hello')
                self.assertEqual(client.close(), 0)

    def test_a_modern_client_need_not_discover(self):
        self.world.script('greet', sh_tool('echo hello'))
        client = self.world.serve()
        self.assertEqual([tool['name'] for tool in client.result('tools/list')['tools']], ['greet'])

    def test_a_call_may_be_the_very_first_message(self):
        self.world.script('greet', sh_tool('echo hello'))
        self.assertEqual(text(self.world.serve().call('greet')), 'hello')


class Instructions(Case):
    def instructions(self, version):
        client = self.world.serve(version=version)
        return (client.result('server/discover') if version == MODERN else client.initialized).get('instructions')

    def test_instructions_come_from_the_file_in_both_eras(self):
        self.world.file('INSTRUCTIONS.md', '# Tools\n\nUse *greet* first, “please”.\n')
        for version in VERSIONS:
            with self.subTest(version):
                self.assertEqual(self.instructions(version).rstrip('\n'), '# Tools\n\nUse *greet* first, “please”.')

    def test_no_file_no_instructions(self):
        for version in VERSIONS:
            with self.subTest(version):
                self.assertIsNone(self.instructions(version))

    def test_only_the_first_8_kib(self):
        lines = ''.join(f'line {number}\n' for number in range(2000))
        self.world.file('INSTRUCTIONS.md', lines)
        for version in ('2025-11-25', MODERN):
            with self.subTest(version):
                found = self.instructions(version)
                self.assertTrue(lines.startswith(found))
                self.assertIn(len(found), (8192, len(lines[:8192].rstrip('\n'))))

    def test_the_cut_keeps_characters_whole(self):
        for shift in range(3):
            with self.subTest(shift):
                whole = 'x' * shift + '€' * 4000
                self.world.file('INSTRUCTIONS.md', whole)
                found = self.instructions(MODERN)
                self.assertTrue(whole.startswith(found), found[-5:])
                self.assertIn(len(found.encode()), range(8190, 8193))


class Methods(Case):
    def test_ping(self):
        for version in LEGACY:
            with self.subTest(version):
                self.assertEqual(self.world.serve(version=version).result('ping'), {})

    def test_what_the_modern_era_removed_is_unknown_there(self):
        client = self.world.serve()
        uri = {'uri': 'mcpd://x/state'}
        for method, params in (('ping', None), ('initialize', initialize_params('2025-11-25')), ('logging/setLevel', {'level': 'info'}),
                               ('resources/subscribe', uri), ('resources/unsubscribe', uri), ('tasks/list', None),
                               ('tasks/get', {'taskId': '1'}), ('roots/list', None), ('sampling/createMessage', {})):
            with self.subTest(method):
                self.assertProtocolError(-32601, client.request(method, params))
        self.assertIsNone(client.negotiated)

    def test_initialize_under_a_modern_claim_does_not_begin_a_session(self):
        client = self.world.serve()
        self.assertProtocolError(-32601, client.request('initialize', initialize_params(MODERN)))
        self.assertEqual(client.result('tools/list')['resultType'], 'complete')

    def test_removed_notifications_are_ignored(self):
        client = self.world.serve()
        client.notify('notifications/initialized')
        client.notify('notifications/roots/list_changed')
        client.settled()
        self.assertEqual(client.unconsumed(), [])

    def test_what_only_the_modern_era_has_is_unknown_before(self):
        for version in LEGACY:
            with self.subTest(version):
                client = self.world.serve(version=version)
                self.assertProtocolError(-32601, client.request('subscriptions/listen', {'notifications': {'toolsListChanged': True}}))

    def test_unknown_methods(self):
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for method in ('tools/frobnicate', 'tools', 'TOOLS/LIST', 'tools/list ', 'notifications/initialized', 'rpc.discover'):
                with self.subTest(version=version, method=method):
                    self.assertProtocolError(-32601, client.request(method))

    def test_unknown_notifications_are_ignored(self):
        for version in VERSIONS:
            with self.subTest(version):
                client = self.world.serve(version=version)
                for method in ('notifications/nothing', 'tools/list', 'x'):
                    client.notify(method)
                client.notify('notifications/cancelled')
                client.settled()
                self.assertEqual(client.unconsumed(), [])

    def test_an_empty_string_is_an_unknown_method_too(self):
        for version in VERSIONS:
            with self.subTest(version):
                client = self.world.serve(version=version)
                self.assertProtocolError(-32601, client.request(''))
                client.notify('')
                client.settled()
                self.assertEqual(client.unconsumed(), [])

    def test_an_answer_to_nothing_is_ignored(self):
        for version in VERSIONS:
            with self.subTest(version):
                client = self.world.serve(version=version)
                client.send({'jsonrpc': '2.0', 'id': 77, 'result': {}})
                client.send({'jsonrpc': '2.0', 'id': 78, 'error': {'code': 1, 'message': 'x'}})
                client.settled()
                self.assertEqual(client.unconsumed(), [])


class Envelope(Case):
    """What a modern request has to carry."""

    def ask(self, meta, method='tools/list', **params):
        client = self.world.serve(handshake=False)
        client.send({'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': {**params, '_meta': meta}})
        return client.wait(1)

    def test_the_capabilities_are_required(self):
        self.assertProtocolError(-32602, self.ask({CLAIM: MODERN}), CAPABILITIES)

    def test_discover_needs_them_too(self):
        self.assertProtocolError(-32602, self.ask({CLAIM: MODERN}, 'server/discover'), CAPABILITIES)

    def test_the_client_info_is_not_required(self):
        self.assertIn('result', self.ask({CLAIM: MODERN, CAPABILITIES: {}}))

    def test_wrong_types(self):
        good = {CLAIM: MODERN, CAPABILITIES: {}}
        for meta in ({CLAIM: 20260728}, {CLAIM: None}, {CLAIM: {}}, {CAPABILITIES: 'all'}, {CAPABILITIES: []}, {CAPABILITIES: None},
                     {LOG_LEVEL: 'loud'}, {LOG_LEVEL: 3}):
            with self.subTest(meta):
                self.assertProtocolError(-32602, self.ask({**good, **meta}))

    def test_discover_without_a_claim_is_an_error(self):
        client = self.world.serve(handshake=False)
        for params in ({}, {'params': {}}, {'params': {'_meta': {}}}):
            client.send({'jsonrpc': '2.0', 'id': 1, 'method': 'server/discover', **params})
            self.assertIn(client.wait(1)['error']['code'], (-32601, -32602))

    def test_an_unknown_version(self):
        supported = self.world.serve().result('server/discover')['supportedVersions']
        for version in ('2099-01-01', '2025-11-25', '', '2026-07-28 '):
            for method in ('tools/list', 'server/discover', 'initialize', 'nonsense'):
                with self.subTest(version=version, method=method):
                    error = self.assertProtocolError(-32022, self.ask({CLAIM: version, CAPABILITIES: {}}, method))
                    self.assertEqual(error['data']['requested'], version)
                    self.assertTrue(error['data']['supported'])
                    self.assertLessEqual(set(error['data']['supported']), set(supported))

    def test_the_version_is_looked_at_before_the_rest_and_the_envelope_before_the_method(self):
        self.assertProtocolError(-32022, self.ask({CLAIM: '2099-01-01'}))
        self.assertProtocolError(-32602, self.ask({CLAIM: MODERN}, 'nonsense'))

    def test_what_it_does_not_know_in_meta_is_left_alone(self):
        meta = {CLAIM: MODERN, CAPABILITIES: {'x': {'y': [1]}}, 'traceparent': '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
                'com.example/x': [1, {}], 'io.modelcontextprotocol/clientInfo': {'name': 'x', 'version': '1'}}
        self.assertIn('result', self.ask(meta))

    def test_every_modern_result_says_who_sent_it_and_that_it_is_complete(self):
        self.world.script('greet', sh_tool('echo hello'))
        self.world.script('kept', STATEFUL)
        self.world.file('.state', '1')
        client = self.world.serve()
        for method, params in (('server/discover', None), ('tools/list', None), ('tools/call', {'name': 'greet'}), ('resources/list', None),
                               ('resources/templates/list', None), ('resources/read', {'uri': 'mcpd://kept/state'}), ('prompts/list', None)):
            with self.subTest(method):
                result = client.result(method, params)
                self.assertEqual(result['resultType'], 'complete')
                self.assertEqual(result['_meta'][SERVER_INFO]['name'], 'mcpd')
                self.assertEqual('ttlMs' in result, method != 'tools/call')
                self.assertEqual('cacheScope' in result, method != 'tools/call')

    def test_the_eras_mix_message_by_message(self):
        self.world.script('greet', sh_tool('echo hello'))
        client = self.world.serve(version='2025-06-18')
        for round in range(3):
            modern = client.call('greet', version=MODERN)
            legacy = client.call('greet')
            self.assertEqual((text(modern), text(legacy)), ('hello', 'hello'))
            self.assertEqual(modern['resultType'], 'complete')
            self.assertNotIn('resultType', legacy)
            self.assertProtocolError(-32601, client.request('ping', version=MODERN))
            self.assertEqual(client.result('ping'), {})
            listed = client.result('tools/list')
            self.assertFalse({'resultType', 'ttlMs', 'cacheScope'} & set(listed))
            self.assertLessEqual({'resultType', 'ttlMs', 'cacheScope'}, set(client.result('tools/list', version=MODERN)))

    def test_the_scripts_learn_what_the_client_can_do(self):
        self.world.script('can', sh_tool('printf %s "$MCPD_CLIENT_CAPABILITIES"'))
        capabilities = {'sampling': {}, 'elicitation': {'form': {}}}
        for version in VERSIONS:
            with self.subTest(version):
                client = self.world.serve(version=version, capabilities=capabilities)
                self.assertEqual(json.loads(text(client.call('can'))), capabilities)
                self.assertEqual(json.loads(text(client.call('can', version=MODERN, meta={CAPABILITIES: {}}))), {})
                self.assertEqual(json.loads(text(self.world.serve(version=version).call('can'))), {})


class Ids(Case):
    WRITTEN = ('1', '0', '-1', '-7', '9007199254740993', '9223372036854775807', '-9223372036854775808', '18446744073709551615', '"a"', '""', '"1"', '"0x10"', '"' + 'long' * 200 + '"', '"a b/c:d"')

    HUGE = ('18446744073709551616', '-9223372036854775809', '123456789012345678901234567890')

    def request(self, id, method, meta=b''):
        return b'{"jsonrpc":"2.0","id":' + id + b',"method":"' + method + b'","params":{"_meta":{' + meta + b'}}}\n'

    def modern(self, id, method='tools/list', more=''):
        return self.request(id.encode(), method.encode(), f'"{CLAIM}":"{MODERN}","{CAPABILITIES}":{{}}{more}'.encode())

    def assertEchoed(self, message, id):
        self.assertRegex(message.raw.decode(), r'"id":\s*' + re.escape(id) + r'\s*[,}]')

    def test_ids_come_back_as_they_were_written(self):
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for id in self.WRITTEN:
                with self.subTest(version=version, id=id[:40]):
                    client.send_raw(self.modern(id) if version == MODERN else self.request(id.encode(), b'tools/list'))
                    message = client.wait(json.loads(id))
                    self.assertIn('result', message)
                    self.assertEchoed(message, id)

    def test_integers_beyond_64_bits_are_ids_like_any_other(self):
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for id in self.HUGE:
                with self.subTest(version=version, id=id):
                    client.send_raw(self.modern(id) if version == MODERN else self.request(id.encode(), b'tools/list'))
                    message = client.receive()
                    self.assertIn('result', message)
                    self.assertEchoed(message, id)

    def test_in_errors_too(self):
        client = self.world.serve()
        for id in self.WRITTEN:
            with self.subTest(id[:40]):
                client.send_raw(self.modern(id, 'nonsense'))
                message = client.wait(json.loads(id))
                self.assertProtocolError(-32601, message)
                self.assertEchoed(message, id)

    def test_strings_keep_their_characters(self):
        client = self.world.serve()
        for id in ('ü€𝄞', 'a"b\\c/d', 'tab\tand\nnewline', '\u0000', '\u2028', '\x7f'):
            with self.subTest(repr(id)):
                self.assertIn('result', client.request('tools/list', id=id))

    def test_a_whole_number_written_as_a_float_is_echoed_so_or_refused(self):
        client = self.world.serve()
        for id in ('1e2', '1.0', '1E+2', '-0.0'):
            with self.subTest(id):
                client.send_raw(self.modern(id))
                message = client.receive()
                if 'error' in message:
                    self.assertProtocolError(-32600, message)
                else:
                    self.assertEchoed(message, id)

    def test_the_same_id_again_is_a_new_request(self):
        client = self.world.serve()
        for round in range(3):
            self.assertIn('result', client.request('tools/list', id=5))

    def test_progress_tokens_come_back_as_they_were_written(self):
        self.assertTokensEchoed(self.WRITTEN)

    def test_so_do_tokens_beyond_64_bits(self):
        self.assertTokensEchoed(self.HUGE)

    def assertTokensEchoed(self, tokens):
        self.world.script('steps', sh_tool('echo "PROGRESS 1/2 half" >&2'))
        client = self.world.serve()
        for token in tokens:
            with self.subTest(token[:40]):
                client.send_raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"%s":"%s","%s":{},"progressToken":%s}}}\n' %
                                (CLAIM.encode(), MODERN.encode(), CAPABILITIES.encode(), token.encode()))
                message = client.receive()
                self.assertEqual(message.get('method'), 'notifications/progress', message)
                client.wait(1)
                self.assertRegex(message.raw.decode(), r'"progressToken":\s*' + re.escape(token) + r'\s*[,}]')


class ToolsList(Case):
    def names(self, client):
        names, cursor, pages = [], None, 0
        while True:
            result = client.result('tools/list', {'cursor': cursor} if cursor else None, timeout=60)
            self.assertTrue(result['tools'] or not pages, 'an empty page')
            names += [tool['name'] for tool in result['tools']]
            pages += 1
            cursor = result.get('nextCursor')
            if cursor is None:
                return names, pages
            self.assertTrue(cursor)

    def test_the_bytes_are_the_same_from_list_to_list_and_from_process_to_process(self):
        options = {name: {'description': name, 'value_type': kind, 'default_value': default} for name, kind, default in
                   (('zeta', 'string', 'ü'), ('alpha', 'integer', 7), ('mid', 'float', 0.1), ('on', 'boolean', True), ('one', {'enum': ['b', 'a']}, 'a'))}
        for name in ('zebra', 'ant', 'math/add', 'math/Sub', 'math.old', 'a-b', 'B', 'deep/er/still'):
            self.world.script(name, sh_tool('echo', options))
        for version in VERSIONS:
            with self.subTest(version):
                lines = set()
                for process in range(2):
                    client = self.world.serve(version=version)
                    for round in range(3):
                        lines.add(client.request('tools/list', id='same').raw)
                self.assertEqual(len(lines), 1)
                listed = json.loads(lines.pop())['result']['tools']
                self.assertEqual(len(listed), 8)
                self.assertEqual(list(listed[0]['inputSchema']['properties']), list(options))

    def test_the_schema_of_the_seed(self):
        self.world.script('count', sh_tool('echo', {'count': {'required': True, 'value_type': 'integer', 'size': {'min': 1, 'max': 100}}}, title='Count', version='1.2'))
        for version in VERSIONS:
            with self.subTest(version):
                [tool] = self.world.serve(version=version).result('tools/list')['tools']
                self.assertEqual(tool['inputSchema'], {'type': 'object', 'properties': {'count': {'type': 'integer', 'minimum': 1, 'maximum': 100}}, 'required': ['count']})
                self.assertEqual((tool['name'], tool['title'], tool['description']), ('count', 'Count', 'A tool of the tests'))
                self.assertEqual(tool['_meta']['mcpd/version'], '1.2')

    def test_a_long_list_comes_in_pages(self):
        self.world.script('tool-0000', sh_tool('echo'))
        expected = ['tool-0000']
        for number in range(1, 1100):
            expected.append(f'tool-{number:04}')
            (self.world.root / expected[-1]).symlink_to('tool-0000')
        client = self.world.serve('--help-timeout', '60', version='2025-06-18')
        names, pages = self.names(client)
        self.assertEqual(len(names), len(set(names)), 'a tool on two pages')
        self.assertEqual(sorted(names), expected)
        self.assertGreater(pages, 1)
        first = client.result('tools/list')
        again = client.request('tools/list', {'cursor': first['nextCursor']}, id=1).raw
        self.assertEqual(client.request('tools/list', {'cursor': first['nextCursor']}, id=1).raw, again)
        modern = client.result('tools/list', {'cursor': first['nextCursor']}, version=MODERN)
        self.assertEqual(modern['tools'], json.loads(again)['result']['tools'])
        self.assertEqual(modern['cacheScope'], client.result('tools/list', version=MODERN)['cacheScope'])

    def test_a_bad_cursor(self):
        self.world.script('greet', sh_tool('echo hello'))
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for method in ('tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'):
                for cursor in ('nonsense', '-1', '99999999999999999999', 'ü', 5, {}, [], True):
                    with self.subTest(version=version, method=method, cursor=cursor):
                        self.assertProtocolError(-32602, client.request(method, {'cursor': cursor}))


class Resources(Case):
    def setUp(self):
        super().setUp()
        self.world.script('kept', STATEFUL)
        self.state('{"count": 0}\n')

    def state(self, content, code=None):
        self.world.file('.state', content)
        if code is not None:
            self.world.file('.code', str(code))

    def test_what_is_listed(self):
        self.world.script('plain', sh_tool('echo'))
        for version in VERSIONS:
            with self.subTest(version):
                client = self.world.serve(version=version)
                [resource] = client.result('resources/list')['resources']
                self.assertEqual(resource['uri'], 'mcpd://kept/state')
                self.assertTrue(resource['name'])
                self.assertEqual(client.result('resources/templates/list')['resourceTemplates'], [])
                self.assertEqual(client.result('prompts/list')['prompts'], [])
                self.assertEqual(len(client.result('tools/list')['tools']), 2)

    def test_no_state_no_resources(self):
        (self.world.root / 'kept').unlink()
        for version in VERSIONS:
            with self.subTest(version):
                self.assertEqual(self.world.serve(version=version).result('resources/list')['resources'], [])

    def test_the_text_is_verbatim_and_the_type_follows_it(self):
        cases = (('{"count": 0}\n', 'application/json'), ('  [1,\n 2]  \n\n', 'application/json'), ('42', 'application/json'), ('"x"\n', 'application/json'),
                 ('hello\n\n', 'text/plain'), ('{"count": 0', 'text/plain'), ('', 'text/plain'), ('tabs\tand ü€𝄞 \r\n', 'text/plain'))
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for content, kind in cases:
                with self.subTest(version=version, content=content):
                    self.state(content)
                    result = client.result('resources/read', {'uri': 'mcpd://kept/state'})
                    self.assertEqual(result['contents'], [{'uri': 'mcpd://kept/state', 'mimeType': kind, 'text': content}])
                    if version == MODERN:
                        self.assertEqual((result['ttlMs'], result['cacheScope']), (0, 'private'))

    def test_a_call_changes_what_is_read(self):
        client = self.world.serve()
        client.call('kept', {'value': 7})
        self.assertEqual(json.loads(text(client.result('resources/read', {'uri': 'mcpd://kept/state'}))), {'value': 7})

    def test_the_path_of_the_tool_is_encoded_segment_by_segment(self):
        self.world.script('my tools/50%/ü?#', sh_tool('echo here', state=True))
        client = self.world.serve()
        uri = 'mcpd://my%20tools/50%25/%C3%BC%3F%23/state'
        self.assertIn(uri, [resource['uri'] for resource in client.result('resources/list')['resources']])
        self.assertEqual(text(client.result('resources/read', {'uri': uri})), 'here\n')

    def test_an_unknown_uri(self):
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for uri in ('mcpd://nothing/state', 'mcpd://kept/State', 'mcpd://kept', 'kept', '', 'file:///etc/passwd', 'mcpd://../../etc/passwd/state', 'http://x/'):
                with self.subTest(version=version, uri=uri):
                    error = self.assertProtocolError(-32602 if version == MODERN else -32002, client.request('resources/read', {'uri': uri}))
                    self.assertEqual(error['data'], {'uri': uri})

    def test_a_uri_of_the_wrong_type(self):
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for params in ({}, {'uri': 5}, {'uri': None}, {'uri': ['mcpd://kept/state']}):
                with self.subTest(version=version, params=params):
                    self.assertProtocolError(-32602, client.request('resources/read', params))

    def test_exit_codes_become_error_codes(self):
        codes = {1: -32603, 2: -32602, 3: 403, 5: 503, 6: 406, 7: 501, 8: 409, 9: 408, 10: -32603, 255: -32603}
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for code, expected in {**codes, 4: -32602 if version == MODERN else -32002}.items():
                with self.subTest(version=version, exit=code):
                    self.state('never empty contents', code)
                    error = self.assertProtocolError(expected, client.request('resources/read', {'uri': 'mcpd://kept/state'}))
                    if code == 4:
                        self.assertEqual(error['data'], {'uri': 'mcpd://kept/state'})
            self.state('fine', 0)
            self.assertEqual(text(client.result('resources/read', {'uri': 'mcpd://kept/state'})), 'fine')

    def test_a_signal_and_a_timeout(self):
        self.world.script('dies', sh_tool('[ "$1" = --state ] && kill -SEGV $$', state=True))
        self.world.script('hangs', sh_tool('[ "$1" = --state ] && exec sleep 60', state=True))
        client = self.world.serve('--help-timeout', '1')
        self.assertProtocolError(-32603, client.request('resources/read', {'uri': 'mcpd://dies/state'}))
        self.assertProtocolError(408, client.request('resources/read', {'uri': 'mcpd://hangs/state'}))

    def test_what_it_says_on_stderr_is_log(self):
        self.world.script('talks', sh_tool('echo "WARNING low" >&2; echo 1', state=True))
        client = self.world.serve(version='2025-06-18')
        self.assertEqual(text(client.result('resources/read', {'uri': 'mcpd://talks/state'})), '1\n')
        self.assertEqual(client.wait_notification('notifications/message')['params'], {'level': 'warning', 'logger': 'talks', 'data': 'low'})

    def test_subscribing_does_what_the_capability_says(self):
        for version in LEGACY:
            with self.subTest(version):
                client = self.world.serve(version=version)
                answer = client.request('resources/subscribe', {'uri': 'mcpd://kept/state'})
                if not client.initialized['capabilities']['resources'].get('subscribe'):
                    self.assertProtocolError(-32601, answer)
                    continue
                self.assertEqual(answer['result'], {})
                client.call('kept', {'value': version})
                self.assertEqual(client.wait_notification('notifications/resources/updated')['params']['uri'], 'mcpd://kept/state')
                self.assertEqual(client.result('resources/unsubscribe', {'uri': 'mcpd://kept/state'}), {})


LEVELS = ('debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency')


class Logging(Case):
    LINES = [('debug', 'a trace'), ('debug', 'a detail'), ('info', 'a fact'), ('info', 'with a colon'), ('info', 'INFORMATION is a word'), ('info', 'plain'),
             ('warning', 'careful'), ('warning', 'again'), ('error', 'broken'), ('info', 'error: lower case')]

    def setUp(self):
        super().setUp()
        self.world.script('talk', sh_tool('''cat >&2 <<'END'
TRACE a trace
DEBUG a detail
INFO a fact
INFO: with a colon
INFORMATION is a word
plain
WARNING careful
WARN again
ERROR broken
error: lower case
END
echo done'''))

    def talk(self, client, **kw):
        """What a call of talk logs, as (level, data), in order."""
        before = len(client.messages)
        id = client.start_call('talk', **kw)
        self.assertEqual(text(client.wait(id)['result']), 'done')
        client.settled()
        during = [message for message in client.messages[before:]]
        answer = next(at for at, message in enumerate(during) if message.get('id') == id)
        logs = [message['params'] for message in during[:answer] if message.get('method') == 'notifications/message']
        self.assertEqual([message for message in during[answer:] if 'method' in message], [], 'a log line after the answer')
        self.assertEqual({log['logger'] for log in logs} - {'talk'}, set())
        return [(log['level'], log['data']) for log in logs]

    def at_least(self, level):
        return [line for line in self.LINES if LEVELS.index(line[0]) >= LEVELS.index(level)]

    def test_legacy_clients_get_info_and_above_until_they_say_otherwise(self):
        for version in LEGACY:
            with self.subTest(version):
                client = self.world.serve(version=version)
                self.assertEqual(self.talk(client), self.at_least('info'))
                for level in LEVELS:
                    self.assertEqual(client.result('logging/setLevel', {'level': level}), {})
                    self.assertEqual(self.talk(client), self.at_least(level), level)

    def test_a_bad_level_changes_nothing(self):
        for version in LEGACY:
            client = self.world.serve(version=version)
            for params in ({'level': 'loud'}, {'level': 'WARNING'}, {'level': 5}, {'level': None}, {'level': ''}, {}, None):
                with self.subTest(version=version, params=params):
                    self.assertProtocolError(-32602, client.request('logging/setLevel', params))
            self.assertEqual(self.talk(client), self.at_least('info'))

    def test_modern_clients_get_what_the_request_asks_for_and_nothing_without(self):
        client = self.world.serve()
        self.assertEqual(self.talk(client), [])
        for level in LEVELS:
            self.assertEqual(self.talk(client, meta={LOG_LEVEL: level}), self.at_least(level), level)
        self.assertEqual(self.talk(client), [])

    def test_the_level_of_the_session_is_not_that_of_a_modern_request(self):
        client = self.world.serve(version='2025-11-25')
        client.result('logging/setLevel', {'level': 'debug'})
        self.assertEqual(self.talk(client, version=MODERN), [])
        self.assertEqual(self.talk(client, version=MODERN, meta={LOG_LEVEL: 'error'}), self.at_least('error'))
        self.assertEqual(self.talk(client), self.LINES)

    def test_a_line_goes_out_at_once(self):
        self.world.script('waits', sh_tool('echo "INFO I wait" >&2\nuntil [ -e "$MCPD_OPT_flag" ]; do sleep 0.02; done', {'flag': {'required': True}}))
        for version, meta in (('2024-11-05', None), (MODERN, {LOG_LEVEL: 'info'})):
            with self.subTest(version):
                client = self.world.serve(version=version)
                flag = self.world.tmp / f'flag-{version}'
                id = client.start_call('waits', {'flag': str(flag)}, meta=meta)
                self.assertEqual(client.wait_notification('notifications/message')['params']['data'], 'I wait')
                flag.touch()
                self.assertFalse(client.wait(id)['result']['isError'])

    def test_bytes_that_are_not_utf8_and_an_unfinished_line(self):
        self.world.script('odd', sh_tool(r"printf 'ERROR bad \377 byte\n\n' >&2; printf 'WARN no newline' >&2"))
        client = self.world.serve(version='2025-06-18')
        client.call('odd')
        client.settled()
        logs = [(log['params']['level'], log['params']['data']) for log in client.notifications('notifications/message')]
        self.assertIn(('error', 'bad \ufffd byte'), logs)
        self.assertEqual(logs[-1], ('warning', 'no newline'))


class Completion(Case):
    def test_an_unknown_ref(self):
        argument = {'name': 'x', 'value': 'a'}
        for version in VERSIONS:
            client = self.world.serve(version=version)
            for ref in ({'type': 'ref/prompt', 'name': 'nothing'}, {'type': 'ref/resource', 'uri': 'mcpd://nothing/state'}, {'type': 'ref/tool', 'name': 'x'},
                        {'type': 'ref/prompt'}, {'type': 5}, {}, 'x', None):
                with self.subTest(version=version, ref=ref):
                    self.assertProtocolError(-32602, client.request('completion/complete', {'ref': ref, 'argument': argument}))

    def test_what_is_missing(self):
        client = self.world.serve()
        for params in ({}, {'argument': {'name': 'x', 'value': 'a'}}):
            with self.subTest(params):
                self.assertProtocolError(-32602, client.request('completion/complete', params))

    def test_a_resource_without_variables_has_nothing_to_complete(self):
        self.world.script('kept', STATEFUL)
        for version in VERSIONS:
            with self.subTest(version):
                result = self.world.serve(version=version).result('completion/complete', {'ref': {'type': 'ref/resource', 'uri': 'mcpd://kept/state'},
                                                                                          'argument': {'name': 'x', 'value': ''}})
                self.assertEqual(result['completion']['values'], [])


class Listen(Case):
    EVERYTHING = {'toolsListChanged': True, 'promptsListChanged': True, 'resourcesListChanged': True, 'resourceSubscriptions': ['mcpd://kept/state']}

    def setUp(self):
        super().setUp()
        self.world.script('kept', STATEFUL)
        self.world.file('.state', '0')
        self.client = self.world.serve()

    def listen(self, wanted, id):
        self.client.start('subscriptions/listen', {'notifications': wanted}, id=id)
        message = self.client.receive()
        self.assertEqual(message['method'], 'notifications/subscriptions/acknowledged')
        return message

    def test_the_first_message_acknowledges_with_the_id_as_it_was(self):
        for id in (41, '41', 'a', 0, -3, 9007199254740993):
            with self.subTest(id):
                found = self.listen(self.EVERYTHING, id)['params']['_meta'][SUBSCRIPTION]
                self.assertEqual((type(found), found), (type(id), id))

    def test_what_is_honoured_is_what_was_asked_for_and_the_capabilities_promise(self):
        capabilities = self.client.result('server/discover')['capabilities']
        promised = {'toolsListChanged': capabilities['tools'].get('listChanged', False),
                    'promptsListChanged': capabilities['prompts'].get('listChanged', False),
                    'resourcesListChanged': capabilities['resources'].get('listChanged', False),
                    'resourceSubscriptions': capabilities['resources'].get('subscribe', False)}
        expected = {name: value for name, value in self.EVERYTHING.items() if promised[name]}
        self.assertEqual(self.listen(self.EVERYTHING, 1)['params']['notifications'], expected)
        for id, name in enumerate(self.EVERYTHING, 2):
            with self.subTest(name):
                honoured = self.listen({name: self.EVERYTHING[name]}, id)['params']['notifications']
                self.assertEqual(honoured, {name: expected[name]} if promised[name] else {})

    def test_what_was_not_wanted_is_not_honoured(self):
        honoured = self.listen({'toolsListChanged': False, 'resourceSubscriptions': []}, 1)['params']['notifications']
        self.assertFalse(any(honoured.values()), honoured)
        self.assertFalse(any(self.listen({}, 2)['params']['notifications'].values()))

    def test_a_uri_that_does_not_exist_is_not_honoured(self):
        honoured = self.listen({'resourceSubscriptions': ['mcpd://nothing/state', 'mcpd://kept/state']}, 1)['params']['notifications']
        self.assertIn(honoured.get('resourceSubscriptions', []), ([], ['mcpd://kept/state']))

    def test_wrong_types(self):
        for params in ({}, {'notifications': None}, {'notifications': []}, {'notifications': {'toolsListChanged': 'yes'}},
                       {'notifications': {'resourceSubscriptions': 'mcpd://kept/state'}}, {'notifications': {'resourceSubscriptions': [5]}}):
            with self.subTest(params):
                self.client.start('subscriptions/listen', params)
                self.assertProtocolError(-32602, self.client.receive())

    def test_it_is_not_answered_while_it_lasts_and_others_go_on(self):
        self.listen({'toolsListChanged': True}, 'a')
        self.listen({'toolsListChanged': True}, 'b')
        self.assertEqual(len(self.client.result('tools/list')['tools']), 1)
        self.assertEqual(self.client.unconsumed(), [])

    def test_a_cancelled_one_is_over_and_its_id_free(self):
        self.listen(self.EVERYTHING, 'a')
        self.client.cancel('a')
        self.client.call('kept', {'value': 1})
        self.client.settled()
        self.assertEqual([message for message in self.client.unconsumed() if 'method' in message], [])
        self.listen({}, 'b')

    def test_an_open_one_does_not_hold_the_end(self):
        self.listen(self.EVERYTHING, 'a')
        self.assertEqual(self.client.close(timeout=4), 0)

    def test_at_shutdown_it_is_told_to_be_over(self):
        self.listen(self.EVERYTHING, 'a')
        self.client.signal(signal.SIGTERM)
        result = self.client.wait('a', timeout=4)['result']
        self.assertEqual(result['_meta'][SUBSCRIPTION], 'a')
        self.assertEqual(self.client.wait_notification('notifications/cancelled', timeout=4)['params']['requestId'], 'a')
        self.client.wait_exit(4)

    def test_a_change_of_state_is_told_if_it_was_promised(self):
        honoured = self.listen({'resourceSubscriptions': ['mcpd://kept/state']}, 'a')['params']['notifications']
        self.client.call('kept', {'value': 5})
        if honoured.get('resourceSubscriptions'):
            params = self.client.wait_notification('notifications/resources/updated')['params']
            self.assertEqual((params['uri'], params['_meta'][SUBSCRIPTION]), ('mcpd://kept/state', 'a'))
        else:
            self.client.settled()
            self.assertEqual(self.client.unconsumed(), [])


class Batches(Case):
    def setUp(self):
        super().setUp()
        self.world.script('greet', sh_tool('echo "Hello, $MCPD_OPT_name"', {'name': {'default_value': 'you'}}))

    def request(self, id, method='ping', params=None):
        return {'jsonrpc': '2.0', 'id': id, 'method': method, **({} if params is None else {'params': params})}

    def answer(self, client, batch):
        client.send(batch)
        return client.receive()

    def test_2025_03_26_has_them(self):
        client = self.world.serve(version='2025-03-26')
        batch = [self.request(1), {'jsonrpc': '2.0', 'method': 'notifications/nothing'}, self.request('two', 'tools/call', {'name': 'greet', 'arguments': {'name': 'A'}}),
                 self.request(3, 'nonsense'), self.request(4, 'tools/call', {'name': 'greet'})]
        answers = self.answer(client, batch)
        self.assertIsInstance(answers, Batch)
        by_id = {answer['id']: answer for answer in answers}
        self.assertEqual(set(by_id), {1, 'two', 3, 4})
        self.assertEqual(by_id[1]['result'], {})
        self.assertEqual(text(by_id['two']['result']), 'Hello, A')
        self.assertProtocolError(-32601, by_id[3])
        self.assertEqual(text(by_id[4]['result']), 'Hello, you')

    def test_one_request_alone_is_answered_by_an_array_too(self):
        answers = self.answer(self.world.serve(version='2025-03-26'), [self.request(1)])
        self.assertIsInstance(answers, Batch)
        self.assertEqual(answers, [{'jsonrpc': '2.0', 'id': 1, 'result': {}}])

    def test_notifications_alone_get_no_answer(self):
        client = self.world.serve(version='2025-03-26')
        client.send([{'jsonrpc': '2.0', 'method': 'notifications/nothing'}] * 3)
        client.settled()
        self.assertEqual(client.unconsumed(), [])

    def test_an_empty_one_is_refused(self):
        self.assertProtocolError(-32600, self.answer(self.world.serve(version='2025-03-26'), []))

    def test_what_is_not_a_request_is_refused_in_its_place(self):
        answers = self.answer(self.world.serve(version='2025-03-26'), [1, self.request(2), 'x', []])
        self.assertIsInstance(answers, Batch)
        self.assertEqual(sorted(answer['error']['code'] if 'error' in answer else 0 for answer in answers), [-32600, -32600, -32600, 0])

    def test_initialize_does_not_belong_into_one(self):
        answers = self.answer(self.world.serve(version='2025-03-26'), [self.request(1, 'initialize', initialize_params('2025-06-18')), self.request(2)])
        refused = next(answer for answer in answers if answer.get('id') in (1, None)) if isinstance(answers, Batch) else answers
        self.assertProtocolError(-32600, refused)

    def test_a_modern_request_does_not_belong_into_one(self):
        client = self.world.serve(version='2025-03-26')
        client.send([self.request(1, 'tools/list', {'_meta': {CLAIM: MODERN, CAPABILITIES: {}}}), self.request(2)])
        answers = client.receive()
        self.assertProtocolError(-32600, answers[0] if isinstance(answers, Batch) else answers)
        client.settled()

    def test_a_cancelled_call_does_not_hold_the_rest(self):
        self.world.script('waits', WAITS)
        client = self.world.serve(version='2025-03-26')
        pid = self.world.tmp / 'pid'
        client.send([self.request(1, 'tools/call', {'name': 'waits', 'arguments': {'flag': '/nonexistent/flag', 'pid': str(pid)}}), self.request(2)])
        read_pid(pid)
        client.cancel(1)
        answers = client.receive()
        self.assertEqual([answer['id'] for answer in (answers if isinstance(answers, Batch) else [answers])], [2])

    def test_no_other_version_has_them(self):
        for version in VERSIONS:
            if version == '2025-03-26':
                continue
            with self.subTest(version):
                client = self.world.serve(version=version)
                for batch in ([self.request(1), self.request(2)], [], [self.request(1)]):
                    client.send(batch)
                    self.assertProtocolError(-32600, client.wait_error())
                client.settled()
                self.assertEqual(client.unconsumed(), [])

    def test_nor_has_a_connection_without_a_handshake(self):
        client = self.world.serve(version='2025-03-26', handshake=False)
        client.send([self.request(1)])
        self.assertProtocolError(-32600, client.wait_error())


class Progress(Case):
    def call(self, version, lines, **kw):
        """A fresh client, and what a call that prints these lines to stderr sends it as progress."""
        self.world.script('steps', sh_tool("cat >&2 <<'END'\n" + '\n'.join(lines) + '\nEND\necho done'))
        client = self.world.serve(version=version)
        self.assertEqual(text(client.call('steps', **kw)), 'done')
        client.settled()
        return client, [message['params'] for message in client.notifications('notifications/progress')]

    def test_steps_of_a_total(self):
        for version in VERSIONS:
            with self.subTest(version):
                _, sent = self.call(version, ['PROGRESS 0/10 begin', 'PROGRESS 3/10 three of them', 'PROGRESS 10/10'], meta={'progressToken': 'tok'})
                self.assertEqual([(each['progressToken'], each['progress'], each['total']) for each in sent], [('tok', 0, 10), ('tok', 3, 10), ('tok', 10, 10)])
                if version != '2024-11-05':     # which has no word for it
                    self.assertEqual([each.get('message', '') for each in sent], ['begin', 'three of them', ''])

    def test_percent(self):
        _, sent = self.call(MODERN, ['PROGRESS 0% begin', 'PROGRESS 30% some', 'PROGRESS 62.5%', 'PROGRESS 100% all'], meta={'progressToken': 1})
        self.assertEqual([each['progress'] / each['total'] for each in sent], [0, 0.3, 0.625, 1])
        self.assertEqual([each.get('message', '') for each in sent], ['begin', 'some', '', 'all'])

    def test_it_only_rises(self):
        _, sent = self.call(MODERN, [f'PROGRESS {n}/9 x' for n in (2, 2, 1, 0, 3, 2, 3, 4.5, 4, 9, 9)], meta={'progressToken': 0})
        self.assertEqual([each['progress'] for each in sent], [2, 3, 4.5, 9])

    def test_the_first_value_always_goes_out(self):
        for line, value in (('PROGRESS 0/10 nothing yet', 0), ('PROGRESS 0% nothing yet', 0), ('PROGRESS 7/10', 7)):
            with self.subTest(line):
                _, sent = self.call(MODERN, [line], meta={'progressToken': 'x'})
                self.assertEqual([each['progress'] for each in sent], [value])

    def test_without_a_token_there_is_none_and_never_a_log_line(self):
        for version, meta in (('2025-06-18', None), (MODERN, {LOG_LEVEL: 'debug'})):
            with self.subTest(version):
                client, sent = self.call(version, ['PROGRESS 1/2 half', 'a line'], meta=meta)
                self.assertEqual(sent, [])
                self.assertEqual([log['params']['data'] for log in client.notifications('notifications/message')], ['a line'])

    def test_one_that_cannot_be_read_is_an_info_line(self):
        lines = ['PROGRESS', 'PROGRESS lots', 'PROGRESS 3', 'PROGRESS 3/ten', 'PROGRESS x%', 'PROGRESS 1/0x2 y', 'PROGRESSIVE 1/2', 'PROGRESS nan/10', 'PROGRESS inf%']
        client, sent = self.call('2025-11-25', lines, meta={'progressToken': 'x'})
        self.assertEqual(sent, [])
        logs = [log['params'] for log in client.notifications('notifications/message')]
        self.assertEqual([(log['level'], log['data']) for log in logs], [('info', line) for line in lines])

    def test_bad_tokens_are_refused(self):
        self.world.script('steps', sh_tool('echo "PROGRESS 1/2" >&2'))
        client = self.world.serve()
        for token in ({}, [], True, 1.5):
            with self.subTest(token):
                answer = client.request('tools/call', {'name': 'steps'}, meta={'progressToken': token})
                if 'error' in answer:
                    self.assertProtocolError(-32602, answer)
                self.assertEqual(client.notifications('notifications/progress'), [])

    def test_a_call_that_says_nothing_has_a_heartbeat(self):
        self.world.script('waits', WAITS)
        flag = self.world.tmp / 'flag'
        client = self.world.serve()
        begin = time.monotonic()
        quiet = client.start_call('waits', {'flag': str(flag)})
        watched = client.start_call('waits', {'flag': str(flag)}, meta={'progressToken': 'heart'})
        beats = [client.wait_notification('notifications/progress', timeout=9)['params'] for _ in range(2)]
        self.assertGreater(time.monotonic() - begin, 9)
        flag.touch()
        for id in (quiet, watched):
            self.assertEqual(text(client.wait(id)['result']), 'done')
        self.assertEqual([beat['progressToken'] for beat in beats], ['heart'] * 2)
        self.assertAlmostEqual(beats[1]['progress'] - beats[0]['progress'], 0.001)
        self.assertEqual(len(client.notifications('notifications/progress')), 2)


class Calls(Case):
    def setUp(self):
        super().setUp()
        self.world.script('waits', WAITS)
        self.world.script('greet', sh_tool('echo hello'))
        self.flag = self.world.tmp / 'flag'
        self.pid = self.world.tmp / 'pid'
        self.arguments = {'flag': str(self.flag), 'pid': str(self.pid)}

    def test_two_calls_are_answered_out_of_order(self):
        for version in VERSIONS:
            with self.subTest(version):
                client = self.world.serve(version=version)
                self.flag.unlink(missing_ok=True)
                slow = client.start_call('waits', self.arguments)
                quick = client.start_call('greet')
                first = client.receive()
                self.assertEqual((first['id'], text(first['result'])), (quick, 'hello'))
                self.flag.touch()
                self.assertEqual(text(client.wait(slow)['result']), 'done')

    def test_many_calls_at_once_each_get_their_own_answer(self):
        self.flag.touch()
        client = self.world.serve()
        ids = {client.start_call('waits', {'flag': str(self.flag), 'say': f'call {number}'}): f'call {number}' for number in range(60)}
        for id, said in ids.items():
            self.assertEqual(text(client.wait(id, timeout=30)['result']), said)

    def test_a_cancelled_call_ends_without_an_answer(self):
        for version in VERSIONS:
            with self.subTest(version):
                self.pid.unlink(missing_ok=True)
                client = self.world.serve(version=version)
                id = client.start_call('waits', self.arguments)
                pid = read_pid(self.pid)
                client.cancel(id)
                wait_until(lambda: gone(pid), what='the end of the script')
                client.settled()
                self.assertEqual(client.unconsumed(), [])
                self.assertEqual(text(client.call('greet')), 'hello')

    def test_a_cancelled_script_that_will_not_go_is_killed_with_its_children(self):
        self.world.script('stubborn', sh_tool('trap "" TERM\n(trap "" TERM; echo $$; exec sleep 300) &\necho $! > "$MCPD_OPT_pid"\nwhile :; do sleep 0.1; done', {'pid': {'required': True}}))
        client = self.world.serve()
        id = client.start_call('stubborn', {'pid': str(self.pid)})
        child = read_pid(self.pid)
        client.cancel(id)
        wait_until(lambda: gone(child), timeout=5, what='the end of the child')
        client.settled()
        self.assertEqual(client.unconsumed(), [])

    def test_only_the_exact_id_cancels(self):
        client = self.world.serve()
        id = client.start_call('waits', self.arguments, id=7)
        pid = read_pid(self.pid)
        for other in ('7', 8, -7, 'waits', 70):
            client.cancel(other)
        for params in ({'requestId': None}, {'requestId': [7]}, {'requestId': {'id': 7}}, {'requestId': 7.5}, {}):
            client.notify('notifications/cancelled', params)
        client.settled()
        self.assertFalse(gone(pid))
        self.flag.touch()
        self.assertEqual(text(client.wait(id)['result']), 'done')

    def test_cancelling_what_is_over_is_ignored(self):
        client = self.world.serve(version='2025-11-25')
        id = client.start_call('greet')
        client.wait(id)
        client.cancel(id)
        client.cancel(id)
        self.assertEqual(text(client.call('greet')), 'hello')
        self.assertEqual(client.unconsumed(), [])

    def test_eof_waits_for_the_answer_in_flight(self):
        for version in VERSIONS:
            with self.subTest(version):
                self.flag.unlink(missing_ok=True)
                self.pid.unlink(missing_ok=True)
                client = self.world.serve(version=version)
                id = client.start_call('waits', self.arguments)
                client.close_stdin()
                read_pid(self.pid)
                self.assertTrue(client.alive())
                self.flag.touch()
                self.assertEqual(text(client.wait(id)['result']), 'done')
                self.assertEqual(client.close(), 0)

    def test_a_call_beyond_its_limit_keeps_what_it_said(self):
        self.world.script('late', sh_tool('echo partial\necho "ERROR still here" >&2\nexec sleep 60'))
        for version in ('2025-03-26', MODERN):
            with self.subTest(version):
                result = self.world.serve('--timeout', '1', version=version).call('late')
                self.assertTrue(result['isError'])
                self.assertEqual(result['content'][0]['text'], 'partial')
                self.assertIn('timed out after 1 s', result['content'][-1]['text'])
                self.assertIn('still here', result['content'][-1]['text'])

    def test_a_failure_says_code_reason_and_stderr(self):
        self.world.script('fails', sh_tool('echo partial\necho "ERROR no such thing" >&2\nexit 4'))
        for version in VERSIONS:
            with self.subTest(version):
                result = self.world.serve(version=version).call('fails')
                self.assertIs(result['isError'], True)
                self.assertEqual(result['content'][0]['text'], 'partial')
                self.assertIn('exit code 4: not found', result['content'][-1]['text'])
                self.assertIn('no such thing', result['content'][-1]['text'])
                self.assertEqual(result['_meta']['mcpd/exitCode'], 4)
                self.assertEqual(result['_meta']['mcpd/error'], 'not found')
                self.assertGreaterEqual(result['_meta']['mcpd/durationMs'], 0)

    def test_a_script_that_was_replaced_runs_as_it_is_now(self):
        client = self.world.serve()
        client.result('tools/list')
        self.assertEqual(text(client.call('greet')), 'hello')
        self.world.script('greet', sh_tool('echo "good day, $MCPD_OPT_name"', {'name': {'required': True}}))
        self.assertIn('name: required', text(client.call('greet')))
        self.assertEqual(text(client.call('greet', {'name': 'you'})), 'good day, you')

    def test_a_script_that_was_deleted_is_an_error_and_no_more(self):
        client = self.world.serve()
        client.result('tools/list')
        (self.world.root / 'greet').unlink()
        answer = client.request('tools/call', {'name': 'greet'})
        if 'error' in answer:
            self.assertProtocolError(-32602, answer)
        else:
            self.assertTrue(answer['result']['isError'])
        self.flag.touch()
        self.assertEqual(text(client.call('waits', self.arguments)), 'done')

    def test_more_than_fit_in_the_line_are_refused_at_once(self):
        client = self.world.serve('--max-running', '1', '--max-queue', '1')
        running = client.start_call('waits', self.arguments)
        read_pid(self.pid)
        waiting = client.start_call('greet')
        refused = client.call('greet')
        self.assertTrue(refused['isError'])
        self.assertIn('busy', text(refused))
        self.flag.touch()
        self.assertEqual(text(client.wait(running)['result']), 'done')
        self.assertEqual(text(client.wait(waiting)['result']), 'hello')

    def test_calls_of_one_with_state_never_run_at_once(self):
        self.world.script('count', sh_tool('''
file=$(dirname "$0")/.count
[ "$1" = --state ] && exec cat "$file"
count=$(cat "$file" 2>/dev/null || echo 0)
sleep 0.05
echo $((count + 1)) > "$file"
''', state=True))
        client = self.world.serve()
        for id in [client.start_call('count') for _ in range(5)]:
            self.assertFalse(client.wait(id)['result']['isError'])
        self.assertEqual(text(client.result('resources/read', {'uri': 'mcpd://count/state'})), '5\n')

    def test_a_success_says_so(self):
        for version in VERSIONS:
            with self.subTest(version):
                result = self.world.serve(version=version).call('greet')
                self.assertIs(result['isError'], False)
                self.assertEqual(result['content'], [{'type': 'text', 'text': 'hello'}])


class Stdio(Case):
    def requests(self):
        meta = {'_meta': {CLAIM: MODERN, CAPABILITIES: {}}}
        return [{'jsonrpc': '2.0', 'id': 1, 'method': 'initialize', 'params': initialize_params('2025-06-18')},
                {'jsonrpc': '2.0', 'method': 'notifications/initialized'},
                {'jsonrpc': '2.0', 'id': 2, 'method': 'tools/list'},
                {'jsonrpc': '2.0', 'id': 'three', 'method': 'tools/call', 'params': {'name': 'greet'}},
                {'jsonrpc': '2.0', 'id': 4, 'method': 'tools/call', 'params': {'name': 'greet', **meta}},
                {'jsonrpc': '2.0', 'id': 5, 'method': 'server/discover', 'params': meta}]

    def setUp(self):
        super().setUp()
        self.world.script('greet', sh_tool('echo "INFO greeting" >&2; echo hello'))

    def assertAnswered(self, output):
        self.assertTrue(output.endswith(b'\n'))
        answers = {message['id']: message for message in map(parse_line, output.splitlines()) if 'id' in message}
        self.assertEqual(set(answers), {1, 2, 'three', 4, 5})
        self.assertTrue(all('result' in answer for answer in answers.values()), answers)
        self.assertEqual(text(answers['three']['result']), 'hello')
        self.assertEqual(answers[4]['result']['resultType'], 'complete')

    def lines(self):
        return ''.join(json.dumps(request) + '\n' for request in self.requests()).encode()

    def test_regular_files_do(self):
        requests, answers = self.world.tmp / 'requests.jsonl', self.world.tmp / 'answers.jsonl'
        requests.write_bytes(self.lines())
        with requests.open('rb') as stdin, answers.open('wb') as stdout:
            done = self.world.run('--root-directory', self.world.root, '--stdio', stdin=stdin, stdout=stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAnswered(answers.read_bytes())

    def test_a_file_that_is_appended_to_keeps_what_it_had(self):
        requests, answers = self.world.tmp / 'requests.jsonl', self.world.tmp / 'answers.jsonl'
        requests.write_bytes(self.lines())
        answers.write_bytes(b'before\n')
        with requests.open('rb') as stdin, answers.open('ab') as stdout:
            self.world.run('--root-directory', self.world.root, '--stdio', stdin=stdin, stdout=stdout)
        before, rest = answers.read_bytes().split(b'\n', 1)
        self.assertEqual(before, b'before')
        self.assertAnswered(rest)

    def test_the_last_line_may_lack_its_newline(self):
        done = self.world.run('--root-directory', self.world.root, '--stdio', input=self.lines().rstrip(b'\n'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAnswered(done.stdout)

    def test_crlf_and_blank_lines_do(self):
        done = self.world.run('--root-directory', self.world.root, '--stdio', input=b'\n\r\n  \n' + self.lines().replace(b'\n', b'\r\n\r\n'))
        self.assertAnswered(done.stdout)

    def test_dev_null_is_an_empty_conversation(self):
        done = self.world.run('--root-directory', self.world.root, '--stdio', stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (0, b''), done.stderr)

    def test_two_pipes_mean_stdio(self):
        done = self.world.run('--root-directory', self.world.root, input=self.lines())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAnswered(done.stdout)

    def test_a_guess_that_meets_eof_at_once_says_how_to_choose(self):
        done = self.world.run('--root-directory', self.world.root, input=b'')
        self.assertEqual((done.returncode, done.stdout), (64, b''))
        self.assertIn(b'--stdio', done.stderr)

    def test_a_file_as_stdin_needs_the_flag(self):
        requests = self.world.tmp / 'requests.jsonl'
        requests.write_bytes(self.lines())
        with requests.open('rb') as stdin:
            done = self.world.run('--root-directory', self.world.root, stdin=stdin)
        self.assertEqual((done.returncode, done.stdout), (64, b''))
        self.assertIn(b'--stdio', done.stderr)

    def test_one_line_says_what_is_served_and_for_a_guess_why(self):
        for flags, why in ((['--stdio'], ''), ([], 'because')):
            with self.subTest(flags):
                done = self.world.run('--root-directory', self.world.root, *flags, input=self.lines())
                [line] = [line for line in done.stderr.decode().splitlines() if 'serving' in line]
                self.assertIn(str(self.world.root), line)
                self.assertIn('stdin', line)
                self.assertIn(why, line)

    def test_a_line_may_come_in_pieces(self):
        client = self.world.serve(version='2025-11-25')
        line = json.dumps({'jsonrpc': '2.0', 'id': 'ü', 'method': 'ping'}, ensure_ascii=False).encode() + b'\n'
        client._register({'id': 'ü', 'method': 'ping'}, True)
        for at in range(len(line)):
            client.send_raw(line[at:at + 1])
        self.assertEqual(client.wait('ü')['result'], {})

    def test_many_lines_may_come_at_once(self):
        client = self.world.serve(version='2025-11-25')
        client.send_raw(b''.join(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % id for id in range(1000, 6000)))
        for id in range(1000, 6000):
            self.assertEqual(client.wait(id)['result'], {})


class Conduct(Case):
    def setUp(self):
        super().setUp()
        self.world.script('waits', WAITS)
        self.pid = self.world.tmp / 'pid'

    def test_term_and_int_end_it_within_four_seconds_and_the_scripts_with_it(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                self.pid.unlink(missing_ok=True)
                client = self.world.serve()
                client.start_call('waits', {'flag': '/nonexistent/flag', 'pid': str(self.pid)})
                pid = read_pid(self.pid)
                client.signal(number)
                client.wait_exit(4)
                self.assertTrue(gone(pid))

    def test_hup_reads_everything_again(self):
        client = self.world.serve()
        self.assertEqual(len(client.result('tools/list')['tools']), 1)
        self.world.script('more', sh_tool('echo more'))
        client.signal(signal.SIGHUP)
        wait_until(lambda: len(client.result('tools/list')['tools']) == 2, what='the second tool')

    def test_two_may_serve_one_directory(self):
        first, second = self.world.serve(), self.world.serve(version='2024-11-05')
        self.assertEqual(first.result('tools/list')['tools'][0]['name'], second.result('tools/list')['tools'][0]['name'])


if __name__ == '__main__':
    unittest.main()
