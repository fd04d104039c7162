import { expect, test } from 'vitest';
import { LinkLimits, networkOf } from './limits.ts';

test('an address of IPv6 stands for its network of 64 bits, one of IPv4 for itself', () => {
  expect(networkOf('203.0.113.9')).toBe('203.0.113.9');
  expect(networkOf('::ffff:203.0.113.9')).toBe('::ffff:203.0.113.9');
  expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe(networkOf('2001:db8:1:2::9'));
  expect(networkOf('2001:db8:1:2::9')).not.toBe(networkOf('2001:db8:1:3::9'));
});

test('one address is held back and comes again a little later, others are not touched', () => {
  let nowMs = 0;
  const limits = new LinkLimits({ nowMs: () => nowMs });
  const uses = (address: string) => {
    let count = 0;
    while (limits.mayUse(address, 'link') && count < 1_000) count++;
    return count;
  };
  expect(uses('203.0.113.9')).toBe(30);
  expect(uses('203.0.113.10')).toBe(30);
  nowMs += 2_000;
  expect(uses('203.0.113.9')).toBe(2);
});

test('a link is held back whoever comes, another link is not', () => {
  const limits = new LinkLimits({ nowMs: () => 0 });
  const from = (n: number) => `203.0.${n >> 8}.${n & 255}`;
  const used = Array.from({ length: 300 }, (_, n) => limits.mayUse(from(n), 'link')).filter(Boolean);
  expect(used).toHaveLength(100);
  expect(limits.mayUse(from(999), 'other')).toBe(true);
});
