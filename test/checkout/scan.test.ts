import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  chooseOption,
  getSession,
  readPayment,
  scanDeposits,
} from '../../packages/server/src/checkout/index.ts';
import { startService, type TestService } from '../service.ts';
import { checkout, TOKEN } from './requests.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

test('fault 67: a network counts as read only once what was seen on it is written', async () => {
  const { app } = service;
  const merchant = await service.createMerchant({ funds: 0n });
  const { merchantId } = merchant;
  const made = await checkout(service, merchant).open();
  const session = await getSession(app.db, merchant, made.id);
  const who = { merchantId, mode: 'sandbox', clockOffset: 0 } as const;
  const choice = { currency: 'USDT', network: 'erc20' } as const;
  const [option] = (await chooseOption(app, who, session, choice)).options;
  if (option === undefined) throw new Error('an option was chosen');
  const chain = app.chains.sandbox(merchantId, 'erc20');
  const { address: from } = await chain.depositAddress({ index: 1_000 });
  await chain.pay({ transfers: [{ from, to: option.address, asset: 'USDT', amount: 100n * BigInt(TOKEN) }] });

  const readAt = async () => {
    const cursor = app.db
      .selectFrom('deposit_cursor')
      .select('read_at')
      .where('merchant_id', '=', merchantId);
    return Number((await cursor.executeTakeFirstOrThrow()).read_at);
  };
  const readWhileUnwritten: number[] = [];
  // Senders are judged just before their transfers are written.
  const screen: typeof app.screen = async (...asked) => {
    readWhileUnwritten.push(await readAt());
    return await app.screen(...asked);
  };
  const job = {
    merchantId,
    jobId: '',
    kind: '',
    attempts: 0,
    dueAtMs: 0,
    trace: null,
    payload: { network: 'erc20' },
  };
  const run = {
    step: () => Promise.reject(new Error('unused')),
    finish: () => Promise.reject(new Error('unused')),
    onNews: () => {},
    signal: new AbortController().signal,
  };
  await scanDeposits({ ...app, screen }, job, run);
  expect(readWhileUnwritten).toEqual([0]);
  expect(await readAt()).toBeGreaterThan(0);
  expect((await readPayment(app.db, merchantId, session.payment_id)).payment.status).toBe('processing');
});
