import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHARGE_FAULTS, type ChainCapabilities, type TxStatus } from '../chains/port/index.ts';
import {
  type GroupState,
  isPausing,
  judgeAttempt,
  judgeUnbuildable,
  nextRun,
  planAttempts,
  pollIntervalMs,
  retryMs,
  selectAffordable,
  selectPayable,
  type TransferStatus,
  type Verdict,
} from './states.ts';

const PARTIAL: ChainCapabilities = {
  maxItemsPerTx: 200,
  partialBatch: true,
  replaceByFee: true,
  windowCap: true,
  prechecksCharges: false,
  sweepsPerTx: 0,
  confirmations: { final: 3, early: null },
  lendsStake: false,
  callsAtOnce: 8,
};
const ATOMIC: ChainCapabilities = {
  maxItemsPerTx: 8,
  partialBatch: false,
  replaceByFee: false,
  windowCap: false,
  prechecksCharges: false,
  sweepsPerTx: 0,
  confirmations: { final: 3, early: null },
  lendsStake: false,
  callsAtOnce: 8,
};

const transfersOf = (count: number) => Array.from({ length: count }, (_, i) => ({ transferId: `t${i}` }));
const fates = (verdict: Verdict | undefined) => verdict?.transfers.map((member) => member.to);

const anyCapabilities = fc.constantFrom(PARTIAL, ATOMIC);
const anyStatus: fc.Arbitrary<TxStatus> = fc.record(
  {
    state: fc.constantFrom('unknown', 'pending', 'included', 'final', 'failed', 'dead'),
    final: fc.boolean(),
    itemOk: fc.array(fc.boolean(), { maxLength: 8 }),
    reason: fc.string(),
  },
  { requiredKeys: ['state', 'final'] },
);

describe('judgeAttempt', () => {
  test('J6: a charge fails with the reason the network gives, a transfer never with one of the payer’s', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...CHARGE_FAULTS, 'execution_reverted'),
        anyCapabilities,
        (reason, capabilities) => {
          const status: TxStatus = { state: 'failed', final: true, itemOk: [false], reason };
          const codeOf = (isCharge: boolean) => {
            const [verdict] =
              judgeAttempt(status, [{ transferId: 't', isCharge }], capabilities)?.transfers ?? [];
            return verdict?.to === 'failed' ? verdict.code : undefined;
          };
          expect(codeOf(false)).toBe('transfer_failed');
          // That we were late is no reason of the payer's.
          const isOurs = reason === 'too_late' || reason === 'our_fault';
          const known = isOurs ? 'network_unavailable' : reason;
          expect(codeOf(true)).toBe(reason === 'execution_reverted' ? 'transfer_failed' : known);
        },
      ),
    );
  });

  test('J2: nothing but a final or dead answer decides', () => {
    fc.assert(
      fc.property(
        anyStatus,
        fc.integer({ min: 1, max: 8 }),
        anyCapabilities,
        (status, count, capabilities) => {
          const verdict = judgeAttempt(status, transfersOf(count), capabilities);
          if (verdict === undefined) return;
          expect(status.final).toBe(true);
          expect(['final', 'failed', 'dead']).toContain(status.state);
          expect(verdict.transfers.map((member) => member.transferId)).toEqual(
            transfersOf(count).map((member) => member.transferId),
          );
        },
      ),
    );
  });

  test('J2: another attempt only after death, or after an atomic group failed as a whole', () => {
    fc.assert(
      fc.property(
        anyStatus,
        fc.integer({ min: 1, max: 8 }),
        anyCapabilities,
        (status, count, capabilities) => {
          const retried =
            fates(judgeAttempt(status, transfersOf(count), capabilities))?.includes('queued') ?? false;
          if (!retried) return;
          const groupFailed = status.state === 'failed' && !capabilities.partialBatch && count > 1;
          expect(status.state === 'dead' || groupFailed).toBe(true);
          if (groupFailed) expect(status.itemOk ?? []).not.toContain(true);
        },
      ),
    );
  });

  test('J2: whatever the answers before the final one, a transfer is paid exactly as its state claims', () => {
    const size = fc.integer({ min: 1, max: 20 });
    fc.assert(
      fc.property(
        fc.array(anyFate, { minLength: 1 }),
        size,
        anyCapabilities,
        (fatesToCome, count, capabilities) => {
          for (const { state, paid } of simulate(fatesToCome, count, capabilities)) {
            if (state === 'succeeded') expect(paid).toBe(1);
            else expect(paid).toBe(0);
          }
        },
      ),
    );
  });

  test('J6: a partial batch decides item by item', () => {
    const status: TxStatus = { state: 'final', final: true, itemOk: [true, false, true] };
    const verdict = judgeAttempt(status, transfersOf(3), PARTIAL);
    expect(verdict?.attempt).toBe('succeeded');
    expect(fates(verdict)).toEqual(['succeeded', 'failed', 'succeeded']);
  });

  test('J6: an atomic group that failed is split, and one that failed alone is over', () => {
    const status: TxStatus = { state: 'failed', final: true, itemOk: [false, false], reason: 'frozen' };
    expect(judgeAttempt(status, transfersOf(2), ATOMIC)).toEqual({
      attempt: 'failed',
      transfers: transfersOf(2).map((member) => ({ ...member, to: 'queued', alone: true })),
    });
    const alone = judgeAttempt({ ...status, itemOk: [false] }, transfersOf(1), ATOMIC);
    expect(alone?.transfers).toMatchObject([{ to: 'failed', code: 'transfer_failed' }]);
  });

  const contradictions: [string, TxStatus, ChainCapabilities][] = [
    ['failed, yet an item was paid', { state: 'failed', final: true, itemOk: [false, true] }, ATOMIC],
    ['all or nothing, yet half', { state: 'final', final: true, itemOk: [true, false] }, ATOMIC],
    ['fewer items than were sent', { state: 'final', final: true, itemOk: [true] }, PARTIAL],
    ['nothing about the items', { state: 'final', final: true }, PARTIAL],
    ['dead, but not for sure', { state: 'dead', final: false }, ATOMIC],
  ];
  test.each(contradictions)(
    'J7: an answer that leaves open which items were paid decides nothing: %s',
    (_, status, capabilities) => {
      expect(judgeAttempt(status, transfersOf(2), capabilities)).toBeUndefined();
    },
  );
});

/** What really happens to an attempt, after answers that are not final and may be wrong. */
interface Fate {
  before: TxStatus[];
  end: 'mined' | 'dead';
  itemOk: boolean[];
}
const anyFate: fc.Arbitrary<Fate> = fc.record({
  before: fc.array(
    anyStatus.map((status) => ({ ...status, final: false })),
    { maxLength: 4 },
  ),
  end: fc.constantFrom('mined', 'dead'),
  itemOk: fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }),
});

/** The final answer of an honest chain, by the rules of its network. */
function lastWord(fate: Fate, count: number, capabilities: ChainCapabilities): TxStatus {
  if (fate.end === 'dead') return { state: 'dead', final: true };
  const own = fate.itemOk.slice(0, count);
  if (capabilities.partialBatch) return { state: 'final', final: true, itemOk: own };
  const ok = !own.includes(false);
  return { state: ok ? 'final' : 'failed', final: true, itemOk: own.map(() => ok) };
}

/** Runs transfers through one fate after another, as the service does, and counts what the chain has paid. */
function simulate(fatesToCome: readonly Fate[], count: number, capabilities: ChainCapabilities) {
  const transfers = transfersOf(count).map(({ transferId }) => ({
    transferId,
    state: 'queued' as TransferStatus,
    alone: false,
    paid: 0,
  }));
  for (const fate of fatesToCome) {
    const queued = transfers.filter((transfer) => transfer.state === 'queued');
    for (const group of planAttempts(queued, capabilities.maxItemsPerTx)) {
      const end = lastWord(fate, group.length, capabilities);
      // The first verdict must be right: the chain's payments are counted at the end, whatever the verdict was.
      for (const [i, member] of group.entries()) if (end.itemOk?.[i]) member.paid += 1;
      const verdicts = [...fate.before, end].map((status) => judgeAttempt(status, group, capabilities));
      const verdict = verdicts.find((one) => one !== undefined);
      for (const [i, member] of (verdict?.transfers ?? []).entries()) {
        const transfer = group[i];
        if (transfer === undefined) continue;
        transfer.state = member.to;
        if (member.to === 'queued') transfer.alone ||= member.alone;
      }
    }
  }
  return transfers;
}

describe('fitting', () => {
  const plan = fc.array(fc.array(fc.record({ amount: fc.bigInt({ min: 1n, max: 100n }) }), { minLength: 1 }));
  const total = (groups: readonly { amount: bigint }[][]) =>
    groups.flat().reduce((sum, { amount }) => sum + amount, 0n);

  test('I2: no more leaves than the wallet holds, and what is left out would not fit', () => {
    fc.assert(
      fc.property(plan, fc.bigInt({ min: -50n, max: 500n }), (planned, coins) => {
        const taken = selectAffordable(planned, coins);
        if (taken.length > 0) expect(total(taken) <= coins).toBe(true);
        expect(planned.filter((group) => taken.includes(group))).toEqual(taken);
        for (const group of planned) {
          if (!taken.includes(group)) expect(total(taken) + total([group]) > coins).toBe(true);
        }
      }),
    );
  });
});

test('a payment that reverts is held only where the wallet has its coins: others are short, and get what it would have taken', () => {
  const list = fc.array(fc.record({ amount: fc.bigInt({ min: 1n, max: 100n }), isReverting: fc.boolean() }), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(list, fc.bigInt({ min: -20n, max: 300n }), (some, coins) => {
      const queued = some.map((one, i) => ({ ...one, transfer_id: String(i), alone: false }));
      const reverting = new Set(queued.flatMap((one) => (one.isReverting ? [one.transfer_id] : [])));
      const { groups, isShort, isHolding } = selectPayable(queued, { coins, reverting, maxItemsPerTx: 1 });
      const held = queued.filter((one) => one.isReverting && one.amount <= coins);
      const taken = groups.flat();
      expect(isHolding).toBe(held.length > 0);
      expect(taken.some((one) => one.isReverting)).toBe(false);
      expect(isShort).toBe(held.length + taken.length < queued.length);
      expect(groups).toEqual(
        selectAffordable(
          queued.filter((one) => !one.isReverting).map((one) => [one]),
          coins,
        ),
      );
    }),
  );
});

describe('planAttempts', () => {
  const queue = fc.array(fc.record({ id: fc.nat(), alone: fc.boolean() }), { maxLength: 60 });

  test('each transfer is in exactly one attempt, none too big, transfers marked alone by themselves', () => {
    fc.assert(
      fc.property(queue, fc.integer({ min: 1, max: 200 }), (transfers, most) => {
        const plan = planAttempts(transfers, most);
        expect(new Set(plan.flat())).toEqual(new Set(transfers));
        expect(plan.flat()).toHaveLength(transfers.length);
        for (const group of plan) {
          expect(group.length).toBeGreaterThan(0);
          expect(group.length).toBeLessThanOrEqual(most);
          if (group.some((transfer) => transfer.alone)) expect(group).toHaveLength(1);
        }
      }),
    );
  });

  test('no more attempts than needed', () => {
    const together = Array.from({ length: 200 }, () => ({ alone: false }));
    expect(planAttempts(together, 200)).toHaveLength(1);
    expect(planAttempts(together, 8)).toHaveLength(25);
    expect(planAttempts(together, 1)).toHaveLength(200);
  });
});

test('J6: transfers that cannot be built are tried one by one, and one alone fails with its reason', () => {
  expect(judgeUnbuildable(transfersOf(2), 'too many')).toEqual(
    transfersOf(2).map((member) => ({ ...member, to: 'queued', alone: true })),
  );
  expect(judgeUnbuildable(transfersOf(1), 'no address')).toMatchObject([
    { to: 'failed', code: 'transfer_failed', message: expect.stringContaining('no address') },
  ]);
});

test('a refused attempt is asked for again after as long as it has waited, a minute to an hour', () => {
  const seconds = fc.integer({ min: 0, max: 100_000 });
  fc.assert(
    fc.property(seconds, seconds, seconds, (createdAt, waited, later) => {
      const refusedAt = createdAt + waited;
      const pause = Math.min(3_600, Math.max(60, waited));
      expect(isPausing({ refusedAt, createdAt }, refusedAt + later)).toBe(later < pause);
      // Its clock ran ahead.
      expect(isPausing({ refusedAt, createdAt }, refusedAt - 1 - later)).toBe(false);
      expect(isPausing({ refusedAt: null, createdAt }, refusedAt)).toBe(false);
    }),
  );
});

describe('when a group runs next', () => {
  test('polling is late by at most a tenth of the age, and never busy', () => {
    fc.assert(
      fc.property(fc.integer({ min: -5, max: 10_000_000 }), (ageSeconds) => {
        for (const [wait, least, most] of [
          [pollIntervalMs, 250, 60_000],
          [retryMs, 1_000, 15_000],
        ] as const) {
          const waitMs = wait(ageSeconds);
          expect(waitMs).toBeGreaterThanOrEqual(least);
          expect(waitMs).toBeLessThanOrEqual(Math.max(least, Math.min(most, ageSeconds * 100)));
        }
      }),
    );
  });

  const stateOf = (change: Partial<GroupState>): GroupState => ({
    blockedBy: 'none',
    ageSeconds: 30,
    queued: 0,
    unsigned: 0,
    sent: [],
    ...change,
  });
  const later = (waitMs: number, followsClock: boolean) => ({ waitMs, followsClock });
  const cases: [string, Partial<GroupState>, ReturnType<typeof nextRun>][] = [
    ['all decided: never', {}, undefined],
    ['all decided during an outage: never', { blockedBy: 'unavailable' }, undefined],
    ['something new to send: at once', { queued: 1, sent: [undefined, undefined, 5_000] }, later(0, true)],
    [
      'something new, but blocked: later, in real time',
      { blockedBy: 'waiting', queued: 1, ageSeconds: 600 },
      later(15_000, false),
    ],
    [
      'blocked, yet some are sent: as they need',
      { blockedBy: 'waiting', queued: 1, sent: [undefined], ageSeconds: 2 },
      later(250, true),
    ],
    [
      'to be signed: at once, even when new attempts are blocked',
      { blockedBy: 'waiting', queued: 1, unsigned: 1 },
      later(0, true),
    ],
    [
      'to be signed, but stopped: later, in real time',
      { blockedBy: 'stopped', unsigned: 1, ageSeconds: 600 },
      later(15_000, false),
    ],
    [
      'stopped, yet some are sent: as they need',
      { blockedBy: 'stopped', unsigned: 1, sent: [undefined], ageSeconds: 2 },
      later(250, true),
    ],
    [
      'some wait for people: later, in real time, as the signer would refuse them again',
      { blockedBy: 'held', unsigned: 1, ageSeconds: 600 },
      later(15_000, false),
    ],
    [
      'some wait for people, others are sent: as these need',
      { blockedBy: 'held', unsigned: 1, queued: 1, sent: [undefined], ageSeconds: 2 },
      later(250, true),
    ],
    [
      'in an outage: later, in real time, as no status can be read',
      { blockedBy: 'unavailable', unsigned: 1, sent: [undefined] },
      later(3_000, false),
    ],
    [
      'all are in blocks: when the first of them is expected to be final',
      { sent: [9_000, 7_000] },
      later(7_000, true),
    ],
    ['one of them is in no block yet: a tenth of the age', { sent: [9_000, undefined] }, later(3_000, true)],
    ['one should be final by now: a tenth of the age', { sent: [-1_000], ageSeconds: 2 }, later(250, true)],
    ['it takes a quarter of an hour: once a minute', { sent: [900_000] }, later(60_000, true)],
    [
      'all are sent: a tenth of the age',
      { sent: [undefined, undefined], ageSeconds: 20 },
      later(2_000, true),
    ],
  ];
  test.each(cases)('%s', (_, change, run) => {
    expect(nextRun(stateOf(change))).toEqual(run);
  });
});
