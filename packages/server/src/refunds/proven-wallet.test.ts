import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mostToReturn, type ReturnedPart } from './proven-wallet.ts';

const WALLETS = ['payer', 'exchange', 'stranger'] as const;
const wallet = fc.constantFrom(...WALLETS);
const amount = fc.bigInt(1n, 1_000n);

test('a wallet that sent a millionth of the payment does not get the rest', () => {
  const sent = [
    { sender: 'exchange', amount: 502_520_000n },
    { sender: 'stranger', amount: 1n },
  ];
  expect(mostToReturn('stranger', { sent, returned: [] })).toBe(1n);
  expect(mostToReturn('payer', { sent, returned: [] })).toBe(0n);
});

/** Something that happens to a payment on which anybody may prove a wallet. */
const step = fc.oneof(
  fc.record({ do: fc.constant('send' as const), by: wallet, amount }),
  fc.record({ do: fc.constant('refund' as const), to: fc.option(wallet, { nil: undefined }), amount }),
  fc.record({ do: fc.constant('fail' as const), which: fc.nat({ max: 9 }) }),
);

test('for any transfers and refunds, a proven wallet never gets back more than it sent', () => {
  const check = (
    proven: string,
    steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[],
  ) => {
    const sent: { sender: string; amount: bigint }[] = [];
    const refunds: (ReturnedPart & { byProof: boolean })[] = [];
    const total = (parts: readonly { amount: bigint }[]) =>
      parts.reduce((all, part) => all + part.amount, 0n);
    for (const one of steps) {
      if (one.do === 'send') sent.push({ sender: one.by, amount: one.amount });
      else if (one.do === 'fail') refunds.splice(one.which, 1);
      else if (one.to !== undefined) refunds.push({ address: one.to, amount: one.amount, byProof: false });
      else {
        const own = total(sent.filter(({ sender }) => sender === proven));
        const had = total(refunds.filter(({ address }) => address === proven));
        const isGiven = one.amount <= mostToReturn(proven, { sent, returned: refunds });
        // Neither more than was sent, nor a link where the wallet has a right to all of it.
        expect(isGiven).toBe(had + one.amount <= own);
        if (isGiven) refunds.push({ address: proven, amount: one.amount, byProof: true });
      }
      const byProof = refunds.filter((refund) => refund.byProof);
      expect(total(byProof) <= total(sent.filter(({ sender }) => sender === proven))).toBe(true);
    }
  };
  fc.assert(fc.property(wallet, fc.array(step, { maxLength: 30 }), check));
});
