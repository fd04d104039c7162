import { createContext, Script } from 'node:vm';
import fc from 'fast-check';
import { utils } from 'tronweb';
import { expect, test } from 'vitest';
import { concat } from '../bytes.ts';
import { damaged, damageOf, outcome } from '../test-damage.ts';
import { accountOfTron, tronAddressBytes, tronAddressOf, tronOfAccount } from './address.ts';
import {
  decodeSignedTron,
  decodeTronTransaction,
  encodeSignedTron,
  encodeTronTransaction,
  signTronTransaction,
  type TronContract,
  type TronTransaction,
  tronTransactionId,
} from './transaction.ts';

const RUNS = process.env.FLORIN_FULL === '1' ? 100_000 : 3_000;
const LIMIT_MS = process.env.FLORIN_FULL === '1' ? 3_600_000 : 120_000;

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const fixed = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const address = fixed(20).map((bytes) => tronAddressOf(concat(Uint8Array.of(0x41), bytes)));
/** Numbers of all lengths; tronweb keeps them as doubles. */
const amount = fc
  .nat(52)
  .chain((bits) => fc.bigInt({ min: 1n, max: 2n ** BigInt(bits + 1) - 1n }))
  .filter((number) => number < 2n ** 53n);
const resource = fc.constantFrom('bandwidth' as const, 'energy' as const);

const contract: fc.Arbitrary<TronContract> = fc.oneof(
  fc.record({ kind: fc.constant('transfer' as const), owner: address, to: address, amount }),
  fc.record({
    kind: fc.constant('trigger' as const),
    owner: address,
    contract: address,
    data: fc.uint8Array({ maxLength: 300 }),
  }),
  fc.record({
    kind: fc.constantFrom('delegate' as const, 'undelegate' as const),
    owner: address,
    resource,
    balance: amount,
    receiver: address,
  }),
);
const transaction: fc.Arbitrary<TronTransaction> = fc.record({
  refBlockBytes: fixed(2),
  refBlockHash: fixed(8),
  expiration: amount,
  timestamp: amount,
  contract,
  feeLimit: fc.oneof(fc.constant(0n), amount),
});

const TYPES = {
  transfer: 'TransferContract',
  trigger: 'TriggerSmartContract',
  delegate: 'DelegateResourceContract',
  undelegate: 'UnDelegateResourceContract',
} as const;

const theirAddress = (text: string) => hex(tronAddressBytes(text));

function theirValue(one: TronContract): Record<string, unknown> {
  const owner_address = theirAddress(one.owner);
  switch (one.kind) {
    case 'transfer':
      return { owner_address, to_address: theirAddress(one.to), amount: Number(one.amount) };
    case 'trigger':
      return { owner_address, contract_address: theirAddress(one.contract), data: hex(one.data) };
    case 'delegate':
    case 'undelegate':
      return {
        owner_address,
        receiver_address: theirAddress(one.receiver),
        balance: Number(one.balance),
        resource: one.resource.toUpperCase(),
      };
  }
}

/** The same transaction to tronweb. */
const theirs = (tx: TronTransaction) => ({
  visible: false,
  raw_data: {
    contract: [
      {
        type: TYPES[tx.contract.kind],
        parameter: {
          value: theirValue(tx.contract),
          type_url: `type.googleapis.com/protocol.${TYPES[tx.contract.kind]}`,
        },
      },
    ],
    ref_block_bytes: hex(tx.refBlockBytes),
    ref_block_hash: hex(tx.refBlockHash),
    expiration: Number(tx.expiration),
    timestamp: Number(tx.timestamp),
    ...(tx.feeLimit > 0n && { fee_limit: Number(tx.feeLimit) }),
  },
});

/** Its bytes as tronweb writes them. */
const theirBytes = (tx: TronTransaction) =>
  Uint8Array.from(
    Buffer.from(utils.transaction.txPbToRawDataHex(utils.transaction.txJsonToPb(theirs(tx))), 'hex'),
  );

interface TheirReading {
  contract: { parameter: { value: Record<string, string | number | boolean> }; Permission_id: number }[];
  data: string;
  scripts: string;
  auths: unknown[];
  fee_limit: number;
  ref_block_bytes: string;
  ref_block_hash: string;
  expiration: number;
  timestamp: number;
}

const KINDS = ['transfer', 'trigger', 'delegate', 'undelegate'] as const;

/** Fields of a contract that it may have to tronweb, and to the network, and that are not signed. */
const UNUSED = ['call_value', 'call_token_value', 'token_id', 'lock', 'lock_period'];

/** Whether this is all that a transaction of ours says. */
function isOurs({ contract: [one], ...raw }: TheirReading): boolean {
  if (one === undefined || one.Permission_id !== 0) return false;
  const { value } = one.parameter;
  const isSound = (name: string, field: unknown) => {
    if (UNUSED.includes(name)) return Number(field) === 0;
    if (name.endsWith('_address')) return /^41[0-9a-f]{40}$/i.test(String(field));
    return name === 'amount' || name === 'balance' ? Number(field) > 0 : true;
  };
  return (
    Object.entries(value).every(([name, field]) => isSound(name, field)) &&
    raw.data === '' &&
    raw.scripts === '' &&
    raw.auths.length === 0 &&
    raw.ref_block_bytes.length === 4 &&
    raw.ref_block_hash.length === 16 &&
    raw.expiration > 0 &&
    raw.timestamp > 0 &&
    raw.fee_limit >= 0
  );
}

/** Whether tronweb reads one of our transactions in these bytes and writes the same bytes again. */
function isReadable(bytes: Uint8Array): boolean {
  return KINDS.some((kind) => {
    try {
      const raw: TheirReading = utils.deserializeTx.deserializeTransaction(TYPES[kind], hex(bytes));
      const withType = { ...raw, contract: raw.contract.map((one) => ({ ...one, type: TYPES[kind] })) };
      const pb = utils.transaction.txJsonToPb({ visible: false, raw_data: withType });
      return isOurs(raw) && utils.transaction.txPbToRawDataHex(pb).toLowerCase() === hex(bytes);
    } catch {
      return false;
    }
  });
}

const context = createContext({ isReadable, bytes: new Uint8Array() });
const script = new Script('isReadable(bytes)');

/** As `isReadable`. tronweb reads for ever where a length is negative. */
function isReadableInTime(bytes: Uint8Array, timeout = 5_000): boolean {
  context.bytes = bytes;
  try {
    return script.runInContext(context, { timeout }) === true;
  } catch (error) {
    if (isTimeout(error)) return false;
    throw error;
  }
}

/** It is an error of the script's own realm, so no `Error` of ours. */
const isTimeout = (error: unknown) =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/** A number that tronweb cannot hold. */
const isTooLarge = ({ expiration, timestamp, feeLimit, contract: one }: TronTransaction) =>
  [
    expiration,
    timestamp,
    feeLimit,
    one.kind === 'transfer' ? one.amount : 0n,
    one.kind === 'delegate' || one.kind === 'undelegate' ? one.balance : 0n,
  ].some((number) => number >= 2n ** 53n);

test(
  'raw data, ids and addresses are those of tronweb, and are read back',
  () => {
    fc.assert(
      fc.property(transaction, (tx) => {
        const bytes = encodeTronTransaction(tx);
        expect(hex(bytes)).toBe(hex(theirBytes(tx)));
        expect(decodeTronTransaction(bytes)).toEqual(tx);
        const id = utils.transaction.txPbToTxID(utils.transaction.txJsonToPb(theirs(tx)));
        expect(`0x${hex(tronTransactionId(bytes))}`).toBe(id);
        const { owner } = tx.contract;
        expect(utils.address.fromHex(theirAddress(owner))).toBe(owner);
        expect(tronOfAccount(accountOfTron(owner))).toBe(owner);
      }),
      { numRuns: RUNS },
    );
  },
  LIMIT_MS,
);

// Tags of fields that are known and of others, lengths, small numbers and continued ones.
const damage = damageOf(
  0,
  1,
  2,
  0x0a,
  0x10,
  0x12,
  0x18,
  0x1a,
  0x22,
  0x28,
  0x31,
  0x40,
  0x5a,
  0x70,
  0x7f,
  0x80,
  0x90,
  0xff,
);

test(
  'of broken raw data one reading at most is taken, and tronweb has the same',
  () => {
    let taken = 0;
    fc.assert(
      fc.property(transaction, damage, (tx, list) => {
        const bytes = damaged(encodeTronTransaction(tx), list);
        const read = outcome(() => decodeTronTransaction(bytes));
        if (read === 'refused') {
          expect(isReadableInTime(bytes)).toBe(false);
          return;
        }
        taken += 1;
        expect(hex(encodeTronTransaction(read))).toBe(hex(bytes));
        if (isTooLarge(read)) return;
        expect(isReadableInTime(bytes)).toBe(true);
        expect(hex(theirBytes(read))).toBe(hex(bytes));
      }),
      { numRuns: RUNS },
    );
    expect(taken).toBeGreaterThan(RUNS / 200);
  },
  LIMIT_MS,
);

const privateKey = fixed(32).filter((key) => (key[0] ?? 255) < 255 && (key[1] ?? 0) > 0);

test(
  'signatures and signed transactions are those of tronweb',
  () => {
    fc.assert(
      fc.property(transaction, privateKey, (tx, key) => {
        const rawData = encodeTronTransaction(tx);
        const signed = signTronTransaction(rawData, key);
        expect(signTronTransaction(rawData, key)).toEqual(signed);
        const their = utils.crypto.signTransaction(key, { txID: hex(tronTransactionId(rawData)) });
        expect(hex(signed.signature)).toBe(their.signature[0]?.toLowerCase());
        const recovered = utils.crypto.ecRecover(hex(tronTransactionId(rawData)), hex(signed.signature));
        expect(recovered.toLowerCase()).toBe(hex(Uint8Array.from(utils.crypto.getAddressFromPriKey(key))));
        const all = encodeSignedTron(signed);
        expect(decodeSignedTron(all)).toEqual(signed);
        const whole = utils.transaction.txJsonToPb(theirs(tx));
        whole.addSignature(signed.signature);
        expect(hex(all)).toBe(hex(whole.serializeBinary()));
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    );
  },
  LIMIT_MS,
);

test('bytes that tronweb reads for ever are refused at once', () => {
  const tx: TronTransaction = {
    refBlockBytes: Uint8Array.of(229, 1),
    refBlockHash: Uint8Array.of(0, 0, 74, 128, 128, 128, 128, 1),
    expiration: 1n,
    timestamp: 1n,
    contract: {
      kind: 'trigger',
      owner: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb',
      contract: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb',
      data: new Uint8Array(),
    },
    feeLimit: 1n,
  };
  const bytes = concat(Uint8Array.of(0x90), encodeTronTransaction(tx));
  expect(outcome(() => decodeTronTransaction(bytes))).toBe('refused');
  expect(isReadableInTime(bytes, 200)).toBe(false);
});
