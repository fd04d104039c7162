import { amountOf, resourceOf } from './check.ts';
import { type Evm, type EvmReceipt, intrinsicGas, leastGas } from './evm.ts';
import {
  bandwidthFor,
  type Energy,
  energyLimit,
  lendStake,
  newAccount,
  PARAMETERS,
  payBandwidth,
  payEnergy,
  returnUsage,
  type TronAccount,
} from './resources.ts';
import { evmAddress, type TronTransaction, textOf } from './wire.ts';

/** The most gas that anvil runs. */
const MOST_GAS = 16_000_000;

export interface TransactionInfo {
  id: string;
  fee?: number;
  blockNumber: number;
  blockTimeStamp: number;
  contractResult: string[];
  contract_address?: string;
  receipt: Energy & { net_usage?: number; net_fee?: number; result?: string };
  log?: { address: string; topics: string[]; data: string }[];
  result?: 'FAILED';
  resMessage?: string;
}

/** Where a transaction is run: the block that it goes into, and the accounts, each noted before it changes. */
export interface Site {
  evm: Evm;
  number: number;
  time: number;
  /** Energy for each unit of anvil's gas. */
  energyPerGas: number;
  accountOf(address: string): TronAccount | undefined;
  /** A copy to be changed. */
  change(address: string): TronAccount;
}

/** @returns undefined where bandwidth cannot be paid: no block takes it */
export async function run(tx: TronTransaction, site: Site): Promise<TransactionInfo | undefined> {
  const owner = site.change(tx.owner);
  const memo = tx.raw.data === undefined ? 0 : PARAMETERS.getMemoFee;
  const creates = tx.type === 'TransferContract' && site.accountOf(String(tx.value.to_address)) === undefined;
  const bandwidth = creates
    ? { net_fee: PARAMETERS.getCreateAccountFee }
    : bandwidthFor(owner, tx.size, site.time);
  if (bandwidth === undefined || owner.balance < memo + (bandwidth.net_fee ?? 0)) return undefined;
  payBandwidth(owner, bandwidth, site.time);
  owner.balance -= memo;
  const base: TransactionInfo = {
    id: tx.id,
    blockNumber: site.number,
    blockTimeStamp: site.time,
    contractResult: [''],
    receipt: { ...bandwidth },
  };
  const paid = memo + (bandwidth.net_fee ?? 0);
  if (tx.type === 'TriggerSmartContract') return await runCall(tx, site, { base, paid, owner });
  const activation = apply(tx, site, owner);
  const fee = paid + activation;
  return { ...base, ...(fee > 0 && { fee }) };
}

/** @returns the fee for an account that this activates */
function apply({ type, value }: TronTransaction, site: Site, owner: TronAccount): number {
  if (type === 'TransferContract') {
    const to = textOf(value.to_address);
    const fee = site.accountOf(to) === undefined ? PARAMETERS.getCreateNewAccountFeeInSystemContract : 0;
    const receiver = site.change(to);
    owner.balance -= amountOf(value.amount) + fee;
    receiver.balance += amountOf(value.amount);
    return fee;
  }
  const resource = resourceOf(value.resource);
  if (type === 'FreezeBalanceV2Contract') {
    owner.balance -= amountOf(value.frozen_balance);
    owner.frozen[resource] += amountOf(value.frozen_balance);
    return 0;
  }
  const isLoan = type === 'DelegateResourceContract';
  const amount = isLoan ? amountOf(value.balance) : -amountOf(value.balance);
  const receiver = site.change(textOf(value.receiver_address));
  const loan = { lender: owner, borrower: receiver, resource, amount };
  if (!isLoan) returnUsage(loan, site.time);
  lendStake(loan);
  return 0;
}

interface Begun {
  base: TransactionInfo;
  paid: number;
  owner: TronAccount;
}

async function runCall(
  { raw, value, owner: sender }: TronTransaction,
  site: Site,
  { base, paid, owner }: Begun,
): Promise<TransactionInfo> {
  const { evm, time, energyPerGas } = site;
  const contract = textOf(value.contract_address);
  const call = {
    from: evmAddress(sender),
    to: evmAddress(contract),
    data: `0x${textOf(value.data)}`,
  };
  const most = energyLimit(owner, raw.fee_limit ?? 0, time);
  const basic = intrinsicGas(call.data);
  const gas = Math.min(MOST_GAS, basic + Math.floor(most / energyPerGas));
  const returned = await evm.call(call);
  const receipt =
    gas < leastGas(call.data) ? outOfGas(gas) : await evm.run(call, gas, Math.floor(time / 1_000));
  const exhausted = !receipt.ok && receipt.gasUsed >= gas;
  // Refunds and the floor of call data are none of Tron's.
  const used = exhausted ? most : Math.min(most, Math.max(0, receipt.gasUsed - basic) * energyPerGas);
  const energy = payEnergy(owner, used, time);
  const result = receipt.ok ? 'SUCCESS' : exhausted ? 'OUT_OF_ENERGY' : 'REVERT';
  const fee = paid + (energy.energy_fee ?? 0);
  const logs = receipt.logs.map(({ address, topics, data }) => ({
    address: address.slice(2).toLowerCase(),
    topics: topics.map((topic) => topic.slice(2)),
    data: data.slice(2),
  }));
  const reason = exhausted ? 'Not enough energy' : 'REVERT opcode executed';
  return {
    ...base,
    ...(fee > 0 && { fee }),
    contractResult: [exhausted ? '' : returned.data.slice(2)],
    contract_address: contract,
    receipt: { ...energy, ...base.receipt, result },
    ...(logs.length > 0 && { log: logs }),
    ...(!receipt.ok && { result: 'FAILED', resMessage: Buffer.from(reason).toString('hex') }),
  };
}

function outOfGas(gasUsed: number): EvmReceipt {
  return { ok: false, gasUsed, logs: [], contractAddress: null };
}

export function copyOf(account: TronAccount | undefined, address: string, now: number): TronAccount {
  return account === undefined ? newAccount(address, now) : structuredClone(account);
}
