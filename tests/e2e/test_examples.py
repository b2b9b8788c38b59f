"""The examples, each as a client meets it: listed, called well, and called so that it fails.

$MCPD_EXAMPLES is their directory, $MCPD_EXAMPLE_CHECKSUM the program made of checksum.c."""

import http.server
import json
import os
import pathlib
import shutil
import socket
import subprocess
import threading
import unittest

import harness
from harness import CAPABILITIES, CLAIM, MODERN, PATIENCE, VERSIONS, text

EXAMPLES = pathlib.Path(os.environ.get('MCPD_EXAMPLES') or harness.HERE.parent.parent / 'scripts-examples')

TOOLS = ['calculator', 'checksum', 'counter', 'csv-table', 'days-between', 'describe-numbers', 'disk-usage', 'git/log-search', 'greet',
         'hello', 'long-job', 'notes', 'process-text', 'read-file', 'url-check']

NAMES = {1: 'internal error', 2: 'bad request', 3: 'forbidden', 4: 'not found', 5: 'service unavailable', 9: 'timeout'}

NOBODY = 65534


class ExampleCase(harness.Case):
    """A world whose root holds the examples, with modes of our own: a checkout's depend on the umask."""

    def setUp(self):
        super().setUp()
        checksum = os.environ.get('MCPD_EXAMPLE_CHECKSUM')
        self.assertTrue(checksum, 'MCPD_EXAMPLE_CHECKSUM must name the program made of checksum.c')
        self.world.file('checksum', pathlib.Path(checksum).read_bytes(), 0o755)
        for path in EXAMPLES.rglob('*'):
            if path.is_file() and path != EXAMPLES / 'checksum':
                self.world.file(path.relative_to(EXAMPLES), path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)

    def serve(self, **kw):
        self.client = self.world.serve(**kw)
        return self.client

    def assertGives(self, expected, tool, arguments, **kw):
        """The call ends well, and its one block is this text."""
        result = self.client.call(tool, arguments, **kw)
        self.assertIs(result['isError'], False, result)
        self.assertEqual(result['content'], [{'type': 'text', 'text': expected}])
        return result

    def assertFails(self, code, reason, tool, arguments, **kw):
        """The call fails with this exit code, and what the client is told last names it and holds `reason`."""
        result = self.client.call(tool, arguments, **kw)
        self.assertFailed(code, reason, result)
        return result

    def assertFailed(self, code, reason, result):
        self.assertIs(result['isError'], True, result)
        self.assertEqual(result['_meta']['mcpd/exitCode'], code, result)
        last = result['content'][-1]['text']
        self.assertIn(f'exit code {code}: {NAMES[code]}', last)
        self.assertIn(reason, last)


class Listing(ExampleCase):
    def test_all_examples_are_listed_in_every_version(self):
        for version in VERSIONS:
            with self.subTest(version):
                tools = self.serve(version=version).result('tools/list')['tools']
                self.assertEqual([tool['name'] for tool in tools], TOOLS)
                for tool in tools:
                    self.assertTrue(tool['description'], tool)
                    self.assertEqual(tool['inputSchema']['type'], 'object')

    def test_nothing_about_them_is_broken_or_odd(self):
        checked = self.world.run('check', '--root-directory', self.world.root)
        self.assertEqual(checked.returncode, 0, checked)
        self.assertNotIn(b'warning', checked.stdout.lower() + checked.stderr.lower())

    def test_their_effects_become_annotations(self):
        tools = {tool['name']: tool.get('annotations') for tool in self.serve().result('tools/list')['tools']}
        self.assertIsNone(tools['greet'])
        self.assertEqual(tools['disk-usage'], {'readOnlyHint': True})
        self.assertEqual(tools['counter'], {'readOnlyHint': False, 'destructiveHint': False})
        self.assertEqual(tools['notes'], {'readOnlyHint': False, 'destructiveHint': True})
        self.assertEqual(tools['url-check'], {'readOnlyHint': True, 'openWorldHint': True})


class Simple(ExampleCase):
    """Those that need nothing but their arguments."""

    def setUp(self):
        super().setUp()
        self.serve()

    def test_hello_takes_nothing_and_cannot_fail(self):
        self.assertGives('{"message": "Hello, World!"}', 'hello', {})
        result = self.assertGives('{"message": "Hello, World!"}', 'hello', {'surplus': 1})
        self.assertEqual(result['_meta']['mcpd/ignored'], ['surplus'])

    def test_greet(self):
        self.assertGives('Hello, World!', 'greet', {'name': 'World'})
        self.assertGives(r'Hello, \n"$(id)`é!', 'greet', {'name': r'\n"$(id)`é'})
        self.assertFails(2, 'nobody to greet', 'greet', {'name': ''})

    def test_calculator(self):
        for operation, a, b, result in [('add', 0.1, 0.2, '0.3'), ('subtract', 5, -3, '8'), ('multiply', -0.5, 0.5, '-0.25'),
                                        ('divide', 1, 3, '0.33333333333333333333'), ('divide', 5, 2, '2.5'),
                                        ('multiply', 1e100, 2, '2' + 100 * '0')]:
            with self.subTest(operation, a=a, b=b):
                self.assertGives(f'{{"result": {result}}}', 'calculator', {'operation': operation, 'a': a, 'b': b})
        self.assertFails(2, 'b is zero', 'calculator', {'operation': 'divide', 'a': 1, 'b': 0})

    def test_calculator_refuses_an_operation_that_is_no_choice(self):
        result = self.client.call('calculator', {'operation': 'power', 'a': 1, 'b': 2})
        self.assertIs(result['isError'], True)
        self.assertIn('operation: must be one of: add, subtract, multiply, divide', text(result))

    def test_process_text(self):
        self.assertGives('{"processed": "Straße \\"5\\"", "length": 10}', 'process-text', {'text': 'Straße "5"'})
        self.assertGives('{"processed": "STRASSE", "length": 7}', 'process-text', {'text': 'Straße', 'uppercase': True})
        self.assertFails(2, 'text is blank', 'process-text', {'text': ' \n'})

    def test_process_text_takes_more_than_the_environment_holds(self):
        long = 200 * 1024 * 'x'
        self.assertGives(json.dumps({'processed': long, 'length': len(long)}), 'process-text', {'text': long})

    def test_csv_table(self):
        self.assertGives('| name | note         |\n'
                         '| ---- | ------------ |\n'
                         '| Änne | a "b" \\| c d |\n'
                         '| x    |              |',
                         'csv-table', {'csv': 'name,note\r\nÄnne,"a ""b"" | c\nd"\r\nx,\r\n'})
        self.assertGives('| a   | b,c |\n| --- | --- |', 'csv-table', {'csv': 'a;b,c', 'separator': 'semicolon'})
        self.assertFails(2, 'row 2 has 1 fields, the header has 2', 'csv-table', {'csv': 'a,b\n1'})
        self.assertFails(2, 'row 1 has a quote', 'csv-table', {'csv': '"a'})

    def test_days_between(self):
        self.assertGives('{"days": 59, "from": "Thursday", "to": "Sunday"}', 'days-between', {'from': '2026-01-01', 'to': '2026-03-01'})
        self.assertFails(2, 'no such date', 'days-between', {'from': '2026-02-30'})

    def test_describe_numbers(self):
        self.assertGives('{"count": 8, "min": 2, "max": 9, "mean": 5.0, "median": 4.5, "deviation": 2.0}',
                         'describe-numbers', {'numbers': [2, 4, 4, 4, 5, 5, 7, 9]})
        self.assertFails(2, 'too large', 'describe-numbers', {'numbers': [1e308, 1e308]})

    def test_long_job_tells_its_progress(self):
        self.assertGives('step 1 done\nstep 2 done', 'long-job', {'steps': 2, 'seconds': 0}, meta={'progressToken': 'job'})
        progress = [message['params'] for message in self.client.notifications('notifications/progress')]
        self.assertEqual([(each['progress'], each['total'], each['message']) for each in progress],
                         [(0, 2, 'begun'), (1, 2, 'step 1 done'), (2, 2, 'step 2 done')])

    def test_long_job_fails_half_way_and_what_it_did_is_told(self):
        result = self.assertFails(5, 'step 2 failed', 'long-job', {'steps': 3, 'seconds': 0, 'fail_at': 2})
        self.assertEqual(result['content'][0]['text'], 'step 1 done')


class State(ExampleCase):
    """Those that remember."""

    def setUp(self):
        super().setUp()
        self.serve()

    def read(self, uri):
        contents = self.client.result('resources/read', {'uri': uri})['contents']
        self.assertEqual([(each['uri'], each['mimeType']) for each in contents], [(uri, 'application/json')])
        return json.loads(contents[0]['text'])

    def test_their_states_are_resources(self):
        uris = [resource['uri'] for resource in self.client.result('resources/list')['resources']]
        self.assertEqual(sorted(uris), ['mcpd://counter/state', 'mcpd://notes/state'])

    def test_two_increments_at_once_make_two(self):
        self.assertEqual(self.read('mcpd://counter/state'), {'count': 0})
        ids = [self.client.start_call('counter', {}), self.client.start_call('counter', {})]
        counts = [json.loads(text(harness.unwrap(self.client.wait(id)))) for id in ids]
        self.assertEqual(sorted(count['count'] for count in counts), [1, 2])
        self.assertEqual(self.read('mcpd://counter/state'), {'count': 2})

    def test_counter_counts_by_any_step(self):
        self.assertGives('{"count": 5, "incremented_by": 5}', 'counter', {'increment': 5})
        self.assertGives('{"count": -2, "incremented_by": -7}', 'counter', {'increment': -7})
        self.assertGives('{"count": -1, "incremented_by": 1}', 'counter', {})

    def test_counter_that_cannot_be_kept(self):
        self.world.folder(self.world.home / '.local')
        (self.world.home / '.local/state').write_text('in the way')
        self.assertFails(5, 'cannot write', 'counter', {})

    def test_damaged_counter_is_not_overwritten(self):
        kept = self.world.folder(self.world.home / '.local/state/mcpd-examples') / 'counter.json'
        kept.write_text('seven')
        self.assertFails(1, 'holds no count', 'counter', {})
        self.assertEqual(kept.read_text(), 'seven')

    def test_notes(self):
        milk, bread = {'id': 1, 'text': 'Buy "milk" – today'}, {'id': 2, 'text': 'bread'}

        def notes(*of):
            return json.dumps({'notes': of}, ensure_ascii=False)

        self.assertGives(notes(milk), 'notes', {'action': 'add', 'text': milk['text']})
        self.assertGives(notes(bread), 'notes', {'action': 'add', 'text': 'bread'})
        self.assertGives(notes(milk), 'notes', {'action': 'list', 'text': 'MILK'})
        self.assertEqual(self.read('mcpd://notes/state'), {'notes': [milk, bread]})
        self.assertGives(notes(milk), 'notes', {'action': 'remove', 'id': 1})
        self.assertGives(notes(bread), 'notes', {'action': 'list'})
        self.assertFails(4, 'there is no note 1', 'notes', {'action': 'remove', 'id': 1})
        self.assertFails(2, 'text is missing', 'notes', {'action': 'add'})


class Files(ExampleCase):
    """Those that look at files, whatever these are called. Tools run in the home of the world."""

    def setUp(self):
        super().setUp()
        self.serve()

    def file(self, name, content):
        path = self.world.home / name
        path.write_bytes(content)
        return path

    def test_read_file(self):
        for name in ['plain', '-n', '-', 'two  words "and" $(id)']:
            with self.subTest(name):
                self.file(name, b'one\ntwo\n')
                self.assertGives('one\ntwo', 'read-file', {'path': name})
        self.assertFails(4, 'File not found: nowhere', 'read-file', {'path': 'nowhere'})
        self.assertFails(2, 'Not a regular file: .', 'read-file', {'path': '.'})

    def test_read_file_logs_what_it_reads(self):
        self.file('plain', b'')
        client = self.serve(version='2025-06-18')
        client.call('read-file', {'path': 'plain'})
        logged = client.wait_notification('notifications/message')['params']
        self.assertEqual(logged, {'level': 'info', 'logger': 'read-file', 'data': 'Reading file: plain'})

    def test_read_file_and_checksum_of_what_is_forbidden(self):
        self.file('secret', b'').chmod(0)
        # Nothing is forbidden to root, so mcpd, where an unprivileged user can reach it, runs as such a one here.
        mcpd = shutil.copy(harness.MCPD, self.world.base / 'mcpd')
        drop = {'user': NOBODY, 'group': NOBODY, 'extra_groups': []} if os.geteuid() == 0 else {}
        meta = {CLAIM: MODERN, CAPABILITIES: {}}
        requests = [{'jsonrpc': '2.0', 'id': tool, 'method': 'tools/call',
                     'params': {'name': tool, 'arguments': {'path': 'secret'}, '_meta': meta}} for tool in ('read-file', 'checksum')]
        done = subprocess.run([mcpd, '--root-directory', self.world.root, '--stdio'], cwd=self.world.home, env=self.world.env,
                              input=''.join(json.dumps(request) + '\n' for request in requests).encode(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30 * PATIENCE, **drop)
        results = {answer['id']: answer['result'] for answer in map(json.loads, done.stdout.splitlines()) if 'id' in answer}
        self.assertEqual(sorted(results), ['checksum', 'read-file'], done.stderr)
        self.assertFailed(3, 'Permission denied: secret', results['read-file'])
        self.assertFailed(3, 'secret: Permission denied', results['checksum'])

    def test_checksum(self):
        for name in ['plain', '-n', '-']:
            with self.subTest(name):
                self.file(name, b'123456789')
                self.assertGives('{"crc32": "cbf43926", "size": 9}', 'checksum', {'path': name})
        self.assertFails(4, 'nowhere: No such file', 'checksum', {'path': 'nowhere'})
        self.assertFails(2, 'not a regular file', 'checksum', {'path': '.'})

    def test_disk_usage(self):
        folder = self.world.folder(self.world.home / '--help')
        sizes = {}
        for name, size in [('large', 300), ('middle', 100), ('small', 1)]:
            with open(folder / name, 'wb') as file:
                file.write(os.urandom(size * 1024))
                os.fsync(file.fileno())  # some file systems give out blocks only then
            sizes[name] = (folder / name).stat().st_blocks * 512
        total = sum(sizes.values()) + folder.stat().st_blocks * 512

        def kib(size):
            return (size + 1023) // 1024

        self.assertGives(f'{kib(total)}\t--help\n{kib(sizes["large"])}\t--help/large\n{kib(sizes["middle"])}\t--help/middle',
                         'disk-usage', {'path': '--help', 'top': 2})
        self.assertFails(4, 'no such directory', 'disk-usage', {'path': 'nowhere'})
        self.assertFails(2, 'not a directory', 'disk-usage', {'path': '--help/large'})

    def git(self, *args, **env):
        done = subprocess.run(['git', *args], cwd=self.world.home / 'repository', env={**self.world.env, **env}, check=True,
                              stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def test_git_log_search(self):
        self.world.folder(self.world.home / 'repository')
        self.git('init', '--quiet')
        self.assertGives('no commit found', 'git/log-search', {'text': 'x', 'repository': 'repository'})
        hashes = {}
        for day, author, subject in [('01', 'Ada', 'Begin'), ('02', 'Ada', 'Mend the [pump]'), ('03', 'Bo', 'mend it again'), ('04', 'Bo', '--all')]:
            date = f'2026-01-{day}T12:00:00Z'
            self.git('-c', f'user.name={author}', '-c', f'user.email={author}@example.org', 'commit', '--quiet', '--allow-empty', '-m', subject,
                     GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date)
            hashes[day] = self.git('rev-parse', '--short', 'HEAD')
        second = f'{hashes["02"]} 2026-01-02 Ada: Mend the [pump]'
        third = f'{hashes["03"]} 2026-01-03 Bo: mend it again'
        for arguments, expected in [({'text': 'mend'}, f'{third}\n{second}'), ({'text': 'MEND', 'limit': 1}, third),
                                    ({'text': '[pump]'}, second), ({'text': 'mend', 'author': 'ada'}, second),
                                    ({'text': 'mend', 'since': '2026-01-03'}, third),
                                    ({'text': '--all'}, f'{hashes["04"]} 2026-01-04 Bo: --all')]:
            with self.subTest(**arguments):
                self.assertGives(expected, 'git/log-search', {**arguments, 'repository': 'repository'})
        self.assertFails(4, 'no git repository here: nowhere', 'git/log-search', {'text': 'x', 'repository': 'nowhere'})


class Moved(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.send_response(200 if self.path == '/' else 301)
        if self.path != '/':
            self.send_header('Location', '/')
        self.end_headers()

    def log_message(self, *_):
        pass


class Web(ExampleCase):
    def setUp(self):
        super().setUp()
        self.serve()

    def silent(self, listens):
        """The address of a port at which nobody answers: where nobody listens, or where nobody speaks."""
        server = socket.socket()
        self.addCleanup(server.close)
        server.bind(('127.0.0.1', 0))
        if listens:
            server.listen()
        return f'127.0.0.1:{server.getsockname()[1]}'

    def test_url_check(self):
        server = http.server.HTTPServer(('127.0.0.1', 0), Moved)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f'http://127.0.0.1:{server.server_port}/'
        self.assertGives('{"status":200}', 'url-check', {'url': url})
        self.assertGives('{"status":301,"location":"/"}', 'url-check', {'url': url + 'old'})

    def test_url_check_of_what_does_not_answer(self):
        refusing, dumb = self.silent(False), self.silent(True)
        self.assertFails(5, f'cannot reach {refusing}: ECONNREFUSED', 'url-check', {'url': f'http://{refusing}/'})
        self.assertFails(9, 'no answer within 0.2 s', 'url-check', {'url': f'http://{dumb}/', 'timeout': 0.2})

    def test_url_check_speaks_http_only(self):
        self.assertFails(2, 'not a URL', 'url-check', {'url': 'example'})
        self.assertFails(2, 'only http and https', 'url-check', {'url': 'file:///etc/passwd'})


if __name__ == '__main__':
    unittest.main()
