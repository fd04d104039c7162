import fc from 'fast-check';
import {
  decodeFunctionData,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  getCreate2Address,
  type Hex,
  keccak256,
  parseAbi,
  parseTransaction,
  serializeTransaction,
  toHex as viemHex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { BatchPayout, Collector, SweepDelegate, Sweeper } from '../../../contracts/artifacts/index.ts';
import { signerBytecode } from '../../../scripts/signer-bytecode.ts';
import { BYTECODE } from './bytecode.ts';
import { fromHex, toHex } from './bytes.ts';
import { type Call, decodeCall, encodeCall } from './calldata.ts';
import {
  batchPayoutDeployment,
  collectorDeployment,
  DETERMINISTIC_DEPLOYER,
  delegateDeployment,
  groupOf,
  sweeperDeployment,
} from './contracts.ts';
import { BadEncoding, decodeRlp, encodeRlp, type Rlp } from './rlp.ts';
import { address, collectorCalls, theirCollectorData, uint } from './test-collector-calls.ts';
import { damaged, damageOf, outcome } from './test-damage.ts';
import {
  decodeTransaction,
  signAuthorization,
  signTransaction,
  type UnsignedTransaction,
} from './transaction.ts';

const RUNS = process.env.FLORIN_FULL === '1' ? 100_000 : 1_000;
const LIMIT_MS = process.env.FLORIN_FULL === '1' ? 3_600_000 : 60_000;

const bytes = fc.uint8Array({ maxLength: 300 });

const transaction: fc.Arbitrary<UnsignedTransaction> = fc.record({
  type: fc.constantFrom(2 as const, 4 as const),
  chainId: uint(52).map((id) => id + 1n),
  nonce: uint(52),
  maxPriorityFeePerGas: uint(60),
  maxFeePerGas: uint(60).map((fee) => fee + (1n << 61n)),
  gas: uint(40),
  to: address,
  value: uint(100),
  data: bytes,
  accessList: fc.constant(0),
});

/** The same transaction to viem. */
const theirs = (tx: UnsignedTransaction) => ({
  chainId: Number(tx.chainId),
  nonce: Number(tx.nonce),
  maxPriorityFeePerGas: tx.maxPriorityFeePerGas,
  maxFeePerGas: tx.maxFeePerGas,
  gas: tx.gas,
  to: tx.to as Hex,
  value: tx.value,
  data: toHex(tx.data),
});

const serialized = (tx: UnsignedTransaction) =>
  tx.type === 2
    ? serializeTransaction({ ...theirs(tx), type: 'eip1559' })
    : serializeTransaction({ ...theirs(tx), type: 'eip7702', authorizationList: [] });

const damage = damageOf(0, 1, 0x7f, 0x80, 0x81, 0xb8, 0xc0, 0xc1, 0xf8, 0xff);

/** What viem reads, if it writes the same bytes again. */
function theirReading(whole: Uint8Array): ReturnType<typeof theirs> | undefined {
  try {
    const read = parseTransaction(toHex(whole) as `0x02${string}`);
    if (serializeTransaction(read) !== toHex(whole)) return undefined;
    const plain: Record<string, unknown> = { ...read };
    const isOurs = (read.type as string) === 'eip1559' || (read.type as string) === 'eip7702';
    const isSigned = plain.r !== undefined || plain.yParity !== undefined;
    const list = plain.authorizationList;
    return isOurs && !isSigned && !(Array.isArray(list) && list.length > 0)
      ? (plain as ReturnType<typeof theirs>)
      : undefined;
  } catch {
    return undefined;
  }
}

test(
  'unsigned transactions are read as viem writes them',
  () => {
    fc.assert(
      fc.property(transaction, (tx) => {
        expect(decodeTransaction(fromHex(serialized(tx)))).toEqual(tx);
      }),
      { numRuns: RUNS },
    );
  },
  LIMIT_MS,
);

test(
  'of broken transactions one reading at most is taken, the one that viem has',
  () => {
    let taken = 0;
    fc.assert(
      fc.property(transaction, damage, (tx, list) => {
        const whole = damaged(fromHex(serialized(tx)), list);
        const read = outcome(() => decodeTransaction(whole));
        const their = theirReading(whole);
        if (read === 'refused') {
          // viem writes what it cannot read exactly: numbers above 2^53, and type 4 without a recipient.
          if (their !== undefined && their.to != null) expect(Number.isSafeInteger(their.nonce)).toBe(false);
          return;
        }
        taken += 1;
        if (read.accessList > 0 || read.chainId > 2n ** 53n || read.nonce > 2n ** 53n) return;
        expect(serialized(read).toLowerCase()).toBe(toHex(whole));
      }),
      { numRuns: RUNS },
    );
    // 16 of 1,000 on average; as few as none is no chance.
    expect(taken).toBeGreaterThan(0);
  },
  LIMIT_MS,
);

test('RLP has one form for each value', () => {
  const { value } = fc.letrec<{ value: Rlp }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.uint8Array({ maxLength: 70 }),
      fc.array(tie('value') as fc.Arbitrary<Rlp>, { maxLength: 20 }),
    ),
  }));
  fc.assert(
    fc.property(value, damage, (one, list) => {
      const whole = encodeRlp(one);
      expect(toHex(encodeRlp(decodeRlp(whole)))).toBe(toHex(whole));
      const broken = damaged(whole, list);
      const read = outcome(() => decodeRlp(broken));
      if (read !== 'refused') expect(toHex(encodeRlp(read))).toBe(toHex(broken));
    }),
    { numRuns: RUNS },
  );
  const refused = [
    '0x',
    '0x8100',
    '0x817f',
    '0xb800',
    '0xb801ff',
    '0xb80100',
    '0xc2',
    '0xf800',
    '0xf90001ff',
    '0x0000',
  ];
  for (const text of refused) expect(() => decodeRlp(fromHex(text)), text).toThrow(BadEncoding);
  expect(() => decodeRlp(fromHex('0xbfffffffffffffffff'))).toThrow(BadEncoding);
  expect(() => decodeRlp(fromHex(`0x${'f9ffff'.repeat(20)}`))).toThrow(BadEncoding);
  const listOf = (items: number) => encodeRlp(Array.from({ length: items }, () => new Uint8Array(0)));
  expect(decodeRlp(listOf(1_000))).toHaveLength(1_000);
  expect(() => decodeRlp(listOf(1_001))).toThrow('a list has too many items');
});

const call: fc.Arbitrary<Call> = fc.oneof(
  fc.record({ kind: fc.constant('transfer' as const), to: address, amount: uint(255) }),
  fc.record({ kind: fc.constant('approve' as const), spender: address, amount: uint(255) }),
  fc.record({
    kind: fc.constant('pay' as const),
    token: address,
    group: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    payments: fc.array(fc.record({ index: uint(255), to: address, amount: uint(255) }), { maxLength: 8 }),
  }),
  fc.record({
    kind: fc.constant('sweep' as const),
    sweeps: fc.array(fc.record({ from: address, token: address, amount: uint(255) }), { maxLength: 8 }),
  }),
  ...collectorCalls,
);

const TOKEN = parseAbi(['function transfer(address, uint256)', 'function approve(address, uint256)']);

function theirData(one: Call): Hex {
  switch (one.kind) {
    case 'transfer':
      return encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transfer',
        args: [one.to as Hex, one.amount],
      });
    case 'approve':
      return encodeFunctionData({
        abi: TOKEN,
        functionName: 'approve',
        args: [one.spender as Hex, one.amount],
      });
    case 'pay':
      return encodeFunctionData({
        abi: BatchPayout.abi,
        functionName: 'pay',
        args: [
          one.token as Hex,
          toHex(one.group),
          one.payments.map(({ index, to, amount }) => ({ index, to: to as Hex, amount })),
        ],
      });
    case 'sweep':
      return encodeFunctionData({
        abi: Sweeper.abi,
        functionName: 'sweep',
        args: [
          one.sweeps.map(({ from, token, amount }) => ({ from: from as Hex, token: token as Hex, amount })),
        ],
      });
    case 'open':
    case 'activate':
    case 'charge':
      return theirCollectorData(one);
  }
}

test(
  'calldata is read and written as viem does',
  () => {
    fc.assert(
      fc.property(call, (one) => {
        const data = fromHex(theirData(one));
        expect(decodeCall(data)).toEqual(one);
        expect(toHex(encodeCall(one))).toBe(toHex(data));
      }),
      { numRuns: RUNS },
    );
  },
  LIMIT_MS,
);

/** Functions that the signer reads. */
const SIGNED = new Set<string>([
  'transfer',
  'approve',
  'pay',
  'sweep',
  'open',
  'activate',
  'activateWithPermit',
  'charge',
]);

test(
  'of broken calldata one reading at most is taken, and viem has the same',
  () => {
    const abis = [TOKEN, BatchPayout.abi, Sweeper.abi, Collector.abi] as const;
    const readable = (data: Hex) =>
      abis.some((abi) => {
        try {
          const { functionName, args } = decodeFunctionData({ abi, data });
          if (!SIGNED.has(functionName)) return false;
          return (
            encodeFunctionData({ abi, functionName, args } as Parameters<typeof encodeFunctionData>[0]) ===
            data
          );
        } catch {
          return false;
        }
      });
    let taken = 0;
    fc.assert(
      fc.property(call, damage, (one, list) => {
        const data = damaged(encodeCall(one), list);
        const read = outcome(() => decodeCall(data));
        expect(read !== 'refused').toBe(readable(toHex(data)));
        if (read === 'refused') return;
        taken += 1;
        expect(theirData(read)).toBe(toHex(data));
      }),
      { numRuns: RUNS },
    );
    expect(taken).toBeGreaterThan(RUNS / 100);
  },
  LIMIT_MS,
);

test(
  'signatures and authorizations are those that viem makes',
  async () => {
    const key = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .filter((bytes) => (bytes[0] ?? 255) < 255 && (bytes[1] ?? 0) > 0);
    await fc.assert(
      fc.asyncProperty(transaction, key, key, address, async (tx, sender, deposit, delegate) => {
        const account = privateKeyToAccount(toHex(sender));
        const request = { chainId: tx.chainId, delegate, nonce: tx.nonce };
        const own = tx.type === 4 ? [signAuthorization(request, deposit)] : [];
        const signed = signTransaction(tx, own, sender);
        const asViem = { chainId: Number(tx.chainId), nonce: Number(tx.nonce) };
        const authorization = await privateKeyToAccount(toHex(deposit)).signAuthorization({
          ...asViem,
          contractAddress: delegate,
        });
        const raw =
          tx.type === 4
            ? await account.signTransaction({
                ...theirs(tx),
                type: 'eip7702',
                authorizationList: [authorization],
              })
            : await account.signTransaction({ ...theirs(tx), type: 'eip1559' });
        expect(toHex(signed.raw)).toBe(raw);
        expect(toHex(signed.hash)).toBe(keccak256(raw));
        expect(signTransaction(tx, own, sender)).toEqual(signed);
      }),
      { numRuns: Math.ceil(RUNS / 20) },
    );
  },
  LIMIT_MS,
);

test('our contracts lie where the deterministic deployer puts the committed bytecode', () => {
  expect(BYTECODE).toEqual(signerBytecode());
  const [operator, home] = [getAddress(`0x${'11'.repeat(20)}`), getAddress(`0x${'22'.repeat(20)}`)];
  const at = (bytecode: Hex) =>
    getCreate2Address({ from: DETERMINISTIC_DEPLOYER as Hex, salt: viemHex(0, { size: 32 }), bytecode });
  const salted = (bytecode: Hex) => `0x${'0'.repeat(64)}${bytecode.slice(2)}`;
  const sweeperCode = encodeDeployData({ ...Sweeper, args: [operator] });
  const sweeper = sweeperDeployment(operator);
  expect(sweeper.address).toBe(at(sweeperCode));
  expect(toHex(sweeper.data)).toBe(salted(sweeperCode));
  const delegateCode = encodeDeployData({ ...SweepDelegate, args: [home, sweeper.address as Hex] });
  expect(delegateDeployment(home, sweeper.address).address).toBe(at(delegateCode));
  expect(batchPayoutDeployment().address).toBe(at(BatchPayout.bytecode));
  expect(toHex(batchPayoutDeployment().data)).toBe(salted(BatchPayout.bytecode));
  expect(collectorDeployment().address).toBe(at(Collector.bytecode));
});

test('a group is a UUID, left-aligned', () => {
  expect(toHex(groupOf('01234567-89ab-cdef-0123-456789abcdef'))).toBe(
    encodeAbiParameters([{ type: 'bytes16' }], ['0x0123456789abcdef0123456789abcdef']),
  );
  expect(() => groupOf('01234567-89AB-cdef-0123-456789abcdef')).toThrow(RangeError);
});
