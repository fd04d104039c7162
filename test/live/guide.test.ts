import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Florin } from '@florin/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestUSDT } from '../../contracts/artifacts/index.ts';
import { by, connect, mined, PAYER } from '../../scripts/local-chain.ts';
import { readNetworksFile } from '../../scripts/networks-file.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { giveInput } from '../give-input.ts';
import { FLORIN } from '../programs.ts';
import { WORDS } from '../signer/signer-process.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const blocksOf = (page: string) =>
  [...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^```sh[^\n]*\n([\s\S]*?)^```$/gm)].map(
    ([, lines = '']) => lines,
  );
const GUIDE = blocksOf('docs/live.md');
const RECIPE = blocksOf('docs/recipes/wallet-subscription.md');
const LONG = { timeout: 300_000, interval: 1_000 };

/** The only block of the page with these words. */
function block(words: string, blocks: readonly string[] = GUIDE): string {
  const [only, ...others] = blocks.filter((lines) => lines.includes(words));
  if (only === undefined || others.length > 0) throw new Error(`not one block has ${words}`);
  return only;
}

interface Background {
  child: ChildProcess;
  ended: Promise<unknown>;
  /** What it says on standard error. */
  log: readonly string[];
}

/** The lines of both pages as a person runs them, each program a process of its own. Ports alone are free ones. */
describe.skipIf(!hasAnvil())('docs/live.md, and docs/recipes/wallet-subscription.md after it', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-guide-'));
  const bin = path.join(folder, 'bin');
  const running = new Map<string, Background>();
  const variables = path.join(folder, 'variables');

  const command = (name: string, lines: string) => {
    const file = path.join(bin, name);
    writeFileSync(file, `#!/bin/sh\n${lines}\n`);
    chmodSync(file, 0o755);
  };
  beforeAll(() => {
    mkdirSync(bin);
    const node = process.execPath;
    command('npx', `shift; exec ${node} ${FLORIN} "$@"`);
    command(
      'npm',
      `if [ "$1" = start ]; then exec ${node} ${FLORIN} start --port 0 --json; fi
shift 2
if [ $# = 0 ]; then exec ${node} ${ROOT}/scripts/chains.ts --port 0 --solana-port 0 --tron-port 0 --block-time 1 --json; fi
shift
exec ${node} ${ROOT}/scripts/chains.ts "$@"`,
    );
    writeFileSync(variables, '');
  });
  afterAll(async () => {
    for (const { child } of running.values()) child.kill('SIGTERM');
    await Promise.all([...running.values()].map(({ ended }) => ended));
    rmSync(folder, { recursive: true, force: true });
  });

  const shell = (lines: string) =>
    spawn('bash', ['-ec', lines], {
      cwd: folder,
      env: {
        PATH: `${bin}:${process.env.PATH}`,
        HOME: folder,
        TMPDIR: tmpdir(),
        NODE_PATH: path.join(ROOT, 'node_modules'),
      },
    });

  /** In one terminal: what a block sets, the next one has. */
  async function run(lines: string, stdin = ''): Promise<string> {
    const child = shell(`set -a; . ${variables}; ${lines}
export -p > ${variables}`);
    const out: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => out.push(chunk.toString()));
    giveInput(child.stdin, stdin);
    const code = await new Promise((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(`${lines}\n${out.join('')}`);
    return out.join('');
  }

  async function background(name: string, lines: string): Promise<void> {
    const child = shell(`exec env ${lines.trim()}`);
    const out: string[] = [];
    const failed: string[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => failed.push(chunk.toString()));
    const ended = new Promise((resolve) => child.once('close', resolve));
    running.set(name, { child, ended, log: failed });
    // Each says in one answer that it is ready, or ends.
    await expect.poll(() => child.exitCode !== null || out.join('').endsWith('}\n'), LONG).toBe(true);
    if (child.exitCode !== null) throw new Error(failed.join(''));
  }
  async function kill(name: string): Promise<void> {
    const one = running.get(name);
    one?.child.kill('SIGKILL');
    await one?.ended;
  }

  const json = (file: string) => JSON.parse(readFileSync(path.join(folder, '.florin', file), 'utf8'));
  const sdk = () => {
    const { api_key: apiKey, secret_key: secretKey } = json('live-key.json');
    return new Florin({ baseUrl: json('sandbox.json').base_url, apiKey, secretKey });
  };
  const payment = async (file: string) => await sdk().payments.retrieve(json(file).payment_id);
  const invoices = async () => {
    const { data } = await sdk().invoices.list({ subscription: json('subscription.json').id });
    return data.map(({ status, amount_paid }) => ({ status, amount_paid })).reverse();
  };
  /** What the wallet of the page does: it reads the terms, approves and signs. */
  async function subscribe(page: string): Promise<void> {
    const network = readNetworksFile(path.join(folder, '.florin/networks.json'));
    const client = connect(network.endpoints[0].url);
    const send = async (name: string, fields: Record<string, string>) => {
      const choice = { network: 'erc20', currency: 'USDT', wallet: PAYER.address };
      const body = new URLSearchParams({ ...choice, ...fields });
      const answer = await fetch(`${page}/mandate/${name}`, { method: 'POST', body });
      return [answer.status, JSON.parse(await answer.text())] as const;
    };
    const [status, { cap, subscriptions, starts_at, steps }] = await send('offer', {});
    expect(status).toBe(200);
    expect(steps[0]).toMatchObject({ kind: 'approve', spender: network.contracts.collector });
    await mined(
      client,
      client.writeContract({
        ...by(PAYER),
        address: network.tokens.USDT.address,
        abi: TestUSDT.abi,
        functionName: 'approve',
        args: [network.contracts.collector, BigInt(steps[0].amount)],
      }),
    );
    const signature = await PAYER.signTypedData(JSON.parse(steps[1].typed_data));
    const terms = { cap, subscriptions: String(subscriptions), starts_at: String(starts_at) };
    expect(await send('sign', { ...terms, signature })).toMatchObject([200, {}]);
  }
  const batch = async () => await sdk().payouts.retrieve(json('draft.json').batch_id);
  async function heldBy(...addresses: bigint[]): Promise<bigint[]> {
    const network = readNetworksFile(path.join(folder, '.florin/networks.json'));
    const client = connect(network.endpoints[0].url);
    const { address } = network.tokens.USDT;
    const call = { address, abi: TestUSDT.abi, functionName: 'balanceOf' } as const;
    const read = (one: bigint) =>
      client.readContract({ ...call, args: [`0x${one.toString(16).padStart(40, '0')}`] });
    return await Promise.all(addresses.map(read));
  }
  /** What each of the 200 has, and nobody twice. */
  const paidEach = async () => [
    ...new Set(await heldBy(...Array.from({ length: 200 }, (_, i) => BigInt(0x100000 + i)))),
  ];

  test('its lines take, refund and pay out; after a kill of everything each of 200 is paid once, and the books agree', {
    timeout: 900_000,
  }, async () => {
    await background('chains', block('npm run chains\n').trim());
    expect(existsSync(path.join(folder, '.florin/networks.json'))).toBe(true);
    await run(block('signer init').replace('signer init', 'signer init --restore'), WORDS);
    await run(block('policy.json <<JSON'));
    await background('signer', block('signer run').replace('signer run', 'signer run --json'));
    await background('store', block('npm start'));
    await run(block('merchants create'));

    // The first period is over while the rest of the lines runs.
    await run(block('billing_cycle_anchor', RECIPE).replace('+ 300', '+ 40'));
    const { checkout_url: page } = json('subscription.json');
    // The page's script starts from this.
    const { contracts } = readNetworksFile(path.join(folder, '.florin/networks.json'));
    const shown = await (await fetch(page)).text();
    expect(shown.toLowerCase()).toContain(`"collector":"${contracts.collector.toLowerCase()}"`);
    await subscribe(page);

    const taken = block('checkout create 250');
    await run(taken);
    await expect.poll(() => payment('second.json'), LONG).toMatchObject({ amount_received: 20_000_000 });
    await run(block('payments show'));
    for (const file of ['session.json', 'second.json'])
      await expect.poll(() => payment(file), LONG).toMatchObject({ status: 'completed' });
    await run(block('refunds create'));

    const paying = block('Person ');
    await run(paying);
    await expect.poll(batch, LONG).toMatchObject({ status: 'completed', success_count: 200 });
    expect(await paidEach()).toEqual([100_000n]);
    await expect.poll(() => sdk().refunds.retrieve('first'), LONG).toMatchObject({ status: 'succeeded' });

    await run(taken);
    await expect.poll(() => payment('session.json'), LONG).toMatchObject({ status: 'completed' });
    await run(paying.replace('idempotency-key people', 'idempotency-key second'));
    await Promise.all([kill('signer'), kill('store')]);
    await background('signer', block('signer run').replace('signer run', 'signer run --json'));
    await background('store', block('npm start'));
    await expect.poll(batch, LONG).toMatchObject({ status: 'completed', success_count: 200 });
    expect(await paidEach()).toEqual([200_000n]);

    await expect.poll(() => payment('second.json'), LONG).toMatchObject({ amount_received: 20_000_000 });

    // Here the store has got another port.
    await run(`FLORIN_BASE_URL=${json('sandbox.json').base_url}`);
    await run(block('exchange.cjs <<'));
    const signed = () => running.get('signer')?.log.join('') ?? '';
    await expect.poll(signed, LONG).toContain('"code":"approvals"');
    await run(block('300002 0x'));
    const drilled = async () => await sdk().payouts.retrieve(json('drill.json').batch_id);
    await expect.poll(drilled, LONG).toMatchObject({ status: 'completed' });
    expect(await heldBy(0x300001n, 0x300002n)).toEqual([5_000_000n, 0n]);

    // The clock has pulled the second period meanwhile.
    const paid = [
      { status: 'paid', amount_paid: expect.any(Number) },
      { status: 'paid', amount_paid: 5_000_000 },
    ];
    await expect.poll(invoices, LONG).toEqual(paid);
    expect(await run(block('payment-methods list', RECIPE))).toContain('active');
    await run(block('approve --amount', RECIPE));
    expect(await run(block('portal/sessions', RECIPE))).toContain('/portal/');
    await run(block('subscriptions cancel', RECIPE));

    const compared = await run(block('treasury status'));
    expect(compared).toContain('everything agrees');
    expect(await run(block('settings set payouts.daily_quota'))).toContain('50000.00');
    expect(await run(block('approvers add "Grace Hopper" --operator'))).toContain('fla_');
  });
});
