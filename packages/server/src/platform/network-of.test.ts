import { expect, test } from 'vitest';
import { networkOf } from './network-of.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:0:7::25', '2001:db8:0:7::/64'],
  ['2001:db8:0:7:ffff:1:2:3', '2001:db8:0:7::/64'],
  ['2001:db8:0:8::25', '2001:db8:0:8::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['unknown', 'unknown'],
])('limits of %s count by %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
