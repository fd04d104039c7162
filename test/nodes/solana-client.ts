import {
  type Address,
  appendTransactionMessageInstructions,
  createSolanaRpc,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';

interface RawAnswer {
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

/** A node as its users' library sees it. */
export function solanaClient(url: string) {
  const rpc = createSolanaRpc(url);

  async function sign(payer: KeyPairSigner, instructions: Instruction[], version: 0 | 'legacy' = 0) {
    const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: 'processed' }).send();
    const message = pipe(
      createTransactionMessage({ version }),
      (empty) => setTransactionMessageFeePayerSigner(payer, empty),
      (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
      (dated) => appendTransactionMessageInstructions(instructions, dated),
    );
    const signed = await signTransactionMessageWithSigners(message);
    return {
      signature: getSignatureFromTransaction(signed),
      wire: getBase64EncodedWireTransaction(signed),
      lifetime,
    };
  }

  async function send({ wire }: { wire: ReturnType<typeof getBase64EncodedWireTransaction> }) {
    return await rpc.sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'processed' }).send();
  }

  /** Any call, as it goes over the wire. */
  async function raw(method: string, params: unknown[] = []) {
    const answer = await fetch(url, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
    });
    return (await answer.json()) as RawAnswer;
  }

  return { rpc, sign, send, raw };
}

export async function tokenAddress(owner: Address, mint: Address): Promise<Address> {
  const [address] = await findAssociatedTokenPda({ owner, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS });
  return address;
}

/** To somebody's associated account, which is made where it is missing. */
export async function transfer(payer: KeyPairSigner, mint: Address, owner: Address, amount: bigint) {
  const destination = await tokenAddress(owner, mint);
  const source = await tokenAddress(payer.address, mint);
  return [
    getCreateAssociatedTokenIdempotentInstruction({ payer, ata: destination, owner, mint }),
    getTransferCheckedInstruction({ source, mint, destination, authority: payer, amount, decimals: 6 }),
  ];
}
