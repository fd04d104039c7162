import { createHash } from 'node:crypto';
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  blockhash,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getFreezeAccountInstruction,
  getMintEncoder,
  getMintToInstruction,
  getThawAccountInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { existing } from './account-history.ts';
import { LIFETIME_BLOCKS, type SolanaChain } from './chain.ts';
import { readTransaction } from './wire.ts';

const DECIMALS = 6;
const A_THOUSAND_SOL = 1_000_000_000_000n;

/** Keys of test nodes: everybody can compute them. */
export function publicTestKey(name: string): Uint8Array {
  return createHash('sha256').update(`florin public test key: ${name}`).digest();
}

async function publicTestSigner(name: string): Promise<KeyPairSigner> {
  return await createKeyPairSignerFromPrivateKeyBytes(publicTestKey(name));
}

/** What the people behind the tokens and the network can do, and no caller of the JSON-RPC. */
export class SolanaControls {
  readonly #chain: SolanaChain;
  readonly #authority: KeyPairSigner;

  private constructor(chain: SolanaChain, authority: KeyPairSigner) {
    this.#chain = chain;
    this.#authority = authority;
  }

  static async on(chain: SolanaChain): Promise<SolanaControls> {
    const controls = new SolanaControls(chain, await publicTestSigner('authority of tokens'));
    controls.fund(controls.#authority.address, A_THOUSAND_SOL);
    return controls;
  }

  /** Mints and freezes. */
  get authority(): Address {
    return this.#authority.address;
  }

  /** Adds lamports out of nothing: no transaction shows it. */
  fund(owner: Address, amount: bigint): void {
    const before = this.#chain.account(owner);
    const empty = { address: owner, data: new Uint8Array(), executable: false, space: 0n };
    const account = before.exists
      ? before
      : existing({ ...empty, lamports: lamports(0n), programAddress: SYSTEM_PROGRAM_ADDRESS });
    this.#chain.overwrite({ ...account, lamports: lamports(account.lamports + amount) });
  }

  /** A mint with six decimals that the authority may freeze. */
  async createToken(name: string, program: Address = TOKEN_PROGRAM_ADDRESS): Promise<Address> {
    const { address: mint } = await publicTestSigner(name);
    const data = getMintEncoder().encode({
      mintAuthority: this.#authority.address,
      supply: 0n,
      decimals: DECIMALS,
      isInitialized: true,
      freezeAuthority: this.#authority.address,
    });
    const rent = this.#chain.vm.minimumBalanceForRentExemption(BigInt(data.length));
    const shape = { address: mint, data, executable: false, space: BigInt(data.length) };
    this.#chain.overwrite(existing({ ...shape, lamports: lamports(rent), programAddress: program }));
    return mint;
  }

  /** New tokens, in a transaction and a block of their own. @returns its signature */
  async mint(token: Address, owner: Address, amount: bigint): Promise<string> {
    const tokenProgram = this.#programOf(token);
    const [ata] = await findAssociatedTokenPda({ owner, mint: token, tokenProgram });
    const authority = this.#authority;
    return await this.#send([
      getCreateAssociatedTokenIdempotentInstruction({
        payer: authority,
        ata,
        owner,
        mint: token,
        tokenProgram,
      }),
      getMintToInstruction(
        { mint: token, token: ata, mintAuthority: authority, amount },
        { programAddress: tokenProgram },
      ),
    ]);
  }

  /** As the issuer does to somebody's tokens. */
  async freeze(token: Address, owner: Address): Promise<string> {
    const [account] = await findAssociatedTokenPda({
      owner,
      mint: token,
      tokenProgram: this.#programOf(token),
    });
    return await this.#send([getFreezeAccountInstruction({ account, mint: token, owner: this.#authority })]);
  }

  async thaw(token: Address, owner: Address): Promise<string> {
    const [account] = await findAssociatedTokenPda({
      owner,
      mint: token,
      tokenProgram: this.#programOf(token),
    });
    return await this.#send([getThawAccountInstruction({ account, mint: token, owner: this.#authority })]);
  }

  #programOf(token: Address): Address {
    const mint = this.#chain.account(token);
    if (!mint.exists) throw new Error(`there is no token ${token}`);
    return address(mint.programAddress);
  }

  async #send(instructions: Instruction[]): Promise<string> {
    const { hash, height } = this.#chain.tip;
    const lastValidBlockHeight = BigInt(height + LIFETIME_BLOCKS);
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (empty) => setTransactionMessageFeePayerSigner(this.#authority, empty),
      (paid) =>
        setTransactionMessageLifetimeUsingBlockhash(
          { blockhash: blockhash(hash), lastValidBlockHeight },
          paid,
        ),
      (dated) => appendTransactionMessageInstructions(instructions, dated),
    );
    const signed = await signTransactionMessageWithSigners(message);
    const wire = readTransaction(getBase64EncodedWireTransaction(signed), 'base64');
    this.#chain.pool.set(wire.signature, wire);
    this.#chain.produce();
    const err = this.#chain.transactions.get(wire.signature)?.err;
    if (err !== null) throw new Error(`the transaction failed: ${JSON.stringify(err)}`);
    return wire.signature;
  }
}
