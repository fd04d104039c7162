import { createHash } from 'node:crypto';
import type { Asset } from '@florin/contract/money';
import type { Authority, TransferItem, TransferSpec } from '../../packages/server/src/chains/port/port.ts';

/** A batch of these items alone, and the authority to pay it. One name is one batch. */
export function approvedGroup(
  asset: Asset,
  list: readonly TransferItem[],
  name: string,
): Pick<TransferSpec, 'asset' | 'groupId' | 'items'> & { authority: Authority } {
  const groupId = uuidOf(name);
  const items = list.map((item, place) => ({ ...item, place }));
  const named = items.map(({ place, to, amount }) => ({ place, to, amount, memo: null }));
  const authority: Authority = {
    kind: 'payout',
    merchantId: 'merchant',
    id: groupId,
    // What people sign names it; these groups need nobody.
    network: 'erc20',
    asset,
    items: named,
    approvals: [],
  };
  return { asset, groupId, items, authority };
}

/** The same name is the same id. */
export function uuidOf(name: string): string {
  const digest = createHash('sha256').update(name).digest('hex');
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => digest.slice(from, to))
    .join('-');
}
