import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blockedAfterAll, blockedByRefusal, decidingRefusal } from './blocked-by.ts';

test('one refused attempt stops nothing else, unless all would be refused; a freeze is not hidden behind approvals', () => {
  const one = [
    'approvals',
    'limit',
    'policy',
    'purpose',
    'item_signed',
    'invalid_request',
    'reverts',
  ] as const;
  const all = ['frozen', 'journal', 'epoch', 'fee', 'tank'] as const;
  const list = fc.array(fc.constantFrom(...one, ...all), { minLength: 1 });
  fc.assert(
    fc.property(list, (reasons) => {
      const isStop = reasons.some((reason) => all.some((other) => other === reason));
      const decides = decidingRefusal(reasons.map((reason) => ({ reason })));
      expect(blockedByRefusal(decides?.reason ?? 'frozen')).toBe(isStop ? 'stopped' : 'held');
      // Whatever the order of the list, the worst is told, and a payment that reverts hides nothing.
      const worst = all.find((reason) => reasons.includes(reason));
      if (worst !== undefined) expect(decides?.reason).toBe(worst);
      else expect(decides?.reason === 'reverts').toBe(reasons.every((reason) => reason === 'reverts'));
    }),
  );
  expect(decidingRefusal([])).toBeUndefined();
  // A fee at its ceiling meanwhile does not have the signer asked at once for what it holds.
  expect(blockedAfterAll('held', 'waiting')).toBe('held');
  expect(blockedAfterAll('held', 'stopped')).toBe('stopped');
  expect(blockedAfterAll('none', 'waiting')).toBe('waiting');
});
