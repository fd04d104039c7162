import type { Authority } from '../port/authority.ts';
import { type TransferItem, type TransferSpec, UnbuildableTransfer } from '../port/port.ts';
import type { AskedPurpose } from './ask-signer.ts';

/**
 * What the signer compares the transaction with.
 *
 * @throws UnbuildableTransfer where the items are not those of the batch or refund
 */
export function transferPurpose(
  spec: Pick<TransferSpec, 'authority' | 'groupId' | 'asset' | 'items'>,
): Extract<AskedPurpose, { kind: 'payout' | 'refund' }> {
  const { authority, groupId, asset, items } = spec;
  if (authority === undefined) {
    throw new UnbuildableTransfer('a signer pays batches and refunds alone: the authority is missing');
  }
  if (authority.id !== groupId || authority.asset !== asset) {
    throw new UnbuildableTransfer('the authority is that of another group');
  }
  if (!items.every((item) => isNamed(authority, item))) {
    throw new UnbuildableTransfer('an item is not one of those that were approved');
  }
  const { kind, merchantId: merchant, id, approvals } = authority;
  return {
    kind,
    merchant,
    id,
    asset,
    items: authority.items.map((item) => ({ ...item, amount: String(item.amount) })),
    places: items.map(({ place }) => place),
    approvals,
  };
}

function isNamed(authority: Authority, { place, to, amount }: TransferItem): boolean {
  const approved = authority.items[place];
  return approved?.place === place && approved.to === to && approved.amount === amount;
}
