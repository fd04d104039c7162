import { encodeSolanaMessage, mandateIdOf, mandateText, tokenAccountOf } from '@florin/signer/solana';
import { isLineDue, type Logger } from '../../platform/observability/index.ts';
import { UnservedMandate } from '../charges/charge-errors.ts';
import { AMOUNT_MAX } from '../port/amounts.ts';
import {
  ChainUnavailable,
  type CheckedMandate,
  type Mandate,
  type MandateRequest,
  type MandateSetup,
  type MandateState,
  type MandateStatesAnswer,
  type SignedMandate,
  UnbuildableTransfer,
} from '../port/port.ts';
import { slicesOf } from '../rpc/slices.ts';
import { readApart, Unread } from './apart.ts';
import { type TokenAccounts, tokenAccountsOf } from './derive-accounts.ts';
import type { HeadFeed } from './heads.ts';
import type { SolanaNetwork } from './network.ts';
import type { SolanaNode } from './node.ts';
import type { SolanaWallets } from './reader.ts';
import { isMandateOf, isUnserved, placeOf, termsOn } from './signed-terms.ts';
import { ACCOUNTS_PER_CALL, type Allowing, type AmountsQuery, readAllowing } from './token-accounts.ts';

const DECIMALS = 6;

export interface MandateContext {
  network: SolanaNetwork;
  node: SolanaNode;
  feed: HeadFeed;
  wallets: SolanaWallets;
  tokenAccounts: TokenAccounts;
  log: Logger;
}

/**
 * The approval replaces the one before it, whichever merchant that was for: so it is for what the wallet allows already and the new
 * mandate's together.
 *
 * @param newBlockhash one that two endpoints know
 * @throws UnbuildableTransfer, ChainUnavailable
 */
export async function mandateSetup(
  context: MandateContext,
  request: MandateRequest,
  newBlockhash: () => Promise<string>,
): Promise<MandateSetup> {
  const place = await placeOf(context);
  if (place === undefined) throw new UnbuildableTransfer('wallets are not charged on this network');
  const signed = termsOn(place, request);
  const { delegate } = place;
  const { allowance, asset, payer: owner, cap, period, startsAt, endsAt, subscriptions = 1, salt } = request;
  const terms = { asset, payer: owner, cap, period, startsAt, endsAt, subscriptions, salt };
  const mandate = { ...terms, mandateId: mandateIdOf(signed), recipient: signed.recipient };
  const { mint } = signed;
  // Derived, whatever a table says: a payer signs what is approved of it.
  const source = tokenAccountOf(owner, mint);
  const { tip } = await context.feed.heads('now');
  const reads = { commitment: 'confirmed', minSlot: tip.slot, endpoints: 'two' } as const;
  const accounts = [{ account: source, owner, mint }];
  const { found } = await readAllowing(context.node, { accounts, ...reads });
  if (allowance <= 0n) throw new UnbuildableTransfer(`an approval of ${allowance} units is out of range`);
  const together = allowance + (allowedTo(delegate, found.get(source)) ?? 0n);
  const amount = together < AMOUNT_MAX ? together : AMOUNT_MAX;
  const message = encodeSolanaMessage({
    version: 0,
    feePayer: owner,
    blockhash: await newBlockhash(),
    instructions: [{ kind: 'approve', source, mint, delegate, owner, amount, decimals: DECIMALS }],
  });
  const transaction = `0x${Buffer.from(message).toString('hex')}`;
  return {
    mandate,
    spender: delegate,
    steps: [
      { kind: 'approve', asset, spender: delegate, amount, transaction },
      { kind: 'activate', mandateId: mandate.mandateId, message: mandateText(signed) },
    ],
  };
}

/** As of a final block: nothing of ours brings the approval there, so there is nothing to wait for later. @throws ChainUnavailable */
export async function checkMandate(
  context: MandateContext,
  { mandate, signature }: SignedMandate,
): Promise<CheckedMandate> {
  const checked = { isTaken: true, permit: null };
  const place = await placeOf(context);
  if (place === undefined) throw new ChainUnavailable('spl', noCharges(context));
  // Nothing is read, or kept, for wallets that have signed nothing.
  if (!isMandateOf(place, mandate, signature)) return { ...GONE, ...checked, isSignatureRefused: true };
  const [state = GONE] = (await mandateStates(context, [mandate])).states;
  return { ...state, ...checked, state: 'missing', isSignatureRefused: false };
}

const GONE: MandateState = { state: 'missing', balance: 0n, allowance: 0n };

/**
 * As two endpoints have it in a final block. The chain keeps no mandates: one is there as long as its wallet allows our delegate
 * something. A closed account, another delegate and none are alike in that nothing can be charged until the payer approves again.
 *
 * @throws ChainUnavailable; UnservedMandate where the signer's policy has no charges (any more): no payer has taken anything back
 */
export async function mandateStates(
  context: MandateContext,
  mandates: readonly Mandate[],
): Promise<MandateStatesAnswer> {
  const place = await placeOf(context);
  if (place === undefined) throw new UnservedMandate(noCharges(context));
  const { delegate } = place;
  const { final } = await context.feed.heads();
  const { found, from } = await readPayers(context, mandates, final.slot);
  const states = mandates.map((mandate): MandateState | undefined => {
    const account = found.get(nameOf(mandate));
    if (account instanceof Unread) return undefined;
    const unserved = isUnserved(place, mandate) ? { isUnserved: true as const } : {};
    if (account === undefined) return { ...GONE, ...unserved };
    const allowance = allowedTo(delegate, account);
    const state = allowance === undefined ? 'missing' : 'active';
    return { state, balance: account.amount, allowance: allowance ?? 0n, ...unserved };
  });
  const [unread] = [...found.values()].filter((account) => account instanceof Unread);
  if (unread !== undefined && states.every((state) => state === undefined))
    throw new ChainUnavailable('spl', unread.why);
  return { height: from, states };
}

/** What is wrong, which the log says too. */
function noCharges({ log, network }: MandateContext): string {
  const what = "the signer's policy has no charges for spl, and wallets have given mandates";
  if (isLineDue(log, 'no delegate'))
    log.error(
      `${network.name}: ${what}. Their charges wait: put charges back into networks.spl of the policy, and start the signer again.`,
    );
  return what;
}

/** Undefined: nothing, or somebody else may take some of it. */
const allowedTo = (delegate: string, account: Allowing | undefined): bigint | undefined =>
  account?.delegate === delegate ? account.delegated : undefined;

type Wallet = Pick<Mandate, 'payer' | 'asset'>;
const nameOf = ({ payer, asset }: Wallet) => `${asset} ${payer}`;

/**
 * A wallet that moves while it is read may differ between endpoints: that keeps no other one from being read.
 *
 * @returns by `nameOf`, and the lowest slot that they are as of
 */
async function readPayers(context: MandateContext, wallets: readonly Wallet[], minSlot: bigint) {
  const found = new Map<string, Allowing | Unread>();
  const seen: bigint[] = [];
  const reads = { commitment: 'finalized', minSlot, endpoints: 'two' } as const;
  for (const part of slicesOf([...(await accountsOf(context, wallets))], ACCOUNTS_PER_CALL)) {
    const read = await readApart(context.node, part, async (some) => {
      const accounts = some.map(([, account]) => account);
      const { found: known, slots } = await readAllowing(context.node, { accounts, ...reads });
      if (slots !== undefined) seen.push(slots.from);
      return accounts.map(({ account }) => known.get(account));
    });
    for (const [place, [name]] of part.entries()) {
      const one = read[place];
      if (one !== undefined) found.set(name, one);
    }
  }
  return { found, from: seen.reduce((least, slot) => (slot < least ? slot : least), seen[0] ?? minSlot) };
}

/** By `nameOf`; of a token that the network does not take there is none. */
async function accountsOf({ network, tokenAccounts }: MandateContext, wallets: readonly Wallet[]) {
  const accounts = new Map<string, AmountsQuery['accounts'][number]>();
  for (const [asset, own] of Map.groupBy(wallets, (wallet) => wallet.asset)) {
    const mint = network.tokens[asset]?.mint;
    if (mint === undefined) continue;
    const owners = own.map(({ payer }) => payer);
    const known = await tokenAccountsOf(tokenAccounts, { owners, mint, save: true });
    for (const [owner, account] of known)
      accounts.set(nameOf({ payer: owner, asset }), { account, owner, mint });
  }
  return accounts;
}
