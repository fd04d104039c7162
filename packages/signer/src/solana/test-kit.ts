import * as kit from '@solana/kit';
import * as budget from '@solana-program/compute-budget';
import { getAddMemoInstruction, parseAddMemoInstruction } from '@solana-program/memo';
import * as token from '@solana-program/token';
import fc from 'fast-check';
import { MEMO_PROGRAM, solanaAddressOf } from './address.ts';
import type { SolanaInstruction } from './instruction.ts';
import { encodeSolanaMessage, type SolanaMessage, signersOf } from './message.ts';

export const hex = (bytes: Uint8Array | kit.ReadonlyUint8Array) => Buffer.from(bytes).toString('hex');
export const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
export const address = key.map(solanaAddressOf);
const u64 = fc.nat(63).chain((bits) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits + 1) - 1n }));
const decimals = fc.integer({ min: 0, max: 255 });

/** One instruction whose accounts are of a few addresses, so that they meet in several roles. */
const instructionOf = (one: fc.Arbitrary<string>): fc.Arbitrary<SolanaInstruction> => {
  const kind = <const K extends string>(name: K) => fc.constant(name);
  return fc.oneof(
    fc.record({ kind: kind('computeLimit'), units: fc.nat(2 ** 31 - 1) }),
    fc.record({ kind: kind('computePrice'), microLamports: u64 }),
    fc.record({ kind: kind('memo'), text: fc.string({ unit: 'grapheme', maxLength: 60 }) }),
    fc.record({ kind: kind('createTokenAccount'), payer: one, account: one, owner: one, mint: one }),
    fc.record({
      kind: kind('transfer'),
      source: one,
      mint: one,
      destination: one,
      authority: one,
      amount: u64,
      decimals,
    }),
    fc.record({
      kind: kind('approve'),
      source: one,
      mint: one,
      delegate: one,
      owner: one,
      amount: u64,
      decimals,
    }),
    fc.record({ kind: kind('revoke'), source: one, owner: one }),
    fc.record({ kind: kind('close'), account: one, destination: one, owner: one }),
  );
};

export const message: fc.Arbitrary<SolanaMessage> = fc
  .uniqueArray(address, { minLength: 2, maxLength: 9 })
  .chain((addresses) => {
    const one = fc.constantFrom(...addresses);
    return fc.record({
      version: fc.constantFrom('legacy' as const, 0 as const),
      feePayer: one,
      blockhash: address,
      instructions: fc.array(instructionOf(one), { minLength: 1, maxLength: 8 }),
    });
  })
  .filter((one) => 1 + 64 * signersOf(one).length + encodeSolanaMessage(one).length <= 1232);

const signer = (text: string) => kit.createNoopSigner(kit.address(text));

function theirInstruction(one: SolanaInstruction): kit.Instruction {
  switch (one.kind) {
    case 'computeLimit':
      return budget.getSetComputeUnitLimitInstruction({ units: one.units });
    case 'computePrice':
      return budget.getSetComputeUnitPriceInstruction({ microLamports: one.microLamports });
    case 'memo':
      return getAddMemoInstruction({ memo: one.text }, { programAddress: kit.address(MEMO_PROGRAM) });
    case 'createTokenAccount':
      return token.getCreateAssociatedTokenIdempotentInstruction({
        payer: signer(one.payer),
        ata: kit.address(one.account),
        owner: kit.address(one.owner),
        mint: kit.address(one.mint),
      });
    case 'transfer':
      return token.getTransferCheckedInstruction({
        source: kit.address(one.source),
        mint: kit.address(one.mint),
        destination: kit.address(one.destination),
        authority: signer(one.authority),
        amount: one.amount,
        decimals: one.decimals,
      });
    case 'approve':
      return token.getApproveCheckedInstruction({
        source: kit.address(one.source),
        mint: kit.address(one.mint),
        delegate: kit.address(one.delegate),
        owner: signer(one.owner),
        amount: one.amount,
        decimals: one.decimals,
      });
    case 'revoke':
      return token.getRevokeInstruction({ source: kit.address(one.source), owner: signer(one.owner) });
    case 'close':
      return token.getCloseAccountInstruction({
        account: kit.address(one.account),
        destination: kit.address(one.destination),
        owner: signer(one.owner),
      });
  }
}

/** The same message, compiled by kit. */
export function theirTransaction({ version, feePayer, blockhash, instructions }: SolanaMessage) {
  return kit.compileTransaction(
    kit.pipe(
      kit.createTransactionMessage({ version }),
      (m) => kit.setTransactionMessageFeePayer(kit.address(feePayer), m),
      (m) =>
        kit.setTransactionMessageLifetimeUsingBlockhash(
          { blockhash: kit.blockhash(blockhash), lastValidBlockHeight: 1n },
          m,
        ),
      (m) => kit.appendTransactionMessageInstructions(instructions.map(theirInstruction), m),
    ),
  );
}

type Parsable = kit.Instruction &
  kit.InstructionWithAccounts<readonly kit.AccountMeta[]> &
  kit.InstructionWithData<kit.ReadonlyUint8Array>;

/** One of our instructions as the clients of its program read it; they throw where they cannot. */
function theirReadingOf({
  programAddress,
  accounts = [],
  data = new Uint8Array(),
}: kit.Instruction): SolanaInstruction {
  const one = { programAddress, accounts, data } as Parsable;
  const [code] = data;
  if (programAddress === MEMO_PROGRAM)
    return {
      kind: 'memo',
      text: parseAddMemoInstruction(one as Parameters<typeof parseAddMemoInstruction>[0]).data.memo,
    };
  if (programAddress === budget.COMPUTE_BUDGET_PROGRAM_ADDRESS) {
    const named = one as Parameters<typeof budget.parseSetComputeUnitLimitInstruction>[0];
    if (code === budget.SET_COMPUTE_UNIT_LIMIT_DISCRIMINATOR)
      return { kind: 'computeLimit', units: budget.parseSetComputeUnitLimitInstruction(named).data.units };
    if (code !== budget.SET_COMPUTE_UNIT_PRICE_DISCRIMINATOR) throw new Error('not ours');
    return {
      kind: 'computePrice',
      microLamports: budget.parseSetComputeUnitPriceInstruction(named).data.microLamports,
    };
  }
  if (programAddress === token.ASSOCIATED_TOKEN_PROGRAM_ADDRESS) {
    const { accounts: named } = token.parseCreateAssociatedTokenIdempotentInstruction(
      one as Parameters<typeof token.parseCreateAssociatedTokenIdempotentInstruction>[0] & Parsable,
    );
    return {
      kind: 'createTokenAccount',
      payer: named.payer.address,
      account: named.ata.address,
      owner: named.owner.address,
      mint: named.mint.address,
    };
  }
  return theirTokenReading(one);
}

function theirTokenReading(one: Parsable): SolanaInstruction {
  const named = one as Parsable & { programAddress: typeof token.TOKEN_PROGRAM_ADDRESS };
  if (one.programAddress !== token.TOKEN_PROGRAM_ADDRESS) throw new Error('not ours');
  const [code = -1] = one.data;
  switch (code) {
    case token.TRANSFER_CHECKED_DISCRIMINATOR: {
      const { accounts, data } = token.parseTransferCheckedInstruction(named);
      return {
        kind: 'transfer',
        source: accounts.source.address,
        mint: accounts.mint.address,
        destination: accounts.destination.address,
        authority: accounts.authority.address,
        amount: data.amount,
        decimals: data.decimals,
      };
    }
    case token.APPROVE_CHECKED_DISCRIMINATOR: {
      const { accounts, data } = token.parseApproveCheckedInstruction(named);
      return {
        kind: 'approve',
        source: accounts.source.address,
        mint: accounts.mint.address,
        delegate: accounts.delegate.address,
        owner: accounts.owner.address,
        amount: data.amount,
        decimals: data.decimals,
      };
    }
    case token.REVOKE_DISCRIMINATOR: {
      const { accounts } = token.parseRevokeInstruction(named);
      return { kind: 'revoke', source: accounts.source.address, owner: accounts.owner.address };
    }
    case token.CLOSE_ACCOUNT_DISCRIMINATOR: {
      const { accounts } = token.parseCloseAccountInstruction(named);
      return {
        kind: 'close',
        account: accounts.account.address,
        destination: accounts.destination.address,
        owner: accounts.owner.address,
      };
    }
    default:
      throw new Error('not ours');
  }
}

/** What kit and the clients read in these bytes, where they write the same bytes again. */
export function theirReading(bytes: Uint8Array): SolanaMessage | undefined {
  try {
    const whole = kit.getCompiledTransactionMessageDecoder().decode(bytes);
    const read = kit.decompileTransactionMessage(whole);
    const { version, feePayer, lifetimeConstraint } = read;
    if ((version !== 'legacy' && version !== 0) || !('blockhash' in lifetimeConstraint)) return undefined;
    const instructions = [...read.instructions].map((each: kit.Instruction) => theirReadingOf(each));
    const one = {
      version,
      feePayer: feePayer.address,
      blockhash: lifetimeConstraint.blockhash,
      instructions,
    };
    const { messageBytes, signatures } = theirTransaction(one);
    const size = 1 + 64 * Object.keys(signatures).length + bytes.length;
    return hex(messageBytes) === hex(bytes) && size <= 1232 ? one : undefined;
  } catch {
    return undefined;
  }
}
