import { PARAMETERS, type TronAccount } from './resources.ts';
import { type TronTransaction, textOf } from './wire.ts';

/** A refusal of a broadcast: the code and the words of java-tron. */
export class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export function invalid(message: string): Refusal {
  return new Refusal('CONTRACT_VALIDATE_ERROR', `Contract validate error : ${message}`);
}

const MOST_BYTES = 500 * 1_024;
const MOST_VALIDITY_MS = 86_400_000;

export interface Surroundings {
  headTime: number;
  accountOf: (address: string) => TronAccount | undefined;
  isContract: (address: string) => Promise<boolean>;
}

/** What has to hold of any transaction but its signature, its reference block and that it is new. @throws Refusal */
export function checkCommon({ size, raw }: TronTransaction, headTime: number): void {
  if (size > MOST_BYTES) throw new Refusal('TOO_BIG_TRANSACTION_ERROR', 'Transaction size is too big.');
  if (raw.expiration <= headTime || raw.expiration > headTime + MOST_VALIDITY_MS)
    throw new Refusal('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired');
}

/** What its contract needs. @throws Refusal */
export async function checkContract(tx: TronTransaction, around: Surroundings): Promise<void> {
  const owner = around.accountOf(tx.owner);
  if (owner === undefined) throw invalid(`account [${tx.owner}] does not exist`);
  if (tx.permission !== 0) throw invalid(`permission ${tx.permission} isn't set`);
  if (tx.type === 'TransferContract') return await checkTransfer(tx, owner, around);
  if (tx.type === 'TriggerSmartContract') return await checkCall(tx, around);
  if (tx.type === 'FreezeBalanceV2Contract') return checkFreeze(tx, owner);
  return await checkDelegation(tx, owner, around);
}

async function checkTransfer(
  { value }: TronTransaction,
  owner: TronAccount,
  { accountOf, isContract }: Surroundings,
): Promise<void> {
  const [to, amount] = [textOf(value.to_address), amountOf(value.amount)];
  if (!/^41[0-9a-f]{40}$/.test(to)) throw invalid('Invalid toAddress!');
  if (to === owner.address) throw invalid('Cannot transfer TRX to yourself.');
  if (amount <= 0) throw invalid('Amount must be greater than 0.');
  if (await isContract(to)) throw invalid('Cannot transfer TRX to a smartContract.');
  const activation = accountOf(to) === undefined ? PARAMETERS.getCreateNewAccountFeeInSystemContract : 0;
  if (owner.balance < amount + activation)
    throw invalid('Validate TransferContract error, balance is not sufficient.');
}

async function checkCall({ raw, value }: TronTransaction, { isContract }: Surroundings): Promise<void> {
  const { fee_limit: limit = 0 } = raw;
  if (limit < 0 || limit > PARAMETERS.getMaxFeeLimit)
    throw invalid(`feeLimit must be >= 0 and <= ${PARAMETERS.getMaxFeeLimit}`);
  if (amountOf(value.call_value) > 0) throw invalid('this node sends no TRX to contracts');
  if (!(await isContract(textOf(value.contract_address))))
    throw invalid('No contract or not a smart contract');
}

function checkFreeze({ value }: TronTransaction, owner: TronAccount): void {
  const amount = amountOf(value.frozen_balance);
  if (amount < 1_000_000) throw invalid('frozenBalance must be greater than or equal to 1 TRX');
  if (amount > owner.balance) throw invalid('frozenBalance must be less than or equal to accountBalance');
}

async function checkDelegation(
  { type, value }: TronTransaction,
  owner: TronAccount,
  { accountOf, isContract }: Surroundings,
): Promise<void> {
  const receiver = textOf(value.receiver_address);
  const amount = amountOf(value.balance);
  const resource = resourceOf(value.resource);
  const name = resource === 'energy' ? 'Energy' : 'BANDWIDTH';
  if (type === 'UnDelegateResourceContract') {
    const delegated = owner.delegatedOut[resource][receiver] ?? 0;
    if (amount <= 0) throw invalid('unDelegateBalance must be more than 0 TRX');
    if (delegated < amount)
      throw invalid(
        `insufficient delegatedFrozenBalance(${name}), request=${amount}, unlock_balance=${delegated}`,
      );
    return;
  }
  if (amount < 1_000_000) throw invalid('delegateBalance must be greater than or equal to 1 TRX');
  if (owner.frozen[resource] < amount)
    throw invalid(`delegateBalance must be less than or equal to available Freeze${name}V2 balance`);
  if (receiver === owner.address) throw invalid('receiverAddress must not be the same as ownerAddress');
  if (await isContract(receiver)) throw invalid('Do not allow delegate resources to contract addresses');
  if (accountOf(receiver) === undefined) throw invalid(`Account[${receiver}] not exists`);
}

export function amountOf(value: unknown): number {
  return value === undefined ? 0 : Number(value);
}

/** 1 or ENERGY, else bandwidth, which is the value that protobuf leaves out. */
export function resourceOf(value: unknown): 'energy' | 'bandwidth' {
  return value === 1 || textOf(value).toUpperCase() === 'ENERGY' ? 'energy' : 'bandwidth';
}
