import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../service.ts';
import { deliveriesOf, makeEvent, until } from './endpoints.ts';
import { Receivers } from './receiver.ts';

// Waits are short, but longer on a busy machine.

let service: TestService;
const receivers = new Receivers();

beforeAll(async () => {
  service = await startService({ worker: true, receive: receivers.post });
});
afterAll(() => service.stop());

test('E7: without a crash each event is sent once, however reads and answers overlap', async () => {
  const merchant = await service.createMerchant();
  const { url } = await merchant.sdk.webhookEndpoints.create({
    url: 'https://once.example/',
    types: ['payout_batch.updated'],
  });
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (let n = 0; n < 25; n++) await makeEvent(merchant);
    }),
  );
  const all = () => deliveriesOf(service, merchant.merchantId);
  await until('all arrive', async () => {
    const deliveries = await all();
    return deliveries.length === 150 && deliveries.every(({ status }) => status === 'delivered');
  });
  expect(receivers.at(url)).toHaveLength(150);
});

test('E6: a first try that fails while others are being read is retried when it is due', async () => {
  const merchant = await service.createMerchant();
  const { url } = await merchant.sdk.webhookEndpoints.create({
    url: 'https://again.example/',
    types: ['payout_batch.updated'],
  });
  receivers.behave(url, (_received, nth) => (nth === 1 ? 500 : 200));
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let n = 0; n < 10; n++) await makeEvent(merchant);
    }),
  );
  const all = () => deliveriesOf(service, merchant.merchantId);
  await until('each was tried', async () => {
    const deliveries = await all();
    return deliveries.length === 40 && deliveries.every(({ attempts }) => attempts.length === 1);
  });
  await merchant.sdk.testHelpers.advanceClock(120);
  await until('all arrive', async () => (await all()).every(({ status }) => status === 'delivered'));
  expect(receivers.at(url)).toHaveLength(80);
});
