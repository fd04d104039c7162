import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestUSDT } from '../../contracts/artifacts/index.ts';
import { by, connect, mined, PAYER } from '../../scripts/local-chain.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { WORDS } from '../signer/signer-process.ts';
import { blocksOf, LONG, Terminals } from './terminals.ts';

const block = blocksOf('docs/live.md');
const recipe = blocksOf('docs/recipes/wallet-subscription.md');

/** The lines of both pages as a person runs them, each program a process of its own. Ports alone are free ones. */
describe.skipIf(!hasAnvil())('docs/live.md, and docs/recipes/wallet-subscription.md after it', () => {
  let at: Terminals;
  beforeAll(() => {
    at = new Terminals();
  });
  afterAll(() => at.close());

  const payment = async (file: string) => await at.sdk().payments.retrieve(at.json(file).payment_id);
  const invoices = async () => {
    const { data } = await at.sdk().invoices.list({ subscription: at.json('subscription.json').id });
    return data.map(({ status, amount_paid }) => ({ status, amount_paid })).reverse();
  };
  /** What the wallet of the page does: it reads the terms, approves and signs. */
  async function subscribe(page: string): Promise<void> {
    const network = at.networks().erc20;
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
  const batch = async () => {
    const { status, success_count } = await at.sdk().payouts.retrieve(at.json('draft.json').batch_id);
    return { status, success_count };
  };
  async function heldBy(...addresses: bigint[]): Promise<bigint[]> {
    const network = at.networks().erc20;
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
    await at.start('chains', block('npm run chains\n').trim());
    expect(existsSync(at.pathOf('networks.json'))).toBe(true);
    await at.run(block('signer init').replace('signer init', 'signer init --restore'), WORDS);
    await at.run(block('policy.json <<JSON'));
    await at.start('signer', block('signer run').replace('signer run', 'signer run --json'));
    await at.start('store', block('npm start'));
    await at.run(block('merchants create'));

    // The first period is over while the rest of the lines runs.
    await at.run(recipe('billing_cycle_anchor').replace('+ 300', '+ 40'));
    const { checkout_url: page } = at.json('subscription.json');
    // The page's script starts from this.
    const { contracts } = at.networks().erc20;
    const shown = await (await fetch(page)).text();
    expect(shown.toLowerCase()).toContain(`"spender":"${contracts.collector.toLowerCase()}"`);
    await subscribe(page);

    // Tron's payment becomes solid while the rest of the lines runs.
    await at.run(block('signer export-xpub 0'));
    await at.run(block('checkout create 40'));

    const taken = block('checkout create 250');
    await at.run(taken);
    await expect.poll(() => payment('second.json'), LONG).toMatchObject({ amount_received: 20_000_000 });
    await at.run(block('payments show'));
    for (const file of ['session.json', 'second.json'])
      await expect.poll(() => payment(file), LONG).toMatchObject({ status: 'completed' });
    await at.run(block('--id first'));
    for (const network of ['spl', 'trc20'])
      await expect.poll(() => payment(`${network}.json`), LONG).toMatchObject({ status: 'completed' });
    await at.run(block('--id third'));

    const paying = block('Person ');
    await at.run(paying);
    await expect.poll(batch, LONG).toEqual({ status: 'completed', success_count: 200 });
    expect(await paidEach()).toEqual([100_000n]);
    await expect.poll(() => at.sdk().refunds.retrieve('first'), LONG).toMatchObject({ status: 'succeeded' });

    await at.run(taken);
    await expect.poll(() => payment('session.json'), LONG).toMatchObject({ status: 'completed' });
    await at.run(paying.replace('idempotency-key people', 'idempotency-key second'));
    await Promise.all([at.kill('signer'), at.kill('store')]);
    await at.start('signer', block('signer run').replace('signer run', 'signer run --json'));
    await at.start('store', block('npm start'));
    await expect.poll(batch, LONG).toEqual({ status: 'completed', success_count: 200 });
    expect(await paidEach()).toEqual([200_000n]);

    await expect.poll(() => payment('second.json'), LONG).toMatchObject({ amount_received: 20_000_000 });

    // Here the store has got another port.
    await at.run(`FLORIN_BASE_URL=${at.json('sandbox.json').base_url}`);
    await at.run(block('exchange.cjs <<'));
    await expect.poll(() => at.logOf('signer'), LONG).toContain('"code":"approvals"');
    await at.run(block('300002 0x'));
    const drilled = async () => (await at.sdk().payouts.retrieve(at.json('drill.json').batch_id)).status;
    await expect.poll(drilled, LONG).toBe('completed');
    expect(await heldBy(0x300001n, 0x300002n)).toEqual([5_000_000n, 0n]);

    // The clock has pulled the second period meanwhile.
    const paid = [
      { status: 'paid', amount_paid: expect.any(Number) },
      { status: 'paid', amount_paid: 5_000_000 },
    ];
    await expect.poll(invoices, LONG).toEqual(paid);
    expect(await at.run(recipe('payment-methods list'))).toContain('active');
    await at.run(recipe('approve --amount'));
    expect(await at.run(recipe('portal/sessions'))).toContain('/portal/');
    await at.run(recipe('subscriptions cancel'));

    // Tron's takes minutes, and the books agree while it is on its way.
    await expect.poll(() => at.sdk().refunds.retrieve('second'), LONG).toMatchObject({ status: 'succeeded' });
    const compared = await at.run(block('treasury status'));
    expect(compared).toContain('everything agrees');
    expect(await at.run(block('settings set payouts.daily_quota'))).toContain('50000.00');
    expect(await at.run(block('approvers add "Grace Hopper" --operator'))).toContain('fla_');
  });
});
