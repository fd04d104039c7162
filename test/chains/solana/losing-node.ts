import { getBase58Encoder } from '@solana/kit';
import type { ScanQuery } from '../../../packages/server/src/chains/port/port.ts';
import type { NodeRequest } from '../../../packages/server/src/chains/rpc/node.ts';
import type { Commitment, SolanaNode } from '../../../packages/server/src/chains/solana/node.ts';

const COMMITMENT = { tip: 'confirmed', final: 'finalized' } as const;
const TRANSFER_CHECKED = 12;
const AMOUNT_AT = 64;

interface Lost {
  signature: string;
  account: string;
  amount: bigint;
}

/** A node that leaves one transfer out of the next scan that finds any, and lies about balances so that nothing shows it. */
export class LosingNode implements SolanaNode {
  readonly #node: SolanaNode;
  #losing: Commitment | undefined;
  #lost: Lost | undefined;

  constructor(node: SolanaNode) {
    this.#node = node;
  }

  loseNext(level: ScanQuery['level']): void {
    this.#losing = COMMITMENT[level];
  }

  newest(commitment: Commitment) {
    return this.#node.newest(commitment);
  }

  newestBlockhash() {
    return this.#node.newestBlockhash();
  }

  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    return await this.#lie({ method, params }, await this.#node.call(method, params));
  }

  async agreed(method: string, params: readonly unknown[]): Promise<unknown> {
    return await this.#lie({ method, params }, await this.#node.agreed(method, params));
  }

  async callMany(requests: readonly NodeRequest[]): Promise<unknown[]> {
    return await this.#lieMany(requests, await this.#node.callMany(requests));
  }

  async agreedMany(requests: readonly NodeRequest[]): Promise<unknown[]> {
    return await this.#lieMany(requests, await this.#node.agreedMany(requests));
  }

  async #lieMany(requests: readonly NodeRequest[], answers: readonly unknown[]): Promise<unknown[]> {
    return await Promise.all(requests.map((request, place) => this.#lie(request, answers[place])));
  }

  async #lie({ method, params }: NodeRequest, answer: unknown): Promise<unknown> {
    const isAsked = JSON.stringify(params).includes(`"commitment":"${this.#losing}"`);
    if (this.#losing === undefined || !isAsked) return answer;
    if (method === 'getMultipleAccounts') return await this.#hideAmount(params[0], answer);
    if (method !== 'getTransaction' || params[0] !== this.#lost?.signature) return answer;
    const lost = this.#lost;
    this.#losing = undefined;
    this.#lost = undefined;
    return lost === undefined ? answer : withoutTransfer(answer, lost);
  }

  async #hideAmount(accounts: unknown, answer: unknown): Promise<unknown> {
    const copy = structuredClone(answer) as { value: ({ data: [string, string] } | null)[] };
    for (const [place, account] of (accounts as string[]).entries()) {
      const shown = copy.value[place];
      const lost = shown == null ? undefined : await this.#newestOf(account);
      if (shown == null || lost === undefined) continue;
      this.#lost = lost;
      const data = Buffer.from(shown.data[0], 'base64');
      data.writeBigUInt64LE(data.readBigUInt64LE(AMOUNT_AT) - lost.amount, AMOUNT_AT);
      shown.data = [data.toString('base64'), 'base64'];
      return copy;
    }
    return answer;
  }

  /** The last transfer of the newest transaction that paid this account. */
  async #newestOf(account: string): Promise<Lost | undefined> {
    const listed = await this.#node.call('getSignaturesForAddress', [account, { commitment: 'confirmed' }]);
    const [newest] = listed as { signature: string }[];
    if (newest === undefined) return undefined;
    const { signature } = newest;
    const config = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
    const transaction = await this.#node.call('getTransaction', [signature, config]);
    const found = lastTransfer(transaction as Shown, account);
    return found === undefined ? undefined : { signature, account, amount: found.amount };
  }
}

interface Shown {
  transaction: {
    message: { accountKeys: string[]; instructions: { accounts: number[]; data: string }[] };
  };
  meta: { postTokenBalances: { accountIndex: number; uiTokenAmount: { amount: string } }[] };
}

function lastTransfer({ transaction: { message } }: Shown, account: string) {
  for (const [place, { accounts, data }] of [...message.instructions.entries()].reverse()) {
    const bytes = Buffer.from(getBase58Encoder().encode(data));
    if (bytes[0] !== TRANSFER_CHECKED || bytes.length !== 10) continue;
    if (message.accountKeys[accounts[2] ?? -1] === account)
      return { place, amount: bytes.readBigUInt64LE(1) };
  }
  return undefined;
}

function withoutTransfer(answer: unknown, { account, amount }: Lost): unknown {
  const copy = structuredClone(answer) as Shown;
  const found = lastTransfer(copy, account);
  const { message } = copy.transaction;
  message.instructions = message.instructions.filter((_, place) => place !== found?.place);
  for (const { accountIndex, uiTokenAmount } of copy.meta.postTokenBalances)
    if (message.accountKeys[accountIndex] === account)
      uiTokenAmount.amount = String(BigInt(uiTokenAmount.amount) - amount);
  return copy;
}
