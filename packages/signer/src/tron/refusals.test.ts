import { expect, test } from 'vitest';
import { concat } from '../bytes.ts';
import { BadEncoding } from '../rlp.ts';
import { accountOfTron, readTronAddress, tronAddressBytes, tronAddressOf } from './address.ts';
import { writeMessage } from './protobuf.ts';
import {
  decodeSignedTron,
  decodeTronTransaction,
  encodeSignedTron,
  encodeTronTransaction,
  signTronTransaction,
  type TronTransaction,
} from './transaction.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

const OWNER = 'TXLAQ63Xg1NAzckPwKHvzw7CSEmLMEqcdj';
const TOKEN = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const SOUND: TronTransaction = {
  refBlockBytes: Uint8Array.of(1, 2),
  refBlockHash: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8),
  expiration: 1_790_000_060_000n,
  timestamp: 1_790_000_000_000n,
  contract: { kind: 'trigger', owner: OWNER, contract: TOKEN, data: Uint8Array.of(1) },
  feeLimit: 30_000_000n,
};

/** Raw data whose parts may be replaced: fields of it, of the contract, of the parameter and of what lies in it. */
function forged(
  parts: {
    raw?: readonly (readonly [number, bigint | Uint8Array])[];
    contract?: readonly (readonly [number, bigint | Uint8Array])[];
    value?: readonly (readonly [number, bigint | Uint8Array])[];
    type?: bigint;
  } = {},
): Uint8Array {
  const value = writeMessage(
    [1, tronAddressBytes(OWNER)],
    [2, tronAddressBytes(TOKEN)],
    [4, Uint8Array.of(1)],
    ...(parts.value ?? []),
  );
  const any = writeMessage([1, Buffer.from('type.googleapis.com/protocol.TriggerSmartContract')], [2, value]);
  const contract = writeMessage([1, parts.type ?? 31n], [2, any], ...(parts.contract ?? []));
  return writeMessage(
    [1, SOUND.refBlockBytes],
    [4, SOUND.refBlockHash],
    [8, SOUND.expiration],
    [11, contract],
    ...(parts.raw ?? [
      [14, SOUND.timestamp],
      [18, SOUND.feeLimit],
    ]),
  );
}

test('what is refused has one line that says why', () => {
  const sound = encodeTronTransaction(SOUND);
  expect(hex(forged())).toBe(hex(sound));
  const times = [
    [14, SOUND.timestamp],
    [18, SOUND.feeLimit],
  ] as const;
  const second = decodeParts(sound);
  const cases: [bytes: Uint8Array, line: string][] = [
    [forged({ raw: [[11, second], ...times] }), 'the raw data has a second contract'],
    [
      forged({ raw: [[12, Uint8Array.of(1)], ...times] }),
      'the raw data has the field 12, which is not signed',
    ],
    [forged({ raw: [...times, [19, 1n]] }), 'the raw data has the field 19, which is not signed'],
    [
      concat(writeMessage([10, Uint8Array.of(1)]), sound),
      'the raw data has the field 10, which is not signed',
    ],
    [forged({ contract: [[5, 2n]] }), 'the contract has the field 5, which is not signed'],
    [forged({ value: [[5, 1n]] }), 'TriggerSmartContract has the field 5, which is not signed'],
    [forged({ type: 46n }), 'contracts of type 46 are not signed'],
    [forged({ type: 1n }), "type 1 is not of the parameter's type_url"],
    [forged({ raw: [[14, Uint8Array.of(1)]] }), 'timestamp of the raw data has the wire type 2'],
    [forged({ raw: [times[1], times[0]] }), 'timestamp of the raw data is out of order'],
    [forged({ raw: [times[1]] }), 'the timestamp is missing'],
    [concat(sound.subarray(0, -1), Uint8Array.of(0x80)), 'fee_limit of the raw data ends early'],
    [concat(sound, Uint8Array.of(0)), 'the raw data has the field 0, which is not signed'],
    [
      concat(sound.subarray(0, -1), Uint8Array.of(0x8e, 0)),
      'fee_limit of the raw data has a number that is not in its shortest form',
    ],
    [sound.subarray(4), 'ref_block_bytes has 0 bytes, not 2'],
  ];
  for (const [bytes, line] of cases) {
    const read = () => decodeTronTransaction(bytes);
    expect(read, line).toThrow(BadEncoding);
    expect(read).toThrow(line);
  }
  const signed = signTronTransaction(sound, new Uint8Array(32).fill(1));
  expect(() =>
    decodeSignedTron(concat(encodeSignedTron(signed), writeMessage([2, signed.signature]))),
  ).toThrow('the transaction has a second signature');
  expect(() => decodeSignedTron(writeMessage([1, sound]))).toThrow('the signature has 0 bytes, not 65');
});

/** The contract of sound raw data, as bytes. */
const decodeParts = (raw: Uint8Array) => {
  const start = 2 + 2 + 2 + 8 + 1 + 6;
  expect(raw[start]).toBe(0x5a);
  const length = (raw[start + 1] ?? 0) - 0x80 + ((raw[start + 2] ?? 0) << 7);
  return raw.slice(start + 3, start + 3 + length);
};

test('addresses are base58check with the prefix 41', () => {
  expect(readTronAddress(OWNER)).toHaveLength(21);
  for (const text of [
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzg5uV7p',
    '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    '41a614f803b6fd780986a42c78ec9c7f77e6ded13c',
    'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
    '',
  ])
    expect(readTronAddress(text), text).toBeUndefined();
  expect(() => tronAddressOf(new Uint8Array(21))).toThrow(RangeError);
  expect(accountOfTron(TOKEN)).toBe('0xa614f803B6FD780986A42c78Ec9c7f77e6DeD13C');
});
