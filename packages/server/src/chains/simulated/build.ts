import type { Network } from '@florin/contract/money';
import { checkAddress } from '../addresses/check.ts';
import { UnservedMandate } from '../charges/charge-errors.ts';
import { AMOUNT_MAX } from '../port/amounts.ts';
import {
  type ChargeSpec,
  type FeeEstimate,
  type FeeKind,
  type MovementSpec,
  type SignedTx,
  type TransferSpec,
  UnbuildableTransfer,
} from '../port/port.ts';
import type { BlockClock } from './block-clock.ts';
import { readBody, seal, type TransferBody } from './envelope.ts';
import { mandateIdOf } from './mandates.ts';
import { NETWORK_RULES, replacementFee } from './rules.ts';
import type { ChainId } from './tables.ts';
import { walletOf } from './wallet.ts';

const SEQUENCE_FORM = /^(0|[1-9][0-9]{0,17})$/;

export interface BuildTime {
  clock: BlockClock;
  /** Of the chain's row. */
  feeFloor: bigint;
}

/** What a transaction has to offer now. */
export function presentFee(
  network: Network,
  { kind, items, feeFloor }: { kind: FeeKind; items: number; feeFloor: bigint },
): FeeEstimate {
  const rules = NETWORK_RULES[network];
  const { native, unit } = rules.estimateFee(kind, items);
  return { native: rules.sequenced && feeFloor > native ? feeFloor : native, unit };
}

/** Builds and signs a transfer, or another version of it. On erc20 it does not depend on the chain's height and time: same spec, same bytes. */
export function buildTransfer(id: ChainId, spec: TransferSpec, now: BuildTime): SignedTx {
  const rules = NETWORK_RULES[id.network];
  if (spec.items.length < 1 || spec.items.length > rules.capabilities.maxItemsPerTx) {
    throw new UnbuildableTransfer(
      `${id.network} takes 1 to ${rules.capabilities.maxItemsPerTx} items a transaction`,
    );
  }
  const { asset, groupId } = spec;
  const items = spec.items.map((item) => toBodyItem(id, item));
  checkVersion(spec, { asset, items });
  return sealAs(id, spec, { asset, batchId: groupId, items }, now);
}

/** Builds and signs a charge: one item, pulled from the payer into the wallet that the mandate names. */
export function buildCharge(id: ChainId, spec: ChargeSpec, now: BuildTime): SignedTx {
  const { mandate, chargeId, amount, subscriptionId, windowStart, windowEnd } = spec;
  if (mandate.mandateId !== mandateIdOf(id, mandate)) {
    throw new UnservedMandate('the mandate does not match its id');
  }
  const item = toBodyItem(id, { itemId: chargeId, place: 0, to: mandate.recipient, amount });
  const terms = { ...mandate, cap: String(mandate.cap) };
  const charge = { mandate: terms, subscriptionId, windowStart, windowEnd };
  checkVersion(spec, { asset: mandate.asset, items: [item], charge });
  return sealAs(id, spec, { asset: mandate.asset, batchId: chargeId, items: [item], charge }, now);
}

/** Builds and signs an empty payment to the sender, which uses a sequence up. */
export function buildFill(
  id: ChainId,
  spec: Pick<MovementSpec, 'signing' | 'keyRef' | 'sequence' | 'replaces'>,
  now: BuildTime,
): SignedTx {
  const { attemptId } = spec.signing;
  const to = walletOf(id.merchantId, id.network, spec.keyRef).address;
  const items = [{ id: attemptId, place: 0, to, amount: '0' }];
  return sealAs(id, spec, { asset: 'USDT', batchId: attemptId, items }, now);
}

type Contents = Pick<TransferBody, 'asset' | 'items' | 'charge'>;

/** Another version pays the same. @throws UnbuildableTransfer */
function checkVersion({ replaces }: Pick<TransferSpec, 'replaces'>, own: Contents): void {
  const textOf = ({ asset, items, charge }: Contents) => JSON.stringify([asset, items, charge]);
  if (replaces !== undefined && textOf(readBody(replaces.raw)) !== textOf(own))
    throw new UnbuildableTransfer('what is replaced has other contents');
}

/** Signs items with the fee, the sequence and the validity of the network. */
function sealAs(
  id: ChainId,
  spec: Pick<TransferSpec, 'keyRef' | 'sequence' | 'replaces'>,
  content: Pick<TransferBody, 'asset' | 'batchId' | 'items' | 'charge'>,
  { clock, feeFloor }: BuildTime,
): SignedTx {
  const rules = NETWORK_RULES[id.network];
  const wallet = walletOf(id.merchantId, id.network, spec.keyRef);
  const kind = content.charge === undefined ? 'transfer' : 'charge';
  const usual = presentFee(id.network, { kind, items: content.items.length, feeFloor }).native;
  const least = spec.replaces === undefined ? 0n : replacementFee(BigInt(readBody(spec.replaces.raw).fee));
  const fee = usual > least ? usual : least;
  return seal(
    {
      chainId: id.merchantId,
      network: id.network,
      sender: wallet.address,
      ...content,
      fee: String(fee),
      ...(rules.sequenced ? { sequence: requireSequence(spec) } : {}),
      ...validityFrom(rules, clock),
    },
    wallet,
  );
}

function toBodyItem(id: ChainId, item: TransferSpec['items'][number]): TransferBody['items'][number] {
  const check = checkAddress(id.network, item.to, { allowProgramOwned: true });
  if (!check.ok) throw new UnbuildableTransfer(`item ${item.itemId}: recipient refused (${check.code})`);
  if (item.amount <= 0n || item.amount > AMOUNT_MAX) {
    throw new UnbuildableTransfer(`item ${item.itemId}: amount out of range`);
  }
  const memo = id.network === 'spl' && item.memo !== undefined ? { memo: item.memo } : {};
  return { id: item.itemId, place: item.place, to: check.canonical, amount: String(item.amount), ...memo };
}

function requireSequence(spec: Pick<TransferSpec, 'sequence'>): string {
  if (spec.sequence === undefined || !SEQUENCE_FORM.test(spec.sequence)) {
    throw new UnbuildableTransfer('a transaction on this network needs a reserved sequence');
  }
  return spec.sequence;
}

function validityFrom(
  rules: (typeof NETWORK_RULES)[keyof typeof NETWORK_RULES],
  clock: BlockClock,
): Partial<TransferBody> {
  if (rules.validForMs !== undefined) {
    const timestampMs = clock.now * 1000;
    return { timestampMs, expirationMs: timestampMs + rules.validForMs };
  }
  if (rules.validForBlocks === undefined) return {};
  return { lastValidHeight: String(clock.height + BigInt(rules.validForBlocks)) };
}
