import type { ChainEnvironment } from './conformance-environment.ts';

async function refuse(): Promise<never> {
  throw new Error('wallets are not charged on this network');
}

/** What payers of mandates do, on a network on which none is charged. */
export const UNCHARGED_PAYERS = {
  startsAt: refuse,
  passUntil: refuse,
  hold: refuse,
  authorize: refuse,
  approve: refuse,
  revoke: refuse,
} satisfies Partial<ChainEnvironment>;
