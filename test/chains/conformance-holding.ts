import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SignedTx, TransferSpec } from '../../packages/server/src/chains/port/port.ts';
import { SigningRefused, type SigningRequest } from '../../packages/server/src/chains/port/wallet-holder.ts';
import type { ChainEnvironment } from './conformance-environment.ts';
import { approvedGroup } from './conformance-groups.ts';

/** A wallet of its own for each test, as its holder never forgets a signature. */
class Wallet {
  readonly environment: ChainEnvironment;
  readonly #index: number;

  constructor(environment: ChainEnvironment, index: number) {
    this.environment = environment;
    this.#index = index;
  }

  async sign(signing: SigningRequest, content: Partial<Pick<TransferSpec, 'items'>> = {}): Promise<SignedTx> {
    const { environment } = this;
    const { chain, keyRef } = await environment.wallet(this.#index);
    const sequence = await chain.nextSequence(await chain.sender(keyRef));
    const items = [{ itemId: signing.attemptId, place: 0, to: environment.recipient(1), amount: 1n }];
    const numbered = sequence === null ? {} : { sequence };
    const group = approvedGroup(environment.asset, content.items ?? items, signing.attemptId);
    return await chain.buildTransfer({ signing, keyRef, ...group, ...numbered });
  }
}

/** The requirements for every holder of wallets, whichever database requests signatures. */
export function describeHolding(open: () => Promise<ChainEnvironment>): void {
  describe('the holder of the wallets', () => {
    let environment: ChainEnvironment | undefined;
    let wallets = 0;
    beforeAll(async () => {
      environment = await open();
    });
    afterAll(() => environment?.close());
    const begin = async (): Promise<{ wallet: Wallet; history: string }> => {
      if (environment === undefined) throw new Error('the chain is not open');
      const wallet = new Wallet(environment, wallets++);
      const history = (await environment.holder.current())?.history ?? 'first';
      return { wallet, history };
    };

    describeMemory(begin);
    describeClaims(begin);
  });
}
type Begin = () => Promise<{ wallet: Wallet; history: string }>;

/** A wallet's attempts as numbered by one database. */
function counted(history: string, ids: readonly string[], ordinal: number): SigningRequest {
  const before = async (from: bigint | null) => ids.slice(Number(from ?? 0), ordinal);
  return {
    history,
    attemptId: ids[ordinal] ?? '',
    ordinal: BigInt(ordinal),
    previous: ids[ordinal - 1] ?? null,
    before,
  };
}

function describeMemory(begin: Begin): void {
  test('fault 76: an attempt is signed once: every later request returns the same bytes', async () => {
    const { wallet, history } = await begin();
    const signing = counted(history, ['again'], 0);
    const first = await wallet.sign(signing);
    await wallet.environment.mine(2);
    await wallet.environment.expire();
    expect(await wallet.sign(signing)).toEqual(first);
    const [one, other] = await Promise.all([wallet.sign(signing), wallet.sign(signing)]);
    expect([one, other]).toEqual([first, first]);
    const items = [{ itemId: 'other', place: 0, to: wallet.environment.recipient(2), amount: 2n }];
    await expect(wallet.sign(signing, { items })).rejects.toThrow(SigningRefused);
  });

  test('fault 76: of two databases that continue from one ordinal only one gets signatures, whatever the order', async () => {
    const { wallet, history } = await begin();
    const [original, copy] = ['original', 'copy'].map((name) => [
      'shared',
      ...Array.from({ length: 5 }, (_, i) => `${name} ${i + 1}`),
    ]);
    await wallet.sign(counted(history, original ?? [], 0));
    const asks = [5, 2, 4, 1, 3].flatMap((n) =>
      [copy, original].map((ids) => counted(history, ids ?? [], n)),
    );
    const outcomes = await Promise.allSettled(asks.map((signing) => wallet.sign(signing)));
    const signed = asks.filter((_, i) => outcomes[i]?.status === 'fulfilled');
    expect(signed).toHaveLength(5);
    expect(new Set(signed.map(({ attemptId }) => attemptId.split(' ')[0])).size).toBe(1);
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refusals.every((reason) => reason instanceof SigningRefused)).toBe(true);
  });
}

function describeClaims(begin: Begin): void {
  test('the first history to request a signature is signed for without a claim', async () => {
    const { wallet, history } = await begin();
    await wallet.sign(counted(history, ['one'], 0));
    expect(await wallet.environment.holder.current()).toEqual({ history, generation: 1n });
    const stranger = counted('a stranger', ['one', 'two'], 1);
    await expect(wallet.sign(stranger)).rejects.toMatchObject({ history: 'a stranger' });
    await expect(wallet.sign(stranger)).rejects.toThrow(SigningRefused);
  });

  test('fault 76: once another history was claimed, the old one gets no signature, and signed bytes stay the same', async () => {
    const { wallet, history } = await begin();
    const { holder } = wallet.environment;
    const ids = ['claimed', 'new'];
    const before = await wallet.sign(counted(history, ids, 0));
    const generation = (await holder.current())?.generation ?? 0n;
    const claims = await Promise.all(['left', 'right'].map((name) => holder.claim(name, generation)));
    expect(claims.filter(Boolean)).toEqual([true]);
    const now = await holder.current();
    expect(now?.generation).toBe(generation + 1n);
    expect(await holder.claim(history, generation)).toBe(false);
    await expect(wallet.sign(counted(history, ids, 0))).rejects.toThrow(SigningRefused);
    await expect(wallet.sign(counted(history, ids, 1))).rejects.toThrow(SigningRefused);
    const winner = now?.history ?? '';
    const renumbered = ['another', 'claimed', 'newer'];
    expect(await wallet.sign(counted(winner, renumbered, 1))).toEqual(before);
    expect(await wallet.sign(counted(winner, renumbered, 2))).toMatchObject({ itemIds: ['newer'] });
  });
}
