import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keptWallet } from './prove-wallet.ts';

const wallet = fc.constantFrom('a', 'b', 'c');

test('a payment keeps its first proven wallet, unless only the later one has sent anything', () => {
  fc.assert(
    fc.property(fc.option(wallet), wallet, fc.array(wallet), (known, claimed, senders) => {
      const kept = keptWallet(
        known,
        claimed,
        senders.map((sender) => ({ sender })),
      );
      expect([known, claimed]).toContain(kept);
      if (known === null) expect(kept).toBe(claimed);
      else if (senders.includes(known)) expect(kept).toBe(known);
      else expect(kept).toBe(senders.includes(claimed) ? claimed : known);
    }),
  );
});
