import { expect, test } from 'vitest';
import { concat } from './bytes.ts';
import { isOnCurve, solanaAddressBytes, tokenAccountOf } from './solana/address.ts';
import type { SolanaInstruction } from './solana/instruction.ts';
import { memoOf } from './solana/purposes.ts';
import {
  approvedOn,
  BATCHES,
  CHARGES,
  chargeOf,
  itemOf,
  MINT,
  memo,
  OnceBench,
  paymentOn,
  solana,
  solanaCharging,
  solanaPaying,
  solanaRequest,
  solanaTransfer,
  somebody,
  withBytes,
} from './test-once.ts';
import { keys, MERCHANTS, START } from './test-requests.ts';

const EVE = solana.deposit(666, 0);
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const HOT = solana.hot(1);
const DAY = 24 * 3_600_000;
const batch = approvedOn('spl', paymentOn('spl'));
const steps = solanaPaying(batch);
const sound = solanaRequest({ purpose: batch, bytes: { steps } });
/** As another attempt, of a later block. */
const again = (ordinal: number, blockhash: string) =>
  solanaRequest({ ordinal, purpose: batch, bytes: { steps, blockhash } });

/** The same group whose first payment names other accounts. */
function swapped(changes: Partial<ReturnType<typeof solanaTransfer>>): typeof sound {
  const [named, first, ...rest] = steps;
  if (named === undefined || first?.kind !== 'transfer') throw new Error('a memo and a transfer');
  return solanaRequest({ purpose: batch, bytes: { steps: [named, { ...first, ...changes }, ...rest] } });
}

/** The same bytes with another program in the token program's place. */
function calling(program: string): typeof sound {
  return withBytes(sound, (bytes) => {
    const copy = Uint8Array.from(bytes);
    copy.set(solanaAddressBytes(program), Buffer.from(bytes).indexOf(solanaAddressBytes(TOKEN_PROGRAM)));
    return copy;
  });
}

test('G3 spl: an approved group is signed, and bytes that do anything else are refused in one line', () => {
  expect(new OnceBench().outcome(sound)).toBe('signed');
  const ask = (bytes: Partial<Parameters<typeof solanaRequest>[0]['bytes']>) =>
    solanaRequest({ purpose: batch, bytes: { steps, ...bytes } });
  const [named, first, second] = steps;
  if (named === undefined || first === undefined || second === undefined) throw new Error('three steps');
  const approval: SolanaInstruction = {
    kind: 'approve',
    source: tokenAccountOf(HOT, MINT),
    mint: MINT,
    delegate: EVE,
    owner: HOT,
    amount: 1n,
    decimals: 6,
  };
  const cases: [line: string, request: typeof sound][] = [
    ['the destination of place 0', ask({ steps: [named, solanaTransfer(HOT, EVE, 1_000_000n), second] })],
    [
      'place 0 is of 1000001',
      ask({ steps: [named, solanaTransfer(HOT, somebody('spl', 0), 1_000_001n), second] }),
    ],
    ['it moves 1000000 units more', ask({ steps: [named, first, second, first] })],
    ['place 1 is not in it', ask({ steps: [named, first] })],
    ['nothing here is to approve', ask({ steps: [...steps, approval] })],
    ['it lacks the memo', ask({ steps: [first, second] })],
    ['its fee is paid by', ask({ feePayer: HOT })],
    ['fee: compute_units is above 400000', ask({ units: 400_001 })],
    ['fee: priority_fee is above 100000', ask({ microLamports: 500_001n })],
    // Swapped accounts; a program that is not ours, and the token program of 2022, whose mints look like ours.
    ['the destination of place 0', swapped({ destination: tokenAccountOf(EVE, MINT) })],
    ['the source of place 0', swapped({ source: tokenAccountOf(solana.hot(2), MINT) })],
    ['the authority of place 0', swapped({ authority: solana.delegate() })],
    ['place 0 is in another token', swapped({ mint: USDC })],
    [`it calls the program ${EVE}`, calling(EVE)],
    [`it calls the program ${TOKEN_2022}`, calling(TOKEN_2022)],
    ['it takes accounts from a lookup table', withBytes(sound, withLookupTable)],
    ['there are bytes behind the end', withBytes(sound, (bytes) => concat(bytes, Uint8Array.of(0)))],
    ['messages of version 1', withBytes(sound, (bytes) => concat(Uint8Array.of(0x81), bytes.subarray(1)))],
    ['policy: it is for the network that begins with', { ...sound, genesis: EVE }],
    ['nothing on spl is to gas', { ...sound, purpose: { kind: 'gas', account: 1 } }],
  ];
  for (const [line, request] of cases) {
    const said = new OnceBench().outcome(request);
    expect(said).toContain(line);
    expect(said.split('\n')).toHaveLength(1);
  }
  const none = new OnceBench((policy) => Reflect.deleteProperty(policy.networks, 'spl'));
  expect(none.outcome(sound)).toBe('policy: the policy has no spl.');
});

/** One table with one account to read. */
const withLookupTable = (bytes: Uint8Array) =>
  concat(bytes.subarray(0, -1), Uint8Array.of(1), solanaAddressBytes(EVE), Uint8Array.of(0, 1, 0));

test('G3 spl: rows that are edited after the approval are refused for want of one', () => {
  const [one, two] = batch.items;
  if (one === undefined || two === undefined) throw new Error('two items');
  const edits = [
    { ...batch, items: [{ ...one, to: EVE }, two] },
    { ...batch, items: [{ ...one, amount: '999999' }, two] },
    { ...batch, items: [{ ...one, memo: 'x' }, two] },
    { ...batch, id: BATCHES[1] },
    { ...batch, merchant: MERCHANTS[1] },
    approvedOn('trc20', paymentOn('spl')),
  ];
  for (const purpose of edits)
    expect(
      new OnceBench().outcome(solanaRequest({ purpose, bytes: { steps: solanaPaying(purpose) } })),
    ).toMatch(/^approvals: /);
});

test('spl: an attempt has one transaction for ever: asked again with another block it gets the first one', () => {
  const bench = new OnceBench();
  const first = bench.sign(sound);
  expect(bench.sign(sound)).toBe(first);
  expect(bench.sign(again(0, EVE))).toBe(first);
  bench.restart();
  expect(bench.sign(again(0, EVE))).toBe(first);
  expect(bench.entries).toHaveLength(1);
  const other = approvedOn('spl', paymentOn('spl', { places: [1] }));
  const asked = solanaRequest({ purpose: other, bytes: { steps: solanaPaying(other) } });
  expect(bench.outcome(asked)).toMatch(/^purpose: /);
  expect(
    bench.outcome({
      ...sound,
      attempt: { ...sound.attempt, attemptId: 'other', ordinal: '1', previous: 'spl 1 0' },
    }),
  ).toMatch(/^limit: this transaction was signed for the attempt spl 1 0/);
});

test('spl: equal items of one batch are two transactions, by the place in the memo', () => {
  const twin = [itemOf('spl', 0), { ...itemOf('spl', 0), place: 1 }];
  const purpose = approvedOn('spl', paymentOn('spl', { items: twin, places: [0] }));
  const second = { ...purpose, places: [1] };
  const bench = new OnceBench();
  expect(bench.outcome(solanaRequest({ purpose, bytes: { steps: solanaPaying(purpose) } }))).toBe('signed');
  const asSecond = (memos: SolanaInstruction[]) =>
    solanaRequest({
      ordinal: 1,
      purpose: second,
      bytes: { steps: [...memos, ...solanaPaying(second).slice(1)] },
    });
  expect(bench.outcome(asSecond([memo(memoOf(second.id, 0))]))).toMatch(/^purpose: .*it carries the memo/);
  expect(bench.outcome(asSecond([]))).toMatch(/^purpose: .*it lacks the memo/);
  expect(bench.outcome(asSecond([memo(memoOf(second.id, 1))]))).toBe('signed');
});

test('spl: no time makes an item’s transaction dead: it is signed anew out of the budget alone', () => {
  const bench = new OnceBench((policy) => Object.assign(policy.payouts, { resend_per_day: '3' }));
  const valid = approvedOn('spl', paymentOn('spl'), START / 1000 + 900_000);
  const ask = (ordinal: number, blockhash: string) =>
    bench.outcome(solanaRequest({ ordinal, purpose: valid, bytes: { steps, blockhash } }));
  expect(ask(0, MINT)).toBe('signed');
  bench.now += 8 * DAY;
  expect(ask(1, EVE)).toBe('signed');
  expect(bench.memory.hour('payout').total(bench.now)).toBe(3_000_000n);
  bench.now += DAY / 2;
  bench.restart();
  expect(ask(2, USDC)).toMatch(
    /^limit: an earlier transaction that pays one of these items may still be mined/,
  );
  bench.now += DAY / 2;
  expect(ask(2, USDC)).toBe('signed');
  const strict = new OnceBench();
  expect(strict.outcome(sound)).toBe('signed');
  expect(strict.outcome(again(1, EVE))).toMatch(/^limit: /);
});

test('spl: a charge goes into the hot wallet of its account, and nobody else’s', () => {
  const charge = chargeOf();
  const bench = new OnceBench();
  const ask = (with_: SolanaInstruction[], account = 1) =>
    bench.outcome(solanaRequest({ account, purpose: charge, bytes: { steps: with_ } }));
  const to = (wallet: string) => [
    memo(memoOf(charge.id)),
    solanaTransfer(charge.payer, wallet, 5_000_000n, { authority: solana.delegate() }),
  ];
  expect(ask(to(EVE))).toMatch(/^purpose: .*the destination of the charge/);
  expect(ask(to(solana.hot(2)))).toMatch(/^purpose: .*the destination of the charge/);
  expect(ask(solanaCharging(charge).slice(1))).toMatch(/^purpose: .*it lacks the memo/);
  expect(ask(solanaCharging(charge), 0)).toMatch(/^purpose: /);
  expect(ask(solanaCharging(charge))).toBe('signed');
  // Of another merchant, whose wallet it names.
  expect(ask(solanaCharging(charge, 2), 2)).toMatch(/^purpose: .*is not signed by/);
  const none = new OnceBench((policy) => Reflect.deleteProperty(policy.networks.spl, 'charges'));
  expect(none.outcome(solanaRequest({ purpose: charge, bytes: { steps: solanaCharging(charge) } }))).toBe(
    'policy: the policy has no charges for spl.',
  );
});

test('spl: a charge counts once in the journal, and to the limits of a transfer and a day', () => {
  const bench = new OnceBench();
  let ordinal = -1;
  const other = keys.spl.deposit(900, 51);
  const ask = (
    changes: Parameters<typeof chargeOf>[0],
    blockhash = MINT,
    key = keys.spl.deposit(900, 50),
  ) => {
    const charge = chargeOf(changes, { key });
    ordinal += 1;
    const said = bench.outcome(
      solanaRequest({ ordinal, purpose: charge, bytes: { steps: solanaCharging(charge), blockhash } }),
    );
    if (said !== 'signed') ordinal -= 1;
    return said;
  };
  expect(ask({ amount: '200000001' })).toMatch(/^limit: charges.per_transfer/);
  expect(ask({ amount: '0' })).toMatch(/^purpose: .*it charges nothing/);
  expect(ask({ amount: '80000000' })).toBe('signed');
  bench.restart();
  // The same id for another payer or amount is another charge.
  expect(ask({ amount: '80000001' }, EVE)).toMatch(/^item_signed: /);
  expect(ask({ amount: '80000000' }, EVE, other)).toMatch(/^item_signed: /);
  // Once more out of the budget, as the first one may still be mined.
  expect(ask({ amount: '80000000' }, EVE)).toBe('signed');
  expect(ask({ amount: '80000000' }, USDC)).toMatch(/^limit: an earlier transaction of this charge/);
  expect(bench.memory.day('spl charge').total(bench.now)).toBe(160_000_000n);
  expect(ask({ id: CHARGES[1], amount: '200000000' })).toBe('signed');
  expect(ask({ id: BATCHES[0], amount: '140000001' })).toMatch(
    /^limit: charges.per_day .* of which 360000000 are used/,
  );
  expect(ask({ id: BATCHES[0], amount: '140000000' })).toBe('signed');
  bench.now += DAY;
  expect(ask({ id: BATCHES[1], amount: '140000001' })).toBe('signed');
});

test('one merchant leaves some of the day’s charges and fees to the others', () => {
  const bench = new OnceBench(({ networks: { spl, trc20 } }) => {
    Object.assign(spl.charges ?? {}, { per_merchant_day: '250' });
    // As much as eleven signatures with their priority, and one call of Tron.
    Object.assign(spl, { native_fee_per_merchant_day: '105000' });
    Object.assign(trc20, { native_fee_per_merchant_day: '40000000' });
  });
  let count = 0;
  const charge = (account: number, amount: string) => {
    const id = `01890000-0000-7000-8000-${String(count).padStart(12, '0')}`;
    const purpose = chargeOf({ id, amount }, { account, key: keys.spl.deposit(900, 60 + count) });
    count += 1;
    const bytes = { steps: solanaCharging(purpose, account), blockhash: solana.deposit(778, count) };
    const ordinal = bench.entries.filter((one) => one.type === 'sign_once' && one.account === account).length;
    return bench.outcome(solanaRequest({ account, ordinal, purpose, bytes }));
  };
  expect(charge(1, '200000000')).toBe('signed');
  expect(charge(1, '50000001')).toMatch(/^limit: charges.per_merchant_day .* of which 200000000 are used/);
  bench.restart();
  expect(charge(1, '50000001')).toMatch(/^limit: charges.per_merchant_day/);
  expect(charge(2, '200000000')).toBe('signed');
  expect(charge(1, '50000000')).toBe('signed');
  bench.now += DAY;
  expect(charge(1, '1')).toBe('signed');
  expect(charge(1, '1')).toBe('signed');
  bench.restart();
  expect(charge(1, '1')).toBe('signed');
  expect(charge(1, '1')).toMatch(
    /^fee: native_fee_per_merchant_day of the policy for spl, 105000, is used up/,
  );
  expect(charge(2, '1')).toBe('signed');
});

test('spl: in one window no more is pulled than its payer has signed for, whatever a server asks', () => {
  const bench = new OnceBench();
  const start = START / 1000;
  const terms = { cap: '7000000', subscriptions: 1 };
  let ordinal = -1;
  const ask = (
    [id, amount]: [id: string, amount: string],
    { charged = {}, dead = [] as string[], landed = [] as string[], account = 1 } = {},
  ) => {
    const charge = chargeOf({ id, amount }, { terms, charged });
    ordinal += 1;
    const blockhash = solana.deposit(777, ordinal);
    const bytes = { steps: solanaCharging(charge), blockhash };
    bench.dead = new Set(dead);
    bench.landed = new Set(landed);
    const said = bench.outcome(solanaRequest({ account, ordinal, purpose: charge, bytes }));
    if (said !== 'signed') ordinal -= 1;
    return said;
  };
  const [one, two] = CHARGES;
  expect(ask([one, '7000001'])).toMatch(
    /^cap_exceeded: its window has a cap of 7000000 units, of which 0 are used/,
  );
  expect(ask([one, '5000000'])).toBe('signed');
  bench.restart();
  // Nobody knows yet what became of the first one; once the node shows that it has taken, this window has no more.
  const full = /.* of which 5000000 are used/;
  const took = { landed: ['spl 1 0'] };
  expect(ask([two, '2000001'])).toMatch(new RegExp(`^limit: ${full.source}.*not shown yet`));
  expect(ask([two, '2000001'], took)).toMatch(new RegExp(`^cap_exceeded: ${full.source}`));
  expect(ask([two, '1'], { ...took, charged: { subscription: BATCHES[1] } })).toMatch(
    /^cap_exceeded: .* 1 sub/,
  );
  const over = { windowStart: start - 40 * 86_400, windowEnd: start - 8 * 86_400 };
  expect(ask([two, '1'], { charged: over })).toMatch(
    /^cap_exceeded: its window ended before its mandate began/,
  );
  // A second transaction of what has taken is not signed, however much the cap allows.
  expect(ask([one, '5000000'], took)).toMatch(/^limit: /);
  // Other windows that have a moment in common, another subscription, and the same charge in another window.
  const [before, later] = [start - 20 * 86_400, start + 86_400];
  for (const windowStart of [before, later])
    expect(ask([two, '2000001'], { charged: { windowStart, windowEnd: windowStart + 31 * 86_400 } })).toMatch(
      /^limit: .* of which 5000000 are used/,
    );
  expect(ask([two, '1'], { charged: { subscription: BATCHES[1] } })).toMatch(/^limit: .* 1 subscriptions/);
  expect(ask([one, '5000000'], { charged: { windowEnd: start + 40 * 86_400 } })).toMatch(/^item_signed: /);
  // A second transaction of the first charge may pull a second time.
  expect(ask([one, '5000000'])).toMatch(/^limit: .* of which 0 are used/);
  expect(ask([one, '5000000'], { dead: ['spl 1 0'] })).toBe('signed');
  expect(ask([two, '7000000'], { dead: ['spl 1 0'] })).toMatch(/^limit: .* of which 5000000 are used/);
  expect(ask([two, '7000000'], { dead: ['spl 1 0', 'spl 1 1'] })).toBe('signed');
});

test('spl: what transactions may cost in a day has a ceiling, rent and priority included', () => {
  const bench = new OnceBench((policy) =>
    Object.assign(policy.networks.spl, { native_fee_per_day: '2100000' }),
  );
  const open = (owner: string): SolanaInstruction => ({
    kind: 'createTokenAccount',
    payer: solana.hot(0),
    account: tokenAccountOf(owner, MINT),
    owner,
    mint: MINT,
  });
  const [named, first, ...rest] = steps;
  if (named === undefined || first === undefined) throw new Error('steps');
  const opening = [named, open(somebody('spl', 0)), first];
  const both = [...opening, open(somebody('spl', 1)), ...rest];
  expect(bench.outcome(solanaRequest({ purpose: batch, bytes: { steps: both } }))).toMatch(
    /^fee: native_fee_per_day of the policy for spl, 2100000, is used up: this may burn 4108560/,
  );
  expect(bench.outcome(solanaRequest({ purpose: batch, bytes: { steps: [...opening, ...rest] } }))).toBe(
    'signed',
  );
  const charge = chargeOf();
  expect(
    bench.outcome(solanaRequest({ ordinal: 1, purpose: charge, bytes: { steps: solanaCharging(charge) } })),
  ).toBe('signed');
  const next = chargeOf({ id: CHARGES[1] });
  expect(
    bench.outcome(solanaRequest({ ordinal: 2, purpose: next, bytes: { steps: solanaCharging(next) } })),
  ).toMatch(/^fee: /);
});

test('spl: programs, mints, sysvars, token accounts and wallets of the installation are no recipients', () => {
  const vault = tokenAccountOf(somebody('spl', 9), USDC);
  expect(isOnCurve(solanaAddressBytes(vault))).toBe(false);
  const pay = (to: string, change?: ConstructorParameters<typeof OnceBench>[0]) => {
    const purpose = approvedOn('spl', paymentOn('spl', { items: [{ ...itemOf('spl', 0), to }] }));
    const bytes =
      /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(to) && !to.startsWith('T') ? solanaPaying(purpose) : steps;
    return new OnceBench(change).outcome(solanaRequest({ purpose, bytes: { steps: bytes } }));
  };
  const places = [MINT, USDC, vault, solana.hot(0), HOT, solana.delegate()];
  for (const to of [
    ...places,
    'SysvarRent111111111111111111111111111111111',
    '1nc1nerator11111111111111111111111111111111',
  ])
    expect(pay(to), to).toMatch(/where coins would be lost/);
  for (const to of ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', '0xdAC17F958D2ee523a2206206994597C13D831ec7'])
    expect(pay(to), to).toMatch(/is none of this network/);
  const allowed = (policy: { networks: { spl: object } }) =>
    Object.assign(policy.networks.spl, { allow_program_owned: true });
  expect(pay(vault, allowed)).toBe('signed');
  expect(pay(MINT, allowed)).toMatch(/where coins would be lost/);
});

test('spl: frozen, of another history, of an unknown number or of another merchant, nothing is signed', () => {
  const bench = new OnceBench();
  expect(bench.outcome(sound)).toBe('signed');
  const copy = { ...again(1, EVE).attempt, history: 'copy' };
  expect(bench.outcome({ ...again(1, EVE), attempt: copy })).toMatch(/^history: /);
  const second = solanaRequest({ attempt: 'of a copy', purpose: batch, bytes: { steps, blockhash: EVE } });
  expect(bench.outcome(second)).toMatch(/^history: number 0 of/);
  expect(bench.outcome(again(5, EVE))).toMatch(/^unknown_attempts: /);
  const foreign = approvedOn('spl', paymentOn('spl', { merchant: MERCHANTS[1], id: BATCHES[1] }));
  const asked = solanaRequest({ ordinal: 1, purpose: foreign, bytes: { steps: solanaPaying(foreign) } });
  expect(bench.outcome(asked)).toMatch(/^purpose: account 1 belongs to merchant/);
  bench.apply({ type: 'freeze', at: bench.now, reason: 'drill' });
  expect(bench.outcome(sound)).toMatch(/^frozen: /);
});
