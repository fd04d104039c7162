import { SolanaAccounts } from '../../../packages/signer/src/solana/accounts.ts';
import {
  decodeSolanaMessage,
  encodeSignedSolana,
  encodeSolanaMessage,
  signSolanaMessage,
  solanaTransactionId,
} from '../../../packages/signer/src/solana/message.ts';
import { type Asked, AttemptSigner } from '../attempt-signer.ts';
import { TEST_SEED } from '../test-seed.ts';

export const KEYS = new SolanaAccounts(TEST_SEED);

/** Signs with keys of Solana. Nothing is replaced here: an attempt has one transaction. */
export class SolanaKeySigner extends AttemptSigner<'spl'> {
  /** Without what follows the chain: blockhash, compute budget, and which accounts are opened and closed. */
  protected contentsOf({ unsigned }: Asked): string {
    const message = readMessage(unsigned);
    const steps = message.instructions
      .slice(2)
      .filter(({ kind }) => kind !== 'createTokenAccount' && kind !== 'close');
    return toHex(encodeSolanaMessage({ ...message, blockhash: message.feePayer, instructions: steps }));
  }

  protected isReplacement(): boolean {
    return false;
  }

  protected async signRaw(account: number, { unsigned, purpose }: Asked) {
    const swept = purpose.kind === 'sweep' ? purpose : { account, deposits: [] };
    const deposits = swept.deposits.map(({ index }) => KEYS.deposit(swept.account, index));
    const keys = [KEYS.hot(0), KEYS.hot(account), KEYS.delegate(), ...deposits];
    const signed = signSolanaMessage(readMessage(unsigned), (address) => {
      const key = keys.find((one) => one.address === address);
      if (key === undefined) throw new Error(`no key of ${address}`);
      return key.privateKey;
    });
    return { raw: toHex(encodeSignedSolana(signed)), txId: solanaTransactionId(signed) };
  }
}

const readMessage = (hex: string) => decodeSolanaMessage(Uint8Array.from(Buffer.from(hex.slice(2), 'hex')));
const toHex = (bytes: Uint8Array): `0x${string}` => `0x${Buffer.from(bytes).toString('hex')}`;
