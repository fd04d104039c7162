import { Florin } from '@florin/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openProxy } from '../jobs/cuttable-proxy.ts';
import { startService, type TestMerchant, type TestService } from '../service.ts';
import { makeEvent, publisherOf } from './make-event.ts';

let service: TestService;
let publish: (merchant: TestMerchant) => Promise<void>;

beforeAll(async () => {
  service = await startService();
  publish = publisherOf(service);
});
afterAll(() => service.stop());

const EVENTS = 60;

test('a connection that breaks again and again loses no event and repeats none', async () => {
  const merchant = await service.createMerchant({ funds: 0n });
  const { apiKey, secretKey } = merchant;
  const line = await openProxy(service.baseUrl);
  const florin = new Florin({ baseUrl: line.url, apiKey, secretKey, retryPauseMs: 5 });
  let isOver = false;
  const breaking = (async () => {
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, 150 * Math.random()));
      line.cut();
      await new Promise((resolve) => setTimeout(resolve, 20));
      line.mend();
    }
  })();
  const writing = (async () => {
    for (let i = 0; i < EVENTS; i++) {
      await makeEvent(service, merchant, { object: { i } });
      await publish(merchant);
    }
  })();
  const seen: unknown[] = [];
  for await (const { data } of florin.events.stream({ after: 'start' })) {
    if (seen.push(data.object) === EVENTS) break;
  }
  isOver = true;
  await Promise.all([breaking, writing]);
  await line.close();
  expect(seen).toEqual(Array.from({ length: EVENTS }, (_, i) => ({ i })));
}, 120_000);
