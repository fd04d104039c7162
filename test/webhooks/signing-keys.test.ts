import { afterAll, beforeAll, expect, test } from 'vitest';
import * as storeKeys from '../../packages/server/src/stores/keys/index.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { makeEvent, until } from './endpoints.ts';
import { type Received, Receivers, verified } from './receiver.ts';

// Waits are short, but longer on a busy machine.

let service: TestService;
const receivers = new Receivers();

beforeAll(async () => {
  service = await startService({ worker: true, receive: receivers.post });
});
afterAll(() => service.stop());

/** A merchant's receiver with one secret at a time, which answers 401 to other signatures. */
async function openReceiver(merchant: TestMerchant) {
  const url = `https://${merchant.keyId}.example/`;
  const receiver = { url, secret: merchant.secretKey };
  receivers.behave(url, (received) => (knows(received, receiver.secret) ? 200 : 401));
  const { id } = await merchant.sdk.webhookEndpoints.create({ url, types: ['payout_batch.updated'] });
  const next = async () => {
    const before = receivers.at(url).length;
    await makeEvent(merchant);
    await until('news come', () => receivers.at(url).length > before);
    const received = receivers.at(url).at(-1);
    if (received === undefined) throw new Error('unreachable');
    return received;
  };
  return { receiver, id, next };
}

function knows(received: Received, secret: string): boolean {
  try {
    verified(received, secret);
    return true;
  } catch {
    return false;
  }
}

async function addKey({ merchantId, storeId }: TestMerchant) {
  const input = { merchantId, storeId, name: 'Next', validityDays: 0, scopes: ['read'] };
  return await storeKeys.createKey(service.app, input);
}

test('E9: another key signs only when the merchant confirms; a receiver that has not switched yet refuses nothing', async () => {
  const merchant = await service.createMerchant();
  const { receiver, next } = await openReceiver(merchant);
  const key = await addKey(merchant);
  expect(knows(await next(), merchant.secretKey)).toBe(true);
  await storeKeys.setWebhookKey(service.app, merchant, { keyId: key.keyId, overlapSeconds: 86_400 });
  const during = await next();
  expect([knows(during, merchant.secretKey), knows(during, key.secretKey)]).toEqual([true, false]);
  await storeKeys.confirmWebhookKey(service.app, merchant);
  receiver.secret = key.secretKey;
  const after = await next();
  expect([knows(after, merchant.secretKey), knows(after, key.secretKey)]).toEqual([false, true]);
  await until('all is acknowledged', async () =>
    (await merchant.sdk.deliveries.list().page()).data.every(({ status }) => status === 'delivered'),
  );
});

test('E9: a retry and a redelivery are signed with the secret of their time', async () => {
  const merchant = await service.createMerchant();
  const { receiver, next } = await openReceiver(merchant);
  const key = await addKey(merchant);
  receiver.secret = key.secretKey;
  await next();
  const read = async () => (await merchant.sdk.deliveries.list().page()).data[0];
  await until('the stranger refused it', async () => (await read())?.status === 'failed');
  await storeKeys.setWebhookKey(service.app, merchant, { keyId: key.keyId, overlapSeconds: 0 });
  await merchant.sdk.deliveries.redeliver((await read())?.id ?? '');
  await until('it is acknowledged', async () => (await read())?.status === 'delivered');
  const [first, second] = receivers.at(receiver.url);
  expect([first?.eventId, first?.body]).toEqual([second?.eventId, second?.body]);
});

test("E9: while a key's own secret rotates the old one signs, until the merchant confirms", async () => {
  const merchant = await service.createMerchant();
  const { receiver, next } = await openReceiver(merchant);
  const secretKey = await storeKeys.rotateKey(service.app, merchant, 86_400);
  expect(knows(await next(), merchant.secretKey)).toBe(true);
  await storeKeys.confirmWebhookKey(service.app, merchant);
  receiver.secret = secretKey;
  expect(knows(await next(), secretKey)).toBe(true);
});
