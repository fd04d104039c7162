import type { ProofOutcome, WalletOrder, WalletText } from '@florin/pages';
import { type Account, type Address, encodeFunctionData, type Hex, hashMessage, stringToHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestUSDT, TestWallet } from '../../contracts/artifacts/index.ts';
import { findPage } from '../../packages/server/src/checkout/page/find-page.ts';
import { proveByText } from '../../packages/server/src/checkout/wallet/prove-by-text.ts';
import { deploy } from '../../scripts/local-chain.ts';
import { checkout, TOKEN } from '../checkout/requests.ts';
import { account, hasAnvil } from '../contracts/local-node.ts';
import { refunds } from '../refunds/requests.ts';
import { LiveStore, WITHIN } from './live-store.ts';

const TIMEOUT_MS = 120_000;
/** Of secp256k1. */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** Has ether, so that it can send. */
const PAYER = account(5);
const STRANGER = account(6);

describe.skipIf(!hasAnvil())('wallets of payers on a live network', { timeout: TIMEOUT_MS }, () => {
  let store: LiveStore;

  beforeAll(async () => {
    store = await LiveStore.start();
  }, TIMEOUT_MS);
  afterAll(() => store?.stop());

  const post = async <T>(url: string, fields: Record<string, string>, status = 200): Promise<T> => {
    const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) });
    expect(answer.status).toBe(status);
    return (await answer.json()) as T;
  };
  /** A page on which USDT on Ethereum is chosen. */
  async function opened(tokens = 100) {
    const session = await checkout(store.service, store.merchant).open({ amount: tokens * TOKEN });
    await fetch(session.url, { method: 'POST', body: new URLSearchParams({ option: 'USDT:erc20' }) });
    const { address } = await store.payment(session.payment_id);
    const textFor = (wallet: string) =>
      post<WalletText>(`${session.url}/wallet-text`, { account: wallet, network: 'erc20' });
    const prove = async (token: string, signature: string) =>
      (await post<{ outcome: ProofOutcome }>(`${session.url}/wallet-proof`, { token, signature })).outcome;
    return { ...session, address: address ?? '', textFor, prove };
  }
  const signed = (by: Account, message: string): Promise<Hex> => {
    if (by.signMessage === undefined) throw new Error('this account signs nothing');
    return by.signMessage({ message });
  };

  test('the server hands out the transfer that the page shows, and none that it shows no more', async () => {
    const { url, address, payment_id } = await opened(25);
    const shown = { address, amount: '25.00' };
    const order = await post<WalletOrder>(`${url}/wallet?lang=de`, shown);
    expect(order).toMatchObject({
      chain: { id: 31_337, name: 'Ethereum (local node)', endpoint: store.world.node.url },
      call: {
        to: store.world.tokens.USDT,
        data: encodeFunctionData({
          abi: TestUSDT.abi,
          functionName: 'transfer',
          args: [address as Address, 25_000_000n],
        }),
      },
      texts: { stop: 'Nicht mehr warten' },
    });
    for (const other of [{ amount: '24.00' }, { address: PAYER.address }, { amount: '' }])
      expect(await post(`${url}/wallet`, { ...shown, ...other })).toEqual({ isChanged: true });
    await store.world.mint('USDT', address as Address, 10_000_000n);
    await store.until(() => store.payment(payment_id), { amount_received: 10 * TOKEN });
    expect(await post(`${url}/wallet`, shown)).toEqual({ isChanged: true });
    const rest = await post<WalletOrder>(`${url}/wallet`, { ...shown, amount: '15.00' });
    if (!('kind' in rest) || rest.kind !== 'ethereum') throw new Error('a wallet of Ethereum is asked');
    expect(rest.call.data.endsWith((15_000_000).toString(16).padStart(64, '0'))).toBe(true);
    expect(await post(`${url}x/wallet`, shown, 404)).toMatchObject({ error: {} });
  });

  test('a wallet that signed its text gets back what it sent, and no more, without naming an address', async () => {
    const { world } = store;
    const { id, payment_id, address, textFor, prove } = await opened(100);
    for (const [wallet, tokens] of [
      [PAYER, 60n],
      [STRANGER, 40n],
    ] as const) {
      await world.mint('USDT', wallet.address, tokens * 1_000_000n);
      await world.transfer('USDT', wallet, address as Address, tokens * 1_000_000n);
    }
    const { text, token } = await textFor(PAYER.address.toLowerCase());
    const host = new URL(store.service.baseUrl).host;
    expect(text.split('\n')).toMatchObject([
      `${host} wants you to sign in with your Ethereum account:`,
      PAYER.address,
      '',
      expect.stringContaining('moves no money'),
      '',
      `URI: http://${host}`,
      'Version: 1',
      'Chain ID: 31337',
      expect.stringMatching(/^Nonce: [0-9a-f]{32}$/),
      expect.stringMatching(/^Issued At: [-\d]+T[:\d]+Z$/),
      expect.stringMatching(/^Expiration Time: [-\d]+T[:\d]+Z$/),
      `Request ID: ${id}`,
    ]);
    const signature = await signed(PAYER, text);
    expect(await prove(token, signature)).toBe('proven');
    // A second tab, or a wallet that answers twice.
    expect(await prove(token, signature)).toBe('proven');
    await store.until(() => store.payment(payment_id), { status: 'completed' });
    await world.mine(world.finalBlocks + 1);
    const { refund } = refunds(store.service, store.merchant);
    const part = (refund_id: string, tokens: number) =>
      refund({ refund_id, payment_id, amount: tokens * TOKEN, currency: 'USDT' });
    expect(await part('above', 61)).toMatchObject({ address: null, claim_url: expect.any(String) });
    expect(await part('own', 10)).toMatchObject({ address: PAYER.address, claim_url: null });
    // The other payer comes later, and the first one has sent money: it stays.
    const other = await textFor(STRANGER.address);
    expect(await prove(other.token, await signed(STRANGER, other.text))).toBe('other');
  });

  test('whoever proves a wallet that sends nothing gives way to the wallet that pays', async () => {
    const { payment_id, address, textFor, prove } = await opened(5);
    const early = await textFor(STRANGER.address);
    expect(await prove(early.token, await signed(STRANGER, early.text))).toBe('proven');
    const { text, token } = await textFor(PAYER.address);
    const signature = await signed(PAYER, text);
    expect(await prove(token, signature)).toBe('other');
    await store.world.mint('USDT', PAYER.address, 5_000_000n);
    await store.world.transfer('USDT', PAYER, address as Address, 5_000_000n);
    await expect
      .poll(() => store.payment(payment_id), WITHIN)
      .toMatchObject({ transactions: [{ status: 'seen' }] });
    expect(await prove(token, signature)).toBe('proven');
  });

  test('refused: other bytes, another key, another session, a replay, the malleable form, shortened, nothing at all', async () => {
    const page = await opened();
    const { text, token } = await page.textFor(PAYER.address);
    const good = await signed(PAYER, text);
    const [r, s, v] = [good.slice(2, 66), good.slice(66, 130), good.slice(130)];
    const high = (CURVE_ORDER - BigInt(`0x${s}`)).toString(16).padStart(64, '0');
    const elsewhere = await opened();
    const foreign = await elsewhere.textFor(PAYER.address);
    const again = await page.textFor(PAYER.address);
    const wrong: Record<string, [token: string, signature: string]> = {
      'other bytes': [token, await signed(PAYER, `${text} `)],
      'another nonce': [again.token, good],
      'another key': [token, await signed(STRANGER, text)],
      "another session's token": [foreign.token, await signed(PAYER, foreign.text)],
      'the malleable form': [token, `0x${r}${high}${v === '1b' ? '1c' : '1b'}`],
      shortened: [token, good.slice(0, -2)],
      'the compact form': [token, `0x${r}${s}`],
      'another parity': [token, `0x${r}${s}${v === '1b' ? '1c' : '1b'}`],
      'beyond the curve': [token, `0x${'f'.repeat(64)}${'0'.repeat(64)}1b`],
      nothing: [token, ''],
      'no hex': [token, 'sig'],
      'far too long': [token, `0x${'00'.repeat(5_000)}`],
      'a token of nobody': ['x', good],
      'another token': [token.slice(0, -3), good],
    };
    for (const [name, [at, signature]] of Object.entries(wrong))
      expect(await page.prove(at, signature), name).toBe('signature');
    expect(await elsewhere.prove(token, good)).toBe('signature');
    const { app, baseUrl: publicUrl } = store.service;
    const [, sealed = ''] = page.url.split('/checkout/');
    const found = await findPage(app.db, sealed);
    if (found === undefined) throw new Error('the page is there');
    const late = { ...app, clock: { ...app.clock, nowMs: () => Date.now() + 31 * 60_000 } };
    expect(await proveByText(late, found, { publicUrl, token, signature: good })).toBe('expired');
    const moved = { publicUrl: 'https://pay.example', token, signature: good };
    expect(await proveByText(app, found, moved)).toBe('signature');
    expect(await page.prove(token, good)).toBe('proven');
    await post(`${page.url}/wallet-text`, { account: '0x1', network: 'erc20' }, 400);
    await post(`${page.url}/wallet-text`, { account: PAYER.address, network: 'spl' }, 400);
    await post(`${page.url}/wallet-text`, { account: PAYER.address }, 400);
  });

  test('a contract that is a wallet signs by ERC-1271, and one that is none does not', async () => {
    const key = generatePrivateKey();
    const owner = privateKeyToAccount(key);
    const { world } = store;
    await world.client.setAutomine(true);
    const wallet = await deploy(world.client, TestWallet, [owner.address]);
    await world.client.setAutomine(false);
    const page = await opened();
    const { text, token } = await page.textFor(wallet);
    const digest = await owner.sign({ hash: hashMessage(text) });
    expect(await page.prove(token, await signed(STRANGER, text))).toBe('signature');
    expect(await page.prove(token, digest)).toBe('proven');
    // Contracts that revert, have no such function, or return what they are called with.
    for (const none of [world.tokens.USDT, account(7).address, `0x${'0'.repeat(39)}4` as const]) {
      const other = await opened();
      const answer = await fetch(`${other.url}/wallet-text`, {
        method: 'POST',
        body: new URLSearchParams({ account: none }),
      });
      if (answer.status !== 200) continue;
      const asked = (await answer.json()) as WalletText;
      expect(await other.prove(asked.token, stringToHex('x'.repeat(65))), none).toBe('signature');
    }
  });

  test('a session of a sandbox merchant has no calls for wallets of browsers', async () => {
    const sandbox = await store.service.createMerchant({ funds: 0n });
    const { url } = await checkout(store.service, sandbox).open({ amount: TOKEN });
    for (const call of ['wallet', 'wallet-transfer', 'wallet-text', 'wallet-proof']) {
      const answer = await fetch(`${url}/${call}`, {
        method: 'POST',
        body: new URLSearchParams({ account: PAYER.address }),
      });
      expect(answer.status, call).toBe(404);
    }
  });
});
