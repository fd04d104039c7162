import type { RefusalAnswer, SignAnswer } from '@florin/signer/protocol';
import {
  type Hex,
  keccak256,
  parseTransaction,
  serializeTransaction,
  type TransactionSerializableEIP1559,
} from 'viem';
import { signAuthorization } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EvmSender } from '../../../packages/server/src/chains/evm/sender.ts';
import {
  ChainUnavailable,
  SignerUnavailable,
  SigningBlocked,
} from '../../../packages/server/src/chains/port/port.ts';
import { SigningRefused } from '../../../packages/server/src/chains/port/wallet-holder.ts';
import { account, freshAddress, hasAnvil } from '../../contracts/local-node.ts';
import { nextSigning } from '../next-signing.ts';
import { hotWallet, TANK } from './key-signer.ts';
import { fresh, payout, sweepOf, World } from './world.ts';

describe.skipIf(!hasAnvil())('signatures for an EVM network', () => {
  let world: World;
  let sender: EvmSender;
  beforeAll(async () => {
    world = await World.start();
    await world.furnish();
    sender = world.sender();
  });
  beforeEach(() => world.snapshot());
  afterAll(() => world?.stop());

  const specOf = async () => payout('USDT', fresh(2), { sequence: await world.sequenceOf(world.hot) });

  test('G3: the signer gets the unsigned bytes, the attempt, and the batch as it was approved', async () => {
    const approval = { approver: 'ada', validUntil: 1_900_000_000, signature: '00', key: '0x01' };
    const spec = await specOf();
    if (spec.authority === undefined) throw new Error('no authority');
    const part = { ...spec, items: spec.items.slice(1) };
    const tx = await sender.buildTransfer({
      ...part,
      authority: { ...spec.authority, approvals: [approval] },
    });
    const request = world.signer.requests.at(-1);
    expect(request).toMatchObject({
      network: 'erc20',
      account: 1,
      attempt: { attemptId: spec.signing.attemptId, history: spec.signing.history },
      purpose: {
        kind: 'payout',
        merchant: 'mch',
        id: spec.groupId,
        asset: 'USDT',
        items: spec.items.map(({ place, to, amount }) => ({
          place,
          to,
          amount: String(amount),
          memo: null,
        })),
        places: [1],
        approvals: [approval],
      },
    });
    expect(JSON.parse(JSON.stringify(request))).toEqual(request);
    const unsigned = parseTransaction(hex(request?.unsigned));
    const signed = parseTransaction(hex(tx.raw));
    expect(unsigned.r).toBeUndefined();
    const { r: _r, s: _s, v: _v, yParity: _y, ...content } = signed;
    expect(content).toEqual(unsigned);
  });

  describe('refusals', () => {
    const refusal = (code: RefusalAnswer['code']): RefusalAnswer => ({ code, message: `said ${code}` });

    test('another history and taken numbers: this database is a copy', async () => {
      for (const code of ['history', 'sequence'] as const) {
        world.signer.next(refusal(code));
        const spec = await specOf();
        const refused = sender.buildTransfer(spec);
        await expect(refused).rejects.toThrow(SigningRefused);
        await expect(refused).rejects.toMatchObject({ history: spec.signing.history, network: 'erc20' });
      }
    });

    test('whatever people can lift: the attempt waits for them, and says why', async () => {
      const held = [
        'frozen',
        'approvals',
        'limit',
        'fee',
        'policy',
        'purpose',
        'item_signed',
        'journal',
        'invalid_request',
      ] as const;
      for (const code of held) {
        world.signer.next(refusal(code));
        const asked = sender.buildTransfer(await specOf());
        await expect(asked).rejects.toThrow(SigningBlocked);
        const message = expect.stringMatching(new RegExp(`^erc20: said ${code}($| \\()`));
        await expect(asked).rejects.toMatchObject({ reason: code, message });
      }
    });

    test('earlier attempts that it lacks are given once; then the signer is away', async () => {
      const spec = await specOf();
      const asked: (bigint | null)[] = [];
      const signing = {
        ...nextSigning(),
        before: async (from: bigint | null) => {
          asked.push(from);
          return ['one', 'two'];
        },
      };
      const lacking = { ...refusal('unknown_attempts'), from: '7' };
      world.signer.next(lacking, lacking);
      await expect(sender.buildTransfer({ ...spec, signing })).rejects.toThrow(SignerUnavailable);
      expect(asked).toEqual([7n]);
      expect(world.signer.requests.at(-1)?.attempt.before).toEqual(['one', 'two']);
      expect(world.signer.requests.at(-2)?.attempt.before).toBeUndefined();
    });

    test('a signer that is away: transfers wait as for a node', async () => {
      world.signer.next(new Error('connect ECONNREFUSED'));
      const asked = sender.buildTransfer(await specOf());
      await expect(asked).rejects.toThrow(SignerUnavailable);
      await expect(asked).rejects.toThrow(ChainUnavailable);
      await expect(asked).rejects.toThrow('the signer cannot be reached: transfers wait');
    });
  });

  describe('answers that are not what was asked for are not taken', () => {
    const resign = (change: (parsed: TransactionSerializableEIP1559) => object, key = hotWallet(1)) => {
      return async (raw: Hex): Promise<Hex> => {
        const parsed = parseTransaction(raw);
        if (parsed.type !== 'eip1559') throw new Error('not of type 2');
        const { r: _r, s: _s, v: _v, yParity: _y, ...content } = parsed;
        return await key.signTransaction({ ...content, ...change(parsed) });
      };
    };
    const changes: [string, (raw: Hex) => Promise<string>][] = [
      ['another nonce', resign(({ nonce }) => ({ nonce: (nonce ?? 0) + 1 }))],
      ['another chain', resign(() => ({ chainId: 1 }))],
      ['another recipient', resign(() => ({ to: freshAddress(3) }))],
      ['ether with it', resign(() => ({ value: 1n }))],
      ['other payments', resign(({ data }) => ({ data: hex(data?.replace('12c4b0', '12c4b1')) }))],
      ['a fee above the ceiling', resign(() => ({ maxFeePerGas: 200_000_000_001n }))],
      [
        'a tip above the ceiling',
        resign(() => ({ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 11n })),
      ],
      ['gas above the ceiling', resign(() => ({ gas: 16_777_217n }))],
      ['an access list', resign(() => ({ accessList: [{ address: freshAddress(1), storageKeys: [] }] }))],
      ['another key', resign(() => ({}), account(5))],
      ['nothing', async () => ''],
      ['no signature', async (raw) => raw.slice(0, 60)],
      ['other letters', async (raw) => raw.toUpperCase()],
      ['an old form', async (raw) => await legacy(raw)],
    ];
    test.for(changes)('%s', async ([, change]) => {
      const spec = await specOf();
      const honest = await sender.buildTransfer(spec);
      const raw = await change(hex(honest.raw));
      expect(raw).not.toBe(honest.raw);
      world.signer.next((answer) => lie(answer, raw));
      const asked = sender.buildTransfer(spec);
      await expect(asked).rejects.toThrow(SignerUnavailable);
      await expect(asked).rejects.toThrow("the signer's answer is not what was asked for: ");
    });

    test('the id of other bytes', async () => {
      world.signer.next((answer) => ({ ...answer, txId: keccak256('0x00') }));
      await expect(sender.buildTransfer(await specOf())).rejects.toThrow('its id is that of other bytes');
    });

    test('a replacement at the old price', async () => {
      const spec = await specOf();
      const first = await sender.buildTransfer(spec);
      world.signer.next((answer) => lie(answer, first.raw));
      await expect(sender.buildTransfer({ ...spec, replaces: first })).rejects.toThrow(
        'maxFeePerGas is below what was asked for',
      );
    });

    test('deposit addresses that delegate to somebody else, for every chain, or by other keys', async () => {
      await world.mint('USDT', freshAddress(1), 1n);
      const spec = sweepOf([{ index: 0, asset: 'USDT', amount: 1n }], {
        sequence: await world.sequenceOf(TANK.address),
      });
      const honest = parseTransaction(hex((await sender.buildSweep(spec)).raw));
      if (honest.type !== 'eip7702') throw new Error('not of type 4');
      const [own] = honest.authorizationList ?? [];
      if (own === undefined) throw new Error('no authorization');
      const privateKey: Hex = `0x${'11'.repeat(32)}`;
      const authorize = (change: object) =>
        signAuthorization({ ...own, address: hex(own.address), ...change, privateKey });
      const { r: _r, s: _s, v: _v, yParity: _y, ...content } = honest;
      const lists = [
        [],
        [own, own],
        [await authorize({})],
        [await authorize({ chainId: 0 })],
        [{ ...own, chainId: 0 }],
        [{ ...own, nonce: own.nonce + 1 }],
        [{ ...own, address: freshAddress(1) }],
      ];
      for (const authorizationList of lists) {
        const raw = await TANK.signTransaction({ ...content, authorizationList });
        world.signer.next((answer) => lie(answer, raw));
        await expect(sender.buildSweep(spec)).rejects.toThrow(
          "the signer's answer is not what was asked for",
        );
      }
      expect((await sender.buildSweep(spec)).raw).toBe(serializeTransaction(honest));
    });
  });
});

function lie(answer: SignAnswer, raw: string): SignAnswer {
  return { ...answer, raw, txId: keccak256(hex(raw)) };
}

async function legacy(raw: Hex): Promise<Hex> {
  const { nonce, to, data, gas } = parseTransaction(raw);
  return await hotWallet(1).signTransaction({
    type: 'legacy',
    chainId: 31_337,
    gasPrice: 10n ** 9n,
    ...(nonce !== undefined && { nonce }),
    ...(to != null && { to }),
    ...(data !== undefined && { data }),
    ...(gas !== undefined && { gas }),
  });
}

function hex(text: string | undefined): Hex {
  return `0x${(text ?? '').slice(2)}`;
}
