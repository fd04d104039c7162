import type { TronContract } from '@florin/signer/tron';
import { checkTrc20Address } from '../addresses/trc20.ts';
import { AMOUNT_MAX } from '../port/amounts.ts';
import {
  depositIndexOf,
  type Movement,
  type TransferItem,
  type TransferSpec,
  UnbuildableTransfer,
} from '../port/port.ts';
import type { AskedPurpose } from '../signing/ask-signer.ts';
import { transferPurpose } from '../signing/transfer-purpose.ts';
import { transferCall } from './contract-call.ts';
import type { CallUse, SignedCall } from './fees.ts';
import type { TronNetwork } from './network.ts';
import type { TronWallets } from './reader.ts';

export interface Payer {
  network: TronNetwork;
  wallets: TronWallets;
  merchantId: string;
  /** Account number of the merchant, from 1. */
  account: number;
}

/** A transfer without what follows the chain: its reference block, times and fee limit. */
export interface Draft {
  purpose: AskedPurpose;
  sender: string;
  contract: TronContract;
  use: CallUse;
  payment?: SignedCall['payment'];
}

/**
 * The payment of one item, or the sweep of a deposit address, which sends it itself.
 *
 * @throws UnbuildableTransfer
 */
export function buildPayment(payer: Payer, spec: TransferSpec): Draft {
  const { network, wallets } = payer;
  const token = network.tokens[spec.asset]?.contract;
  if (token === undefined) throw new UnbuildableTransfer(`${network.name} has no ${spec.asset}`);
  const [item, ...more] = spec.items;
  if (item === undefined || more.length > 0)
    throw new UnbuildableTransfer(`${network.name} takes one item a transaction`);
  const { to, amount } = item;
  if (amount <= 0n || amount > AMOUNT_MAX) throw refusal(item, 'amount out of range');
  const index = depositIndexOf(spec.keyRef);
  if (spec.keyRef !== 'hot' && index === null)
    throw new UnbuildableTransfer('the hot wallet pays, and deposit addresses are swept');
  if (index === null) assertPayable(payer, item);
  else if (to !== wallets.hot) throw refusal(item, 'a deposit address pays the hot wallet alone');
  const sender = index === null ? wallets.hot : wallets.deposit(index);
  const data = Uint8Array.from(Buffer.from(transferCall(to, amount), 'hex'));
  const contract = { kind: 'trigger', owner: sender, contract: token, data } as const;
  const purpose =
    index === null ? transferPurpose(spec) : sweepPurpose(payer, { index, asset: spec.asset, amount });
  const payment = { asset: spec.asset, amount };
  return { purpose, sender, contract, use: index === null ? 'transfer' : 'sweep', payment };
}

/**
 * TRX from the installation's wallet to a hot wallet, or to a deposit address that sweeps itself.
 *
 * @throws UnbuildableTransfer
 */
export function buildTopUp({ wallets, account }: Payer, movement: Extract<Movement, { kind: 'gas' }>): Draft {
  const { amount, to = 'hot' } = movement;
  const index = to === 'owner' ? null : depositIndexOf(to);
  if (index === null && to !== 'hot')
    throw new UnbuildableTransfer(`nothing on this network gives TRX to ${to}`);
  if (amount <= 0n || amount > AMOUNT_MAX) throw new UnbuildableTransfer('amount out of range');
  const sender = wallets.resource;
  const receiver = index === null ? wallets.hot : wallets.deposit(index);
  const purpose: AskedPurpose = { kind: 'gas', account, ...(index !== null && { index }) };
  return {
    purpose,
    sender,
    contract: { kind: 'transfer', owner: sender, to: receiver, amount },
    use: 'transfer',
  };
}

/**
 * Energy of TRX that the installation's wallet has staked, for a deposit address, or that of it.
 *
 * @throws UnbuildableTransfer
 */
export function buildLoan(
  { wallets, account }: Payer,
  { kind, staked, to }: Extract<Movement, { kind: 'lend' | 'unlend' }>,
): Draft {
  const index = depositIndexOf(to);
  if (index === null) throw new UnbuildableTransfer(`nothing is lent to ${to}`);
  if (staked <= 0n || staked > AMOUNT_MAX) throw new UnbuildableTransfer('amount out of range');
  const isTakenBack = kind === 'unlend';
  return {
    purpose: { kind: 'energy', account, index, staked: String(staked), isTakenBack },
    sender: wallets.resource,
    contract: {
      kind: isTakenBack ? 'undelegate' : 'delegate',
      owner: wallets.resource,
      resource: 'energy',
      balance: staked,
      receiver: wallets.deposit(index),
    },
    use: 'transfer',
  };
}

function sweepPurpose(
  { merchantId, account }: Payer,
  { index, asset, amount }: Pick<TransferSpec, 'asset'> & { index: number; amount: bigint },
): AskedPurpose {
  const deposits = [{ index, asset, amount: String(amount) }];
  return { kind: 'sweep', merchant: merchantId, account, deposits, delegates: [] };
}

function assertPayable({ network, wallets }: Payer, item: TransferItem): void {
  const check = checkTrc20Address(item.to);
  if (!check.ok) throw refusal(item, `recipient refused (${check.code})`);
  const tokens = Object.values(network.tokens).map(({ contract }) => contract);
  if ([wallets.hot, wallets.resource, network.collector, ...tokens].includes(item.to))
    throw refusal(item, 'the recipient is a wallet of ours, a token or the collector');
}

function refusal({ itemId }: TransferItem, why: string): UnbuildableTransfer {
  return new UnbuildableTransfer(`item ${itemId}: ${why}`);
}
