import { decodeFunctionData, type Hex, keccak256, parseTransaction, recoverTransactionAddress } from 'viem';
import { expect, test } from 'vitest';
import { Collector } from '../../../contracts/artifacts/index.ts';
import { toHex } from './bytes.ts';
import { collectorAccount } from './contracts.ts';
import { type OwnerCall, signOwnerCall } from './owner-call.ts';
import { readPolicy } from './policy.ts';
import { policyText, USDT } from './test-policy.ts';
import { accounts, Bench, request } from './test-requests.ts';

const { erc20: rules } = readPolicy(JSON.stringify(policyText()));
const TO = accounts.deposit(900, 1).address;
const ZERO = `0x${'0'.repeat(40)}`;
const call: OwnerCall = {
  account: 3,
  what: 'operator',
  address: TO,
  nonce: 7n,
  maxFeePerGas: 30_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
};
const sign = (changes: Partial<OwnerCall> = {}) => signOwnerCall(accounts, rules, { ...call, ...changes });

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
  expect(() => signOwnerCall(accounts, { ...rules, collector: null }, call)).toThrow('names no collector');
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
