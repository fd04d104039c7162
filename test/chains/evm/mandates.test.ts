import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Hex, parseEther } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Collector, TestWallet } from '../../../contracts/artifacts/index.ts';
import { UnservedMandate } from '../../../packages/server/src/chains/charges/index.ts';
import { RemoteSigner } from '../../../packages/server/src/chains/evm/remote-signer.ts';
import { EvmSender } from '../../../packages/server/src/chains/evm/sender.ts';
import type { Mandate, MandateRequest, SignedTx } from '../../../packages/server/src/chains/port/port.ts';
import { makeOwnerCall, readPolicy } from '../../../packages/signer/src/index.ts';
import { policyText } from '../../../packages/signer/src/test-policy.ts';
import { accounts } from '../../../packages/signer/src/test-requests.ts';
import { by, deploy, mined, testAccount } from '../../../scripts/local-chain.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { sendPermit } from '../../live/payer-wallet.ts';
import { uuidOf } from '../conformance-groups.ts';
import { nextSigning } from '../next-signing.ts';
import type { Call } from './faulty-node.ts';
import { depositWallet, ownerWallet, TANK } from './key-signer.ts';
import { CAP, COLLECTOR, openEndpoints, payer, prepare, requestAt, signatureOf } from './mandate-world.ts';
import { startSigner } from './real-signer.ts';
import { World } from './world.ts';

const MONTH = 30 * 86_400;

describe.skipIf(!hasAnvil())('mandates on an EVM network', () => {
  let world: World;
  let sender: EvmSender;
  let now: number;

  beforeAll(async () => {
    world = await World.start();
    await prepare(world);
    sender = world.sender({ collector: COLLECTOR });
    await world.move(sender, { kind: 'account' });
    now = (await world.head()).time;
  });
  beforeEach(() => world.snapshot());
  afterAll(() => world?.stop());

  test('an activation whose permit was spent, or is not needed, by the time it is signed is built no more', async () => {
    const permitUntil = now + 86_400;
    const asked = { ...requestAt(now), asset: 'USDC', allowance: 60n * CAP, permitUntil } as const;
    const setup = await sender.mandateSetup(asked);
    const [step] = setup.steps;
    if (step?.kind !== 'permit') throw new Error('USDC takes permits');
    const signed = await payer.signTypedData(JSON.parse(step.typedData ?? ''));
    const { amount, deadline, nonce } = step;
    const { mandate } = setup;
    const permit = { amount, deadline, nonce, signature: signed };
    const movement = { kind: 'activate', mandate, signature: await signatureOf(setup), permit } as const;
    const build = (which: typeof movement) => world.move(sender, which, { keyRef: 'hot' });
    await world.own('USDC', 'approve', [COLLECTOR, 60n * CAP], payer);
    await expect(build(movement)).rejects.toThrow('allows as much already');
    await world.own('USDC', 'approve', [COLLECTOR, CAP], payer);
    const terms = { owner: payer.address, spender: step.spender as Hex, value: String(amount), deadline };
    await sendPermit(world, terms, signed);
    await expect(build(movement)).rejects.toThrow('the signed approval is spent');
    await world.client.increaseTime({ seconds: 86_400 });
    await world.mine();
    const late = { ...movement, permit: { ...permit, nonce: nonce + 1n } };
    await expect(build(late)).rejects.toThrow('the signed approval is expired');
  });

  const request = (changes: Partial<MandateRequest> = {}) => ({ ...requestAt(now), ...changes });
  const setupOf = (changes: Partial<MandateRequest> = {}) => sender.mandateSetup(request(changes));

  async function join(changes: Partial<MandateRequest> = {}): Promise<Mandate> {
    const setup = await setupOf(changes);
    const signature = await signatureOf(setup);
    const { status } = await world.move(
      sender,
      { kind: 'activate', mandate: setup.mandate, signature },
      { keyRef: 'hot' },
    );
    expect(status).toMatchObject({ state: 'final', itemOk: [] });
    return setup.mandate;
  }

  async function charge(mandate: Mandate, name: string, amount = CAP): Promise<SignedTx> {
    return await sender.buildCharge({
      signing: nextSigning(),
      keyRef: 'hot',
      mandate,
      chargeId: uuidOf(name),
      amount,
      subscriptionId: uuidOf('subscription'),
      windowStart: now,
      windowEnd: now + MONTH,
      sequence: await world.sequenceOf(world.hot),
    });
  }

  test('the payer signs once, the operator brings it and charges, in both tokens', async () => {
    for (const asset of ['USDT', 'USDC'] as const) {
      const before = await world.balance(asset, world.hot);
      const mandate = await join({ asset });
      const tx = await charge(mandate, `first ${asset}`);
      expect(tx.itemIds).toEqual([uuidOf(`first ${asset}`)]);
      expect(await world.settle(sender, tx)).toMatchObject({ state: 'final', itemOk: [true] });
      expect(await world.balance(asset, world.hot)).toBe(before + CAP);
      const { states } = await sender.mandateStates([mandate]);
      expect(states).toEqual([{ state: 'active', balance: 99n * CAP, allowance: 49n * CAP }]);
      // Billing takes that for a mandate of another collector, and not for an error.
      const unserved = world.sender({ collector: null }).mandateStates([mandate]);
      await expect(unserved).rejects.toBeInstanceOf(UnservedMandate);
      const again = await world.settle(sender, await charge(mandate, `second ${asset}`, 1n));
      expect(again).toMatchObject({ state: 'failed', final: true, itemOk: [false], reason: 'cap_exceeded' });
    }
  });

  test('what was not signed by the payer, or is there already, is not sent', async () => {
    const setup = await setupOf();
    const { mandate } = setup;
    const bring = (signature: string, of = mandate) =>
      world.move(sender, { kind: 'activate', mandate: of, signature }, { keyRef: 'hot' });
    await expect(bring(await signatureOf(setup, testAccount(41)))).rejects.toThrow('BadSignature');
    const other = await setupOf({ cap: CAP + 1n });
    await expect(bring(await signatureOf(other))).rejects.toThrow('BadSignature');
    await expect(bring('0x')).rejects.toThrow('no bytes in hex');
    await expect(bring(await signatureOf(setup), { ...mandate, cap: CAP + 1n })).rejects.toThrow(
      'does not match its id',
    );
    await join();
    await expect(bring(await signatureOf(setup))).rejects.toThrow('AlreadyActive');
    await expect(world.move(sender, { kind: 'account' })).rejects.toThrow('AlreadyOpen');
  });

  test('a rotation goes by the account that is open, also where the signer signs for no collector by now', async () => {
    const collectorOf = async (which: EvmSender) =>
      (await which.readRotation(async () => new Map())).collector;
    expect(await collectorOf(sender)).toMatchObject({ isMissing: false, operator: world.hot });
    world.signer.policy = { collector: null, gasTopUp: 1n, gasTopUpsLeft: 1n };
    expect(await collectorOf(sender)).toMatchObject({ isMissing: false, operator: world.hot });
    // None is opened then.
    expect(await collectorOf(world.sender({ collector: COLLECTOR }, 2))).toBeNull();
    world.signer.policy = undefined;
  });

  test('a contract wallet signs by ERC-1271', async () => {
    await world.client.setAutomine(true);
    const address = await deploy(world.client, TestWallet, [payer.address]);
    await world.client.setAutomine(false);
    const mandate = await join({ payer: address });
    const { states } = await sender.mandateStates([mandate]);
    expect(states[0]?.state).toBe('active');
  });

  test('terms that the collector cannot hold, or that name other wallets, are refused', async () => {
    const wrong: Partial<MandateRequest>[] = [
      { cap: 0n },
      { cap: 2n ** 64n },
      { subscriptions: 0 },
      { subscriptions: 65_536 },
      { startsAt: -1 },
      { endsAt: now },
      { payer: payer.address.toLowerCase() },
      { payer: '0x0000000000000000000000000000000000000000' },
      { allowance: -1n },
    ];
    for (const changes of wrong) await expect(setupOf(changes)).rejects.toThrow(/out of range|no wallet/);
    const { subscriptions: _, ...uncounted } = request();
    await expect(sender.mandateSetup(uncounted)).rejects.toThrow('number of subscriptions is missing');
    await expect(world.sender().mandateSetup(request())).rejects.toThrow('no collector');
    const { mandate } = await setupOf();
    await expect(charge({ ...mandate, recipient: TANK.address }, 'x')).rejects.toThrow('recipient');
    const spec = { mandate, chargeId: 'no uuid', amount: 1n, subscriptionId: uuidOf('s') };
    const window = { windowStart: now, windowEnd: now + MONTH };
    const build = (changes: object) =>
      sender.buildCharge({
        signing: nextSigning(),
        keyRef: 'hot',
        sequence: '0',
        ...spec,
        ...window,
        ...changes,
      });
    await expect(build({})).rejects.toThrow('named by UUIDs');
    await expect(build({ chargeId: uuidOf('c'), windowEnd: 2 ** 32 })).rejects.toThrow('window out of range');
    await expect(build({ chargeId: uuidOf('c'), keyRef: 'tank' })).rejects.toThrow(
      'hot wallet alone charges',
    );
  });

  test('1,000 mandates are read in at most 10 node calls', async () => {
    const known = await join();
    const others = await Promise.all(
      Array.from({ length: 999 }, (_, i) => setupOf({ salt: `${i}`, asset: i % 2 === 0 ? 'USDT' : 'USDC' })),
    );
    const calls = world.node.calls.length;
    const { states } = await sender.mandateStates([known, ...others.map(({ mandate }) => mandate)]);
    expect(states).toHaveLength(1_000);
    expect(states.filter((one) => one?.state === 'active')).toHaveLength(1);
    expect(states.every((one) => one?.balance === 100n * CAP)).toBe(true);
    expect(world.node.calls.length - calls + Math.ceil(1_000 / 200)).toBeLessThanOrEqual(10);
  });

  test.each([
    ['our wallet', 'our_fault'],
    ['the payer’s wallet', 'token_refused'],
  ])('a charge that was sent when the token’s issuer blocked %s fails as %s', async (blocked, reason) => {
    const tx = await charge(await join({ asset: 'USDC' }), `blocked ${reason}`);
    await world.list('USDC', blocked === 'our wallet' ? world.hot : payer.address);
    expect(await world.settle(sender, tx)).toMatchObject({ state: 'failed', final: true, reason });
  });

  test('an endpoint that lags, or lies, has no say, and a mandate that endpoints show differently hides no other', async () => {
    const mandates = [await join(), await join({ asset: 'USDC' })];
    const [usdt] = mandates;
    if (usdt === undefined) throw new Error('there are two');
    const { nodes, rpc, close } = await openEndpoints(world, 3);
    const [first, second] = nodes;
    const seen = world.sender({ collector: COLLECTOR }, world.account, rpc);
    const terms = {
      mandate: usdt,
      chargeId: uuidOf('seen'),
      amount: CAP,
      subscriptionId: uuidOf('subscription'),
      windowStart: now,
      windowEnd: now + MONTH,
    };
    const precheck = () => seen.precheckCharges({ asset: 'USDT', charges: [terms] });
    const good = { missing: new Set(), faults: new Map(), unclear: new Set() };
    try {
      // It has none of the mandates yet.
      if (first !== undefined) first.lag = 20;
      expect(await precheck()).toMatchObject(good);
      first?.behave();
      // It alone says that the charge reverts.
      const isTried = ({ method, params }: Call) =>
        method === 'eth_call' && Object(params[0]).from !== undefined;
      if (first !== undefined)
        first.deny = (call) => (isTried(call) ? { code: 3, message: 'execution reverted' } : undefined);
      expect(await precheck()).toMatchObject(good);
      first?.behave();
      // All three are of another opinion about the wallet's balance of USDC.
      const token = world.tokens.USDC.slice(2).toLowerCase();
      for (const [i, node] of [first, second].entries())
        if (node !== undefined)
          node.lie = ({ method, params }, result) =>
            method === 'eth_call' && String(Object(params[0]).data).includes(token)
              ? `${String(result).slice(0, -1)}${i + 1}`
              : undefined;
      const { states } = await seen.mandateStates(mandates);
      expect(states.map((one) => one?.state)).toEqual(['active', undefined]);
    } finally {
      await close();
    }
  });

  test('a charge whose allowance went in the same block says so', async () => {
    const mandate = await join();
    const tx = await charge(mandate, 'raced');
    const approval = world.client.writeContract({
      ...by(payer, 200_000n),
      address: world.tokens.USDT,
      abi: [
        {
          type: 'function',
          name: 'approve',
          inputs: [{ type: 'address' }, { type: 'uint256' }],
          outputs: [],
          stateMutability: 'nonpayable',
        },
      ] as const,
      functionName: 'approve',
      args: [`0x${COLLECTOR.slice(2)}`, 0n],
      maxFeePerGas: 10n ** 11n,
      maxPriorityFeePerGas: 9n * 10n ** 10n,
    });
    await approval;
    const status = await world.settle(sender, tx);
    await mined(world.client, approval);
    expect(status).toMatchObject({ state: 'failed', final: true, reason: 'insufficient_allowance' });
    expect(await world.balance('USDT', payer.address)).toBe(100n * CAP);
  });
});

describe.skipIf(!hasAnvil())('the signer itself', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-mandates-'));
  let world: World;
  let signer: Awaited<ReturnType<typeof startSigner>>;
  const numbers = new Map<string, number>();

  beforeAll(async () => {
    world = await World.start();
    await prepare(world);
    signer = await startSigner(world, folder, ({ networks }) => {
      networks.erc20.collector = COLLECTOR;
    });
  });
  afterAll(async () => {
    await signer?.stop();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Each wallet numbers its own attempts. */
  function signing(wallet: 'hot' | 'tank') {
    const ordinal = numbers.get(wallet) ?? 0;
    numbers.set(wallet, ordinal + 1);
    const nameAt = (number: number) => `${wallet} ${number}`;
    return {
      history: 'one',
      attemptId: nameAt(ordinal),
      ordinal: BigInt(ordinal),
      previous: ordinal === 0 ? null : nameAt(ordinal - 1),
      before: async () => Array.from({ length: ordinal }, (_, i) => nameAt(i)),
    };
  }

  test('opens the account, brings the mandate and charges, and nothing else than was asked for', async () => {
    const { account, hot } = world;
    const sender = new EvmSender({
      network: world.network({ collector: COLLECTOR }),
      node: world.node,
      signer: new RemoteSigner(signer.client, Date.now),
      merchantId: world.merchantId,
      wallets: {
        account,
        hot,
        owner: ownerWallet(account).address,
        tank: TANK.address,
        deposit: async (index) => depositWallet(account, index).address,
      },
      head: () => world.head(),
    });
    await world.move(sender, { kind: 'account' }, { signing: signing('tank') });
    const now = (await world.head()).time;
    const setup = await sender.mandateSetup(requestAt(now));
    const { mandate } = setup;
    const activate = { kind: 'activate', mandate, signature: await signatureOf(setup) } as const;
    await world.move(sender, activate, { keyRef: 'hot', signing: signing('hot') });
    const before = await world.balance('USDT', hot);
    const spec = {
      keyRef: 'hot',
      mandate,
      chargeId: uuidOf('real'),
      amount: CAP,
      subscriptionId: uuidOf('subscription'),
      windowStart: now,
      windowEnd: now + MONTH,
      sequence: await world.sequenceOf(hot),
    } as const;
    const own = signing('hot');
    const tx = await sender.buildCharge({ ...spec, signing: own });
    expect(await world.settle(sender, tx)).toMatchObject({ state: 'final', itemOk: [true] });
    expect(await world.balance('USDT', hot)).toBe(before + CAP);
    // Another amount for the same attempt is another transaction.
    await expect(sender.buildCharge({ ...spec, amount: 1n, signing: own })).rejects.toThrow(
      'was signed with other contents',
    );
    expect((await sender.mandateStates([mandate])).states[0]?.state).toBe('active');
    const id: Hex = `0x${COLLECTOR.slice(2)}`;
    const owners = await world.client.readContract({
      address: id,
      abi: Collector.abi,
      functionName: 'accountOf',
      args: [ownerWallet(account).address, hot, hot],
    });
    const held = await world.client.readContract({
      address: id,
      abi: Collector.abi,
      functionName: 'accountAt',
      args: [owners],
    });
    expect(held.slice(0, 3)).toEqual([ownerWallet(account).address, hot, hot]);

    // The owner stops all charges, by a transaction that a person signs.
    const policy = policyText();
    policy.networks.erc20.collector = COLLECTOR;
    const made = makeOwnerCall(accounts, readPolicy(JSON.stringify(policy)).erc20, {
      account,
      what: 'operator',
      address: `0x${'0'.repeat(40)}`,
      fees: { nonce: 0n, maxFeePerGas: 30_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
    });
    if (!('raw' in made)) throw new Error('the owner is a key of the signer');
    const { raw, owner } = made;
    await world.client.setBalance({ address: `0x${owner.slice(2)}`, value: parseEther('1') });
    const sent = world.client.sendRawTransaction({ serializedTransaction: `0x${raw.slice(2)}` });
    await sent;
    await world.mine();
    expect((await mined(world.client, sent)).status).toBe('success');
    const later = { ...spec, chargeId: uuidOf('later'), amount: 1n, sequence: await world.sequenceOf(hot) };
    const refused = await world.settle(
      sender,
      await sender.buildCharge({ ...later, signing: signing('hot') }),
    );
    expect(refused).toMatchObject({ state: 'failed', final: true, itemOk: [false] });
  });
});
