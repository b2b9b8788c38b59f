"""Ten thousand calls over one connection leave nothing behind: no descriptor, no memory, no zombie."""

import os
import pathlib
import re
import unittest

from harness import MCPD, Case, sh_tool, text, wait_until

MIB = 1024 * 1024


def memory(pid):
    return int(re.search(r'^VmRSS:\s+(\d+) kB', pathlib.Path(f'/proc/{pid}/status').read_text(), re.M)[1]) * 1024


def descriptors(pid):
    """What each descriptor is, without the numbers of pipes and the like."""
    found = {}
    for number in os.listdir(f'/proc/{pid}/fd'):
        found[int(number)] = re.sub(r':\[\d+\]', '', os.readlink(f'/proc/{pid}/fd/{number}'))
    return found


def children(pid):
    """Of whichever thread; zombies too."""
    return [child for each in pathlib.Path(f'/proc/{pid}/task').glob('*/children') for child in each.read_text().split()]


class Soak(Case):
    AT_ONCE = 8

    def call_many(self, client, count):
        """So many calls, a few at a time; the next is sent when the oldest is answered."""
        waiting = []
        for number in range(count):
            if len(waiting) == self.AT_ONCE:
                self.check_one(client, *waiting.pop(0))
            waiting.append((client.start_call('echo', {'x': number}), number))
        for each in waiting:
            self.check_one(client, *each)

    def check_one(self, client, id, number):
        answer = client.wait(id, timeout=60)
        self.assertEqual(text(answer['result']), f'{{"x":{number}}}')
        # The books of the harness are not what is measured.
        del client.messages[:]

    def test_ten_thousand_calls_leave_nothing_behind(self):
        self.world.script('echo', sh_tool('read -r line; echo "$line"', {'x': {'value_type': 'integer'}}))
        client = self.world.serve(check=False)
        self.call_many(client, 1000)
        client.settled()
        wait_until(lambda: not children(client.pid), what='the last child of the warm-up')
        before, opened = memory(client.pid), descriptors(client.pid)

        self.call_many(client, 10_000)
        client.settled()
        wait_until(lambda: not children(client.pid), what='the end of the last child, zombies included')
        self.assertEqual(descriptors(client.pid), opened)
        if b'__asan_init' not in pathlib.Path(MCPD).read_bytes():  # whose quarantine grows
            self.assertLess(memory(client.pid) - before, 1 * MIB)
        self.assertEqual(client.close(), 0)


if __name__ == '__main__':
    unittest.main()
