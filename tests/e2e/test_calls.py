"""What a call does: what reaches the script, what comes back, what is killed and when."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from harness import LOG_LEVEL, MCPD, MODERN, PATIENCE, Case, Client, Late, ProtocolError, sh_tool, text, wait_until

NOBODY = 65534
MIB = 1024 * 1024

# Prints all that a script is given.
SHOW = '''#!/usr/bin/python3
import json, os, sys
if sys.argv[1:] == ['--help']:
    print('{"description": "shows what it is given"}')
    print(OPTIONS, file=sys.stderr)
    sys.exit()
fds = [int(fd) for fd in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + fd)]
env = {name.decode(): value.decode() for name, value in os.environb.items()}
print(json.dumps({'argv': sys.argv[1:], 'cwd': os.getcwd(), 'env': env, 'stdin': sys.stdin.read(), 'fds': fds}))
'''

# Three processes: itself, a child, and one that left the session by a double fork and closed all it had. All ignore what
# they can. Their pids are in $PIDS; they live until they are killed.
TREE = '''#!/usr/bin/python3
import os, signal, sys, time
if sys.argv[1:] == ['--help']:
    print('{"description": "a tree of processes"}')
    sys.exit()
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
def born():
    with open('PIDS', 'a') as pids:
        pids.write('%d\\n' % os.getpid())
def live():
    while True:
        time.sleep(100)
if os.fork() == 0:
    born()
    live()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 100)
        os.environ.clear()
        os.execve('/usr/bin/python3', ['python3', '-c', """
import os, signal, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
with open('PIDS', 'a') as pids:
    pids.write('%d\\\\n' % os.getpid())
time.sleep(100)
"""], {})
    os._exit(0)
born()
live()
'''


def is_alive(pid):
    """A zombie is not: nobody runs any more."""
    try:
        return pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0] not in 'ZX'
    except (FileNotFoundError, ProcessLookupError):
        return False


def memory(pid, which='VmRSS'):
    """In bytes; VmHWM is the most that it ever was."""
    return int(re.search(rf'^{which}:\s+(\d+) kB', pathlib.Path(f'/proc/{pid}/status').read_text(), re.M)[1]) * 1024


def is_instrumented():
    """Under a sanitizer, memory and time are not the product's."""
    return b'__asan_init' in pathlib.Path(MCPD).read_bytes()


class CallCase(Case):
    def setUp(self):
        super().setUp()
        self.pids_file = self.world.tmp / 'pids'
        self.go = self.world.tmp / 'go'
        self.addCleanup(self.kill_survivors)

    def kill_survivors(self):
        for pid in self.pids():
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)

    def pids(self):
        try:
            return [int(pid) for pid in self.pids_file.read_text().split('\n')[:-1]]
        except FileNotFoundError:
            return []

    def wait_for_pids(self, count):
        return wait_until(lambda: len(self.pids()) == count and self.pids(), what=f'{count} processes')

    def assertGone(self, pids, within):
        wait_until(lambda: not any(map(is_alive, pids)), within, f'the end of all of {pids}')

    def show(self, options=None):
        return self.world.script('show', SHOW.replace('OPTIONS', repr(json.dumps(options or {}))))

    def given(self, client, arguments=None, **kw):
        """What the script `show` was given."""
        result = client.call('show', arguments or {}, **kw)
        self.assertIs(result['isError'], False, text(result))
        return json.loads(text(result))

    def tree(self, name='tree'):
        return self.world.script(name, TREE.replace('PIDS', str(self.pids_file)))

    def waits(self, name='waits', **metadata):
        """A tool that says its pid, and ends when the test says so."""
        self.world.script(name, sh_tool(f'echo $$ >>{self.pids_file}; while [ ! -e {self.go} ]; do sleep 0.02; done; echo done', **metadata))

    def serve_as_nobody(self, *args):
        """A client of a daemon without privileges; just a client when the tests have none themselves."""
        if os.geteuid() != 0:
            return self.world.serve(*args)
        try:
            subprocess.run([MCPD, '--version'], check=True, capture_output=True, user=NOBODY)
        except PermissionError:
            self.skipTest(f'{MCPD} cannot be reached by user {NOBODY}')
        for path in (self.world.home, self.world.root, self.world.tmp, *self.world.root.iterdir()):
            os.chown(path, NOBODY, NOBODY)
        command = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', MCPD, '--root-directory', self.world.root, '--stdio', *args]
        client = Client([str(word) for word in command], self.world.home, self.world.env, MODERN, None, True, self.world.base / 'stderr-nobody')
        self.world._clients.append(client)
        return client


class Results(CallCase):
    NAMES = {1: 'internal error', 2: 'bad request', 3: 'forbidden', 4: 'not found', 5: 'service unavailable', 6: 'not acceptable',
             7: 'not implemented', 8: 'conflict', 9: 'timeout', 10: 'internal error', 255: 'internal error'}

    def test_each_exit_code_has_its_name(self):
        self.world.script('exits', sh_tool('echo some output; echo "ERROR some reason" >&2; exit "$MCPD_OPT_code"',
                                           {'code': {'required': True, 'value_type': 'integer'}}))
        client = self.world.serve()
        asked = {code: client.start_call('exits', {'code': code}) for code in [0, *self.NAMES]}
        for code, id in asked.items():
            with self.subTest(code=code):
                result = client.wait(id)['result']
                self.assertEqual(result['content'][0], {'type': 'text', 'text': 'some output'})
                self.assertEqual(result['_meta']['mcpd/exitCode'], code)
                self.assertIsInstance(result['_meta']['mcpd/durationMs'], (int, float))
                self.assertGreaterEqual(result['_meta']['mcpd/durationMs'], 0)
                self.assertFalse(result['_meta'].get('mcpd/truncated', False))
                if code == 0:
                    self.assertIs(result['isError'], False)
                    self.assertEqual(len(result['content']), 1)
                    self.assertNotIn('mcpd/error', result['_meta'])
                    continue
                self.assertIs(result['isError'], True)
                self.assertEqual(len(result['content']), 2)
                last = result['content'][-1]['text']
                self.assertTrue(last.startswith(f'exit code {code}: {self.NAMES[code]}'), last)
                self.assertIn('some reason', last)
                self.assertEqual(result['_meta']['mcpd/error'], self.NAMES[code])

    def test_a_failure_without_output_has_the_last_block_alone(self):
        self.world.script('fails', sh_tool('exit 4'))
        result = self.world.serve().call('fails')
        self.assertIs(result['isError'], True)
        self.assertEqual([block['text'] for block in result['content']], ['exit code 4: not found'])

    def test_a_signal_is_named(self):
        self.world.script('dies', sh_tool('echo before; kill -"$MCPD_OPT_signal" $$', {'signal': {'required': True}}))
        client = self.world.serve()
        for name in ('SEGV', 'KILL', 'TERM'):
            result = client.call('dies', {'signal': name})
            self.assertIs(result['isError'], True)
            self.assertEqual(result['content'][0]['text'], 'before')
            self.assertIn(f'killed by SIG{name}', result['content'][-1]['text'])
            self.assertEqual(result['_meta']['mcpd/error'], 'internal error')

    def test_the_trailing_newline_is_trimmed_and_nothing_else(self):
        for name, printed in {'one': 'x\\n', 'none': 'x', 'blanks': '  x  \\n', 'empty': '', 'inner': 'x\\n\\ny\\n'}.items():
            self.world.script(name, sh_tool(f"printf '{printed}'"))
        client = self.world.serve()
        said = {name: client.call(name)['content'] for name in ('one', 'none', 'blanks', 'empty', 'inner')}
        self.assertEqual(said, {name: [{'type': 'text', 'text': expected}] for name, expected in
                                {'one': 'x', 'none': 'x', 'blanks': '  x  ', 'empty': '', 'inner': 'x\n\ny'}.items()})

    def test_invalid_utf_8_is_repaired(self):
        self.world.script('latin', sh_tool(r"printf 'caf\351 \303\251 \355\240\200 \342\202\n'"))
        said = text(self.world.serve().call('latin'))
        self.assertTrue(said.startswith('caf\ufffd é \ufffd'), said)
        self.assertTrue(said.endswith('\ufffd'), said)
        self.assertNotIn('\ud800', said)

    def test_any_character_comes_back_as_it_was_printed(self):
        self.world.script('echoes', '#!/usr/bin/python3\nimport json, sys\nif "--help" in sys.argv: print("{}"), print(\'{"s":{}}\', file=sys.stderr), sys.exit()\n'
                                    'sys.stdout.write(json.load(sys.stdin)["s"])\n')
        everything = ''.join(map(chr, [*range(0, 0x250), 0x2028, 0x2029, 0xfeff, 0xfffd, 0xffff, 0x1f600, 0x10ffff]))
        self.assertEqual(text(self.world.serve().call('echoes', {'s': everything})), everything)

    def test_of_a_long_stderr_the_end_is_told(self):
        self.world.script('verbose', sh_tool('seq 1 20000 >&2; echo the very end >&2; exit 1'))
        result = self.world.serve().call('verbose', timeout=30)
        last = result['content'][-1]['text']
        self.assertIn('exit code 1: internal error', last)
        self.assertTrue(last.rstrip().endswith('19999\n20000\nthe very end'), last[-200:])
        self.assertNotIn('\n15000\n', last)
        self.assertGreater(len(last), 3500)
        self.assertLess(len(last), 4096 + 500)

    def test_json_rpc_on_stdout_reaches_the_client_inside_content_only(self):
        line = '{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":false}}'
        note = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
        self.world.script('forges', sh_tool(f"printf '%s\\n' '{line}' '{note}'; printf '%s\\n' '{note}' >&2"))
        client = self.world.serve()
        result = client.call('forges', id=1)
        self.assertEqual(text(result), f'{line}\n{note}')
        self.assertEqual(client.close(), 0)
        self.assertEqual(client.notifications('notifications/tools/list_changed'), [])

    def test_two_calls_at_once_are_answered_as_they_end(self):
        self.waits()
        self.world.script('quick', sh_tool('echo quick'))
        client = self.world.serve()
        slow = client.start_call('waits')
        self.wait_for_pids(1)
        self.assertEqual(text(client.call('quick')), 'quick')
        self.go.touch()
        self.assertEqual(text(client.wait(slow)['result']), 'done')


class Input(CallCase):
    OPTIONS = {'text': {'value_type': 'string'}, 'flag': {'value_type': 'boolean'}, 'count': {'value_type': 'integer'},
               'ratio': {'value_type': 'float'}, 'list': {'value_type': 'array'}, 'map': {'value_type': 'object'}, 'any': {},
               'fallback': {'value_type': 'string', 'default_value': 'here'}}

    def test_options_come_by_environment_and_by_stdin(self):
        self.show(self.OPTIONS)
        client = self.world.serve()
        arguments = {'any': None, 'map': {'k': [1, {'x': 'ü'}]}, 'list': ['a', 1, None], 'ratio': 0.5, 'count': 5, 'flag': True, 'text': ' a "b" \n$c '}
        given = self.given(client, arguments)
        self.assertEqual(given['argv'], [])
        self.assertTrue(given['stdin'].endswith('}\n') and given['stdin'].count('\n') == 1, given['stdin'])
        self.assertEqual(json.loads(given['stdin']), {**arguments, 'fallback': 'here'})
        self.assertEqual(given['stdin'].strip(), json.dumps({name: {**arguments, 'fallback': 'here'}[name] for name in self.OPTIONS},
                                                            separators=(',', ':'), ensure_ascii=False))
        options = {name[9:]: value for name, value in given['env'].items() if name.startswith('MCPD_OPT_')}
        self.assertEqual(options, {'text': ' a "b" \n$c ', 'flag': 'true', 'count': '5', 'ratio': '0.5', 'list': '["a",1,null]',
                                   'map': '{"k":[1,{"x":"ü"}]}', 'any': '', 'fallback': 'here'})

    def test_what_is_not_given_is_absent(self):
        self.show(self.OPTIONS)
        given = self.given(self.world.serve(), {'text': None})
        self.assertEqual(json.loads(given['stdin']), {'fallback': 'here'})
        self.assertEqual([name for name in given['env'] if name.startswith('MCPD_OPT_')], ['MCPD_OPT_fallback'])

    def test_what_the_script_does_not_know_is_dropped_and_named(self):
        self.show(self.OPTIONS)
        result = self.world.serve().call('show', {'nonsense': 1, 'text': 'x'})
        self.assertEqual(result['_meta']['mcpd/ignored'], ['nonsense'])
        self.assertNotIn('nonsense', text(result))

    def test_numbers_are_plain_decimals(self):
        self.show(self.OPTIONS)
        client = self.world.serve()
        for ratio, expected in ((1e21, '1' + '0' * 21), (1e-7, '0.0000001'), (-2.5, '-2.5'), (3, '3'), (0.1, '0.1'), (123456789.125, '123456789.125')):
            self.assertEqual(self.given(client, {'ratio': ratio})['env']['MCPD_OPT_ratio'], expected)
        for count, expected in ((5.0, '5'), (-7, '-7'), (9007199254740993, '9007199254740993'), (2**63 - 1, str(2**63 - 1))):
            given = self.given(client, {'count': count})
            self.assertEqual(given['env']['MCPD_OPT_count'], expected)
            self.assertIn(f'"count":{expected}', given['stdin'])

    def test_a_name_that_no_shell_can_read_comes_twice(self):
        self.show({'dry-run': {}, 'a-b': {}, 'a.b': {}, 'größe': {}})
        env = self.given(self.world.serve(), {'dry-run': 'x', 'a-b': 1, 'a.b': 2, 'größe': 'y'})['env']
        self.assertEqual((env['MCPD_OPT_dry-run'], env['MCPD_OPT_dry_run'], env['MCPD_OPT_größe']), ('x', 'x', 'y'))
        self.assertEqual((env['MCPD_OPT_a-b'], env['MCPD_OPT_a.b']), ('1', '2'))
        self.assertNotIn('MCPD_OPT_a_b', env)  # it would be one of the two

    def test_what_the_environment_cannot_carry_is_left_out_and_named(self):
        self.show({'long': {}, 'nul': {}, 'short': {}})
        given = self.given(self.world.serve(), {'long': 'x' * 200_000, 'nul': 'a\0b', 'short': 'x' * 1000})
        self.assertEqual(json.loads(given['stdin']), {'long': 'x' * 200_000, 'nul': 'a\0b', 'short': 'x' * 1000})
        self.assertNotIn('MCPD_OPT_long', given['env'])
        self.assertNotIn('MCPD_OPT_nul', given['env'])
        self.assertEqual(len(given['env']['MCPD_OPT_short']), 1000)
        self.assertEqual(set(re.split(r'[ ,]+', given['env']['MCPD_OMITTED'])), {'long', 'nul'})

    def test_each_call_is_told_where_it_is(self):
        self.world.script('dir/show', SHOW.replace('OPTIONS', repr('{}')))
        client = self.world.serve(capabilities={'sampling': {}})
        first, second = (json.loads(text(client.call('dir/show')))['env'] for _ in range(2))
        self.assertEqual(first['MCPD_TOOL'], 'dir/show')
        self.assertEqual(first['MCPD_ROOT_DIRECTORY'], str(self.world.root))
        self.assertEqual(json.loads(first['MCPD_CLIENT_CAPABILITIES']), {'sampling': {}})
        self.assertTrue(first['MCPD_CALL_ID'])
        self.assertNotEqual(first['MCPD_CALL_ID'], second['MCPD_CALL_ID'])

    def test_the_root_is_absolute_however_it_was_given(self):
        self.show()
        done = self.world.run('call', 'show', '--root-directory', 'root', cwd=self.world.base)
        self.assertEqual(json.loads(done.stdout)['env']['MCPD_ROOT_DIRECTORY'], str(self.world.root))

    def test_the_clients_capabilities_are_told_in_both_eras(self):
        self.show()
        for version in ('2025-06-18', MODERN):
            for declared in ({}, {'roots': {'listChanged': True}, 'elicitation': {}}):
                client = self.world.serve(version=version, capabilities=declared)
                self.assertEqual(json.loads(self.given(client)['env']['MCPD_CLIENT_CAPABILITIES']), declared)
                client.close()

    def test_what_is_configured_reaches_every_script(self):
        self.show()
        config = self.world.base / 'config'
        config.write_text('# secrets\nTOKEN=abc=def\n\nBOTH=file\n')
        config.chmod(0o600)
        client = self.world.serve('--config', 'URL=http://localhost/?a=b', '--config', 'EMPTY=', '--config-file', config, '--log-level', 'debug')
        env = self.given(client)['env']
        client.close()
        self.assertEqual({name: value for name, value in env.items() if name.startswith('MCPD_CONFIG_')},
                         {'MCPD_CONFIG_URL': 'http://localhost/?a=b', 'MCPD_CONFIG_EMPTY': '', 'MCPD_CONFIG_TOKEN': 'abc=def', 'MCPD_CONFIG_BOTH': 'file'})

    def test_values_of_the_environment_are_in_no_log(self):
        self.world.script('fails', sh_tool('echo oops >&2; exit 1', {'x': {'value_type': 'integer'}}))
        config = self.world.base / 'config'
        config.write_text('TOKEN=hush-hush-file\n')
        config.chmod(0o600)
        client = self.world.serve('--config-file', config, '--config', 'KEY=hush-hush-flag', '--log-level', 'debug', env={'SECRET': 'hush-hush-env'})
        said = text(client.call('fails')) + text(client.call('fails', {'x': 'y'}))
        client.close()
        self.assertNotIn('hush-hush', said + client.stderr_text())

    def test_mcpds_own_environment_stays_its_own(self):
        self.show()
        foreign = {'MCPD_LOG_LEVEL': 'warning', 'MCPD_TOKEN_FILE': '/x', 'MCPD_OPT_forged': 'x', 'MCPD_INPUT': 'x', 'MCPD_OMITTED': 'x',
                   'NOTIFY_SOCKET': '/x', 'LISTEN_FDS': '1', 'LISTEN_PID': '1', 'LISTEN_FDNAMES': 'x',
                   'WATCHDOG_USEC': '0', 'WATCHDOG_PID': '1', 'CREDENTIALS_DIRECTORY': '/x'}
        del foreign['MCPD_TOKEN_FILE']  # an option of a later part
        client = self.world.serve(env={**foreign, 'EDITOR': 'vi'})
        env = self.given(client)['env']
        self.assertEqual({name for name in foreign if name in env}, set())
        self.assertEqual(env['EDITOR'], 'vi')
        self.assertEqual({name for name in env if name.startswith('MCPD_')},
                         {'MCPD_TOOL', 'MCPD_CALL_ID', 'MCPD_ROOT_DIRECTORY', 'MCPD_CLIENT_CAPABILITIES'})

    def test_a_clean_environment_holds_what_a_program_needs(self):
        self.show()
        client = self.world.serve('--clean-env', '--config', 'KEY=value', env={'EDITOR': 'vi', 'LC_TIME': 'C', 'TZ': 'UTC', 'AWS_SECRET': 'x', 'LD_LIBRARY_PATH': '/x'})
        env = self.given(client)['env']
        self.assertEqual((env['LC_TIME'], env['TZ'], env['HOME'], env['MCPD_CONFIG_KEY']), ('C', 'UTC', str(self.world.home), 'value'))
        allowed = re.compile(r'(HOME|PATH|USER|LANG|LC_\w+|TZ|TMPDIR|XDG_\w+|MCPD_\w+)')
        self.assertEqual([name for name in env if not allowed.fullmatch(name)], [])

    def test_no_descriptor_but_the_first_three_is_inherited(self):
        self.show()
        self.assertEqual(self.given(self.world.serve())['fds'], [0, 1, 2])
        with open('/dev/null') as one, open('/etc/passwd') as another:
            done = self.world.run('call', 'show', '--root-directory', self.world.root, pass_fds=(one.fileno(), another.fileno()))
        self.assertEqual(json.loads(done.stdout)['fds'], [0, 1, 2])

    def test_tools_run_where_mcpd_was_started_or_where_it_is_told(self):
        self.show()
        here = self.world.folder(self.world.base / 'here')
        there = self.world.folder(self.world.base / 'there')
        self.assertEqual(self.given(self.world.serve(cwd=here))['cwd'], str(here))
        self.assertEqual(self.given(self.world.serve('--working-directory', there, cwd=here))['cwd'], str(there))
        self.assertEqual(self.given(self.world.serve('--working-directory', '../there', cwd=here))['cwd'], str(there))

    def test_a_script_that_does_not_read_its_input_is_fine(self):
        self.world.script('deaf', sh_tool('echo done', {'data': {}}))
        self.world.script('deaf-and-slow', sh_tool('sleep 0.3; echo done', {'data': {}}))
        client = self.world.serve()
        data = 'x' * 3_000_000
        ids = [client.start_call(name, {'data': data}) for name in ('deaf', 'deaf-and-slow', 'deaf')]
        for id in ids:
            result = client.wait(id)['result']
            self.assertEqual((text(result), result['isError']), ('done', False))

    def test_three_megabytes_reach_a_script_that_reads_them(self):
        self.world.script('counts', sh_tool('wc -c; echo "$MCPD_OMITTED"', {'data': {}}))
        result = self.world.serve().call('counts', {'data': 'x' * 3_000_000})
        self.assertEqual(text(result).split(), [str(len('{"data":""}\n') + 3_000_000), 'data'])


class Logs(CallCase):
    LINES = {'TRACE one': ('debug', 'one'), 'DEBUG two': ('debug', 'two'), 'INFO three': ('info', 'three'), 'WARNING four': ('warning', 'four'),
             'WARN five': ('warning', 'five'), 'ERROR six': ('error', 'six'), 'ERROR: seven': ('error', 'seven'), 'eight': ('info', 'eight'),
             'INFORMATION nine': ('info', 'INFORMATION nine'), 'error ten': ('info', 'error ten')}

    def chatty(self):
        self.world.script('dir/chatty', sh_tool("printf '%s\\n' " + ' '.join(f"'{line}'" for line in self.LINES) + ' >&2; echo done'))

    def logged(self, client):
        return [(note['params']['level'], note['params']['data']) for note in client.notifications('notifications/message')]

    def test_a_line_arrives_before_the_result(self):
        self.world.script('slow', sh_tool(f'echo "WARNING low memory" >&2; while [ ! -e {self.go} ]; do sleep 0.02; done; echo done'))
        for version in ('2025-11-25', MODERN):
            with self.subTest(version=version):
                self.go.unlink(missing_ok=True)
                client = self.world.serve(version=version)
                id = client.start_call('slow', meta={LOG_LEVEL: 'info'} if version == MODERN else None)
                logged = client.wait_notification('notifications/message')['params']
                self.assertEqual((logged['level'], logged['logger'], logged['data']), ('warning', 'slow', 'low memory'))
                self.go.touch()
                self.assertEqual(text(client.wait(id)['result']), 'done')
                client.close()

    def test_prefixes_set_the_level(self):
        self.chatty()
        client = self.world.serve()
        client.call('dir/chatty', meta={LOG_LEVEL: 'debug'})
        self.assertEqual(self.logged(client), list(self.LINES.values()))
        self.assertEqual({note['params']['logger'] for note in client.notifications('notifications/message')}, {'dir/chatty'})

    def test_the_modern_client_gets_what_it_asked_for_and_never_more(self):
        self.chatty()
        client = self.world.serve()
        client.call('dir/chatty')
        self.assertEqual(self.logged(client), [])
        client.call('dir/chatty', meta={LOG_LEVEL: 'error'})
        self.assertEqual(self.logged(client), [('error', 'six'), ('error', 'seven')])

    def test_the_older_client_gets_info_and_above_until_it_says_otherwise(self):
        self.chatty()
        client = self.world.serve(version='2025-06-18')
        client.call('dir/chatty')
        self.assertEqual(self.logged(client), [line for line in self.LINES.values() if line[0] != 'debug'])
        client.result('logging/setLevel', {'level': 'warning'})
        before = len(self.logged(client))
        client.call('dir/chatty')
        self.assertEqual(self.logged(client)[before:], [line for line in self.LINES.values() if line[0] in ('warning', 'error')])

    def test_a_line_of_stderr_goes_to_the_log_with_its_tool(self):
        self.chatty()
        client = self.world.serve()
        client.call('dir/chatty')
        client.close()
        self.assertRegex(client.stderr_text(), r'(?m)^.*dir/chatty.*\bsix\b')

    def test_a_script_that_logs_and_a_client_that_does_not_read_do_not_stall(self):
        # The reader thread of the client reads; what is checked is that a flood of lines ends with its result.
        self.world.script('flood', sh_tool('seq 1 50000 >&2; echo done'))
        client = self.world.serve(check=False)
        self.assertEqual(text(client.call('flood', meta={LOG_LEVEL: 'info'}, timeout=30)), 'done')


class Limits(CallCase):
    def test_a_timeout_answers_with_the_output_so_far(self):
        self.world.script('own', sh_tool('echo partial; echo "INFO working" >&2; sleep 100', timeout=0.5))
        self.world.script('common', sh_tool('echo partial; sleep 100'))
        client = self.world.serve('--timeout', 1)
        started = time.monotonic()
        ids = {name: client.start_call(name) for name in ('own', 'common')}
        for name, limit in (('own', '0.5'), ('common', '1')):
            result = client.wait(ids[name])['result']
            self.assertIs(result['isError'], True)
            self.assertEqual(result['content'][0]['text'], 'partial')
            last = result['content'][-1]['text']
            self.assertTrue(last.startswith(f'timed out after {limit} s; set "timeout" in the script\'s metadata'), last)
            self.assertEqual(result['_meta']['mcpd/error'], 'timeout')
        self.assertLess(time.monotonic() - started, 3 * PATIENCE)

    def test_a_tool_may_have_no_limit(self):
        self.world.script('patient', sh_tool('sleep 1.5; echo done', timeout=0))
        self.assertEqual(text(self.world.serve('--timeout', 1).call('patient')), 'done')

    def test_a_timeout_kills_the_whole_tree(self):
        self.tree()
        client = self.world.serve('--timeout', 1)
        id = client.start_call('tree')
        pids = self.wait_for_pids(3)
        self.assertIs(client.wait(id)['result']['isError'], True)
        self.assertGone(pids, 4)

    def test_cancelling_kills_the_whole_tree_and_answers_nothing(self):
        self.tree()
        self.world.script('quick', sh_tool('echo quick'))
        for version in ('2025-11-25', MODERN):
            with self.subTest(version=version):
                self.pids_file.unlink(missing_ok=True)
                client = self.world.serve(version=version)
                id = client.start_call('tree')
                pids = self.wait_for_pids(3)
                client.cancel(id)
                self.assertGone(pids, 4)
                self.assertEqual(text(client.call('quick')), 'quick')
                self.assertEqual([message for message in client.messages if message.get('id') == id], [])
                client.signal(signal.SIGTERM)
                client.wait_exit()

    def test_a_cancel_is_gentle_first(self):
        ended = self.world.tmp / 'ended'
        self.world.script('tidy', sh_tool(f'trap "echo tidied >{ended}; exit" TERM; echo $$ >>{self.pids_file}; while :; do sleep 0.02; done'))
        client = self.world.serve()
        id = client.start_call('tidy')
        pids = self.wait_for_pids(1)
        client.cancel(id)
        self.assertGone(pids, 1.5)
        self.assertEqual(ended.read_text(), 'tidied\n')

    def test_a_call_that_waits_in_line_can_be_cancelled(self):
        self.waits()
        client = self.world.serve('--max-running', 1)
        first = client.start_call('waits')
        self.wait_for_pids(1)
        second, third = client.start_call('waits'), client.start_call('waits')
        client.cancel(second)
        client.settled()
        self.go.touch()
        for id in (first, third):
            self.assertEqual(text(client.wait(id)['result']), 'done')
        self.assertEqual(len(self.pids()), 2)

    def test_a_background_grandchild_does_not_hold_the_call(self):
        self.world.script('backgrounds', sh_tool(f'sleep 100 & echo $! >>{self.pids_file}; echo done'))
        client = self.world.serve()
        started = time.monotonic()
        self.assertEqual(text(client.call('backgrounds')), 'done')
        self.assertLess(time.monotonic() - started, 2 * PATIENCE)
        client.settled()
        grandchild, = self.pids()
        self.assertTrue(is_alive(grandchild), 'a child of a call that ended well is left alone')
        client.close()
        self.assertGone([grandchild], 4)

    def test_beyond_max_output_head_and_tail_are_kept(self):
        self.world.script('long', sh_tool('echo HEAD; seq 1 100000; echo TAIL'))
        total = len('HEAD\nTAIL\n') + sum(len(str(number)) + 1 for number in range(1, 100001))
        for limit in (1000, 65536):
            result = self.world.serve('--max-output', limit).call('long')
            self.assertIs(result['isError'], False)
            self.assertTrue(result['_meta']['mcpd/truncated'])
            said = text(result)
            self.assertTrue(said.startswith('HEAD\n1\n2\n') and said.endswith('\n100000\nTAIL'), said[:50] + said[-50:])
            left_out, = re.findall(r'(\d+) bytes', said)
            # What is kept of the output, the words between apart: a line of their own, at most.
            kept = len(re.sub(r'\n?[^\n]*\d+ bytes[^\n]*\n?', '', said))
            self.assertAlmostEqual(kept + int(left_out), total, delta=30)
            self.assertLessEqual(len(said), limit + 200)
            self.assertGreater(len(said), limit // 2)

    def test_within_max_output_nothing_is_cut(self):
        self.world.script('exact', sh_tool("head -c 1000 /dev/zero | tr '\\0' x"))
        result = self.world.serve('--max-output', 1000).call('exact')
        self.assertEqual(text(result), 'x' * 1000)
        self.assertFalse(result['_meta'].get('mcpd/truncated', False))

    def test_the_cut_splits_no_character(self):
        self.world.script('cats', sh_tool("yes 猫猫猫猫猫猫 | head -n 10000 | tr -d '\\n'"))
        said = text(self.world.serve('--max-output', 1000).call('cats'))
        self.assertNotIn('\ufffd', said)

    def test_a_flood_is_read_to_its_end_in_bounded_memory(self):
        if is_instrumented():
            self.skipTest('memory is not the product\'s under a sanitizer')
        self.world.script('flood', sh_tool("head -c 50000000 /dev/zero | tr '\\0' x; echo; echo the end; head -c 20000000 /dev/zero | tr '\\0' y >&2"))
        self.world.script('quick', sh_tool('echo quick'))
        client = self.world.serve()
        client.call('quick')
        before = memory(client.pid, 'VmHWM')
        result = client.call('flood', timeout=60)
        self.assertIs(result['isError'], False)
        self.assertTrue(result['_meta']['mcpd/truncated'])
        self.assertTrue(text(result).endswith('\nthe end'))
        self.assertLess(memory(client.pid, 'VmHWM') - before, 16 * MIB)

    def test_more_than_the_line_holds_are_refused_at_once(self):
        self.waits()
        client = self.world.serve('--max-running', 1, '--max-queue', 1)
        running = client.start_call('waits')
        self.wait_for_pids(1)
        waiting = client.start_call('waits')
        refused = client.request('tools/call', {'name': 'waits', 'arguments': {}})
        said = refused['error']['message'] if 'error' in refused else text(refused['result'])
        self.assertIn('busy', said)
        self.assertTrue('error' in refused or refused['result']['isError'])
        self.go.touch()
        for id in (running, waiting):
            self.assertEqual(text(client.wait(id)['result']), 'done')

    def test_no_more_than_max_running_run_at_once(self):
        self.waits()
        client = self.world.serve('--max-running', 2)
        ids = [client.start_call('waits') for _ in range(5)]
        self.wait_for_pids(2)
        client.settled()
        self.assertEqual(len(self.pids()), 2)
        self.go.touch()
        self.assertEqual([text(client.wait(id)['result']) for id in ids], ['done'] * 5)

    def test_concurrency_holds_up_nobody_else(self):
        self.waits('one-by-one', concurrency=1)
        self.waits('with-state', state=True)
        self.world.script('quick', sh_tool('echo quick'))
        client = self.world.serve()
        ids = [client.start_call(name) for name in ('one-by-one', 'one-by-one', 'with-state', 'with-state')]
        self.wait_for_pids(2)
        self.assertEqual(text(client.call('quick')), 'quick')
        self.assertEqual(len(self.pids()), 2)
        self.go.touch()
        self.assertEqual([text(client.wait(id)['result']) for id in ids], ['done'] * 4)
        self.assertEqual(len(self.pids()), 4)


class Changes(CallCase):
    def refusal(self, client, name, arguments=None):
        """What a call that cannot be is answered with."""
        try:
            result = client.call(name, arguments or {})
        except ProtocolError as error:
            self.assertEqual(error.code, -32602)
            return error.message
        self.assertIs(result['isError'], True, text(result))
        return text(result)

    def test_a_script_that_was_deleted_since_is_refused_by_name(self):
        self.world.script('dir/gone', sh_tool('echo here'))
        self.world.script('stays', sh_tool('echo here'))
        client = self.world.serve()
        client.result('tools/list')
        shutil.rmtree(self.world.root / 'dir')
        self.assertIn('dir/gone', self.refusal(client, 'dir/gone'))
        self.assertEqual(text(client.call('stays')), 'here')
        self.assertEqual([tool['name'] for tool in client.result('tools/list')['tools']], ['stays'])

    def test_a_script_that_was_replaced_since_is_asked_again(self):
        self.world.script('tool', sh_tool('echo old', {'name': {'required': True}}))
        client = self.world.serve()
        client.result('tools/list')
        self.world.script('tool', sh_tool('echo "new $MCPD_OPT_count"', {'count': {'required': True, 'value_type': 'integer'}}))
        self.assertIn('count: required', self.refusal(client, 'tool', {'name': 'x'}))
        self.assertEqual(text(client.call('tool', {'count': 5})), 'new 5')

    def test_a_script_that_was_edited_in_place_is_asked_again(self):
        path = self.world.script('tool', sh_tool('echo old'))
        client = self.world.serve()
        self.assertEqual(text(client.call('tool')), 'old')
        path.write_text(sh_tool('echo "new $MCPD_OPT_x"', {'x': {'default_value': 'default'}}))
        self.assertEqual(text(client.call('tool')), 'new default')

    def test_a_script_that_broke_since_is_not_run(self):
        marker = self.world.tmp / 'ran'
        self.world.script('tool', sh_tool('echo old'))
        client = self.world.serve()
        self.assertEqual(text(client.call('tool')), 'old')
        self.world.script('tool', f'#!/bin/sh\ntouch {marker}\n')
        self.assertIn('tool', self.refusal(client, 'tool'))
        self.world.script('tool', '#!/bin/sh\n# $1\nexit 3\n')
        self.assertIn('tool', self.refusal(client, 'tool'))
        path = self.world.script('tool', sh_tool('echo again'))
        self.assertEqual(text(client.call('tool')), 'again')
        path.chmod(0o644)
        self.assertIn('tool', self.refusal(client, 'tool'))
        self.assertFalse(marker.exists(), 'it was run')

    def test_a_call_that_runs_keeps_what_it_began_with(self):
        path = self.world.script('tool', sh_tool(f'echo $$ >>{self.pids_file}\nwhile [ ! -e {self.go} ]; do sleep 0.02; done\necho old'))
        client = self.world.serve()
        id = client.start_call('tool')
        self.wait_for_pids(1)
        path.unlink()
        self.world.script('tool', sh_tool('echo new'))
        self.assertEqual(text(client.call('tool')), 'new')
        self.go.touch()
        self.assertEqual(text(client.wait(id)['result']), 'old')


class Ends(CallCase):
    def assertEndsWell(self, client):
        """SIGTERM with three kinds of calls running."""
        ids = [client.start_call(name) for name in ('tree', 'waits', 'backgrounds')]
        self.assertEqual(text(client.wait(ids[2])['result']), 'done')
        pids = self.wait_for_pids(3 + 1 + 1)
        started = time.monotonic()
        client.signal(signal.SIGTERM)
        code = client.wait_exit(6)
        self.assertLess(time.monotonic() - started, 4 * PATIENCE)
        self.assertIn(code, (0, -signal.SIGTERM, 128 + signal.SIGTERM))
        self.assertGone(pids, 0.5)

    def prepare(self):
        self.tree()
        self.waits()
        self.world.script('backgrounds', sh_tool(f'sleep 100 & echo $! >>{self.pids_file}; echo done'))

    def test_a_terminated_daemon_is_gone_within_4_s_with_all_its_children(self):
        self.prepare()
        self.assertEndsWell(self.world.serve())

    def test_so_it_is_without_privileges(self):
        self.prepare()
        self.assertEndsWell(self.serve_as_nobody())

    def test_a_second_signal_ends_it_at_once(self):
        self.world.script('stubborn', sh_tool(f'trap "touch {self.go}" TERM; echo $$ >>{self.pids_file}; while :; do sleep 0.02; done'))
        client = self.world.serve()
        client.start_call('stubborn')
        self.wait_for_pids(1)
        client.signal(signal.SIGTERM)
        wait_until(self.go.exists, what='the first signal to be heard')
        started = time.monotonic()
        client.signal(signal.SIGINT)
        client.wait_exit()
        self.assertLess(time.monotonic() - started, 1 * PATIENCE)
        self.assertGone(self.pids(), 1)

    def test_a_killed_daemon_takes_its_children_along(self):
        for serve in (self.world.serve, self.serve_as_nobody):
            with self.subTest(serve.__name__):
                self.pids_file.unlink(missing_ok=True)
                self.waits()
                client = serve()
                client.start_call('waits')
                client.start_call('waits')
                pids = self.wait_for_pids(2)
                client.signal(signal.SIGKILL)
                client.wait_exit()
                self.assertGone(pids, 2)

    def test_at_the_end_of_input_the_calls_in_flight_are_answered(self):
        self.waits()
        client = self.world.serve()
        id = client.start_call('waits')
        self.wait_for_pids(1)
        client.close_stdin()
        with self.assertRaises(Late):
            client.wait(id, timeout=0.2)
        self.assertTrue(client.alive())
        self.go.touch()
        self.assertEqual(text(client.wait(id)['result']), 'done')
        self.assertEqual(client.wait_exit(), 0)

    def test_a_call_does_not_outlive_a_client_for_longer_than_its_timeout(self):
        self.tree()
        client = self.world.serve('--timeout', 1)
        client.start_call('tree')
        pids = self.wait_for_pids(3)
        client.close_stdin()
        self.assertEqual(client.wait_exit(), 0)
        self.assertGone(pids, 1)


if __name__ == '__main__':
    unittest.main()
