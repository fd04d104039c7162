import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { type Address, type Hex, parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../packages/server/package.json' with { type: 'json' };
import type { NetworksFile } from '../../packages/server/src/chains/evm/networks-file.ts';
import { installationApproverCommands } from '../../packages/server/src/operator/merchants.ts';
import type { ContractLine, LiveCheck } from '../../packages/server/src/operator.ts';
import { NIL_ID } from '../../packages/server/src/platform/db/ids/index.ts';
import { encodeId } from '../../packages/server/src/tenancy/index.ts';
import {
  batchPayoutDeployment,
  delegateDeployment,
  sweeperDeployment,
} from '../../packages/signer/src/contracts.ts';
import { TANK } from '../chains/evm/key-signer.ts';
import { type Person, signIn } from '../console/people.ts';
import { freshAddress, hasAnvil } from '../contracts/local-node.ts';
import { florin } from '../florin-command.ts';
import { asOwner } from '../ledger.ts';
import { ACCOUNT, LiveStore, WITHIN } from './live-store.ts';

// Each command is a process of its own.

const addressOf = (text: string): Address => `0x${text.slice(2)}`;
const SWEEPER = addressOf(sweeperDeployment(TANK.address).address);
const PAYOUT = addressOf(batchPayoutDeployment().address);
/** Of another seed: the first test vector of BIP 32. */
const FOREIGN_KEY =
  'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8';
/** The collector is for subscriptions: a file that does not name it wants none. */
const SHARED = ['batch_payout ok', 'sweeper ok', 'collector not_yet'];

describe.skipIf(!hasAnvil())('before the first real payment', () => {
  let store: LiveStore;
  beforeAll(async () => {
    store = await LiveStore.start();
    await people().add('Ada');
    await people().add('Grace');
  }, 180_000);
  afterAll(async () => await store?.stop());

  async function readRunning(person: Person) {
    const { status, text } = await person.call('/console/api/operator/running');
    expect(status).toBe(200);
    const running: {
      networks: {
        height: number;
        final_height: number;
        blocks_not_final: number;
        endpoints: { host: string }[];
      }[];
      processes: object[];
      signer: { version: string; problem: string | null } | null;
    } = JSON.parse(text);
    return running;
  }

  const people = () => installationApproverCommands(store.service.app);
  const run = (words: readonly string[], env: Record<string, string | undefined> = {}) =>
    florin(words, { env: { ...store.env, ...env } });

  async function verify(env: Record<string, string> = {}) {
    const { code, stdout, stderr } = await run(['contracts', 'verify', '--json'], env);
    expect(stderr).toBe('');
    const lines: ContractLine[] = JSON.parse(stdout);
    // Another live merchant has the account before this store's.
    const own = lines.filter(({ merchant_id: id }) => id === null || id === store.id);
    const found = own.map(({ contract, status }) => `${contract} ${status}`);
    return { code, lines, found };
  }

  async function look(env: Record<string, string | undefined> = {}) {
    const { code, stdout, stderr } = await run(['doctor', 'live', '--json'], env);
    expect(stderr).toBe('');
    const checks: LiveCheck[] = JSON.parse(stdout);
    const missing = checks.filter(({ status }) => status === 'missing');
    return { code, checks, missing: missing.map(({ check }) => check), first: missing[0] };
  }

  /** A networks file with this change. @returns its variable */
  function changed(change: (erc20: NonNullable<NetworksFile['networks']['erc20']>) => void) {
    const file = store.env.FLORIN_NETWORKS_FILE ?? '';
    const content: NetworksFile = JSON.parse(readFileSync(file, 'utf8'));
    if (content.networks.erc20 !== undefined) change(content.networks.erc20);
    const other = path.join(path.dirname(file), 'other.json');
    writeFileSync(other, JSON.stringify(content));
    return { FLORIN_NETWORKS_FILE: other };
  }

  /** While code of the chain is replaced. */
  async function withCode<T>(address: Address, bytecode: Hex, work: () => Promise<T>): Promise<T> {
    const { client } = store.world;
    const before = (await client.getCode({ address })) ?? '0x';
    await client.setCode({ address, bytecode });
    try {
      return await work();
    } finally {
      await client.setCode({ address, bytecode: before });
    }
  }

  test('contracts are those of this release; a sweep delegate is there after the first sweep', async () => {
    const before = await verify();
    expect(before.found).toEqual([...SHARED, 'sweep_delegate not_yet']);
    expect(before.code).toBe(0);
    await store.world.move(store.world.sender({}, ACCOUNT), { kind: 'deploy', contract: 'sweep_delegate' });
    expect((await verify()).found).toEqual([...SHARED, 'sweep_delegate ok']);
  });

  test('a contract with another value in its code, with other code, or without is shown', async () => {
    const foreign = await store.world.client.call({ data: sweeperOf(freshAddress(1)) });
    const other = await withCode(SWEEPER, foreign.data ?? '0x', () => verify());
    expect([other.code, ...other.found.slice(0, 2)]).toEqual([1, 'batch_payout ok', 'sweeper differs']);
    const delegate = addressOf(delegateDeployment(store.hot, SWEEPER).address);
    const wrong = await withCode(delegate, '0x6001', () => verify());
    expect(wrong.found).toEqual([...SHARED, 'sweep_delegate differs']);
    const none = await withCode(PAYOUT, '0x', () => verify());
    expect([none.code, none.found[0]]).toEqual([1, 'batch_payout missing']);
    expect(none.lines[0]?.deploy?.to).toBe('0x4e59b44847b379578588920cA78FbF26c0B4956C');
    const { code, stdout } = await withCode(PAYOUT, '0x', () => run(['contracts', 'verify']));
    expect(code).toBe(1);
    expect(stdout.split('\n').filter((line) => line.startsWith(`batch_payout ${PAYOUT}: `))).toHaveLength(1);
  });

  test('what is missing is put there by the transaction that is shown', async () => {
    const { client } = store.world;
    await client.setCode({ address: PAYOUT, bytecode: '0x' });
    await client.setNonce({ address: PAYOUT, nonce: 0 });
    const [shown] = (await verify()).lines;
    const from = addressOf(freshAddress(2));
    await client.setBalance({ address: from, value: parseEther('1') });
    await client.impersonateAccount({ address: from });
    const to = addressOf(shown?.deploy?.to ?? '');
    await client.sendTransaction({ account: from, to, data: hexOf(shown?.deploy?.data), chain: null });
    await store.world.mine(1);
    expect((await verify()).found[0]).toBe('batch_payout ok');
  });

  test('a networks file with null, or with a sweeper of somebody else, is shown', async () => {
    const unset = changed(({ contracts }) => Object.assign(contracts, { batch_payout: null, sweeper: null }));
    const absent = await verify(unset);
    expect([absent.code, absent.found.slice(0, 2)]).toEqual([1, ['batch_payout missing', 'sweeper missing']]);
    expect(absent.lines[1]?.advice).toContain('contracts.sweeper');
    const foreign = changed(({ contracts }) => Object.assign(contracts, { sweeper: freshAddress(3) }));
    const elsewhere = await verify(foreign);
    expect([elsewhere.code, elsewhere.found[1]]).toEqual([1, 'sweeper differs']);
    expect(elsewhere.lines[1]?.advice).toContain(SWEEPER);
  });

  test('without a network of real money, or while it is away, verify says so in one line', async () => {
    const none = await run(['contracts', 'verify'], {
      FLORIN_NETWORKS_FILE: undefined,
      FLORIN_SIGNER: undefined,
    });
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('FLORIN_NETWORKS_FILE')]);
    const dead = changed((erc20) =>
      Object.assign(erc20, { endpoints: [{ url: 'http://127.0.0.1:9', own: true }] }),
    );
    const away = await run(['contracts', 'verify'], dead);
    expect(away.code).toBe(1);
    expect(away.stderr.trim().split('\n')).toEqual([expect.stringContaining('cannot be compared')]);
  });

  test('doctor live finds all that is there, and keeps open what does not exist yet', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const well = await look({ FLORIN_METRICS_PORT: port });
    server.close();
    expect(well.missing).toEqual([]);
    expect(well.code).toBe(0);
    const open = well.checks.filter(({ status }) => status === 'open').map(({ check }) => check);
    expect(open).toEqual(['backup', 'restores', 'reconciler', 'audit']);
  });

  test('doctor live names what is missing, one line each', async () => {
    expect(await look()).toMatchObject({ code: 1, missing: ['alarms'] });
    expect((await look({ FLORIN_METRICS_PORT: '9' })).missing).toEqual(['alarms']);
    const { client } = store.world;
    const held = await client.getBalance({ address: TANK.address });
    await client.setBalance({ address: TANK.address, value: parseEther('0.04') });
    const low = await look();
    await client.setBalance({ address: TANK.address, value: held });
    expect(low.missing).toEqual(['tank', 'alarms']);
    expect(low.first?.found).toBe(`${TANK.address} holds 0.04 ether`);

    const { wrong, lonely } = { wrong: `0x${'ab'.repeat(32)}`, lonely: [store.node.url] };
    const genesis = await look(changed((erc20) => Object.assign(erc20, { genesis_hash: wrong })));
    // Whose accounts are on the chain of before.
    expect(genesis.missing).toEqual(['networks', 'database', 'alarms']);
    const chain = await look(changed((erc20) => Object.assign(erc20, { chain_id: 1 })));
    expect(chain.missing.slice(0, 2)).toEqual(['networks', 'signer']);
    const alone = await look(changed((erc20) => Object.assign(erc20, { endpoints: lonely })));
    expect(alone.missing).toEqual(['endpoints', 'tank', 'contracts', 'alarms']);
    const code = await withCode(SWEEPER, '0x6001', () => look());
    expect(code.missing).toEqual(['contracts', 'alarms']);
    const setKey = 'update chain_account set extended_public_key = $1 where account = $2';
    const [stored] = await asOwner(
      store.service,
      'select account, extended_public_key from chain_account where merchant_id = $1',
      [store.merchant.merchantId],
    );
    await asOwner(store.service, setKey, [FOREIGN_KEY, stored?.account]);
    const foreign = await look();
    await asOwner(store.service, setKey, [stored?.extended_public_key, stored?.account]);
    expect(foreign.first).toMatchObject({
      check: 'accounts',
      found: expect.stringContaining(
        `accounts ${stored?.account} (${encodeId('merchant', store.merchant.merchantId)})`,
      ),
    });
    await people().remove('Grace');
    expect((await look()).first).toMatchObject({ check: 'installation', found: 'approvers: Ada' });
    await people().add('Grace');
  });

  test('doctor live without a database, a signer or anything', async () => {
    const bare = await look({
      DATABASE_URL: undefined,
      FLORIN_SIGNER: undefined,
      FLORIN_DATA_DIR: '/nowhere',
    });
    expect(bare.missing).toEqual(['signer', 'approvers', 'database', 'alarms']);
    const half = await look({ FLORIN_SIGNER: 'unix:/nowhere/signer.sock' });
    expect(half.missing).toEqual(['signer', 'approvers', 'alarms']);
    const nothing = await florin(['doctor', 'live'], { env: { FLORIN_DATA_DIR: '/nowhere' } });
    expect(nothing.code).toBe(1);
    expect(nothing.stdout).toMatch(/^networks +MISSING +FLORIN_NETWORKS_FILE is not set$/m);
    expect(nothing.stdout).toMatch(/^audit +open +/m);
    expect(nothing.stderr).toBe('');
  });

  test('heights, endpoints and versions: the command line and an auditor see the same, and what is away says why', async () => {
    const auditor = await signIn(store.service, { merchantId: NIL_ID, storeId: NIL_ID }, 'auditor');
    await store.world.mine(1);
    const newest = Number(await store.world.client.getBlockNumber());
    await expect.poll(async () => (await readRunning(auditor)).networks[0]?.height, WITHIN).toBe(newest);
    const { networks, processes, signer } = await readRunning(auditor);
    const [endpoint] = networks[0]?.endpoints ?? [];
    expect(networks).toMatchObject([{ network: 'erc20', status: 'ok', problem: null }]);
    expect(networks[0]?.blocks_not_final).toBe((networks[0]?.height ?? 0) - (networks[0]?.final_height ?? 0));
    expect(endpoint).toMatchObject({ blocks_behind: 0, height: networks[0]?.height, problem: null });
    const { version } = packageJson;
    expect(processes).toContainEqual(expect.objectContaining({ version, pid: String(process.pid) }));
    expect(signer).toEqual({ version: expect.stringMatching(/^\d/), problem: null });

    const heights = async () => JSON.parse((await run(['networks', 'heights', '--json'])).stdout);
    expect(await heights()).toMatchObject([
      { network: 'erc20', endpoint: null, height: networks[0]?.height, found: 'ok' },
      { network: 'erc20', endpoint: endpoint?.host, height: networks[0]?.height, found: 'ok' },
    ]);
    store.node.manner = 'broken';
    const away = await heights();
    store.node.manner = undefined;
    expect(away).toMatchObject([
      {
        endpoint: null,
        height: null,
        final_height: null,
        found: expect.stringContaining('own node is away'),
      },
      { endpoint: endpoint?.host, height: null, found: expect.stringContaining('answered 5') },
    ]);
  });

  test('doctor live: a frozen signer, and a live merchant who is turned off', async () => {
    await run(['networks', 'disable', store.id, 'erc20']);
    await store.signer.client.freeze('a drill');
    const { missing, first } = await look();
    expect(missing).toEqual(['signer', 'merchants', 'alarms']);
    expect(first?.found).toBe('it is frozen: a drill');
    const auditor = await signIn(store.service, { merchantId: NIL_ID, storeId: NIL_ID }, 'auditor');
    const problem = async () => (await readRunning(auditor)).signer?.problem;
    await expect.poll(problem, WITHIN).toBe('It is frozen: a drill');
  });
});

/** Its constructor's call for another operator: salt 0 is not part of it. */
const sweeperOf = (operator: string): Hex =>
  `0x${Buffer.from(sweeperDeployment(operator).data.subarray(32)).toString('hex')}`;

const hexOf = (text = ''): Hex => `0x${text.slice(2)}`;
