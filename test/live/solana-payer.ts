import type { Subscription } from '@florin/contract/schemas';
import { expect } from 'vitest';
import type { SolanaStore } from './solana-store.ts';

interface Offer {
  mandate_id: string;
  cap: string;
  subscriptions: number;
  starts_at: number;
  spender: string;
  steps: { kind: string; amount?: string; transaction?: string; message?: string }[];
}

/** A wallet of `SolanaEnvironment` approves and signs what the subscribe page's calls hand it, and hands the signature in. */
export async function subscribe(
  store: SolanaStore,
  { checkout_url: page = '' }: Pick<Subscription, 'checkout_url'>,
  wallet: string,
): Promise<Offer> {
  const choice = { network: 'spl', currency: 'USDC', wallet };
  const offered = await post(`${page}/mandate/offer`, choice);
  if (offered.status !== 200) throw new Error(`no mandate is offered: ${JSON.stringify(offered.json)}`);
  const offer = offered.json;
  const mandate = { payer: wallet, mandateId: offer.mandate_id };
  const terms = {
    ...choice,
    cap: offer.cap,
    subscriptions: String(offer.subscriptions),
    starts_at: String(offer.starts_at),
  };
  const sign = async (signature: string) => await post(`${page}/mandate/sign`, { ...terms, signature });
  // Nobody gives a mandate for a wallet that allows us something already.
  const forged = await sign(`0x${'11'.repeat(64)}`);
  expect(forged).toMatchObject({ status: 400, json: { error: { param: 'signature' } } });
  await store.local.authorize({ mandate, steps: offer.steps });
  await store.until(() => sign(store.local.signatureOf(mandate) ?? ''), { status: 200 });
  return offer;
}

async function post(url: string, form: Record<string, string>) {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return { status: answer.status, json: (await answer.json()) as Offer };
}
