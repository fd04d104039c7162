import fc from 'fast-check';
import { encodeFunctionData, getAddress, type Hex, toHex as viemHex } from 'viem';
import { Collector } from '../../../contracts/artifacts/index.ts';
import { fromHex, numberOf, toHex } from './bytes.ts';
import type { Call, MandateWords } from './calldata.ts';

export const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(toHex(bytes)));
export const uint = (bits: number) =>
  fc.nat(bits).chain((most) => fc.bigInt({ min: 0n, max: (1n << BigInt(most)) - 1n }));
const word = fc.uint8Array({ minLength: 32, maxLength: 32 });
const uintWord = (bits: number) => uint(bits).map((number) => fromHex(viemHex(number, { size: 32 })));
const mandate = fc.record({
  payer: address,
  token: address,
  account: word,
  terms: fc.tuple(...[63, 31, 15, 39, 39, 255].map(uintWord)),
});

/** The mandate as viem takes it. */
function theirMandate({ payer, token, account, terms }: MandateWords) {
  const [cap = 0n, period = 0n, subscriptions = 0n, start = 0n, end = 0n] = terms.map((one) => numberOf(one));
  return {
    payer: payer as Hex,
    token: token as Hex,
    account: toHex(account),
    cap,
    period: Number(period),
    subscriptions: Number(subscriptions),
    start: Number(start),
    end: Number(end),
    salt: toHex(terms[5] ?? new Uint8Array()),
  };
}

function theirActivation({ mandate: given, signature, permit }: Extract<Call, { kind: 'activate' }>): Hex {
  const [value, deadline, v, r, s] = permit;
  const [terms, signed] = [theirMandate(given), toHex(signature)];
  if (value === undefined || deadline === undefined || v === undefined || r === undefined || s === undefined)
    return encodeFunctionData({ abi: Collector.abi, functionName: 'activate', args: [terms, signed] });
  const permitted = {
    value: numberOf(value),
    deadline: numberOf(deadline),
    v: Number(numberOf(v)),
    r: toHex(r),
    s: toHex(s),
  };
  return encodeFunctionData({
    abi: Collector.abi,
    functionName: 'activateWithPermit',
    args: [terms, signed, permitted],
  });
}

/** Calls of the collector. */
export const collectorCalls = [
  fc.record({ kind: fc.constant('open' as const), owner: address, operator: address, home: address }),
  fc.record({
    kind: fc.constant('charge' as const),
    mandate,
    id: word,
    subscription: word,
    amount: uint(63),
    windowStart: uint(31),
    windowEnd: uint(31),
  }),
  fc.record({
    kind: fc.constant('activate' as const),
    mandate,
    signature: fc.uint8Array({ maxLength: 100 }),
    permit: fc.oneof(fc.constant([]), fc.tuple(...[255, 255, 7, 255, 255].map(uintWord))),
  }),
] as const;

/** Its data as viem writes it. */
export function theirCollectorData(one: Extract<Call, { kind: 'open' | 'activate' | 'charge' }>): Hex {
  switch (one.kind) {
    case 'open':
      return encodeFunctionData({
        abi: Collector.abi,
        functionName: 'open',
        args: [one.owner as Hex, one.operator as Hex, one.home as Hex],
      });
    case 'activate':
      return theirActivation(one);
    case 'charge':
      return encodeFunctionData({
        abi: Collector.abi,
        functionName: 'charge',
        args: [
          theirMandate(one.mandate),
          {
            id: toHex(one.id),
            subscription: toHex(one.subscription),
            amount: one.amount,
            windowStart: Number(one.windowStart),
            windowEnd: Number(one.windowEnd),
          },
        ],
      });
  }
}
