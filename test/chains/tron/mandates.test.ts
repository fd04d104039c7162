import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ChargeTerms,
  type MandateRequest,
  UnbuildableTransfer,
} from '../../../packages/server/src/chains/port/port.ts';
import type { TronEndpoints } from '../../../packages/server/src/chains/tron/endpoints.ts';
import { chainIdOf } from '../../../packages/server/src/chains/tron/network.ts';
import type { TronChain } from '../../../packages/server/src/chains/tron/tron-chain.ts';
import { tronOfAccount } from '../../../packages/signer/src/tron/address.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { keyOf, TRX } from '../../nodes/tron-client.ts';
import { uuidOf } from '../conformance-groups.ts';
import { nextSigning } from '../next-signing.ts';
import { FINAL_BLOCKS, TronEnvironment } from './environment.ts';
import { KEYS } from './key-signer.ts';
import { lying, oneLying } from './lying-node.ts';
import { mandatePayers, signTyped, typedDigest } from './mandate-payers.ts';

const CAP = 10_000_000n;
const MONTH = 30 * 86_400;

describe.skipIf(!hasAnvil())('mandates on Tron', () => {
  let local: TronEnvironment;
  let node: TronEndpoints;
  let chain: TronChain;
  let payers: ReturnType<typeof mandatePayers>;
  let made = 0;

  beforeAll(async () => {
    local = await TronEnvironment.start();
    node = local.endpoints();
    chain = local.open(node);
    payers = mandatePayers(local);
  });
  afterAll(async () => {
    await node?.close();
    await local?.node.stop();
  });

  async function request(changes: Partial<MandateRequest> = {}): Promise<MandateRequest> {
    made += 1;
    const payer = payers.signingPayer(100 + made);
    const startsAt = await payers.startsAt();
    const terms = { cap: CAP, period: 'month', startsAt, endsAt: null, subscriptions: 1 } as const;
    return { asset: 'USDT', payer, ...terms, salt: String(made), allowance: 5n * CAP, ...changes };
  }
  const secretOf = (number: number) => keyOf(`a payer of mandates ${100 + number}`).secret;
  async function signed(changes: Partial<MandateRequest> = {}) {
    const { mandate, steps } = await chain.mandateSetup(await request(changes));
    const step = steps[1];
    if (step?.kind !== 'activate') throw new Error('a payer signs a mandate');
    const text = step.typedData ?? '';
    return { mandate, text, signature: signTyped(secretOf(made), text) };
  }
  const chargeOf = (mandate: ChargeTerms['mandate'], amount: bigint, name = 'a charge'): ChargeTerms => ({
    mandate,
    chargeId: uuidOf(`${name} ${made}`),
    amount,
    subscriptionId: uuidOf(`subscription ${made}`),
    windowStart: mandate.startsAt,
    windowEnd: mandate.startsAt + MONTH,
  });
  async function move(
    keyRef: 'hot' | 'tank',
    movement: Parameters<typeof chain.buildMovement>[0]['movement'],
  ) {
    const tx = await chain.buildMovement({ signing: nextSigning(), keyRef, movement });
    expect(await chain.broadcast(tx)).toMatchObject({ result: 'accepted' });
    await local.mine(FINAL_BLOCKS);
    return await chain.status(tx);
  }

  test('what a payer signs is what tronweb makes of it, whatever the terms; its number is the end of the first block’s id', async () => {
    const base = await request();
    const terms = fc.record({
      cap: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
      period: fc.constantFrom('day', 'week', 'month', 'year'),
      startsAt: fc.integer({ min: 0, max: 2 ** 39 }),
      subscriptions: fc.integer({ min: 1, max: 65_535 }),
      salt: fc.string(),
      asset: fc.constantFrom('USDT', 'USDC'),
    });
    await fc.assert(
      fc.asyncProperty(terms, async (one) => {
        const { mandate, steps, spender } = await chain.mandateSetup({ ...base, ...one });
        expect(spender).toBe(local.network.collector);
        expect(steps[0]).toMatchObject({ kind: 'approve', spender, asset: one.asset });
        const [, step] = steps;
        const text = step?.kind === 'activate' ? (step.typedData ?? '') : '';
        expect(typedDigest(text)).toBe(mandate.mandateId);
        // A wallet may show the addresses of its own network.
        const spelled = text.replaceAll(/0x[0-9a-fA-F]{40}(?=")/g, tronOfAccount);
        expect(spelled).not.toBe(text);
        expect(typedDigest(spelled)).toBe(mandate.mandateId);
        expect(JSON.parse(text).domain.chainId).toBe(chainIdOf(local.network));
      }),
      { numRuns: 50 },
    );
  });

  test('the account, the mandate and its charges go one after the other; USDT moves exactly what was charged', async () => {
    local.node.fund(KEYS.hot(0).address, 1_000 * TRX);
    await local.mine(FINAL_BLOCKS);
    const { mandate, signature } = await signed();
    const { payer } = mandate;
    await payers.hold({ owner: payer, asset: 'USDT' }, 3n * CAP);
    const activation = { mandate, signature };
    const before = await chain.precheckCharges({ asset: 'USDT', charges: [], activation });
    expect(before).toMatchObject({
      refused: null,
      isAccountMissing: true,
      isOtherOperator: false,
      activation: { state: 'missing', allowance: 0n, isSignatureRefused: false, isTaken: true, permit: null },
    });
    expect(before.tank.native).toBe(BigInt(1_000 * TRX));
    expect(before.asOf).toBe((await chain.head()).finalHeight - 20n);
    expect(await move('tank', { kind: 'account' })).toMatchObject({ state: 'final', itemOk: [true] });
    await expect(move('tank', { kind: 'account' })).rejects.toThrow('AlreadyOpen');
    await payers.approve({ owner: payer, asset: 'USDT' }, 5n * CAP);
    expect(await move('hot', { kind: 'activate', ...activation })).toMatchObject({ state: 'final' });
    await expect(move('hot', { kind: 'activate', ...activation })).rejects.toThrow(UnbuildableTransfer);
    const large = chargeOf(mandate, CAP + 1n, 'above the cap');
    const small = chargeOf(mandate, 7n);
    const { faults, unclear, missing, fee, isAccountMissing } = await chain.precheckCharges({
      asset: 'USDT',
      charges: [large, small],
    });
    expect({ isAccountMissing, unclear, missing }).toEqual({
      isAccountMissing: false,
      unclear: new Set(),
      missing: new Set(),
    });
    expect(Object.fromEntries(faults)).toEqual({ [large.chargeId]: 'cap_exceeded' });
    const hot = await chain.sender('hot');
    const held = await local.balanceOf('USDT', hot);
    const tx = await chain.buildCharge({ signing: nextSigning(), keyRef: 'hot', ...small });
    expect(tx.feeLimit).toBeLessThanOrEqual(fee);
    await chain.broadcast(tx);
    await local.mine(FINAL_BLOCKS);
    expect(await chain.status(tx)).toMatchObject({ state: 'final', itemOk: [true] });
    expect(await local.balanceOf('USDT', hot)).toBe(held + 7n);
    const { states } = await chain.mandateStates([mandate]);
    expect(states).toEqual([{ state: 'active', balance: 3n * CAP - 7n, allowance: 5n * CAP - 7n }]);
  });

  test('no terms are made for a collector of which the signer signs no charges', async () => {
    const { signer } = local;
    const asked = await request();
    for (const collector of [null, local.unlisted]) {
      signer.collector = collector;
      await expect(chain.mandateSetup(asked)).rejects.toThrow('the signer signs no charges of');
    }
    signer.collector = local.network.collector;
    expect(await chain.mandateSetup(asked)).toMatchObject({ spender: local.network.collector });
    signer.collector = undefined;
  });

  test('what another wallet has signed is refused before anything is paid, and so is what no key signs', async () => {
    const { mandate, text } = await signed();
    const another = { mandate, signature: signTyped(keyOf('somebody else').secret, text) };
    expect(await chain.checkMandate(another)).toMatchObject({ isSignatureRefused: true, isTaken: false });
    const spec = { signing: nextSigning(), keyRef: 'hot' } as const;
    await expect(
      chain.buildMovement({ ...spec, movement: { kind: 'activate', ...another } }),
    ).rejects.toThrow('BadSignature');
    await expect(chain.checkMandate({ mandate, signature: '0x1234' })).rejects.toThrow(UnbuildableTransfer);
    const permit = { amount: 1n, nonce: 0n, deadline: 2_000_000_000, signature: another.signature };
    await expect(chain.checkMandate({ ...another, permit })).rejects.toThrow('signed approval');
  });

  test('a wallet that moves with each block hides no other, and an endpoint that lags shows no old mandate', async () => {
    const other = await local.node.open();
    const endpointsOf = (isOwn: boolean) =>
      local.endpoints({
        ...local.network,
        endpoints: [other, local.node].map(({ url }) => ({ url, isOwn })),
      });
    const two = endpointsOf(false);
    const own = endpointsOf(true);
    const given: ChargeTerms['mandate'][] = [];
    for (let i = 0; i < 3; i += 1) {
      const { mandate, signature } = await signed();
      const wallet = { owner: mandate.payer, asset: 'USDT' } as const;
      await payers.hold(wallet, 2n * CAP);
      await payers.approve(wallet, CAP);
      expect(await move('hot', { kind: 'activate', mandate, signature })).toMatchObject({ state: 'final' });
      given.push(mandate);
    }
    const states = async (node: TronEndpoints) =>
      (await local.open(node).mandateStates(given)).states.map((one) => one?.state);
    // The operator's own, of which the first stands still since before these mandates.
    other.view.solidLag = 60;
    expect(await states(own)).toEqual(['active', 'active', 'active']);
    // Two that are a block apart, in which the second wallet moves.
    other.view.solidLag = 0;
    await payers.hold({ owner: given[1]?.payer ?? '', asset: 'USDT' }, CAP);
    const charges = given.map((mandate, i) => chargeOf(mandate, 3n, `at once ${i}`));
    other.view.lag = 1;
    const { unclear, missing, faults } = await local.open(two).precheckCharges({ asset: 'USDT', charges });
    expect([...unclear]).toEqual([charges[1]?.chargeId]);
    expect({ missing, faults }).toEqual({ missing: new Set(), faults: new Map() });
    // A charge of which the operator's own node, standing still, knows no mandate.
    other.view.lag = 60;
    expect(await local.open(own).precheckCharges({ asset: 'USDT', charges })).toMatchObject({
      unclear: new Set(),
      missing: new Set(),
      faults: new Map(),
    });
    other.view.lag = 0;
    await local.mine(FINAL_BLOCKS - 1);
    other.view.solidLag = 1;
    expect(await states(two)).toEqual(['active', undefined, 'active']);
    await Promise.all([two.close(), own.close()]);
  });

  test('a token that denies what it has moved is charged by nobody: the call reverts, and its wallets are read', async () => {
    const { mandate, signature } = await signed();
    const wallet = { owner: mandate.payer, asset: 'USDT' } as const;
    await payers.hold(wallet, CAP);
    await payers.approve(wallet, CAP);
    expect(await move('hot', { kind: 'activate', mandate, signature })).toMatchObject({ state: 'final' });
    const charge = chargeOf(mandate, 3n);
    await local.owner(local.token('USDT'), 'setDenies(bool)', [true]);
    const { faults } = await chain.precheckCharges({ asset: 'USDT', charges: [charge] });
    expect(Object.fromEntries(faults)).toEqual({ [charge.chargeId]: 'insufficient_balance' });
    const charged = async () => {
      const tx = await chain.buildCharge({ signing: nextSigning(), keyRef: 'hot', ...charge });
      await chain.broadcast(tx);
      await local.mine(FINAL_BLOCKS);
      return await chain.status(tx);
    };
    expect(await charged()).toMatchObject({
      state: 'failed',
      final: true,
      itemOk: [false],
      reason: 'token_refused',
    });
    expect((await chain.mandateStates([mandate])).states).toMatchObject([{ state: 'active', balance: CAP }]);
    await local.owner(local.token('USDT'), 'setDenies(bool)', [false]);
    expect(await charged()).toMatchObject({ state: 'final', itemOk: [true] });
    expect((await chain.mandateStates([mandate])).states).toMatchObject([{ balance: CAP - 3n }]);
  });

  test('a charge that was sent when the token’s issuer blocked our wallet is no failure of its payer, as it is where it blocked theirs', async () => {
    const usdc = local.token('USDC');
    const hot = await chain.sender('hot');
    const refusalWhile = async (blocked: 'hot' | 'payer') => {
      const { mandate, signature } = await signed({ asset: 'USDC' });
      const wallet = { owner: mandate.payer, asset: 'USDC' } as const;
      await payers.hold(wallet, CAP);
      await payers.approve(wallet, CAP);
      expect(await move('hot', { kind: 'activate', mandate, signature })).toMatchObject({ state: 'final' });
      const charge = chargeOf(mandate, 3n, blocked);
      const tx = await chain.buildCharge({ signing: nextSigning(), keyRef: 'hot', ...charge });
      const who = blocked === 'hot' ? hot : mandate.payer;
      await local.owner(usdc, 'blacklist(address)', [who]);
      await chain.broadcast(tx);
      await local.mine(FINAL_BLOCKS);
      const status = await chain.status(tx);
      await local.owner(usdc, 'unBlacklist(address)', [who]);
      return status;
    };
    expect(await refusalWhile('hot')).toMatchObject({ state: 'failed', final: true, reason: 'our_fault' });
    expect(await refusalWhile('payer')).toMatchObject({
      state: 'failed',
      final: true,
      reason: 'token_refused',
    });
  });

  test('a charge of which the collector’s log is missing is decided by nobody; a node that invents a reason fails none', async () => {
    const { mandate, signature } = await signed();
    const { payer } = mandate;
    await payers.hold({ owner: payer, asset: 'USDT' }, CAP);
    await payers.approve({ owner: payer, asset: 'USDT' }, CAP);
    expect(await move('hot', { kind: 'activate', mandate, signature })).toMatchObject({ state: 'final' });
    const charge = chargeOf(mandate, 3n);
    const reverts = {
      result: { result: true, message: '00' },
      constant_result: ['f4d678b8'],
      // What reverts says nothing of what charges use.
      energy_used: 1_000_000_000,
    };
    const isCharge = (method: string, [fields]: readonly unknown[]) =>
      method === 'wallet/triggerconstantcontract' && String(Object(fields).data).length > 800;
    const lie = lying(node, (method, answer, params) => (isCharge(method, params) ? reverts : answer));
    const inventing = local.open({
      ...lie,
      agreedFrom: async (block, requests) => await node.agreedFrom(block, requests),
    });
    const asked = { asset: 'USDT', charges: [charge] } as const;
    const { faults, unclear, fee } = await inventing.precheckCharges(asked);
    expect({ faults, unclear }).toEqual({ faults: new Map(), unclear: new Set() });
    // What it uses is not known then, nor where one of two endpoints invents a number; two that revert say nothing of it.
    const { fee: known } = await chain.precheckCharges({ asset: 'USDT', charges: [] });
    expect(fee).toBe(known);
    expect((await chain.precheckCharges(asked)).fee).toBeLessThan(known);
    for (const energy_used of [1, 60_000_000]) {
      const one = oneLying(node, (method, answer, params) =>
        isCharge(method, params) ? { ...Object(answer), energy_used } : answer,
      );
      expect(await local.open(one).precheckCharges(asked)).toMatchObject({ faults, unclear, fee: known });
    }
    const tx = await chain.buildCharge({ signing: nextSigning(), keyRef: 'hot', ...charge });
    await chain.broadcast(tx);
    await local.mine(FINAL_BLOCKS);
    const silent = local.open(
      lying(node, (method, answer) =>
        method.endsWith('gettransactioninfobyid') ? { ...Object(answer), log: [] } : answer,
      ),
    );
    await expect(silent.status(tx)).rejects.toThrow('succeeded and moved nothing');
    expect(await chain.status(tx)).toMatchObject({ state: 'final' });
  });
});
