import Type from 'typebox';
import { toHex } from './bytes.ts';
import { isPaidData } from './calldata.ts';
import { groupOf } from './contracts.ts';
import { callNode } from './json-rpc.ts';
import type { Memory } from './memory.ts';
import type { NetworkRules } from './policy.ts';
import type { SignRequest } from './protocol.ts';

// A hot wallet that was rotated may have been signing for an item. Our payout contract pays an item once for each sender, so to the new
// wallet it is another item; whether the old one paid it, the signer learns from a node of the operator's own.

/** Earlier signatures that are looked for at once. */
const ASKED_MAX = 400;
const AT_ONCE = 20;

/** A signature of a wallet that was rotated, for an item of the request. */
interface SignedBefore {
  attempt: string;
  place: number;
  sender: string;
  sequence: bigint;
  contract: string;
}

/** What `findUnpaid` names. */
export const unpaidKey = (attempt: string, place: number): string => JSON.stringify([attempt, place]);

/**
 * The signatures that earlier hot wallets of the account made for items of this request, as far as all of them went through the
 * contract.
 *
 * @param hot the wallet that asks
 */
export function signedByRotated(
  { network, account, purpose }: SignRequest,
  memory: Memory,
  hot: string,
): SignedBefore[] {
  if (network !== 'erc20' || (purpose.kind !== 'payout' && purpose.kind !== 'refund')) return [];
  return purpose.places.flatMap((place) => {
    const item = memory.item({ network, account }, purpose.id, place);
    if (item === undefined || item.sender === hot) return [];
    return item.attempts.flatMap((attempt, i) => {
      const contract = item.contracts[i] ?? null;
      const [sender, sequence] = memory.placeOf(attempt)?.split(' ') ?? [];
      if (contract === null || sender === undefined || sequence === undefined) return [];
      return [{ attempt, place, sender, sequence: BigInt(sequence), contract }];
    });
  });
}

const Quantity = Type.String({ pattern: '^0x(?:0|[1-9a-f][0-9a-f]{0,15})$' });
const Block = Type.Object({ number: Quantity });
const Flag = Type.String({ pattern: '^0x0{63}[01]$' });

/**
 * Those of them that never pay: in a final block their sequence is used, by whatever transaction, and the contract has not paid the
 * item for their sender. A node that is away or of another network shows nothing.
 *
 * @returns keys of `unpaidKey`
 */
export async function findUnpaid(
  { node, chainId }: Pick<NetworkRules, 'node' | 'chainId'>,
  group: string,
  signed: readonly SignedBefore[],
): Promise<ReadonlySet<string>> {
  if (node === null || signed.length === 0 || signed.length > ASKED_MAX) return new Set();
  try {
    if (BigInt(await callNode(node, 'eth_chainId', [], Quantity)) !== chainId) return new Set();
    // A number, not the tag: all that is asked is of one block.
    const { number } = await callNode(node, 'eth_getBlockByNumber', ['finalized', false], Block);
    const counts = new Map<string, bigint>();
    for (const sender of new Set(signed.map((one) => one.sender)))
      counts.set(sender, BigInt(await callNode(node, 'eth_getTransactionCount', [sender, number], Quantity)));
    const over = signed.filter(({ sender, sequence }) => sequence < (counts.get(sender) ?? 0n));
    const unpaid = new Set<string>();
    for (let at = 0; at < over.length; at += AT_ONCE) {
      const some = over.slice(at, at + AT_ONCE);
      const paid = await Promise.all(some.map((one) => isPaid(node, group, one, number)));
      for (const [i, { attempt, place }] of some.entries())
        if (paid[i] === false) unpaid.add(unpaidKey(attempt, place));
    }
    return unpaid;
  } catch {
    return new Set();
  }
}

async function isPaid(
  node: string,
  group: string,
  { sender, contract, place }: SignedBefore,
  block: string,
): Promise<boolean> {
  const data = toHex(isPaidData(sender, groupOf(group), BigInt(place)));
  return BigInt(await callNode(node, 'eth_call', [{ to: contract, data }, block], Flag)) === 1n;
}
