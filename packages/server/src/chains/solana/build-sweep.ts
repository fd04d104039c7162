import type { Asset } from '@florin/contract/money';
import { type SolanaInstruction, tokenAccountOf } from '@florin/signer/solana';
import { type SweepItem, UnbuildableTransfer } from '../port/port.ts';
import type { AskedPurpose } from '../signing/ask-signer.ts';
import { assertFits, DECIMALS, type Draft } from './build-payment.ts';
import { computeUnits } from './fees.ts';
import type { SolanaNetwork } from './network.ts';
import type { SolanaWallets } from './reader.ts';

/** Each deposit address signs and brings two accounts: so many fit with both tokens. */
export const SWEEPS_MAX = 5;

/** A deposit's token account, and what a sweep takes of it. */
export interface SweptAccount {
  account: string;
  owner: string;
  mint: string;
  amount: bigint;
}

/** @throws UnbuildableTransfer */
export async function sweptAccounts(
  network: SolanaNetwork,
  wallets: SolanaWallets,
  items: readonly SweepItem[],
): Promise<SweptAccount[]> {
  if (items.length < 1 || items.length > SWEEPS_MAX)
    throw new UnbuildableTransfer(`${network.name} sweeps 1 to ${SWEEPS_MAX} addresses a transaction`);
  const swept = items.map(async ({ index, asset, amount }) => {
    const mint = mintOf(network, asset);
    const owner = await wallets.deposit(index);
    if (owner === undefined)
      throw new UnbuildableTransfer(`the signer has named no deposit address ${index}`);
    if (amount <= 0n) throw new UnbuildableTransfer('a sweep of nothing');
    return { account: tokenAccountOf(owner, mint), owner, mint, amount };
  });
  return await Promise.all(swept);
}

/** What the chain shows of the accounts of a sweep. */
interface SweepFacts {
  /** What they hold: one that holds more, as a payer came meanwhile, stays open. */
  held: ReadonlyMap<string, bigint>;
  /** Those that this attempt may close. */
  closable: ReadonlySet<string>;
  /** Accounts of the hot wallet that are there. */
  opened: ReadonlySet<string>;
}

/**
 * Moves coins of deposit addresses to the hot wallet. The fee payer sends it, the deposit addresses sign with it and hold no SOL. An
 * account that is empty then is closed, and its rent goes back to the fee payer; who pays there later opens it again.
 *
 * @throws UnbuildableTransfer
 */
export function buildSweepDraft(
  network: SolanaNetwork,
  { hot, feePayer }: SolanaWallets,
  swept: readonly SweptAccount[],
  { held, closable, opened }: SweepFacts,
): Draft {
  const mints = [...new Set(swept.map(({ mint }) => mint))];
  const taken = new Map<string, bigint>();
  for (const { account, amount } of swept) taken.set(account, (taken.get(account) ?? 0n) + amount);
  const sources = [...new Map(swept.map((one) => [one.account, one])).values()];
  const closing = ({ account, owner }: SweptAccount) =>
    ({ kind: 'close', account, destination: feePayer, owner }) as const;
  const empty = sources.filter(
    ({ account }) => closable.has(account) && held.get(account) === taken.get(account),
  );
  const openings = mints.map((mint) => {
    const account = tokenAccountOf(hot, mint);
    return { kind: 'createTokenAccount', payer: feePayer, account, owner: hot, mint } as const;
  });
  const missing = openings.filter(({ account }) => !opened.has(account));
  const steps: SolanaInstruction[] = [
    ...missing,
    ...swept.map(({ account, owner, mint, amount }) => {
      const destination = tokenAccountOf(hot, mint);
      const from = { source: account, mint, authority: owner, decimals: DECIMALS };
      return { kind: 'transfer', ...from, destination, amount } as const;
    }),
    ...empty.map(closing),
  ];
  const transfers = swept.length + empty.length;
  const units = computeUnits({ memoBytes: [], created: missing.length, transfers });
  const optional = [...openings, ...sources.map(closing)];
  return assertFits(network, { version: 0, feePayer, units, steps, optional });
}

/** What the signer compares it with. */
export function sweepPurpose(
  { merchantId, account }: { merchantId: string; account: number },
  items: readonly SweepItem[],
): AskedPurpose {
  const deposits = items.map(({ index, asset, amount }) => ({ index, asset, amount: String(amount) }));
  return { kind: 'sweep', merchant: merchantId, account, deposits, delegates: [] };
}

function mintOf(network: SolanaNetwork, asset: Asset): string {
  const mint = network.tokens[asset]?.mint;
  if (mint === undefined) throw new UnbuildableTransfer(`${network.name} has no ${asset}`);
  return mint;
}
