import { expect, test } from 'vitest';
import { Collector } from '../../contracts/artifacts/index.ts';

// Tron's machine took Ethereum's instructions over one proposal after another, each voted on by every network for itself. The collector
// is compiled for Cancun and may use what mainnet has had since 2023, and nothing newer: it would stop there.

const PUSH1 = 0x60;
const PUSH32 = 0x7f;

/** Of Ethereum until London, as Tron has them too. It answers to 0x44 and 0x45 otherwise, and has blobs' instructions of a later proposal. */
const LONDON = new Set([
  ...range(0x00, 0x0b),
  ...range(0x10, 0x1d),
  0x20,
  ...range(0x30, 0x3f),
  ...range(0x40, 0x43),
  0x46,
  0x47,
  ...range(0x50, 0x5b),
  ...range(PUSH1, PUSH32),
  ...range(0x80, 0x9f),
  ...range(0xa0, 0xa4),
  ...range(0xf0, 0xf5),
  0xfa,
  0xfd,
  0xfe,
]);
/** PUSH0, by proposal 89 of August 2023. */
const SHANGHAI = 0x5f;
/** They have another meaning where an account may be without ether, or was never sent any. */
const AVOIDED = new Map([
  [0x31, 'BALANCE'],
  [0x3a, 'GASPRICE'],
  [0x41, 'COINBASE'],
  [0x47, 'SELFBALANCE'],
  [0xf0, 'CREATE'],
  [0xf5, 'CREATE2'],
]);

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

/** The instructions of bytes, without what they push; the tables of constants behind the code are none of it. */
function instructionsOf(bytecode: string): number[] {
  const bytes = Buffer.from(bytecode.slice(2), 'hex');
  const found: number[] = [];
  for (let place = 0; place < bytes.length; place += 1) {
    const one = bytes[place] ?? 0;
    found.push(one);
    if (one >= PUSH1 && one <= PUSH32) place += one - PUSH1 + 1;
  }
  return found;
}

test('the committed collector has instructions of Tron’s machine alone', () => {
  const used = new Set(instructionsOf(Collector.bytecode));
  expect([...used].filter((one) => !LONDON.has(one) && one !== SHANGHAI)).toEqual([]);
  expect([...used].flatMap((one) => AVOIDED.get(one) ?? [])).toEqual([]);
});

test('a walk over instructions steps over what they push, and finds what Tron lacks', () => {
  // PUSH2 5e5c, PUSH0, MCOPY, TSTORE
  expect(instructionsOf('0x615e5c5f5e5d')).toEqual([0x61, 0x5f, 0x5e, 0x5d]);
});
