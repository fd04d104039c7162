import { decodeFunctionData, type Hex, keccak256, parseTransaction, recoverTransactionAddress } from 'viem';
import { expect, test } from 'vitest';
import { Collector } from '../../../contracts/artifacts/index.ts';
import { toHex } from './bytes.ts';
import { collectorAccount } from './contracts.ts';
import { makeOwnerCall, type OwnerCall, type OwnerFees } from './owner-call.ts';
import { readPolicy } from './policy.ts';
import { policyText, USDT } from './test-policy.ts';
import { accounts, Bench, request } from './test-requests.ts';

const { erc20: rules } = readPolicy(JSON.stringify(policyText()));
const TO = accounts.deposit(900, 1).address;
const ZERO = `0x${'0'.repeat(40)}`;
const FEES: OwnerFees = { nonce: 7n, maxFeePerGas: 30_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
const call: OwnerCall = { account: 3, what: 'operator', address: TO };
function sign({
  nonce,
  maxFeePerGas,
  maxPriorityFeePerGas,
  ...changes
}: Partial<OwnerCall & OwnerFees> = {}) {
  const fees = {
    nonce: nonce ?? FEES.nonce,
    maxFeePerGas: maxFeePerGas ?? FEES.maxFeePerGas,
    maxPriorityFeePerGas: maxPriorityFeePerGas ?? FEES.maxPriorityFeePerGas,
  };
  const made = makeOwnerCall(accounts, rules, { ...call, ...changes, fees });
  if (!('raw' in made)) throw new Error('the owner is a key of the signer');
  return made;
}

test('the owner names an operator or a home by a transaction of its own wallet', async () => {
  const owner = accounts.owner(3).address;
  const id = toHex(collectorAccount(owner, accounts.hot(3).address));
  for (const [what, functionName] of [
    ['operator', 'setOperator'],
    ['home', 'moveHome'],
  ] as const) {
    const signed = sign({ what });
    const raw = signed.raw as `0x02${string}`;
    const tx = parseTransaction(raw);
    expect(await recoverTransactionAddress({ serializedTransaction: raw })).toBe(owner);
    expect(signed).toMatchObject({ owner, collectorAccount: id, txId: keccak256(raw) });
    expect(tx).toMatchObject({ chainId: 31_337, nonce: 7, to: rules.collector?.toLowerCase() });
    const { functionName: called, args } = decodeFunctionData({ abi: Collector.abi, data: tx.data as Hex });
    expect([called, args]).toEqual([functionName, [id, TO]]);
  }
  expect(sign({ address: ZERO }).raw).toMatch(/^0x02/);
});

test('what would lose coins, costs too much or is mistyped is refused in one line', () => {
  expect(() => sign({ what: 'home', address: ZERO })).toThrow('coins would be lost');
  for (const address of [USDT, rules.collector ?? '', rules.batchPayout ?? ''])
    expect(() => sign({ what: 'home', address })).toThrow('coins would be lost');
  expect(() => sign({ address: TO.replace(/[a-f]/, (letter) => letter.toUpperCase()) })).toThrow(
    'wrong checksum',
  );
  expect(() => sign({ maxFeePerGas: 201_000_000_000n })).toThrow('above the ceilings');
  expect(() => sign({ maxPriorityFeePerGas: 31_000_000_000n })).toThrow('above the');
  expect(() => sign({ account: 0 })).toThrow('charges nobody');
  const make = (changed: object) =>
    makeOwnerCall(accounts, { ...rules, ...changed }, { ...call, fees: undefined });
  expect(() => make({ collector: null })).toThrow('names no collector');
  expect(() => make({})).toThrow('give the nonce and both fees');
});

test('a cold owner gets its call unsigned, with the id that follows from it, and in words', () => {
  const cold = accounts.deposit(900, 2).address;
  const coldRules = { ...rules, coldOwners: new Map([[3, cold]]) };
  const id = toHex(collectorAccount(cold, accounts.hot(3).address));
  const make = (changes: Partial<OwnerCall> = {}) =>
    makeOwnerCall(accounts, coldRules, { ...call, ...changes, fees: FEES });
  for (const [what, functionName, does] of [
    ['operator', 'setOperator', `${TO} charges subscribers`],
    ['home', 'moveHome', 'From two days after'],
  ] as const) {
    const made = make({ what });
    expect(Object.keys(made)).toEqual(['owner', 'collector', 'collectorAccount', 'unsigned', 'does']);
    if (!('unsigned' in made)) throw new Error('it is signed');
    const { data, ...unsigned } = made.unsigned;
    expect(unsigned).toEqual({ chainId: 31_337, from: cold, to: rules.collector, value: '0' });
    const decoded = decodeFunctionData({ abi: Collector.abi, data });
    expect([decoded.functionName, decoded.args]).toEqual([functionName, [id, TO]]);
    expect(made.does).toContain(does);
  }
  expect(make({ address: ZERO })).toMatchObject({ does: expect.stringContaining('Nobody charges') });
  expect(() => make({ what: 'home', address: USDT })).toThrow('coins would be lost');
  // Other accounts keep the signer's key.
  expect(make({ account: 4 })).toMatchObject({ owner: accounts.owner(4).address, raw: expect.any(String) });
});

test('no request of a server is such a call, whatever purpose it names', () => {
  const tx = parseTransaction(sign().raw as `0x02${string}`);
  const bytes = { to: rules.collector ?? '', data: Buffer.from((tx.data ?? '0x').slice(2), 'hex') };
  const purposes = [
    { kind: 'activate', asset: 'USDT', payer: TO },
    { kind: 'charge', id: '01890000-0000-7000-8000-0000000000cc', asset: 'USDT', payer: TO, amount: '1' },
    { kind: 'fill' },
  ] as const;
  for (const purpose of purposes)
    expect(new Bench().outcome(request({ account: 3, bytes, purpose }))).toBe('purpose');
});
