import { groupOf } from '@florin/signer/contracts';
import { type Address, bytesToHex, encodeFunctionData, type Hex } from 'viem';
import { checkErc20Address } from '../addresses/erc20.ts';
import { AMOUNT_MAX } from '../port/amounts.ts';
import { type TransferItem, type TransferSpec, UnbuildableTransfer } from '../port/port.ts';
import { BatchPayout } from './artifacts.ts';
import { TOKEN_ABI } from './contracts.ts';
import { type GasUse, gasLimit, mostThatFit } from './gas.ts';
import type { EvmNetwork } from './network.ts';
import type { Call } from './transaction.ts';

/** Payments of one transaction: `BatchPayout` could take more, and people still want to read it. */
const ITEMS_MAX = 200;
/** Places of a group: the contract has room for many more. */
const PLACE_MAX = 1_000_000;

/** Payments that one transaction may have: one where the network has no payout contract. */
export function maxItems(network: EvmNetwork): number {
  if (network.batchPayout === null) return 1;
  const { gasPerTransaction } = network.feeCeilings;
  const use = (items: number): GasUse => ({
    kind: 'batch',
    places: Array.from({ length: items }, (_, place) => place),
  });
  return mostThatFit(ITEMS_MAX, gasPerTransaction, use);
}

/** @throws UnbuildableTransfer where the network does not take that asset */
export function tokenOf(network: EvmNetwork, asset: TransferSpec['asset']): Address {
  const token = network.tokens[asset];
  if (token === undefined) throw new UnbuildableTransfer(`${network.name} has no ${asset}`);
  return toAddress(token.address);
}

/** A configured or derived address, which is canonical. */
export function toAddress(canonical: string): Address {
  const check = checkErc20Address(canonical);
  if (check.code === 'format' || check.code === 'checksum') {
    throw new UnbuildableTransfer(`${canonical} is not an address`);
  }
  return `0x${check.canonical.slice(2)}`;
}

/** The gas that those payments are expected to use. */
export function transferGas(network: EvmNetwork, places: readonly number[]): GasUse {
  return network.batchPayout === null ? { kind: 'transfer' } : { kind: 'batch', places };
}

/**
 * A payment of `TransferSpec.items` in one call: through `BatchPayout`, which pays each place of a group once, or as a single
 * transfer where the network has no such contract.
 *
 * @throws UnbuildableTransfer
 */
export function buildTransferCall(network: EvmNetwork, spec: TransferSpec): Call {
  const { items, groupId, asset } = spec;
  const most = maxItems(network);
  if (items.length < 1 || items.length > most) {
    throw new UnbuildableTransfer(`${network.name} takes 1 to ${most} items a transaction`);
  }
  const token = tokenOf(network, asset);
  for (const item of items) assertPayable(network, item);
  const places = items.map(({ place }) => place);
  if (new Set(places).size < places.length) {
    throw new UnbuildableTransfer('two items have the same place in their group');
  }
  const gas = gasLimit(transferGas(network, places), network.feeCeilings.gasPerTransaction);
  const [only] = items;
  return network.batchPayout === null && only !== undefined
    ? plainCall(token, single(only), gas)
    : plainCall(toAddress(network.batchPayout ?? ''), batch(token, readGroup(groupId), items), gas);
}

export function plainCall(to: Address, data: Hex, gas: bigint): Call {
  return { to, data, value: 0n, gas, isDelegating: false };
}

function single({ to, amount }: TransferItem): Hex {
  return encodeFunctionData({ abi: TOKEN_ABI, functionName: 'transfer', args: [toAddress(to), amount] });
}

function batch(token: Address, group: Hex, items: readonly TransferItem[]): Hex {
  const payments = items.map(({ place, to, amount }) => ({
    index: BigInt(place),
    to: toAddress(to),
    amount,
  }));
  return encodeFunctionData({
    abi: BatchPayout.abi,
    functionName: 'pay',
    args: [token, group, payments],
  });
}

function readGroup(id: string): Hex {
  try {
    return bytesToHex(groupOf(id));
  } catch {
    throw new UnbuildableTransfer('a group is named by a UUID');
  }
}

function assertPayable(network: EvmNetwork, { itemId, place, to, amount }: TransferItem): void {
  const refuse = (why: string): never => {
    throw new UnbuildableTransfer(`item ${itemId}: ${why}`);
  };
  const check = checkErc20Address(to);
  if (!check.ok) refuse(`recipient refused (${check.code})`);
  if (check.canonical !== to) refuse('the recipient is not in its canonical form');
  if (contractsOf(network).includes(to)) refuse('the recipient is a contract that keeps what it gets');
  if (amount <= 0n || amount > AMOUNT_MAX) refuse('amount out of range');
  if (!Number.isInteger(place) || place < 0 || place > PLACE_MAX) refuse('place out of range');
}

/** Tokens sent to these are lost. */
function contractsOf({ tokens, batchPayout, sweeper, collector }: EvmNetwork): (string | null)[] {
  return [...Object.values(tokens).map(({ address }) => address), batchPayout, sweeper, collector];
}
