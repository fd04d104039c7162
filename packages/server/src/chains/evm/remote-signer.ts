import { type SignerClient, SignerRefused } from '@florin/signer/client';
import type { RefusalAnswer, SignAnswer, SignRequest } from '@florin/signer/protocol';
import type { HeldFor, WalletHolder } from '../wallet-holder.ts';
import type { TransactionSigner } from './signing.ts';

/** The signer process, which holds the keys of all accounts and signs for one history of the database. */
export class RemoteSigner implements TransactionSigner, WalletHolder {
  readonly #client: SignerClient;

  constructor(client: SignerClient) {
    this.#client = client;
  }

  async sign(request: SignRequest): Promise<SignAnswer | RefusalAnswer> {
    try {
      return await this.#client.sign(request);
    } catch (error) {
      if (!(error instanceof SignerRefused)) throw error;
      const { code, message, from } = error;
      return { code, message, from };
    }
  }

  async current(): Promise<HeldFor | undefined> {
    const { held } = await this.#client.status();
    return held === null ? undefined : { history: held.history, generation: BigInt(held.generation) };
  }

  async claim(history: string, over: bigint): Promise<boolean> {
    const { claimed } = await this.#client.claim({ history, over: String(over) });
    return claimed;
  }
}
