"""What mcpd makes of the files that it finds: tools, broken ones with their reason, or nothing at all."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from harness import MCPD, Case, ProtocolError, World, sh_tool, text

GOOD = sh_tool('echo good')
ROOT = os.geteuid() == 0
STRANGER = 54321  # a user and a group that nobody has
NOBODY = 65534


def answers(out='{}', err='', code=0):
    """A script that says exactly this when it is asked for --help."""
    return f"""#!/bin/sh
[ "$1" = --help ] || {{ echo called; exit 0; }}
cat <<'OUT'
{out}
OUT
cat >&2 <<'ERR'
{err}
ERR
exit {code}
"""


def field(**fields):
    return answers(json.dumps({'description': 'x', **fields}))


def option(**fields):
    return answers('{"description": "x"}', json.dumps({'o': fields}))


class DefinitionCase(Case):
    def setUp(self):
        super().setUp()
        self.marker = self.world.tmp / 'ran'

    def command(self, *args, **kw):
        """stdout and stderr of a command, which are both the user's to read, and the exit code."""
        done = self.world.run(*args, '--root-directory', self.world.root, **kw)
        return done.stdout.decode(errors='replace') + done.stderr.decode(errors='replace'), done.returncode

    def names(self, *args, **kw):
        """What clients see."""
        client = self.world.serve(*args, **kw)
        names = [tool['name'] for tool in client.result('tools/list')['tools']]
        self.assertEqual(client.close(), 0)
        return names

    def assertBroken(self, name, reason, *args, world=None):
        """Of `name` and `good`, only the latter is a tool, and `list` and `check` say why the former is none."""
        world = world or self.world
        world.script('good', GOOD)
        at = ('--root-directory', world.root, '--help-timeout', 1, *args)
        client = world.serve('--help-timeout', 1, *args)
        self.assertEqual([tool['name'] for tool in client.result('tools/list')['tools']], ['good'])
        with self.assertRaises(ProtocolError) as refused:
            client.call(name)
        self.assertEqual(refused.exception.code, -32602)
        self.assertEqual(client.close(), 0)

        listed = world.run('list', *at)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        said = listed.stdout.decode(errors='replace')
        self.assertRegex(said, r'\bgood\b')
        self.assertIn(name, said)
        self.assertRegex(said, reason)

        checked = world.run('check', *at)
        said = checked.stdout.decode(errors='replace') + checked.stderr.decode(errors='replace')
        self.assertEqual(checked.returncode, 65, said)
        self.assertIn(name, said)
        self.assertRegex(said, reason)

    def assertEachBroken(self, scripts):
        """scripts: name → (its text, what the reason says), each in a world of its own."""
        for name, (script, reason) in scripts.items():
            with self.subTest(name), World() as world:
                world.script(name, script)
                self.assertBroken(name, reason, world=world)


class AnswersToHelp(DefinitionCase):
    def test_one_that_does_not_answer_as_it_should_is_broken(self):
        asked = '#!/bin/sh\n[ "$1" = --help ] || exit 0\n'
        self.assertEachBroken({
            'hangs': (asked + 'exec sleep 100\n', r'within 1(\.0)? s'),
            'hangs-for-all-it-is-told': (asked + 'trap "" TERM HUP INT\nwhile :; do sleep 1; done\n', r'within 1(\.0)? s'),
            'floods-stdout': (asked + "head -c 3000000 /dev/zero | tr '\\0' ' '\necho '{}'\n", r'1 MiB'),
            'floods-stderr': (asked + "head -c 3000000 /dev/zero | tr '\\0' ' ' >&2\necho '{}'\n", r'1 MiB'),
            'floods-for-ever': (asked + 'exec yes\n', r'1 MiB|within 1(\.0)? s'),
            'prints-usage': (asked + 'echo "usage: prints-usage [-v] FILE"\n', r'stdout.*JSON|stdout of --help'),
            'prints-nothing': (asked, r'empty'),
            'prints-an-array': (answers('[{"description": "x"}]'), r'must be a JSON object, not an array'),
            'prints-a-string': (answers('"x"'), r'must be a JSON object, not a string'),
            'prints-two-objects': (answers('{"description": "x"}\n{"description": "y"}'), r'stdout'),
            'prints-half-an-object': (answers('{"description": "x"'), r'stdout'),
            'prints-latin-1': (asked + "printf '{\"description\": \"caf\\351\"}'\n", r'stdout.*UTF-8'),
            'exits-with-3': (answers(code=3, out='{"description": "x"}'), r'exited with 3'),
            'exits-with-3-and-says-why': (asked + 'echo "no such database" >&2\nexit 3\n', r'exited with 3.*no such database'),
            'kills-itself': (asked + 'kill -KILL $$\n', r'SIGKILL'),
            'logs-before-its-options': (answers('{"description": "x"}', 'INFO starting\n{"o": {}}'), r'stderr'),
            'options-are-an-array': (answers('{"description": "x"}', '[]'), r'stderr.*must be a JSON object, not an array'),
        })

    def test_help_has_no_input_and_only_one_argument(self):
        self.world.script('asked', '''#!/bin/sh
if [ "$1" = --help ]; then
  printf '{"description": "%s %s"}' "$#" "$(cat | wc -c)"
  exit 0
fi
''')
        client = self.world.serve()
        self.assertEqual(client.result('tools/list')['tools'][0]['description'], '1 0')

    def test_a_hanging_one_does_not_delay_the_others(self):
        self.world.script('good', GOOD)
        for number in range(4):
            self.world.script(f'hangs-{number}', '#!/bin/sh\n[ "$1" = --help ] && exec sleep 100\n')
        client = self.world.serve('--help-timeout', 1)
        tools = client.result('tools/list', timeout=20)['tools']
        self.assertEqual([tool['name'] for tool in tools], ['good'])

    def test_a_script_without_a_first_line_is_run_by_the_shell_as_shells_do(self):
        self.world.script('plain', GOOD.split('\n', 1)[1])
        client = self.world.serve()
        self.assertEqual(text(client.call('plain')), 'good')


class Fields(DefinitionCase):
    def test_a_wrong_type_is_named(self):
        self.assertEachBroken({
            'description-is-a-number': (field(description=5), r'description: must be a string, not a number|description: must be a string'),
            'title-is-an-array': (field(title=[]), r'title: must be a string'),
            'version-is-a-number': (field(version=1.0), r'version: must be a string'),
            'state-is-a-string': (field(state='yes'), r'state: must be true or false'),
            'timeout-is-a-string': (field(timeout='5'), r'timeout: must be a number'),
            'timeout-is-negative': (field(timeout=-1), r'timeout: must be'),
            'concurrency-is-zero': (field(concurrency=0), r'concurrency: must be'),
            'concurrency-is-a-fraction': (field(concurrency=1.5), r'concurrency: must be'),
            'effect-is-unknown': (field(effect='maybe'), r'effect: must be one of: read, write, destructive'),
            'annotations-is-an-array': (field(annotations=[]), r'annotations: must be an object'),
            'category-is-an-object': (field(category={}), r'category: must be a string'),
            'tags-is-a-string': (field(tags='x'), r'tags: must be an array of strings'),
            'tags-has-a-number': (field(tags=['x', 5]), r'tags: must be an array of strings'),
        })

    def test_a_wrong_option_is_named(self):
        self.assertEachBroken({
            'option-is-a-string': (answers('{}', '{"o": "string"}'), r'option o: must be an object'),
            'option-without-a-name': (answers('{}', '{"": {}}'), r'empty name'),
            'option-of-mcpd': (answers('{}', '{"mcpd:input": {}}'), r'mcpd:'),
            'required-is-a-string': (option(required='yes'), r'option o: required: must be true or false'),
            'type-is-unknown': (option(value_type='text'), r'option o: value_type: must be one of: string, integer'),
            'type-is-a-number': (option(value_type=5), r'option o: value_type'),
            'enum-is-empty': (option(value_type={'enum': []}), r'option o: value_type: enum'),
            'enum-is-a-string': (option(value_type={'enum': 'a'}), r'option o: value_type: enum'),
            'size-is-a-number': (option(value_type='integer', size=5), r'option o: size: must be an object'),
            'size-min-is-a-string': (option(value_type='integer', size={'min': 'a'}), r'option o: size: min must be a number'),
            'size-min-above-max': (option(value_type='integer', size={'min': 5, 'max': 4}), r'option o: size: min is greater than max'),
            'size-of-a-string-is-a-fraction': (option(value_type='string', size={'max': 1.5}), r'option o: size: max must be a whole number'),
            'pattern-is-none': (option(value_type='string', pattern='(a'), r'option o: pattern'),
            'header-is-none': (option(value_type='string', header='a b'), r'option o: header'),
            'header-of-an-object': (option(value_type='object', header='A'), r'option o: header'),
            'items-of-a-string': (option(value_type='string', items='string'), r'option o: items'),
        })

    def test_a_default_that_breaks_its_own_rules_makes_the_script_broken(self):
        self.assertEachBroken({
            'of-another-type': (option(value_type='integer', default_value='x'), r'option o: default_value: must be an integer'),
            'a-fraction': (option(value_type='integer', default_value=1.5), r'option o: default_value: must be an integer'),
            'too-large': (option(value_type='integer', size={'max': 100}, default_value=200), r'option o: default_value: 200 is more than the maximum 100'),
            'too-long': (option(value_type='string', size={'max': 2}, default_value='abc'), r'option o: default_value: .*more than the maximum 2'),
            'not-in-the-enum': (option(value_type={'enum': ['a', 'b']}, default_value='c'), r'option o: default_value: must be one of: a, b'),
            'not-of-the-pattern': (option(value_type='string', pattern='^x', default_value='c'), r'option o: default_value: '),
        })

    def test_what_a_later_version_brings_is_refused_and_not_ignored(self):
        later = {'kind': 'prompt', 'output': 'json', 'input_schema': {}, 'output_schema': {}, 'requires': ['sampling'], 'sandbox': {},
                 'rate': '10/min', 'cache': 5}
        self.assertEachBroken({f'{name}-given'.replace('_', '-'): (field(**{name: value}), rf'{name}: not supported by this version')
                               for name, value in later.items()})

    def test_what_is_only_odd_is_a_warning(self):
        self.world.script('odd', answers('{"description": "x", "titel": "y"}', json.dumps({
            'needed': {'required': True, 'default_value': 5, 'value_type': 'integer'},
            'sized': {'value_type': 'boolean', 'size': {'min': 1}}})))
        said, code = self.command('check')
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r'needed: default_value')
        self.assertRegex(said, r'sized: size')
        self.assertRegex(said, r'titel.*title')
        schema = self.world.serve().result('tools/list')['tools'][0]['inputSchema']
        self.assertEqual(schema, {'type': 'object', 'properties': {'needed': {'type': 'integer'}, 'sized': {'type': 'boolean'}},
                                  'required': ['needed']})

    def test_every_field_reaches_the_list(self):
        self.world.script('full', answers(
            json.dumps({'title': 'Full', 'description': 'All of it', 'version': '2.1', 'effect': 'destructive', 'annotations': {'openWorldHint': False},
                        'timeout': 5, 'concurrency': 2, 'category': 'c', 'tags': ['a', 'b']}),
            json.dumps({'s': {'description': 'A string', 'value_type': 'string', 'size': {'min': 1, 'max': 9}, 'pattern': '^a', 'default_value': 'abc', 'header': 'Ess'},
                        'f': {'value_type': 'float', 'size': {'min': 0.5, 'max': 1.5}},
                        'l': {'value_type': 'array', 'items': 'integer', 'size': {'max': 3}},
                        'o': {'value_type': 'object'}, 'b': {'value_type': 'boolean', 'required': True},
                        'a': {'value_type': 'any'}, 'n': {}})))
        tool, = self.world.serve().result('tools/list')['tools']
        self.assertEqual((tool['title'], tool['description'], tool['_meta']['mcpd/version']), ('Full', 'All of it', '2.1'))
        self.assertEqual(tool['annotations'], {'readOnlyHint': False, 'destructiveHint': True, 'openWorldHint': False})
        self.assertEqual(tool['inputSchema'], {
            'type': 'object',
            'properties': {
                's': {'type': 'string', 'description': 'A string', 'minLength': 1, 'maxLength': 9, 'pattern': '^a', 'default': 'abc', 'x-mcp-header': 'Ess'},
                'f': {'type': 'number', 'minimum': 0.5, 'maximum': 1.5},
                'l': {'type': 'array', 'items': {'type': 'integer'}, 'maxItems': 3},
                'o': {'type': 'object'}, 'b': {'type': 'boolean'}, 'a': {}, 'n': {}},
            'required': ['b']})
        self.assertEqual(list(tool['inputSchema']['properties']), ['s', 'f', 'l', 'o', 'b', 'a', 'n'])

    def test_a_tool_never_lacks_a_description(self):
        self.world.script('dir/mute', answers('{}'))
        self.world.script('titled', answers('{"title": "Titled", "description": ""}'))
        described = {tool['name']: (tool['title'], tool['description']) for tool in self.world.serve().result('tools/list')['tools']}
        self.assertEqual(described, {'dir/mute': ('mute', 'mute'), 'titled': ('Titled', 'Titled')})


class ScriptsThatAreNotRun(DefinitionCase):
    def test_one_that_shows_no_sign_of_looking_at_its_arguments_is_not_asked(self):
        for name, script in {'backup': f'#!/bin/sh\ntouch {self.marker}\necho "{{}}"\n',
                             'deploy.py': f"#!/usr/bin/python3\nopen('{self.marker}', 'w')\nprint('{{}}')\n",
                             'plain': f'touch {self.marker}\necho "{{}}"\n'}.items():
            with self.subTest(name), World() as world:
                world.script(name, script)
                self.assertBroken(name, r'does not look at its arguments.*--help', world=world)
                self.assertFalse(self.marker.exists(), 'it was run')

    def test_each_sign_counts(self):
        signs = ['--help', 'mcpd', '$1', '$@', '$*', '$#', 'argv', 'ARGV', 'getopt']
        for number, sign in enumerate(signs):
            self.world.script(f'sign-{number}', f'#!/bin/sh\n# {sign}\necho \'{{"description": "x"}}\'\n')
        self.assertEqual(self.names(), [f'sign-{number}' for number in range(len(signs))])

    def test_a_sign_is_looked_for_in_the_first_256_kib(self):
        padding = '#' + 'x' * 1022 + '\n'
        ask = 'echo \'{"description": "x"}\'\nexit\n'
        self.world.script('within', '#!/bin/sh\n' + ask + padding * 254 + '# argv\n')
        self.world.script('beyond', '#!/bin/sh\n' + ask + padding * 257 + '# argv\n')
        self.assertEqual(self.names(), ['within'])

    def test_leftovers_and_hidden_ones_are_neither_tools_nor_broken(self):
        # Whoever runs it leaves a mark, whatever it is asked.
        script = f'#!/bin/sh\n# $1\necho "$0" >>{self.marker}\necho "{{}}"\n'
        leftovers = ['.hidden', 'edit~', '#edit#', 'edit.swp', 'edit.tmp', 'edit.bak', 'edit.orig', '.git/hooks/post-commit',
                     'node_modules/x/cli', 'deep/node_modules/cli', '__pycache__/cli', 'venv/bin/activate', 'deep/env/bin/pip']
        for name in leftovers:
            self.world.script(name, script)
        self.world.file('venv/pyvenv.cfg', '')
        self.world.file('deep/env/pyvenv.cfg', '')
        self.world.file('not-executable', script)
        self.world.script('good', GOOD)
        self.world.script('#half', GOOD)
        self.world.script('deep/good', GOOD)

        self.assertEqual(self.names(), ['#half', 'deep/good', 'good'])
        said, code = self.command('check')
        self.assertEqual(code, 0, said)
        said = said + self.command('list')[0]
        for name in leftovers:
            self.assertNotIn(name, said)
        self.assertFalse(self.marker.exists(), 'a leftover was run')

    def test_what_is_no_regular_file_is_passed_by(self):
        self.world.script('good', GOOD)
        os.mkfifo(self.world.root / 'fifo', 0o755)
        (self.world.root / 'fifo').chmod(0o755)
        (self.world.root / 'null').symlink_to('/dev/null')
        (self.world.root / 'link-to-fifo').symlink_to('fifo')
        (self.world.root / 'dangling').symlink_to('/no/such/file')
        (self.world.root / 'itself').symlink_to('itself')
        self.assertEqual(self.names(), ['good'])
        said, code = self.command('check')
        self.assertEqual(code, 0, said)


class Places(DefinitionCase):
    def test_a_loop_of_links_ends(self):
        self.world.script('dir/tool', GOOD)
        (self.world.root / 'dir' / 'up').symlink_to('..')
        (self.world.root / 'here').symlink_to('.')
        self.world.folder(self.world.root / 'a' / 'b')
        (self.world.root / 'a' / 'b' / 'a').symlink_to(self.world.root / 'a')
        self.assertEqual(self.names(), ['dir/tool'])

    def test_one_file_under_two_names_is_two_tools(self):
        self.world.script('tool', sh_tool('echo "$MCPD_TOOL"'))
        (self.world.root / 'link').symlink_to('tool')
        os.link(self.world.root / 'tool', self.world.root / 'hard')
        outside = self.world.folder(self.world.base / 'outside')
        (outside / 'tool').write_text(GOOD)
        (outside / 'tool').chmod(0o755)
        (self.world.root / 'dir').symlink_to(outside)
        client = self.world.serve()
        self.assertEqual([tool['name'] for tool in client.result('tools/list')['tools']], ['dir/tool', 'hard', 'link', 'tool'])
        self.assertEqual([text(client.call(name)) for name in ('hard', 'link', 'tool')], ['hard', 'link', 'tool'])

    def test_sixteen_levels_are_searched_and_no_more(self):
        deepest = '/'.join(f'd{level}' for level in range(1, 17))
        self.world.script(f'{deepest}/tool', GOOD)
        self.world.script(f'{deepest}/d17/tool', GOOD)
        self.assertEqual(self.names(), [f'{deepest}/tool'])
        self.assertIn('16', self.command('list')[0])

    def test_a_name_that_is_not_utf_8_is_skipped_with_a_warning(self):
        self.world.script('good', GOOD)
        bad = os.path.join(os.fsencode(self.world.root), b'caf\xe9')
        pathlib.Path(os.fsdecode(bad)).write_text(GOOD)
        os.chmod(bad, 0o755)
        client = self.world.serve()
        self.assertEqual([tool['name'] for tool in client.result('tools/list')['tools']], ['good'])
        client.close()
        self.assertRegex(client.stderr_text(), r'caf.*UTF-8')
        self.assertRegex(self.command('list')[0], r'caf.*UTF-8')
        self.assertRegex(self.command('check')[0], r'caf.*UTF-8')

    def test_a_name_may_hold_anything_else(self):
        names = ['with blank', '猫', 'a;b', "it's", 'new\nline', '-rf', '*', '$HOME']
        for name in names:
            self.world.script(name, sh_tool('printf %s "$MCPD_TOOL"'))
        client = self.world.serve()
        self.assertEqual([tool['name'] for tool in client.result('tools/list')['tools']], sorted(names, key=os.fsencode))
        for name in names:
            self.assertEqual(text(client.call(name)), name)

    def test_an_empty_directory_is_served(self):
        self.assertEqual(self.names(), [])
        said, code = self.command('check')
        self.assertEqual(code, 0, said)


class Interpreters(DefinitionCase):
    def test_one_that_cannot_be_started_says_why(self):
        self.assertEachBroken({
            'from-windows': (GOOD.replace('\n', '\r\n'), r'CR'),
            'from-windows-by-env': (GOOD.replace('#!/bin/sh', '#!/usr/bin/env sh').replace('\n', '\r\n'), r'CR'),
            'interpreter-missing': (GOOD.replace('#!/bin/sh', '#!/no/such/shell'), r'interpreter /no/such/shell does not exist'),
            'interpreter-not-on-path': (GOOD.replace('#!/bin/sh', '#!/usr/bin/env no-such-shell'), r'exited with 127.*no-such-shell'),
            'interpreter-is-a-directory': (GOOD.replace('#!/bin/sh', '#!/tmp'), r'interpreter /tmp'),
            'no-program': (b'\x7fNOT\0\1\2\3' * 100, r'neither a program for this machine nor'),
            'half-a-program': (pathlib.Path('/bin/true').resolve().read_bytes()[:100], r'neither a program|loader|could not be started|killed'),
            'another-program': (pathlib.Path('/bin/true').resolve().read_bytes(), r'stdout of --help'),
            'empty': (b'', r'argument|empty'),
        })


class Permissions(DefinitionCase):
    def test_a_script_that_others_can_write_is_not_run(self):
        script = self.world.script('open', f'#!/bin/sh\n# $1\ntouch {self.marker}\necho "{{}}"\n', 0o777)
        self.assertBroken('open', rf'0777.*chmod o-w .*{re.escape(str(script))}')
        self.assertFalse(self.marker.exists(), 'it was run')

    def test_a_script_below_a_directory_that_others_can_write_is_not_run(self):
        for sticky in (0, 0o1000):
            with self.subTest(sticky=sticky), World() as world:
                world.script('open/deep/tool', GOOD)
                (world.root / 'open').chmod(0o777 | sticky)
                self.assertBroken('open/deep/tool', rf'{re.escape(str(world.root))}/open\b.*{0o777 | sticky:04o}.*chmod o-w', world=world)

    def test_nothing_is_run_below_a_root_that_others_can_write(self):
        self.world.script('tool', GOOD)
        self.world.root.chmod(0o777)
        self.assertEqual(self.names(), [])
        said, code = self.command('check')
        self.assertEqual(code, 65)
        self.assertRegex(said, r'tool.*chmod o-w')

    def test_the_target_of_a_link_counts(self):
        target = self.world.base / 'target'
        target.write_text(GOOD)
        target.chmod(0o757)
        (self.world.root / 'link').symlink_to(target)
        self.assertBroken('link', r'0757.*chmod o-w')

    @unittest.skipUnless(ROOT, 'only root can give files away')
    def test_what_belongs_to_another_user_is_not_run(self):
        for name, given in {'tool': 'tool', 'dir/tool': 'dir'}.items():
            with self.subTest(name), World() as world:
                world.script(name, GOOD)
                os.chown(world.root / given, STRANGER, 0)
                self.assertBroken(name, rf'/{given} belongs to {STRANGER}\b', world=world)

    @unittest.skipUnless(ROOT, 'only root can give files away')
    def test_a_group_may_write_only_when_it_is_the_users_own(self):
        for name, given in {'tool': 'tool', 'dir/tool': 'dir'}.items():
            with self.subTest(name), World() as world:
                world.script(name, GOOD)
                os.chown(world.root / given, 0, STRANGER)
                (world.root / given).chmod(0o775)
                self.assertBroken(name, rf'/{given}\b.*0775.*chmod g-w', world=world)
                os.chown(world.root / given, 0, 0)  # root's own group, with nobody else in it
                self.assertIn(name, world.run('list', '--names', '--root-directory', world.root).stdout.decode().split())

    @unittest.skipUnless(ROOT, 'only root can become another user')
    def test_an_unprivileged_daemon_trusts_root_and_itself_alone(self):
        try:
            subprocess.run([MCPD, '--version'], check=True, capture_output=True, user=NOBODY)
        except PermissionError:
            self.skipTest(f'{MCPD} cannot be reached by user {NOBODY}')
        self.world.script('of-root', GOOD)
        os.chown(self.world.script('of-itself', GOOD), NOBODY, NOBODY)
        os.chown(self.world.script('of-another', GOOD), STRANGER, STRANGER)
        self.world.script('unreadable', GOOD, 0o711)
        done = self.world.run('list', '--names', '--root-directory', self.world.root, user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertEqual(sorted(done.stdout.decode().split()), ['of-itself', 'of-root'])
        done = self.world.run('check', '--root-directory', self.world.root, user=NOBODY, group=NOBODY, extra_groups=[])
        said = (done.stdout + done.stderr).decode()
        self.assertEqual(done.returncode, 65)
        self.assertRegex(said, rf'of-another.*belongs to {STRANGER}')
        self.assertRegex(said, r'unreadable')

    def test_unsafe_permissions_turns_the_rule_off_with_a_warning(self):
        self.world.script('open', sh_tool('echo ran'), 0o777)
        self.world.script('dir/tool', GOOD)
        (self.world.root / 'dir').chmod(0o777)
        client = self.world.serve('--unsafe-permissions')
        self.assertEqual([tool['name'] for tool in client.result('tools/list')['tools']], ['dir/tool', 'open'])
        self.assertEqual(text(client.call('open')), 'ran')
        client.close()
        self.assertRegex(client.stderr_text(), r'(?i)warn.*(unsafe|permission)')
        self.assertEqual(self.command('check', '--unsafe-permissions')[1], 0)
        self.assertEqual(self.command('check')[1], 65)

    def test_the_rule_is_looked_at_again_before_each_run(self):
        changes = {
            'its mode': lambda world: (world.root / 'dir' / 'tool').chmod(0o777),
            'its directory': lambda world: (world.root / 'dir').chmod(0o777),
            'the root': lambda world: world.root.chmod(0o777),
        }
        for name, change in changes.items():
            with self.subTest(name), World() as world:
                world.script('dir/tool', sh_tool(f'touch {self.marker}'))
                client = world.serve()
                self.assertEqual(len(client.result('tools/list')['tools']), 1)
                change(world)
                try:
                    result = client.call('dir/tool')
                    self.assertIs(result['isError'], True, 'it was run')
                    said = text(result)
                except ProtocolError as refused:
                    self.assertEqual(refused.code, -32602)
                    said = refused.message
                self.assertIn('dir/tool', said)
                self.assertFalse(self.marker.exists(), 'it was run')


class OneBadOne(DefinitionCase):
    def test_the_bad_do_not_hide_the_good(self):
        bad = {'bad/exits': answers(code=3), 'bad/array': answers('[]'), 'bad/usage': answers('usage'), 'bad/types': field(timeout='x'),
               'bad/binary': b'\x7fNOT\0\1' * 9, 'bad/silent': '#!/bin/sh\n', 'bad/windows': GOOD.replace('\n', '\r\n'),
               'bad/later': field(kind='prompt')}
        good = [f'good/{number}' for number in range(5)]
        for name, script in bad.items():
            self.world.script(name, script)
        for name in good:
            self.world.script(name, GOOD)
        self.world.script('bad/open', GOOD, 0o777)
        self.assertEqual(self.names(), good)
        self.assertEqual(self.world.run('list', '--names', '--root-directory', self.world.root).stdout.decode().split(), good)
        said, code = self.command('check')
        self.assertEqual(code, 65)
        for name in [*bad, 'bad/open']:
            self.assertIn(name, said)
        said, _ = self.command('list')
        for name in [*bad, 'bad/open', *good]:
            self.assertIn(name, said)

    def test_the_log_names_the_broken_and_why(self):
        self.world.script('bad', answers(code=3))
        client = self.world.serve()
        client.result('tools/list')
        client.close()
        self.assertRegex(client.stderr_text(), r'bad: --help exited with 3')


class PortableNames(DefinitionCase):
    PORTABLE = re.compile(r'[A-Za-z0-9_-]{1,64}')

    def published(self, client):
        names = [tool['name'] for tool in client.result('tools/list')['tools']]
        for name in names:
            self.assertIsNotNone(self.PORTABLE.fullmatch(name), f'{name!r} is not portable')
        self.assertEqual(len(set(names)), len(names), names)
        return names

    def test_a_path_is_published_in_portable_characters(self):
        for name in ('math/add', 'plain', 'dotted.sh', 'with blank'):
            self.world.script(name, sh_tool('echo "$MCPD_TOOL"'))
        client = self.world.serve('--tool-names', 'portable')
        self.assertEqual(sorted(self.published(client)), ['dotted_sh', 'math_add', 'plain', 'with_blank'])
        for spelled in ('math_add', 'math/add'):
            self.assertEqual(text(client.call(spelled)), 'math/add')

    def test_both_spellings_are_accepted_however_tools_are_listed(self):
        self.world.script('math/add', sh_tool('echo "$MCPD_TOOL"'))
        client = self.world.serve()
        self.assertEqual([tool['name'] for tool in client.result('tools/list')['tools']], ['math/add'])
        for spelled in ('math_add', 'math/add'):
            self.assertEqual(text(client.call(spelled)), 'math/add')

    def test_a_clash_gets_a_short_stable_suffix(self):
        clashing = ['a/b', 'a.b', 'a_b', 'a b']
        for name in [*clashing, 'other']:
            self.world.script(name, sh_tool('echo "$MCPD_TOOL"'))
        client = self.world.serve('--tool-names', 'portable')
        names = self.published(client)
        self.assertIn('other', names)
        called = {name: text(client.call(name)) for name in names}
        self.assertEqual(sorted(called.values()), sorted([*clashing, 'other']))
        for name, path in called.items():
            self.assertTrue(path == 'other' or name.startswith('a_b'), called)
            self.assertLessEqual(len(name), len('a_b') + 10)
        for path in clashing:
            self.assertEqual(text(client.call(path)), path)  # an exact name beats a portable spelling
        client.close()

        again = self.world.serve('--tool-names', 'portable')
        self.assertEqual(self.published(again), names)
        again.close()
        (self.world.root / 'a b').unlink()
        fewer = self.world.serve('--tool-names', 'portable')
        self.assertLess(set(self.published(fewer)), set(names))  # the others keep theirs

    def test_a_long_name_is_shortened_and_stays_its_own(self):
        long = ['x' * 70 + '/one', 'x' * 70 + '/two']
        for name in long:
            self.world.script(name, sh_tool('echo "$MCPD_TOOL"'))
        client = self.world.serve('--tool-names', 'portable')
        self.assertEqual(sorted(text(client.call(name)) for name in self.published(client)), long)

    def test_another_word_is_refused(self):
        done = self.world.run('--root-directory', self.world.root, '--stdio', '--tool-names', 'pretty')
        self.assertEqual(done.returncode, 64)
        self.assertRegex(done.stderr.decode(), r'path.*portable')


if __name__ == '__main__':
    unittest.main()
