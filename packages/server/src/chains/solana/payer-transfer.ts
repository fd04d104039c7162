import {
  encodeSolanaMessage,
  type SolanaInstruction,
  signersOf,
  tokenAccountOf,
} from '@florin/signer/solana';
import { checkSplAddress } from '../addresses/spl.ts';
import type { PayerTransaction, PayerTransfer } from '../payer-wallets.ts';
import { assertFits, DECIMALS, withLifetime } from './build-payment.ts';
import { computeUnits, costOf, priceOf, readRecentFees } from './fees.ts';
import type { HeadFeed } from './heads.ts';
import type { SolanaNetwork } from './network.ts';
import type { SolanaNode } from './node.ts';
import { readLamports, spendableOf } from './precheck.ts';
import { readAmounts } from './token-accounts.ts';

const SIGNATURE_BYTES = 64;
/** A hundredth of a SOL, in lamports: the page takes no transaction that pays more for being early. */
const PRIORITY_FEE_MAX = 10_000_000n;

export interface PayerContext {
  network: SolanaNetwork;
  node: SolanaNode;
  feed: HeadFeed;
}

/**
 * The transaction by which a payer's wallet pays a deposit address: the address's token account is opened where there is none, at the
 * wallet's cost, which also makes the network itself check that the account is the address's. It can be sent for about a minute.
 *
 * @returns undefined where `from` is no wallet, or the token is not taken here
 * @throws ChainUnavailable
 */
export async function buildPayerTransfer(
  { network, node, feed }: PayerContext,
  { from, to, asset, units: amount }: PayerTransfer,
): Promise<PayerTransaction | undefined> {
  const mint = network.tokens[asset]?.mint;
  // A wallet signs by its key: nothing that a program owns does.
  if (mint === undefined || !checkSplAddress(from).ok) return undefined;
  const source = { account: tokenAccountOf(from, mint), owner: from, mint };
  const destination = { account: tokenAccountOf(to, mint), owner: to, mint };
  const { slot } = (await feed.heads()).tip;
  const reads = { commitment: 'confirmed', minSlot: slot, endpoints: 'one' } as const;
  const { amounts } = await readAmounts(node, { accounts: [source, destination], ...reads });
  const held = amounts.get(source.account) ?? 0n;
  if (held < amount) return { short: 'token', held };
  const units = computeUnits({ memoBytes: [], created: 1, transfers: 1 });
  const isOpened = !amounts.has(destination.account);
  const steps = [
    { kind: 'createTokenAccount', payer: from, account: destination.account, owner: to, mint },
    {
      kind: 'transfer',
      source: source.account,
      mint,
      destination: destination.account,
      authority: from,
      decimals: DECIMALS,
      amount,
    },
  ] as const;
  return await buildForPayer(
    { network, node, feed },
    { from, steps, units, changed: [source.account, destination.account], created: isOpened ? 1 : 0 },
  );
}

/**
 * The transaction of a payer's wallet, at a price that the page takes, or that the wallet has too little SOL for it.
 *
 * @param payment.changed token accounts that it changes, besides the wallet
 * @param payment.created token accounts that it has to open
 * @throws ChainUnavailable
 */
export async function buildForPayer(
  { network, node }: PayerContext,
  payment: {
    from: string;
    steps: readonly SolanaInstruction[];
    units: number;
    changed: readonly string[];
    created: number;
  },
): Promise<{ transaction: string } | { short: 'fee'; coin: string }> {
  const { from, steps, units, changed, created } = payment;
  const draft = assertFits(network, { version: 0, feePayer: from, units, steps: [...steps] });
  const [{ blockhash }, recent, lamports] = await Promise.all([
    node.newestBlockhash(),
    readRecentFees(node, [from, ...changed]),
    readLamports(node, from),
  ]);
  const ceiling = network.feeCeilings.priorityFee;
  const priorityFee = ceiling < PRIORITY_FEE_MAX ? ceiling : PRIORITY_FEE_MAX;
  const microLamports = priceOf(recent, units, { ...network.feeCeilings, priorityFee });
  if (spendableOf(lamports) < costOf({ signatures: 1, units, microLamports, created }))
    return { short: 'fee', coin: 'SOL' };
  const message = withLifetime(draft, blockhash, microLamports);
  const room = new Uint8Array(signersOf(message).length * SIGNATURE_BYTES);
  const transaction = Buffer.concat([Uint8Array.of(1), room, encodeSolanaMessage(message)]);
  return { transaction: transaction.toString('base64') };
}
