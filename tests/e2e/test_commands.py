"""The command line: its commands, options, their environment, what is served and why, and how it says no."""

import json
import os
import pathlib
import pty
import re
import signal
import socket
import stat
import subprocess
import unittest

from harness import CAPABILITIES, CLAIM, MCPD, MODERN, PATIENCE, Case, initialize_params, parse_line, sh_tool, text, wait_until

SOURCE = pathlib.Path(os.environ.get('MCPD_SOURCE') or pathlib.Path(__file__).resolve().parent.parent.parent)

USAGE, NO_INPUT, DATA = 64, 66, 65  # EX_USAGE, EX_NOINPUT, EX_DATAERR

OPTIONS = ['root-directory', 'stdio', 'tool-names', 'timeout', 'help-timeout', 'max-output', 'max-request', 'max-running', 'max-queue',
           'working-directory', 'config', 'config-file', 'clean-env', 'audit-log', 'audit-arguments', 'name', 'log-level', 'log-format',
           'unsafe-permissions', 'version', 'help']

GREET = sh_tool('echo "Hello, $MCPD_OPT_name!"', {'name': {'required': True, 'value_type': 'string'}}, description='Greet someone')
BROKEN = '#!/bin/sh\n# $1\nexit 3\n'


def requests(*methods):
    """Lines of modern requests, with ids from 1."""
    return b''.join(json.dumps({'jsonrpc': '2.0', 'id': number, 'method': method, 'params': {'_meta': {CLAIM: MODERN, CAPABILITIES: {}}}}).encode() + b'\n'
                    for number, method in enumerate(methods, 1))


class CommandCase(Case):
    def run_in_root(self, *args, **kw):
        return self.world.run(*args, '--root-directory', self.world.root, **kw)

    def assertRefused(self, done, code, *words):
        """It ended with `code` and one clear line, which holds these words; nothing is on stdout."""
        said = done.stderr.decode()
        self.assertEqual(done.returncode, code, said)
        for word in words:
            self.assertIn(str(word), said)
        self.assertEqual(len(said.strip().splitlines()), 1, said)
        self.assertEqual(done.stdout, b'')

    def answers(self, done):
        return {answer.get('id'): answer for answer in map(parse_line, done.stdout.splitlines())}


class List(CommandCase):
    def setUp(self):
        super().setUp()
        self.world.script('greet', GREET)
        self.world.script('dir/bad', BROKEN)
        self.world.script('dir/versioned', sh_tool('echo', version='3.2.1'))

    def test_it_shows_what_clients_see_and_what_is_broken_and_why(self):
        done = self.run_in_root('list')
        self.assertEqual(done.returncode, 0, done.stderr)
        said = done.stdout.decode()
        for words in ('greet', 'Greet someone', 'dir/versioned', '3.2.1', 'dir/bad', 'exited with 3', 'bytes', 'tokens'):
            self.assertIn(words, said)

    def test_names_alone_are_one_a_line(self):
        done = self.run_in_root('list', '--names')
        self.assertEqual((done.returncode, done.stdout.decode()), (0, 'dir/versioned\ngreet\n'))
        done = self.run_in_root('list', '--names', '--tool-names', 'portable')
        self.assertEqual((done.returncode, done.stdout.decode()), (0, 'dir_versioned\ngreet\n'))

    def test_json_is_json(self):
        done = self.run_in_root('list', '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = json.loads(done.stdout)
        self.assertEqual([tool['name'] for tool in listed['tools']], ['dir/versioned', 'greet'])
        schema = {'type': 'object', 'properties': {'name': {'type': 'string'}}, 'required': ['name']}
        self.assertEqual(listed['tools'][1]['inputSchema'], schema)
        for tool in listed['tools']:
            self.assertGreater(tool['bytes'], 0)
            self.assertGreater(tool['tokens'], 0)
        broken, = listed['broken']
        self.assertEqual((broken['name'], broken['path']), ('dir/bad', str(self.world.root / 'dir/bad')))
        self.assertIn('exited with 3', broken['reason'])

    def test_the_directory_is_the_current_one_unless_it_is_told(self):
        done = self.world.run('list', '--names', cwd=self.world.root / 'dir')
        self.assertEqual((done.returncode, done.stdout.decode()), (0, 'versioned\n'))

    def test_an_empty_directory_is_no_error(self):
        empty = self.world.folder(self.world.base / 'empty')
        for args in ((), ('--names',), ('--json',)):
            done = self.world.run('list', *args, cwd=empty)
            self.assertEqual(done.returncode, 0, done.stderr)


class Check(CommandCase):
    def test_all_is_well(self):
        self.world.script('greet', GREET)
        done = self.run_in_root('check')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_anything_broken_is_exit_65(self):
        self.world.script('greet', GREET)
        self.world.script('bad', BROKEN)
        done = self.run_in_root('check')
        self.assertEqual(done.returncode, DATA)
        self.assertRegex((done.stdout + done.stderr).decode(), r'bad.*exited with 3')

    def test_named_files_are_checked_and_no_others(self):
        good, bad = self.world.script('greet', GREET), self.world.script('bad', BROKEN)
        self.assertEqual(self.run_in_root('check', good).returncode, 0)
        done = self.run_in_root('check', bad)
        self.assertEqual(done.returncode, DATA)
        self.assertIn('exited with 3', (done.stdout + done.stderr).decode())
        self.assertEqual(self.run_in_root('check', good, bad).returncode, DATA)
        self.assertEqual(self.world.run('check', 'greet', cwd=self.world.root).returncode, 0)
        self.assertEqual(self.world.run('check', 'bad', cwd=self.world.root).returncode, DATA)

    def test_a_file_that_does_not_exist_is_exit_66(self):
        done = self.run_in_root('check', self.world.root / 'nothing')
        self.assertEqual(done.returncode, NO_INPUT)
        self.assertIn('nothing', done.stderr.decode())


class Call(CommandCase):
    def setUp(self):
        super().setUp()
        types = ('string', 'integer', 'float', 'boolean', 'array', 'object', 'any')
        self.world.script('dir/echo', sh_tool('cat', {name: {'value_type': name} for name in types}))

    def echo(self, *args, **kw):
        done = self.run_in_root('call', 'dir/echo', *args, **kw)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_value_is_read_by_its_options_type(self):
        self.assertEqual(self.echo('string=5', 'integer=5', 'float=0.5', 'boolean=true', 'array=["a",1]', 'object={"k":null}'),
                         {'string': '5', 'integer': 5, 'float': 0.5, 'boolean': True, 'array': ['a', 1], 'object': {'k': None}})
        self.assertEqual(self.echo('string=a=b  c', 'boolean=false'), {'string': 'a=b  c', 'boolean': False})
        self.assertEqual(self.echo('string='), {'string': ''})

    def test_a_colon_and_an_equals_sign_give_json(self):
        self.assertEqual(self.echo('any:={"k":[1,"x"]}', 'integer:=7', 'string:="x:=y"'), {'string': 'x:=y', 'integer': 7, 'any': {'k': [1, 'x']}})

    def test_an_object_gives_them_all(self):
        self.assertEqual(self.echo('--json', '{"string":"x","integer":5}'), {'string': 'x', 'integer': 5})

    def test_it_prints_what_the_tool_printed_and_exits_with_its_code(self):
        self.world.script('fails', sh_tool('echo some output; echo "ERROR some reason" >&2; exit "$MCPD_OPT_code"', {'code': {'value_type': 'integer'}}))
        for code in (0, 1, 4, 9, 42):
            done = self.run_in_root('call', 'fails', f'code={code}')
            self.assertEqual((done.returncode, done.stdout.decode().splitlines()[0]), (code, 'some output'), done.stderr)
        self.assertIn('some reason', (done.stdout + done.stderr).decode())

    def test_the_portable_spelling_is_accepted(self):
        self.assertEqual(self.run_in_root('call', 'dir_echo', 'string=x').returncode, 0)

    def test_state_is_read(self):
        self.world.script('counter', sh_tool('[ "$1" = --state ] && echo "{\\"count\\": 5}" || echo called', state=True))
        done = self.run_in_root('call', 'counter', '--state')
        self.assertEqual((done.returncode, json.loads(done.stdout)), (0, {'count': 5}))
        done = self.run_in_root('call', 'dir/echo', '--state')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('state', done.stderr.decode())

    def test_what_is_wrong_with_the_arguments_is_told(self):
        self.world.script('greet', GREET)
        done = self.run_in_root('call', 'greet')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('name: required', (done.stdout + done.stderr).decode())
        done = self.run_in_root('call', 'dir/echo', 'integer=five', 'boolean=perhaps')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('integer', (done.stdout + done.stderr).decode())
        for words in (('integer:={',), ('--json', '[1]'), ('--json', '{'), ('lonely',)):
            done = self.run_in_root('call', 'dir/echo', *words)
            self.assertEqual(done.returncode, USAGE, (words, done.stderr))

    def test_an_unknown_tool_is_told_with_its_neighbours(self):
        done = self.run_in_root('call', 'dir/ecko')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('dir/echo', done.stderr.decode())
        self.assertEqual(done.stdout, b'')

    def test_a_broken_tool_is_told_with_its_reason(self):
        self.world.script('bad', BROKEN)
        done = self.run_in_root('call', 'bad')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('exited with 3', done.stderr.decode())

    def test_without_a_tool_it_is_a_usage_error(self):
        self.assertRefused(self.run_in_root('call'), USAGE)

    def test_an_interrupted_call_leaves_nothing_behind(self):
        pid_file = self.world.tmp / 'pid'
        self.world.script('slow', sh_tool(f'echo $$ >{pid_file}.new; mv {pid_file}.new {pid_file}; exec sleep 100'))
        process = subprocess.Popen([MCPD, 'call', 'slow', '--root-directory', self.world.root], env=self.world.env, cwd=self.world.home,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(pid_file.exists, what='the tool')
        process.send_signal(signal.SIGINT)
        self.assertNotEqual(process.wait(5 * PATIENCE), 0)
        wait_until(lambda: not pathlib.Path(f'/proc/{pid_file.read_text().strip()}').exists(), 4, 'the end of the tool')


class Usage(CommandCase):
    def test_the_version_is_told(self):
        done = self.world.run('--version')
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout.decode(), r'\Amcpd \d+\.\d+\.\d+\n\Z')

    def test_help_lists_each_option_and_so_does_the_manual(self):
        done = self.world.run('--help')
        self.assertEqual(done.returncode, 0)
        said = done.stdout.decode()
        listed = set(re.findall(r'(?<![\w-])--([a-z][a-z-]*)', said))
        self.assertEqual(set(OPTIONS) - listed, set(), 'not in --help')
        manual = (SOURCE / 'man' / 'mcpd.1').read_text()
        described = set(re.findall(r'^\.(?:It |Oo |Op )?.*?Fl -([a-z][a-z-]*)', manual, re.M)) | set(re.findall(r'Fl -([a-z][a-z-]*)', manual))
        self.assertEqual(listed - described, set(), 'not in mcpd(1)')
        for command in ('serve', 'list', 'check', 'call'):
            self.assertIn(command, said)
            self.assertIn(command, manual)
        for option, default in {'timeout': '300', 'help-timeout': '5', 'max-running': '32', 'max-queue': '1024', 'log-level': 'info'}.items():
            self.assertRegex(said, rf'--{option}\b(?:(?!--).)*{default}', f'the default of --{option}')

    def test_what_is_not_understood_is_exit_64(self):
        root = ('--root-directory', self.world.root)
        for args in (['--no-such-option', *root], ['no-such-command', *root], ['--timeout', 'soon', *root, '--stdio'], ['--timeout', '-1', *root, '--stdio'],
                     ['--max-output', 'x', *root, '--stdio'], ['--max-running', '0', *root, '--stdio'], ['--log-level', 'loud', *root, '--stdio'],
                     ['--log-format', 'xml', *root, '--stdio'], ['--config', 'novalue', *root, '--stdio'], ['--root-directory'], ['--help-timeout', '', *root, '--stdio'],
                     ['serve', 'stray', *root, '--stdio']):
            with self.subTest(args=args[:2]):
                self.assertRefused(self.world.run(*args), USAGE)

    def test_an_option_that_is_near_is_offered_or_at_least_named(self):
        self.assertRefused(self.world.run('--root-dir', self.world.root, '--stdio'), USAGE, 'root-dir')

    def test_serving_needs_a_directory(self):
        self.assertRefused(self.world.run('--stdio'), USAGE, '--root-directory')
        self.assertRefused(self.world.run('serve', '--stdio', cwd=self.world.root), USAGE, '--root-directory')

    def test_a_directory_that_does_not_exist_is_exit_66(self):
        for command in ([], ['list'], ['check'], ['call', 'x']):
            with self.subTest(command=command):
                self.assertRefused(self.world.run(*command, '--root-directory', '/no/such/directory', *([] if command else ['--stdio'])), NO_INPUT, '/no/such/directory')
        path = self.world.file('file', '')
        self.assertRefused(self.world.run('--stdio', '--root-directory', path), NO_INPUT, path)

    def test_a_file_or_directory_that_an_option_names_must_exist(self):
        for option in ('--config-file', '--working-directory'):
            with self.subTest(option):
                self.assertRefused(self.run_in_root('--stdio', option, '/no/such/thing'), NO_INPUT, '/no/such/thing')

    def test_directories_full_of_other_programs_are_refused(self):
        bin = self.world.folder(self.world.base / 'bin')
        link = self.world.base / 'link'
        link.symlink_to(self.world.home)
        marker = self.world.tmp / 'ran'
        for place in (bin, self.world.home):
            (place / 'program').write_text(f'#!/bin/sh\n# $1\ntouch {marker}\n')
            (place / 'program').chmod(0o755)
        env = {'PATH': f'{bin}:{self.world.env["PATH"]}'}
        for directory, word in (('/', '/'), ('//', '/'), (self.world.home, 'home'), (f'{self.world.home}/', 'home'), (link, 'home'), (bin, 'PATH'), ('/usr/bin', 'PATH')):
            for command in (['--stdio'], ['list'], ['check'], ['call', 'program']):
                with self.subTest(directory=str(directory), command=command):
                    done = self.world.run(*command, '--root-directory', directory, env=env)
                    self.assertIn(done.returncode, (64, 77, 78), done.stderr)
                    self.assertRegex(done.stderr.decode(), rf'(?i){word}')
                    self.assertEqual(done.stdout, b'')
        done = self.world.run('list', cwd=self.world.home, env=env)
        self.assertIn(done.returncode, (64, 77, 78), done.stderr)
        self.assertFalse(marker.exists(), 'a program was run')

    def test_a_directory_below_home_is_fine(self):
        self.assertEqual(self.world.run('list', '--root-directory', self.world.folder(self.world.home / 'tools')).returncode, 0)

    def test_an_options_value_may_be_given_with_an_equals_sign(self):
        done = self.world.run(f'--root-directory={self.world.root}', '--stdio', '--tool-names=portable', input=requests('tools/list'))
        self.assertEqual((done.returncode, self.answers(done)[1]['result']['tools']), (0, []))


class Environment(CommandCase):
    def setUp(self):
        super().setUp()
        self.world.script('dir/tool', sh_tool('pwd'))

    def test_every_option_has_a_twin(self):
        env = {'MCPD_ROOT_DIRECTORY': str(self.world.root), 'MCPD_TOOL_NAMES': 'portable', 'MCPD_WORKING_DIRECTORY': '/usr', 'MCPD_NAME': 'twin', 'MCPD_STDIO': '1'}
        done = self.world.run(env=env, input=requests('server/discover', 'tools/list'))
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = self.answers(done)
        self.assertEqual(answers[1]['result']['_meta']['io.modelcontextprotocol/serverInfo']['name'], 'twin')
        self.assertEqual([tool['name'] for tool in answers[2]['result']['tools']], ['dir_tool'])
        self.assertEqual(self.world.run('call', 'dir/tool', env=env).stdout, b'/usr\n')

    def test_a_flag_wins(self):
        env = {'MCPD_ROOT_DIRECTORY': '/no/such/directory', 'MCPD_TOOL_NAMES': 'portable'}
        done = self.run_in_root('list', '--names', '--tool-names', 'path', env=env)
        self.assertEqual((done.returncode, done.stdout), (0, b'dir/tool\n'))

    def test_a_wrong_value_names_its_variable(self):
        self.assertRefused(self.run_in_root('--stdio', env={'MCPD_TIMEOUT': 'soon'}), USAGE, 'MCPD_TIMEOUT')

    def test_the_twins_of_config_and_of_options_of_scripts_are_none(self):
        done = self.run_in_root('list', '--names', env={'MCPD_CONFIG_LOG_LEVEL': 'nonsense', 'MCPD_OPT_timeout': 'nonsense'})
        self.assertEqual((done.returncode, done.stdout), (0, b'dir/tool\n'))


class Transport(CommandCase):
    def start(self, *args, **kw):
        process = subprocess.Popen([MCPD, '--root-directory', self.world.root, *args], env=self.world.env, cwd=self.world.home, **kw)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_two_pipes_mean_stdio_and_one_line_says_so(self):
        done = self.run_in_root(input=requests('tools/list'))
        self.assertEqual((done.returncode, self.answers(done)[1]['result']['tools']), (0, []))
        self.assertRegex(done.stderr.decode(), r'(?m)^.*stdio.*pipe')
        self.assertIn(str(self.world.root), done.stderr.decode())

    def test_two_sockets_mean_stdio(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            process = self.start(stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
            ours.settimeout(10 * PATIENCE)
            ours.sendall(requests('tools/list'))
            self.assertEqual(parse_line(ours.makefile('rb').readline())['result']['tools'], [])
            ours.shutdown(socket.SHUT_WR)
            self.assertEqual(process.wait(10 * PATIENCE), 0)

    def test_a_terminal_or_dev_null_is_refused_by_this_version(self):
        self.assertRefused(self.run_in_root(stdin=subprocess.DEVNULL), USAGE, '--stdio')
        main, terminal = pty.openpty()
        try:
            self.assertRefused(self.run_in_root(stdin=terminal), USAGE, '--stdio')
        finally:
            os.close(main)
            os.close(terminal)

    def test_a_file_or_a_closed_descriptor_is_refused(self):
        path = self.world.base / 'requests.jsonl'
        path.write_bytes(requests('tools/list'))
        with open(path) as file:
            self.assertRefused(self.run_in_root(stdin=file), USAGE, '--stdio')
        with open(self.world.base / 'answers', 'wb') as file:
            done = self.run_in_root(input=requests('tools/list'), stdout=file)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn('--stdio', done.stderr.decode())
        self.assertEqual((self.world.base / 'answers').read_bytes(), b'')
        # First act: /dev/null on any missing descriptor; that it was missing is a reason to refuse all the same.
        done = subprocess.run(['sh', '-c', 'exec "$0" "$@" <&-', MCPD, '--root-directory', self.world.root], env=self.world.env, cwd=self.world.home,
                              capture_output=True, timeout=20 * PATIENCE)
        self.assertRefused(done, USAGE, '--stdio')

    def test_named_stdio_reads_a_file_and_writes_one(self):
        self.world.script('greet', GREET)
        path = self.world.base / 'requests.jsonl'
        path.write_bytes(requests('server/discover', 'tools/list', 'resources/list') + b'not json\n')
        with open(path) as file, open(self.world.base / 'answers.jsonl', 'wb') as answers:
            done = self.run_in_root('--stdio', '--log-level', 'debug', stdin=file, stdout=answers)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [parse_line(line) for line in (self.world.base / 'answers.jsonl').read_bytes().splitlines()]
        self.assertEqual(sorted(str(line.get('id')) for line in lines), ['1', '2', '3', 'None'])

    def test_a_last_line_without_its_end_is_answered(self):
        done = self.run_in_root('--stdio', input=requests('tools/list').rstrip(b'\n'))
        self.assertEqual((done.returncode, self.answers(done)[1]['result']['tools']), (0, []))

    def test_a_guessed_stdio_that_meets_the_end_at_once_is_a_mistake(self):
        done = self.run_in_root()
        self.assertEqual(done.returncode, USAGE)
        self.assertIn('--stdio', done.stderr.decode())
        self.assertEqual(done.stdout, b'')

    def test_a_named_stdio_that_meets_the_end_at_once_is_none(self):
        done = self.run_in_root('--stdio')
        self.assertEqual((done.returncode, done.stdout), (0, b''))
        done = self.run_in_root('--stdio', stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (0, b''))

    def test_one_line_says_what_is_served_and_why(self):
        done = self.run_in_root('--stdio', input=requests('tools/list'))
        self.assertRegex(done.stderr.decode(), rf'(?m)^.*{re.escape(str(self.world.root))}.*stdio|^.*stdio.*{re.escape(str(self.world.root))}')

    def test_nothing_but_protocol_is_on_stdout(self):
        self.world.script('bad', BROKEN)
        self.world.script('good', GREET)
        done = self.run_in_root('--stdio', '--log-level', 'debug', input=b'\n\n{}\n[]\nnull\n' + requests('tools/list', 'nonsense') + b'\xff\xfe\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in done.stdout.splitlines():
            self.assertEqual(parse_line(line)['jsonrpc'], '2.0')

    def test_missing_descriptors_do_no_harm(self):
        self.world.script('shows', sh_tool('ls -l /proc/self/fd >/dev/null; echo done'))
        for closed in ('2>&-', '>&- 2>&-', '<&- >&- 2>&-'):
            done = subprocess.run(['sh', '-c', f'exec "$0" "$@" {closed}', MCPD, '--root-directory', self.world.root, '--stdio'], env=self.world.env, cwd=self.world.home,
                                  input=requests('tools/list'), capture_output=True, timeout=20 * PATIENCE)
            self.assertGreaterEqual(done.returncode, 0, f'{closed}: died of a signal')
            if closed == '2>&-':
                self.assertEqual([tool['name'] for tool in parse_line(done.stdout)['result']['tools']], ['shows'])

    def test_a_reader_that_goes_away_ends_it_quietly(self):
        self.world.script('greet', GREET)
        process = self.start('--stdio', stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        try:
            process.stdin.write(requests(*['tools/list'] * 10))
            process.stdin.close()
        except BrokenPipeError:
            pass
        self.assertGreaterEqual(process.wait(10 * PATIENCE), 0, 'died of a signal')
        process.stderr.close()


class Audit(CommandCase):
    KEYS = {'time', 'client', 'tool', 'outcome', 'exit', 'ms', 'bytes'}

    def setUp(self):
        super().setUp()
        self.log = self.world.base / 'audit'
        self.world.script('exits', sh_tool('echo some output; exit "$MCPD_OPT_code"', {'code': {'value_type': 'integer', 'required': True}, 'secret': {}}))

    def audited(self, *args, version=MODERN):
        client = self.world.serve('--audit-log', self.log, *args, version=version)
        for code in (0, 4):
            client.call('exits', {'code': code, 'secret': 'hush'})
        client.close()
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def test_each_call_is_a_line_of_json(self):
        os.umask(os.umask(0))  # whatever it is
        good, bad = self.audited(version='2025-11-25')
        self.assertEqual(stat.S_IMODE(self.log.stat().st_mode), 0o600)
        for line in (good, bad):
            self.assertLessEqual(self.KEYS, set(line), line)
            self.assertEqual(line['tool'], 'exits')
            self.assertIn('e2e', json.dumps(line['client']))
            self.assertRegex(line['time'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d')
            self.assertGreaterEqual(line['ms'], 0)
            self.assertGreater(line['bytes'], 0)
        self.assertEqual((good['exit'], bad['exit']), (0, 4))
        self.assertNotEqual(good['outcome'], bad['outcome'])
        self.assertNotIn('hush', self.log.read_text())

    def test_arguments_are_there_only_when_asked_for(self):
        good, _ = self.audited('--audit-arguments')
        self.assertEqual(good['arguments'], {'code': 0, 'secret': 'hush'})

    def test_it_is_added_to(self):
        self.audited()
        self.assertEqual(len(self.audited()), 4)

    def test_a_call_that_was_refused_is_a_call_too(self):
        client = self.world.serve('--audit-log', self.log)
        client.call('exits', {'code': 'x'})
        client.close()
        line, = [json.loads(line) for line in self.log.read_text().splitlines()]
        self.assertEqual(line['tool'], 'exits')

    def test_one_that_cannot_be_written_is_told_at_the_start(self):
        done = self.run_in_root('--stdio', '--audit-log', '/no/such/directory/audit')
        self.assertIn(done.returncode, (NO_INPUT, 73, 77, 78), done.stderr)
        self.assertIn('/no/such/directory/audit', done.stderr.decode())


class Log(CommandCase):
    def log(self, *args, **kw):
        self.world.script('bad', BROKEN)
        self.world.script('chatty', sh_tool('echo "ERROR from the tool" >&2; echo done'))
        client = self.world.serve(*args, **kw)
        client.call('chatty')
        self.assertEqual(client.close(), 0)
        return client.stderr_text()

    def test_the_level_sets_how_much_is_said(self):
        said = {level: self.log('--log-level', level) for level in ('debug', 'info', 'warning', 'error')}
        self.assertIn('bad: --help exited with 3', said['info'])
        self.assertIn('bad: --help exited with 3', said['warning'])
        self.assertNotIn('bad: --help exited with 3', said['error'])
        self.assertGreater(len(said['debug'].splitlines()), len(said['info'].splitlines()))
        self.assertGreater(len(said['info'].splitlines()), len(said['warning'].splitlines()))

    def test_json_is_one_object_a_line(self):
        lines = [json.loads(line) for line in self.log('--log-format', 'json', '--log-level', 'debug').splitlines()]
        self.assertGreater(len(lines), 1)
        for line in lines:
            self.assertIn('level', line)
        self.assertTrue(any('exited with 3' in json.dumps(line) for line in lines))

    def test_text_is_the_other_form(self):
        for line in self.log('--log-format', 'text').splitlines():
            self.assertRegex(line, r'^\S*\d{4}-\d\d-\d\d|^mcpd: |^\w+')
            self.assertFalse(line.startswith('{'), line)

    def test_a_line_cannot_be_forged_by_a_script(self):
        self.world.script('forges', sh_tool("printf 'INFO one\\r2026-01-01T00:00:00 error forged\\033[31m\\n' >&2"))
        client = self.world.serve()
        client.call('forges')
        client.close()
        said = client.stderr_text()
        self.assertNotIn('\033', said)
        self.assertNotIn('\r', said)


if __name__ == '__main__':
    unittest.main()
