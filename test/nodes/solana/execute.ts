import { type Address, getBase58Decoder, getBase64Decoder, type MaybeEncodedAccount } from '@solana/kit';
import { FailedTransactionMetadata, type LiteSVM, type TransactionMetadata } from 'litesvm';
import { type TransactionError, transactionError } from './errors.ts';
import { readDecimals, readTokenAccount, type TokenAmount, tokenAmount } from './tokens.ts';
import type { WireTransaction } from './wire.ts';

export interface TokenBalance {
  accountIndex: number;
  mint: Address;
  owner: Address;
  programId: Address;
  uiTokenAmount: TokenAmount;
}

export interface InnerInstructions {
  index: number;
  instructions: { programIdIndex: number; accounts: number[]; data: string; stackHeight: number }[];
}

export interface Outcome {
  err: TransactionError | null;
  logs: string[];
  innerInstructions: InnerInstructions[];
  unitsConsumed: bigint;
  returnData: { programId: string; data: [string, 'base64'] } | null;
}

/** A transaction in a block, successful or not. */
export interface Executed extends Outcome {
  wire: WireTransaction;
  slot: number;
  height: number;
  time: number;
  fee: bigint;
  preBalances: bigint[];
  postBalances: bigint[];
  preTokenBalances: TokenBalance[];
  postTokenBalances: TokenBalance[];
}

const FEE_PER_SIGNATURE = 5_000n;
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
const MOST_UNITS = 1_400_000;
const UNITS_PER_INSTRUCTION = 200_000;
/** What agave 2 reserves for an instruction of a builtin program. */
const UNITS_PER_BUILTIN = 3_000;
const BUILTINS = new Set([COMPUTE_BUDGET, '11111111111111111111111111111111']);

/**
 * Runs a transaction on the newest state.
 *
 * @returns undefined where no block can hold it, as it could not be charged: nothing has changed
 */
export function execute(
  vm: LiteSVM,
  wire: WireTransaction,
): Omit<Executed, 'slot' | 'height' | 'time'> | undefined {
  const before = wire.keys.map((key) => vm.getAccount(key));
  const preTokenBalances = tokenBalances(vm, before);
  const result = vm.sendTransaction(wire.transaction);
  const outcome = outcomeOf(result);
  if (typeof outcome.err === 'string') return undefined;
  const after = wire.keys.map((key) => vm.getAccount(key));
  return {
    ...outcome,
    wire,
    fee: feeOf(wire),
    preBalances: before.map(lamportsOf),
    postBalances: after.map(lamportsOf),
    preTokenBalances,
    postTokenBalances: tokenBalances(vm, after),
  };
}

export function outcomeOf(result: TransactionMetadata | FailedTransactionMetadata): Outcome {
  const failed = result instanceof FailedTransactionMetadata;
  const meta = failed ? result.meta() : result;
  const returned = meta.returnData();
  return {
    err: failed ? transactionError(result.err()) : null,
    logs: meta.logs(),
    innerInstructions: innerInstructions(meta),
    unitsConsumed: meta.computeUnitsConsumed(),
    returnData:
      returned.data().length === 0
        ? null
        : {
            programId: getBase58Decoder().decode(returned.programId()),
            data: [getBase64Decoder().decode(returned.data()), 'base64'],
          },
  };
}

function innerInstructions(meta: TransactionMetadata): InnerInstructions[] {
  return meta.innerInstructions().flatMap((list, index) => {
    const instructions = list.map((inner) => ({
      programIdIndex: inner.instruction().programIdIndex(),
      accounts: [...inner.instruction().accounts()],
      data: getBase58Decoder().decode(inner.instruction().data()),
      stackHeight: inner.stackHeight(),
    }));
    return instructions.length === 0 ? [] : [{ index, instructions }];
  });
}

/** 5,000 lamports for each signature, and the price per unit for all units that were asked for. */
export function feeOf({ message }: Pick<WireTransaction, 'message'>): bigint {
  let limit: number | undefined;
  let price = 0n;
  let units = 0;
  for (const { programAddressIndex, data = new Uint8Array() } of message.instructions) {
    const program = message.staticAccounts[programAddressIndex];
    const bytes = Buffer.from(data);
    units += BUILTINS.has(program ?? '') ? UNITS_PER_BUILTIN : UNITS_PER_INSTRUCTION;
    if (program !== COMPUTE_BUDGET) continue;
    if (bytes[0] === 2 && bytes.length >= 5) limit = bytes.readUInt32LE(1);
    if (bytes[0] === 3 && bytes.length >= 9) price = bytes.readBigUInt64LE(1);
  }
  const asked = BigInt(Math.min(limit ?? units, MOST_UNITS));
  const priority = (asked * price + 999_999n) / 1_000_000n;
  return FEE_PER_SIGNATURE * BigInt(message.header.numSignerAccounts) + priority;
}

function lamportsOf(account: MaybeEncodedAccount): bigint {
  return account.exists ? account.lamports : 0n;
}

function tokenBalances(vm: LiteSVM, accounts: MaybeEncodedAccount[]): TokenBalance[] {
  return accounts.flatMap((account, accountIndex) => {
    const token = readTokenAccount(account);
    if (token === undefined) return [];
    const decimals = readDecimals(vm.getAccount(token.mint)) ?? 0;
    const { mint, owner, program: programId, amount } = token;
    return [{ accountIndex, mint, owner, programId, uiTokenAmount: tokenAmount(amount, decimals) }];
  });
}
