import { tokenAccountOf } from '@florin/signer/solana';
import { checkSplAddress } from '../addresses/spl.ts';
import type { PaidByTank, Precheck, PrecheckRequest } from '../port/port.ts';
import { UnbuildableTransfer } from '../port/port-errors.ts';
import { type TokenAccounts, tokenAccountsOf } from './derive-accounts.ts';
import { RENT_LAMPORTS, SIGNATURE_LAMPORTS } from './fees.ts';
import type { HeadFeed } from './heads.ts';
import type { SolanaNetwork } from './network.ts';
import type { SolanaNode } from './node.ts';
import { orUnavailable, readContext, readNumber } from './node-answers.ts';
import type { SolanaWallets } from './reader.ts';
import { readAccountState, readAmounts } from './token-accounts.ts';

export interface PrecheckContext {
  network: SolanaNetwork;
  node: SolanaNode;
  feed: HeadFeed;
  wallets: SolanaWallets;
  tokenAccounts: TokenAccounts;
}

/** Of a payment: the fee payer's and the hot wallet's. */
const PAYMENT_SIGNATURES = 2;

/** With the priority fee at its ceiling, so that what is enough now is enough when it is signed. */
const feeOf = ({ feeCeilings }: SolanaNetwork, signatures: number): bigint =>
  BigInt(signatures) * SIGNATURE_LAMPORTS + feeCeilings.priorityFee;

/**
 * What the fee payer needs before transactions are signed: without it none gets into a block, and each would expire. Where the hot wallet's
 * account is frozen, each would be in a block, cost its fee and fail: what it pays, and what it is paid.
 *
 * @throws ChainUnavailable, UnbuildableTransfer
 */
export async function precheck(context: PrecheckContext, request: PrecheckRequest): Promise<Precheck> {
  const { network, node, feed, wallets } = context;
  const mint = network.tokens[request.asset]?.mint;
  if (mint === undefined) throw new UnbuildableTransfer(`${network.name} has no ${request.asset}`);
  const { slot } = (await feed.heads('now')).tip;
  const native = spendableOf(await readLamports(node, wallets.feePayer, slot));
  const home = await readAccountState(node, { account: tokenAccountOf(wallets.hot, mint), minSlot: slot });
  const recipients =
    request.kind === 'sweeps' ? [wallets.hot] : request.transactions.flat().map(({ to }) => to);
  const newRecipients = await findNew(context, { recipients, mint, slot });
  const fee = feeOf(network, PAYMENT_SIGNATURES);
  const fees =
    request.kind === 'sweeps'
      ? request.transactions.map((count) => feeOf(network, count + 1) + newAccounts(newRecipients))
      : request.transactions.map((items) => fee + RENT_LAMPORTS * BigInt(items.length));
  return {
    refused: home === 'frozen' ? 'sender_blacklisted' : null,
    unpayable: new Set(),
    fees,
    native,
    allowance: null,
    isDelegateMissing: false,
    movementFees: { gas: 0n, approve: 0n, deploy: 0n },
    tank: { address: wallets.feePayer, native, nextSequence: null },
    paidByTank: { fee, opening: RENT_LAMPORTS, newRecipients },
  };
}

/** A wallet keeps so much, or nothing at all: a transaction that would leave it less gets into no block. */
const WALLET_LAMPORTS = 890_880n;

/** What a fee payer that holds so much can spend. */
export function spendableOf(lamports: bigint): bigint {
  return lamports > WALLET_LAMPORTS ? lamports - WALLET_LAMPORTS : 0n;
}

const newAccounts = (found: PaidByTank['newRecipients']) => RENT_LAMPORTS * BigInt(found.size);

/** An address that cannot be read is refused when its payment is built, and fails alone. */
async function findNew(
  { node, tokenAccounts }: PrecheckContext,
  { recipients, mint, slot }: { recipients: readonly string[]; mint: string; slot: bigint },
): Promise<Set<string>> {
  const owners = recipients.filter((to) => checkSplAddress(to, true).ok);
  const known = await tokenAccountsOf(tokenAccounts, { owners, mint, save: false });
  const accounts = [...known].map(([owner, account]) => ({ account, owner, mint }));
  const { amounts } = await readAmounts(node, {
    accounts,
    commitment: 'confirmed',
    minSlot: slot,
    endpoints: 'one',
  });
  return new Set(accounts.filter(({ account }) => !amounts.has(account)).map(({ owner }) => owner));
}

/** What an address holds, as of that slot or a later one. @throws ChainUnavailable */
export async function readLamports(node: SolanaNode, address: string, slot?: bigint): Promise<bigint> {
  const reached = slot === undefined ? {} : { minContextSlot: Number(slot) };
  const config = { commitment: 'confirmed', ...reached };
  const answer = await orUnavailable(node.call('getBalance', [address, config]));
  return readNumber(readContext(answer, 'getBalance').value, 'a balance');
}
