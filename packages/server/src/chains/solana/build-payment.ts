import {
  encodeSolanaMessage,
  memoOf,
  type SolanaInstruction,
  type SolanaMessage,
  signersOf,
  tokenAccountOf,
} from '@florin/signer/solana';
import { checkSplAddress } from '../addresses/spl.ts';
import { AMOUNT_MAX } from '../port/amounts.ts';
import { type TransferItem, type TransferSpec, UnbuildableTransfer } from '../port/port.ts';
import { computeUnits } from './fees.ts';
import type { SolanaNetwork } from './network.ts';

/** Payments of one transaction: so many fit with new accounts and our memo. */
export const ITEMS_MAX = 8;
/** Of both tokens. */
export const DECIMALS = 6;
const PLACE_MAX = 0xffff;
/** Of a packet: no node takes a larger transaction. */
const TRANSACTION_BYTES_MAX = 1_232;
const SIGNATURE_BYTES = 64;

/** Nobody is paid at these. */
interface OwnWallets {
  hot: string;
  feePayer: string;
  /** Null: no wallet is charged. */
  delegate: string | null;
}

type Payment = Pick<TransferSpec, 'asset' | 'groupId' | 'items'>;

/** A message without its blockhash and price, which follow the chain. */
export type Draft = Omit<SolanaMessage, 'blockhash' | 'instructions'> & {
  units: number;
  /** Behind limit and price of the compute units. */
  steps: readonly SolanaInstruction[];
  /**
   * Steps that are there or not as the chain is: what was signed of this attempt before, and gives the same bytes again, may have been
   * built when it was otherwise.
   */
  optional?: readonly SolanaInstruction[];
};

/**
 * The payment of all items in one transaction, which moves all of them or nothing. Accounts of recipients are opened where there is
 * none, at the fee payer's cost.
 *
 * @throws UnbuildableTransfer, also where they do not fit into a transaction: fewer of them may
 */
export function buildPayment(network: SolanaNetwork, wallets: OwnWallets, spec: Payment): Draft {
  const { items, asset } = spec;
  const mint = network.tokens[asset]?.mint;
  if (mint === undefined) throw new UnbuildableTransfer(`${network.name} has no ${asset}`);
  if (items.length < 1 || items.length > ITEMS_MAX)
    throw new UnbuildableTransfer(`${network.name} takes 1 to ${ITEMS_MAX} items a transaction`);
  for (const item of items) assertPayable(network, wallets, item);
  const places = items.map(({ place }) => place);
  if (new Set(places).size < places.length)
    throw new UnbuildableTransfer('two items have the same place in their group');
  const { hot, feePayer } = wallets;
  const named = memoIn(spec);
  const owners = [...new Set(items.map(({ to }) => to))];
  const source = tokenAccountOf(hot, mint);
  const steps: SolanaInstruction[] = [
    { kind: 'memo', text: named },
    ...owners.map((owner) => {
      const account = tokenAccountOf(owner, mint);
      return { kind: 'createTokenAccount', payer: feePayer, account, owner, mint } as const;
    }),
    ...items.flatMap(({ to, amount, memo }): SolanaInstruction[] => {
      const destination = tokenAccountOf(to, mint);
      const from = { source, mint, authority: hot, decimals: DECIMALS };
      // Right before its transfer, where recipients look for it and the signer wants it.
      const beside: SolanaInstruction[] = memo === undefined ? [] : [{ kind: 'memo', text: memo }];
      return [...beside, { kind: 'transfer', ...from, destination, amount }];
    }),
  ];
  const memoBytes = steps.flatMap((step) => (step.kind === 'memo' ? [Buffer.byteLength(step.text)] : []));
  const units = computeUnits({ memoBytes, created: owners.length, transfers: items.length });
  return assertFits(network, { version: 0, feePayer, units, steps });
}

/** @throws UnbuildableTransfer where it has no room in a transaction, or may use more than the ceiling */
export function assertFits(network: SolanaNetwork, draft: Draft): Draft {
  if (draft.units > network.feeCeilings.computeUnits)
    throw new UnbuildableTransfer(`it may use ${draft.units} compute units, above the ceiling`);
  const bytes = sizeOf(draft);
  if (bytes > TRANSACTION_BYTES_MAX)
    throw new UnbuildableTransfer(`it has ${bytes} bytes, more than ${TRANSACTION_BYTES_MAX}`);
  return draft;
}

/** With its price, and a blockhash of 32 bytes. */
export function withLifetime(draft: Draft, blockhash: string, microLamports: bigint): SolanaMessage {
  const { version, feePayer, units, steps } = draft;
  const budget: SolanaInstruction[] = [
    { kind: 'computeLimit', units },
    { kind: 'computePrice', microLamports },
  ];
  return { version, feePayer, blockhash, instructions: [...budget, ...steps] };
}

/** Signed; the price and the blockhash have the same size whatever they are. */
function sizeOf(draft: Draft): number {
  const message = withLifetime(draft, draft.feePayer, 0n);
  return 1 + signersOf(message).length * SIGNATURE_BYTES + encodeSolanaMessage(message).length;
}

/** Group and first place: equal items of one group are two transactions by it. @throws UnbuildableTransfer */
function memoIn({ groupId, items: [first] }: Payment): string {
  try {
    return memoOf(groupId, first?.place);
  } catch {
    throw new UnbuildableTransfer('a group is named by a UUID, and its places have 16 bits');
  }
}

function assertPayable(network: SolanaNetwork, wallets: OwnWallets, item: TransferItem): void {
  const { itemId, place, to, amount, memo } = item;
  const refuse = (why: string): never => {
    throw new UnbuildableTransfer(`item ${itemId}: ${why}`);
  };
  const check = checkSplAddress(to, true);
  if (!check.ok) refuse(`recipient refused (${check.code})`);
  const { hot, feePayer, delegate } = wallets;
  const mints = Object.values(network.tokens).map(({ mint }) => mint);
  if ([hot, feePayer, delegate, ...mints].includes(to))
    refuse('the recipient is a wallet of ours or a token');
  if (amount <= 0n || amount > AMOUNT_MAX) refuse('amount out of range');
  if (!Number.isInteger(place) || place < 0 || place > PLACE_MAX) refuse('place out of range');
  if (memo !== undefined && (memo === '' || memo.includes('\0'))) refuse('its memo is no text');
}
