import Type from 'typebox';
import { callNode } from '../json-rpc.ts';

/** By so much the clocks of this machine and of the network may differ. */
const CLOCK_MARGIN_MS = 300_000;
const SLOT_MS = 400;
const STEPS_MAX = 40;
/** Slots in a row without a block. */
const SKIPPED_MAX = 200;
/** A node lists the blocks of so many at once. */
const LISTED_MAX = 500_000;
/** Earlier transactions that are looked for at once. */
const ASKED_MAX = 20;

/** A transaction that was signed. */
export interface SignedBefore {
  attempt: string;
  signature: string;
  blockhash: string;
  /** Unix milliseconds, by this machine's clock. */
  at: number;
}

const AtSlot = Type.Object({ slot: Type.Integer() });
const Validity = Type.Object({ context: AtSlot, value: Type.Boolean() });
const Statuses = Type.Object({
  context: AtSlot,
  value: Type.Array(
    Type.Union([
      Type.Null(),
      Type.Object({ err: Type.Unknown(), confirmationStatus: Type.Union([Type.String(), Type.Null()]) }),
    ]),
    { minItems: 1, maxItems: 1 },
  ),
});
const Slots = Type.Array(Type.Integer());
const Block = Type.Object({ blockHeight: Type.Integer() });
const FINALIZED = { commitment: 'finalized' };

/** What the node shows of earlier attempts: they take nothing any more, or have taken. Of those in neither, it shows nothing. */
export interface ShownByNode {
  dead: ReadonlySet<string>;
  landed: ReadonlySet<string>;
}

const NOTHING: ShownByNode = { dead: new Set(), landed: new Set() };

/**
 * The attempts whose transactions will never be in a block, or failed in one for good, and those that succeeded in a final one, as the
 * operator's own node shows it. A node that is away, behind, of another network, or without the history shows nothing.
 *
 * @param genesis hash of the network's first block
 */
export async function readOutcomes(
  node: string,
  genesis: string,
  signed: readonly SignedBefore[],
): Promise<ShownByNode> {
  if (signed.length === 0 || signed.length > ASKED_MAX) return NOTHING;
  try {
    if ((await callNode(node, 'getGenesisHash', [], Type.String())) !== genesis) return NOTHING;
    const first = await callNode(node, 'getFirstAvailableBlock', [], Type.Integer());
    const begins = await callNode(node, 'getBlockTime', [first], Type.Integer());
    // What a node has cleaned up looks as if it had never been.
    const kept = signed.filter(({ at }) => first === 0 || begins * 1_000 <= at - CLOCK_MARGIN_MS);
    return {
      landed: await those(signed, (one) => hasLanded(node, one)),
      dead: await those(kept, (one) => isDead(node, one)),
    };
  } catch {
    return NOTHING;
  }
}

/** Each for itself: what cannot be shown of one says nothing of another. */
async function those(
  signed: readonly SignedBefore[],
  isShown: (one: SignedBefore) => Promise<boolean>,
): Promise<ReadonlySet<string>> {
  const shown = await Promise.allSettled(
    signed.map(async (one) => ((await isShown(one)) ? [one.attempt] : [])),
  );
  return new Set(shown.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])));
}

async function hasLanded(node: string, { signature }: SignedBefore): Promise<boolean> {
  const { status } = await readStatus(node, signature);
  return status !== null && status.err === null && status.confirmationStatus === 'finalized';
}

async function readStatus(node: string, signature: string) {
  const options = { searchTransactionHistory: true };
  const { context, value } = await callNode(node, 'getSignatureStatuses', [[signature], options], Statuses);
  return { slot: context.slot, status: value[0] ?? null };
}

/**
 * By a final block that is younger than the transaction: where its blockhash is not valid there, it never is again. Then, and not before,
 * the transaction is looked for: it may have come into the last block that took it.
 */
async function isDead(node: string, { signature, blockhash, at }: SignedBefore): Promise<boolean> {
  const validity = await callNode(node, 'isBlockhashValid', [blockhash, FINALIZED], Validity);
  if (validity.value) return false;
  const { slot } = validity.context;
  const time = await callNode(node, 'getBlockTime', [slot], Type.Integer());
  if (time * 1_000 < at + CLOCK_MARGIN_MS) return false;
  if (!(await hasAllBlocks(node, at - CLOCK_MARGIN_MS, slot))) return false;
  const { slot: seenAt, status } = await readStatus(node, signature);
  if (seenAt < slot) return false;
  return status === null || (status.err !== null && status.confirmationStatus === 'finalized');
}

/**
 * Whether the node has every block from a time on, up to a slot. One that began again from a snapshot has not, and says of what it was away
 * for that there is nothing: heights count blocks alone, so that as many have to be there as heights differ.
 */
async function hasAllBlocks(node: string, sinceMs: number, slot: number): Promise<boolean> {
  const begin = await findBlockBefore(node, sinceMs, slot);
  if (begin === undefined || slot - begin > LISTED_MAX) return false;
  const slots = await callNode(node, 'getBlocks', [begin, slot, FINALIZED], Slots);
  const options = { ...FINALIZED, transactionDetails: 'signatures', rewards: false };
  const config = { ...options, maxSupportedTransactionVersion: 0 };
  const first = await callNode(node, 'getBlock', [begin, config], Block);
  const last = await callNode(node, 'getBlock', [slot, config], Block);
  return (
    slots[0] === begin && slots.at(-1) === slot && last.blockHeight - first.blockHeight === slots.length - 1
  );
}

/** The slot of a block that is older than that time, or of the first one. */
async function findBlockBefore(node: string, sinceMs: number, from: number): Promise<number | undefined> {
  let slot = from;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const time = await callNode(node, 'getBlockTime', [slot], Type.Integer());
    if (slot === 0 || time * 1_000 < sinceMs) return slot;
    const to = Math.max(0, slot - Math.ceil((time * 1_000 - sinceMs) / SLOT_MS) - 1);
    const range = [Math.max(0, to - SKIPPED_MAX), to, FINALIZED];
    const found = (await callNode(node, 'getBlocks', range, Slots)).at(-1);
    if (found === undefined) return undefined;
    slot = found;
  }
  return undefined;
}
