import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SignedTx, TxStatus } from '../chains/port/index.ts';
import { decideReplacement, decidingVersion, REPLACE_AFTER_SECONDS, VERSIONS_MAX } from './states.ts';

const signed = (number: number): SignedTx => ({
  network: 'erc20',
  txId: `version ${number}`,
  raw: '',
  sender: 'sender',
  itemIds: ['item'],
  sequence: '7',
});
const versionsWith = (statuses: readonly TxStatus[]) =>
  statuses.map((status, i) => ({ signed: signed(i), status }));

/** What honest nodes, each at a head of its own, say of the versions once one of them, or another transaction, is mined. */
const truth = fc.integer({ min: 1, max: 6 }).chain((count) =>
  fc.record({
    /** Null: another transaction of the sender has the sequence. */
    mined: fc.option(fc.nat(count - 1)),
    /** For each version: whether its node has seen the final block, the block, or neither. */
    heads: fc.array(fc.constantFrom<'final' | 'block' | 'neither'>('final', 'block', 'neither'), {
      minLength: count,
      maxLength: count,
    }),
    isFailed: fc.boolean(),
  }),
);

function said(head: 'final' | 'block' | 'neither', isMined: boolean, isFailed: boolean): TxStatus {
  if (head === 'neither') return { state: 'pending', final: false };
  if (!isMined) return head === 'final' ? { state: 'dead', final: true } : { state: 'unknown', final: false };
  if (head === 'block') return { state: isFailed ? 'failed' : 'included', final: false };
  return { state: isFailed ? 'failed' : 'final', final: true };
}

test('J4: whichever version is mined decides, and nothing else does but proof that none can be', () => {
  fc.assert(
    fc.property(truth, ({ mined, heads, isFailed }) => {
      const statuses = heads.map((head, i) => said(head, i === mined, isFailed));
      const { signed: own, status } = decidingVersion(versionsWith(statuses));
      if (mined !== null && heads[mined] === 'final') {
        expect([own.txId, status]).toEqual([`version ${mined}`, statuses[mined]]);
      } else if (status.final) {
        // None is mined here, or its own node has not seen it: only all nodes together prove all dead.
        expect(mined).toBe(null);
        expect(status.state).toBe('dead');
        expect(heads.every((head) => head === 'final')).toBe(true);
      }
      if (mined === null && heads.every((head) => head === 'final')) expect(status.state).toBe('dead');
    }),
  );
});

test('two versions in blocks contradict each other: nothing is decided', () => {
  const final: TxStatus = { state: 'final', final: true };
  const { status } = decidingVersion(versionsWith([final, { state: 'unknown', final: false }, final]));
  expect(status).toEqual({ state: 'pending', final: false });
});

test('J4: an attempt is replaced late, at a higher fee, up to a limit; then operators are warned', () => {
  const market = fc.array(fc.record({ seconds: fc.nat(200), fee: fc.bigInt({ min: 1n, max: 1_000n }) }), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(market, (steps) => {
      let [sentFor, versions, feeLimit] = [0, 1, 10n];
      for (const { seconds, fee } of steps) {
        sentFor += seconds;
        const decision = decideReplacement({ sentFor, versions, feeLimit, presentFee: fee });
        const isStuck = sentFor >= REPLACE_AFTER_SECONDS && fee > feeLimit;
        expect(decision !== 'wait').toBe(isStuck);
        if (decision === 'alarm') expect(versions).toBe(VERSIONS_MAX);
        if (decision !== 'replace') continue;
        versions += 1;
        feeLimit = fee;
        sentFor = 0;
      }
      expect(versions).toBeLessThanOrEqual(VERSIONS_MAX);
    }),
  );
});
