import { expect, test } from 'vitest';
import { LinkLimits } from './limits.ts';

test('one address is limited for a short time, others are not affected', () => {
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

test('a link is limited for all clients together, another link is not affected', () => {
  const limits = new LinkLimits({ nowMs: () => 0 });
  const from = (n: number) => `203.0.${n >> 8}.${n & 255}`;
  const used = Array.from({ length: 300 }, (_, n) => limits.mayUse(from(n), 'link')).filter(Boolean);
  expect(used).toHaveLength(100);
  expect(limits.mayUse(from(999), 'other')).toBe(true);
});
