import { setTimeout as sleep } from 'node:timers/promises';
import type { Mail } from '@florin/sdk';
import type { TestMerchant } from '../service.ts';

const TRIES = 300;
const PAUSE_MS = 100;

/** Has a session paid whose payer gave an address, and waits for its receipt. Needs a worker. */
export async function receiptOf({ sdk }: TestMerchant, to: string): Promise<Mail> {
  const order = { amount: 1_000_000n, currency: 'USDT', customer_email: to };
  const { id } = await sdk.checkout.sessions.create(order);
  await sdk.testHelpers.checkout.sessions.pay(id, { currency: 'USDT', network: 'erc20' });
  for (let tries = 0; tries < TRIES; tries++) {
    const [mail] = (await sdk.mails.list({ to })).data;
    if (mail !== undefined) return mail;
    await sleep(PAUSE_MS);
  }
  throw new Error(`no receipt came within ${(TRIES * PAUSE_MS) / 1_000} s`);
}
