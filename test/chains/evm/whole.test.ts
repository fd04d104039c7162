import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { approverPublicKey, signStatement, statementOf } from '@florin/signer';
import type { Address } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BlockFeed } from '../../../packages/server/src/chains/evm/blocks.ts';
import { EvmEndpoints } from '../../../packages/server/src/chains/evm/endpoints.ts';
import { EvmChain } from '../../../packages/server/src/chains/evm/evm-chain.ts';
import { AccountAddresses } from '../../../packages/server/src/chains/evm/extended-key.ts';
import { RemoteSigner } from '../../../packages/server/src/chains/evm/remote-signer.ts';
import type { Authority, TransferItem } from '../../../packages/server/src/chains/port/port.ts';
import { createLogger } from '../../../packages/server/src/platform/observability/index.ts';
import {
  approvedBy,
  makePasskey,
  policyPasskey,
  type TestPasskey,
} from '../../../packages/signer/src/test-passkey.ts';
import { ADA } from '../../../packages/signer/src/test-policy.ts';
import { accounts } from '../../../packages/signer/src/test-requests.ts';
import { freshAddress, hasAnvil } from '../../contracts/local-node.ts';
import { nextSigning } from '../next-signing.ts';
import { startSigner } from './real-signer.ts';
import { World } from './world.ts';

const TOKEN = 1_000_000n;
const addressOf = (text: string): Address => `0x${text.slice(2)}`;
const GRACE = makePasskey();
const VALID_UNTIL = Math.floor(Date.now() / 1000) + 3_600;

describe.skipIf(!hasAnvil())('Ethereum with a signer', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-whole-'));
  const merchantId = randomUUID();
  let world: World;
  let signer: Awaited<ReturnType<typeof startSigner>>;
  let node: EvmEndpoints;
  let chain: EvmChain;

  beforeAll(async () => {
    world = await World.start();
    await world.furnish();
    signer = await startSigner(world, folder, ({ approvers }) => {
      approvers.push({ name: 'grace', passkeys: [policyPasskey(GRACE)] });
    });
    const { extendedPublicKey } = await signer.client.account({ network: 'erc20', account: 1 });
    const { hot: tank } = await signer.client.account({ network: 'erc20', account: 0 });
    const { hash: genesisHash } = await world.client.getBlock({ blockNumber: 0n });
    const network = world.network({ genesisHash, endpoints: [{ url: world.node.url, isOwn: true }] });
    node = new EvmEndpoints(network, { log: createLogger('silent') });
    chain = new EvmChain({
      network,
      node,
      feed: new BlockFeed(node, network, { refreshMs: 0, keepMs: 0 }),
      addresses: new AccountAddresses(extendedPublicKey),
      tank,
      nowMs: Date.now,
      signer: new RemoteSigner(signer.client, Date.now),
      merchantId,
      account: 1,
    });
  }, 120_000);
  afterAll(async () => {
    await node?.close();
    await signer?.stop();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const items = (count: number, from: number): TransferItem[] =>
    Array.from({ length: count }, (_, place) => ({
      itemId: randomUUID(),
      place,
      to: freshAddress(from + place),
      amount: TOKEN,
    }));

  /** A batch that the approver has signed. */
  function batchOf(
    list: readonly TransferItem[],
    { id = randomUUID(), validUntil = VALID_UNTIL, approver = 'ada', privateKey = ADA } = {},
  ): Authority {
    const named = list.map(({ place, to, amount }) => ({ place, to, amount, memo: null }));
    const subject = {
      kind: 'payout',
      merchant: merchantId,
      id,
      network: 'erc20',
      asset: 'USDT',
      items: named.map((item) => ({ ...item, amount: String(item.amount) })),
    } as const;
    const signature = signStatement(statementOf(subject, validUntil), privateKey);
    const approvals = [{ approver, validUntil, signature, key: approverPublicKey(privateKey) }];
    return { kind: 'payout', merchantId, id, network: 'erc20', asset: 'USDT', items: named, approvals };
  }

  async function build(list: readonly TransferItem[], authority: Authority) {
    const sequence = await chain.nextSequence(await chain.sender('hot'));
    return await chain.buildTransfer({
      signing: nextSigning(),
      keyRef: 'hot',
      asset: 'USDT',
      groupId: authority.id,
      items: [...list],
      authority,
      sequence,
    });
  }

  test('a deposit is seen, and final; its address follows from the public key', async () => {
    const { address, watch } = await chain.depositAddress({ index: 7 });
    expect(address).toBe(accounts.deposit(1, 7).address);
    const cursor = await chain.cursorAt((await chain.head()).finalHeight);
    await world.mint('USDC', addressOf(address), 5n * TOKEN);
    const { transfers } = await chain.scan({ level: 'tip', cursor, watch: [watch] });
    expect(transfers).toMatchObject([{ to: address, asset: 'USDC', amount: 5n * TOKEN }]);
    await world.mine(world.finalBlocks + 1);
    const final = await chain.scan({ level: 'final', cursor, watch: [watch] });
    expect(final.transfers).toMatchObject([{ txId: transfers[0]?.txId, index: transfers[0]?.index }]);
    expect(await chain.balance(address, 'USDC', 'final')).toBe(5n * TOKEN);
  });

  test('a batch is paid once an approver has signed it, and the same request gives the same bytes', async () => {
    const list = items(3, 100);
    const authority = batchOf(list);
    const unsigned = { ...authority, approvals: [] };
    await expect(build(list, unsigned)).rejects.toMatchObject({ reason: 'approvals' });
    const tx = await build(list, authority);
    expect(await chain.broadcast(tx)).toMatchObject({ result: 'accepted' });
    await world.mine(world.finalBlocks + 1);
    expect(await chain.status(tx)).toMatchObject({ state: 'final', itemOk: [true, true, true] });
    for (const { to } of list) expect(await world.balance('USDT', addressOf(to))).toBe(TOKEN);
  });

  test('G3: what was changed in the database after the approval is not signed', async () => {
    const list = items(2, 200);
    const authority = batchOf(list);
    const [first, ...others] = list;
    if (first === undefined) throw new Error('there are two');
    const forged = [{ ...first, to: freshAddress(299) }, ...others];
    const named = forged.map(({ place, to, amount }) => ({ place, to, amount, memo: null }));
    // The item alone, and the item with what the approval is compared with.
    await expect(build(forged, authority)).rejects.toThrow('not one of those that were approved');
    await expect(build(forged, { ...authority, items: named })).rejects.toMatchObject({
      reason: 'approvals',
    });
    await expect(build(list, { ...authority, id: randomUUID() })).rejects.toMatchObject({
      reason: 'approvals',
    });
    expect(await world.balance('USDT', freshAddress(299))).toBe(0n);
  });

  test('batches whose approvals have become too old, or whose approver has left or has another key, wait and freeze nobody', async () => {
    const now = Math.floor(Date.now() / 1000);
    const subjectAs = (authority: Authority) => {
      const { kind, id, network, asset } = authority;
      const named = authority.items.map((item) => ({ ...item, amount: String(item.amount) }));
      return { kind, merchant: merchantId, id, network, asset, items: named };
    };
    const byGrace = (passkey: TestPasskey) => (list: readonly TransferItem[]) => {
      const authority = batchOf(list);
      const approval = approvedBy('grace', passkey, subjectAs(authority), VALID_UNTIL);
      return { ...authority, approvals: [{ ...approval, key: passkey.key.key }] };
    };
    const other = generateKeyPairSync('ed25519').privateKey;
    const old: ((list: readonly TransferItem[]) => Authority)[] = [
      (list) => batchOf(list, { validUntil: now - 1 }),
      // It may have ended by the signer's clock.
      (list) => batchOf(list, { validUntil: now + 30 }),
      (list) => batchOf(list, { approver: 'eve' }),
      // Of a key, a passkey and a page that the policy named before.
      (list) => batchOf(list, { privateKey: other }),
      byGrace(makePasskey()),
      byGrace({ ...GRACE, key: { ...GRACE.key, origin: 'https://old.example.com' } }),
      byGrace({ ...GRACE, key: { ...GRACE.key, rpId: 'old.example.com' } }),
    ];
    const refused = { reason: 'approvals', message: expect.stringContaining('0 have, in time') };
    for (const make of old) {
      const list = items(1, 300);
      await expect(build(list, make(list))).rejects.toMatchObject(refused);
    }
    expect((await signer.client.status()).frozen).toBeNull();
    const list = items(1, 310);
    expect(await chain.broadcast(await build(list, batchOf(list)))).toMatchObject({ result: 'accepted' });
    await world.mine(1);
    await build(list, byGrace(GRACE)(list));
  });
});
