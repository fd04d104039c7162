import type { Network } from '@florin/contract/money';
import type { Purpose, RefusalAnswer, SignAnswer } from '@florin/signer/protocol';
import type {
  HeldFor,
  HolderLimits,
  WalletHolder,
} from '../../packages/server/src/chains/port/wallet-holder.ts';
import type { AskedSigner, SignRequestOf } from '../../packages/server/src/chains/signing/ask-signer.ts';
import { placeAttempt } from '../../packages/signer/src/numbering.ts';

/** What was asked to be signed. */
export interface Asked {
  unsigned: `0x${string}`;
  purpose: Purpose;
}

/**
 * A wallet that signs whatever the one history asks for that it signs for. It remembers attempts as the signer does: an
 * attempt gets its first bytes again, or a new version where the network replaces transactions.
 */
export abstract class AttemptSigner<N extends Network> implements AskedSigner<N>, WalletHolder {
  /** Every request, in order. */
  readonly requests: SignRequestOf<N>[] = [];
  /** What it says of its policy; by default nothing. */
  policy: HolderLimits | undefined;
  #held: HeldFor | undefined;
  readonly #numbers = new Map<string, Map<bigint, string>>();
  readonly #signed = new Map<string, Asked>();
  readonly #answers: (RefusalAnswer | Error | ((answer: SignAnswer) => SignAnswer))[] = [];

  /** What an attempt may not change. */
  protected abstract contentsOf(asked: Asked): string;
  protected abstract isReplacement(earlier: Asked, asked: Asked): boolean;
  protected abstract signRaw(account: number, asked: Asked): Promise<Pick<SignAnswer, 'raw' | 'txId'>>;

  /** Refuses the next request, is away, or changes the answer. */
  next(...answers: (RefusalAnswer | Error | ((answer: SignAnswer) => SignAnswer))[]): void {
    this.#answers.push(...answers);
  }

  async current(): Promise<HeldFor | undefined> {
    return this.#held;
  }

  async readAccount(): Promise<{ coldOwner: null }> {
    return { coldOwner: null };
  }

  async chargesOn(): Promise<undefined> {
    return undefined;
  }

  async limits(): Promise<HolderLimits | undefined> {
    return this.policy;
  }

  async approvalRules(): Promise<undefined> {
    return undefined;
  }

  async claim(history: string, over: bigint): Promise<boolean> {
    if ((this.#held?.generation ?? 0n) !== over) return false;
    this.#held = { history, generation: over + 1n };
    return true;
  }

  async sign(request: SignRequestOf<N>): Promise<SignAnswer | RefusalAnswer> {
    this.requests.push(request);
    const planned = this.#answers[0];
    if (typeof planned === 'object') {
      this.#answers.shift();
      if (planned instanceof Error) throw planned;
      return planned;
    }
    const signature = this.#remember(request);
    if ('code' in signature) return signature;
    this.#answers.shift();
    const signed = await this.signRaw(request.account, signature);
    const journal = { entries: this.requests.length, head: String(this.requests.length).padStart(64, '0') };
    const answer = { ...signed, journal };
    return planned === undefined ? answer : planned(answer);
  }

  #remember({ account, attempt, unsigned, purpose }: SignRequestOf<N>): Asked | RefusalAnswer {
    const { history, attemptId, previous, before } = attempt;
    this.#held ??= { history, generation: 1n };
    if (this.#held.history !== history) return refusal('history', 'it signs for another history');
    const ordinal = BigInt(attempt.ordinal);
    const wallet = `${account} ${history}`;
    const known = this.#numbers.get(wallet) ?? new Map<bigint, string>();
    const given = before ?? (previous === null || ordinal === 0n ? [] : [previous]);
    const last = [...known.keys()].reduce<bigint | null>((a, b) => (a === null || b > a ? b : a), null);
    const isWhole = ordinal === 0n || (before !== undefined && last === null);
    const placing = placeAttempt({ last, known }, { ordinal, attemptId, before: given, isWhole });
    if (placing.is === 'gap') {
      const from = placing.from === null ? null : String(placing.from);
      return { ...refusal('unknown_attempts', 'attempts before it are unknown'), from };
    }
    if (placing.is === 'taken') return refusal('history', `number ${placing.ordinal} is another attempt's`);
    const asked = { unsigned: bytes(unsigned), purpose };
    const earlier = this.#signed.get(attemptId);
    if (earlier !== undefined && this.contentsOf(earlier) !== this.contentsOf(asked)) {
      return refusal('history', 'this attempt was signed with other contents');
    }
    this.#numbers.set(wallet, new Map([...known, ...placing.added]));
    const signature = earlier === undefined || this.isReplacement(earlier, asked) ? asked : earlier;
    this.#signed.set(attemptId, signature);
    return signature;
  }
}

const refusal = (code: RefusalAnswer['code'], message: string): RefusalAnswer => ({ code, message });
const bytes = (text: string): Asked['unsigned'] => `0x${text.slice(2)}`;
