import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Network } from '@florin/contract/money';
import { address, createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SolanaAccounts } from '../../packages/signer/src/solana/accounts.ts';
import { TronAccounts } from '../../packages/signer/src/tron/accounts.ts';
import { seedOf } from '../../packages/signer/src/words.ts';
import { connect } from '../../scripts/local-chain.ts';
import { driver } from '../browser/checkout-driver.ts';
import { hasChromium, openBrowser } from '../browser/chromium.ts';
import { InjectedWallet } from '../browser/injected-wallet.ts';
import { InjectedStandardWallet } from '../browser/standard-wallet.ts';
import { InjectedTronWallet } from '../browser/tron-wallet.ts';
import { signedBy, walletOf } from '../chains/solana/named-wallets.ts';
import { hasAnvil } from '../contracts/local-node.ts';
import { solanaClient } from '../nodes/solana-client.ts';
import { ask, hex, keyOf, native, sendOk, TRX } from '../nodes/tron-client.ts';
import { FULL } from '../scale.ts';
import { WORDS } from '../signer/signer-process.ts';
import { blocksOf, LONG, Terminals } from './terminals.ts';

const block = blocksOf('docs/live.md');
const NETWORKS = ['erc20', 'trc20', 'spl'] as const satisfies readonly Network[];
const ADDED = ['trc20', 'spl'] as const;
const WALLETS = { erc20: 'Test Fox', trc20: 'Test Link', spl: 'Test Sun' };
const NAMES = { erc20: 'Ethereum', trc20: 'Tron', spl: 'Solana' };
const TOKEN = 1_000_000n;
/** What a transfer of SOL costs. */
const FEE_LAMPORTS = 5_000n;

if (!FULL)
  console.log(
    'skipped without FLORIN_FULL=1: its steps have tests of their own, and it waits a quarter of an hour for blocks',
  );

/** Somebody who runs a live store, by the programs and pages alone: a second and a third network, and payers with wallets. */
describe.skipIf(!FULL || !hasAnvil() || !hasChromium())('an operator adds Tron and Solana', () => {
  let at: Terminals;
  let browser: Browser;
  const { open } = driver(() => browser);
  beforeAll(async () => {
    at = new Terminals();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await at.close();
  });

  const urlOf = (network: Network) => at.networks()[network].endpoints[0].url;
  /** The browser's wallet of that network, which has the payer's key. */
  function walletOn(network: Network) {
    if (network === 'trc20') {
      const { genesis_hash: genesisHash } = at.networks().trc20;
      return new InjectedTronWallet({ node: { url: urlOf(network) }, network: { genesisHash } }, 'payer');
    }
    if (network === 'spl') {
      const { raw } = solanaClient(urlOf(network));
      const sendAs = async (name: string, transaction: Uint8Array) =>
        String((await raw('sendTransaction', [...signedBy(name, transaction)])).result);
      return new InjectedStandardWallet({ sendAs }, 'payer');
    }
    const client = connect(urlOf(network));
    const call = (method: string, params: readonly unknown[]) =>
      client.request({ method, params } as unknown as Parameters<typeof client.request>[0]);
    return new InjectedWallet({ client, node: { call } }, 1);
  }
  const openWith = async (network: Network, url: string) =>
    (await open(url, { prepare: (page) => walletOn(network).join(page) })).page;

  /** Of a session on the network, to be paid by transfer or by the wallet of the payer's browser. */
  async function session(network: Network) {
    const made = await at.sdk().checkout.sessions.create({ amount: 40n * TOKEN, currency: 'USDT' });
    await fetch(made.url, { method: 'POST', body: new URLSearchParams({ option: `USDT:${network}` }) });
    return made;
  }
  async function payInBrowser(network: Network): Promise<string> {
    const { url, payment_id } = await session(network);
    const page = await openWith(network, url);
    await page.getByRole('button', { name: `Pay with ${WALLETS[network]}` }).click();
    await page.getByRole('heading', { level: 1, name: 'Paid. Thank you!' }).waitFor(LONG);
    await page.context().close();
    return payment_id;
  }
  async function payByTransfer(network: Network): Promise<string> {
    const { url, payment_id } = await session(network);
    await at.run(`npm run chains -- pay --network ${network} --page ${url}`);
    return payment_id;
  }
  async function subscribe(network: Network): Promise<string> {
    const made = await at.sdk().subscriptions.create({
      customer: `ada of ${network}`,
      currency: 'USDT',
      items: [
        {
          price_data: {
            currency: 'USDT',
            product: 'Notebook',
            unit_amount: 5n * TOKEN,
            recurring: { interval: 'day' },
          },
        },
      ],
      // By the shop's own clock, as the service is another process.
      billing_cycle_anchor: Math.floor(Date.now() / 1000) + 240,
    });
    const page = await openWith(network, made.checkout_url ?? '');
    await page.getByRole('radio', { name: `USDT on ${NAMES[network]}` }).check();
    await page.getByRole('button', { name: `Continue with ${WALLETS[network]}` }).click();
    await page.getByRole('button', { name: /(and sign|and approve|^Sign) in Test/ }).click();
    await page.getByRole('heading', { name: 'Your subscription has begun' }).waitFor(LONG);
    await page.context().close();
    return made.id;
  }
  async function expectPulled(subscription: string): Promise<void> {
    const paid = async () =>
      (await at.sdk().invoices.list({ subscription })).data.map(({ status }) => status);
    await expect.poll(paid, LONG).toEqual(['paid', 'paid']);
  }

  const PEOPLE = {
    erc20: (n: number) => `0x${(0x100_000 + n).toString(16).padStart(40, '0')}`,
    trc20: (n: number) => keyOf(`person ${n}`).address,
    spl: (n: number) => walletOf(`person ${n}`),
  };
  async function payOut(network: Network): Promise<string> {
    const items = [1, 2, 3].map((n) => ({
      network,
      real_name: `Person ${n}`,
      address: PEOPLE[network](n),
      amount: '2.50',
    }));
    const { payouts } = at.sdk();
    const { batch_id: batch } = await payouts.create(
      { currency: 'USDT', items },
      { idempotencyKey: randomUUID() },
    );
    await payouts.submit(batch);
    await at.run(`npx florin payouts approve ${batch} --as ada --key-file .florin/signer/ada.pem`);
    return batch;
  }
  const batchOf = async (batch: string) => {
    const { status, success_count } = await at.sdk().payouts.retrieve(batch);
    return { status, success_count };
  };

  async function refund(payment: string, network: Network): Promise<string> {
    const id = randomUUID();
    await at.run(
      `npx florin refunds create ${payment} --id ${id} --amount 5 --currency USDT --address ${PEOPLE[network](9)}`,
    );
    return id;
  }

  const seed = seedOf(WORDS);
  const TANKS = { trc20: new TronAccounts(seed).hot(0), spl: new SolanaAccounts(seed).hot(0) };
  async function coinsOf(network: (typeof ADDED)[number]): Promise<bigint> {
    const { address: tank } = TANKS[network];
    if (network === 'spl')
      return (await solanaClient(urlOf(network)).rpc.getBalance(address(tank)).send()).value;
    return BigInt(
      (await ask('wallet/getaccount', { address: tank, visible: true }, urlOf(network))).balance ?? 0,
    );
  }
  async function takeOut(network: (typeof ADDED)[number], coins: bigint): Promise<void> {
    const key = TANKS[network];
    const url = urlOf(network);
    if (network === 'spl') {
      const client = solanaClient(url);
      const source = await createKeyPairSignerFromPrivateKeyBytes(key.privateKey);
      const destination = address(walletOf('elsewhere'));
      const all = getTransferSolInstruction({ source, destination, amount: coins - FEE_LAMPORTS });
      await client.send(await client.sign(source, [all]));
    } else {
      const secret = Buffer.from(key.privateKey).toString('hex');
      // Some is left for the bytes of this transaction.
      const value = { to_address: hex(keyOf('payer').address), amount: Number(coins) - TRX };
      await sendOk(await native({ secret, address: key.address }, 'TransferContract', value, { url }), url);
    }
  }
  /** Its owner takes everything out, behind the server's back, which may spend some of it meanwhile: then once more. */
  async function runDry(network: (typeof ADDED)[number]): Promise<void> {
    const isDry = async () => {
      const coins = await coinsOf(network);
      if (coins <= BigInt(TRX)) return true;
      await takeOut(network, coins).catch(() => undefined);
      return false;
    };
    await expect.poll(isDry, { ...LONG, interval: 15_000 }).toBe(true);
  }

  /** Takes networks out of a file. @returns puts them back */
  function without(file: string, networks: readonly string[]): () => void {
    const whole = readFileSync(file, 'utf8');
    const read = JSON.parse(whole);
    for (const network of networks) delete read.networks[network];
    writeFileSync(file, JSON.stringify(read));
    return () => writeFileSync(file, whole);
  }
  const startSigner = () =>
    at.start('signer', block('signer run').replace('signer run', 'signer run --json'));
  const startStore = () => at.start('store', block('npm start'));

  test('and takes, refunds, pays out and pulls on all three, through dry tanks; the books agree', {
    timeout: 3_600_000,
  }, async () => {
    await at.start('chains', block('npm run chains\n').trim());
    await at.run(block('signer init').replace('signer init', 'signer init --restore'), WORDS);
    await at.run(block('policy.json <<JSON'));
    const put = [at.pathOf('networks.json'), at.pathOf('signer/policy.json')].map((file) =>
      without(file, ADDED),
    );
    await startSigner();
    await startStore();
    await at.run(block('merchants create').replace('erc20 trc20 spl', 'erc20'));
    await payByTransfer('erc20');

    for (const putBack of put) putBack();
    await Promise.all([at.kill('signer'), at.kill('store')]);
    await startSigner();
    await startStore();
    await at.run(`FLORIN_BASE_URL=${at.json('sandbox.json').base_url}
for NETWORK in ${ADDED.join(' ')}; do npx florin networks enable $MERCHANT $NETWORK; done`);
    await at.run(block('signer export-xpub 0'));

    const payments = await Promise.all(
      NETWORKS.map(async (network) => [await payInBrowser(network), await payByTransfer(network)] as const),
    );
    for (const pair of payments)
      for (const id of pair)
        await expect
          .poll(() => at.sdk().payments.retrieve(id), LONG)
          .toMatchObject({ status: 'completed', amount_received: Number(40n * TOKEN) });

    const subscriptions = await Promise.all(NETWORKS.map(subscribe));

    for (const network of ADDED) await runDry(network);
    const batches: string[] = [];
    for (const network of NETWORKS) batches.push(await payOut(network));
    await expect
      .poll(() => batchOf(batches[0] ?? ''), LONG)
      .toEqual({ status: 'completed', success_count: 3 });
    console.log(
      'treasury while the tanks are dry:',
      await at.run('npx florin treasury status; npx florin doctor live || true'),
    );
    for (const batch of batches.slice(1))
      expect(await batchOf(batch)).toMatchObject({ status: 'processing' });
    for (const network of ADDED) await at.run(`npm run chains -- fund --tank ${TANKS[network].address}`);
    for (const batch of batches)
      await expect.poll(() => batchOf(batch), LONG).toEqual({ status: 'completed', success_count: 3 });

    const refunds: string[] = [];
    for (const [i, pair] of payments.entries())
      for (const id of pair) refunds.push(await refund(id, NETWORKS[i] ?? 'erc20'));
    for (const subscription of subscriptions) await expectPulled(subscription);
    for (const id of refunds)
      await expect.poll(() => at.sdk().refunds.retrieve(id), LONG).toMatchObject({ status: 'succeeded' });
    const compared = await at.run(block('treasury status'));
    console.log(compared);
    expect(compared).toContain('everything agrees');
  });
});
