import type { Purpose, RefusalAnswer, SignAnswer, SignRequest } from '@florin/signer/protocol';
import { type Hex, keccak256, parseTransaction } from 'viem';
import { type HDAccount, mnemonicToAccount } from 'viem/accounts';
import type { TransactionSigner } from '../../../packages/server/src/chains/evm/signing.ts';
import type { HeldFor, WalletHolder } from '../../../packages/server/src/chains/port/wallet-holder.ts';
import { delegateDeployment, sweeperDeployment } from '../../../packages/signer/src/contracts.ts';
import { placeAttempt } from '../../../packages/signer/src/numbering.ts';
import { PUBLIC_TEST_MNEMONIC } from '../../../scripts/anvil.ts';

export const hotWallet = (account: number): HDAccount => wallet(`m/44'/60'/${account}'/1/0`);
/** The gas tank of the installation. */
export const TANK = hotWallet(0);
export const ownerWallet = (account: number): HDAccount => wallet(`m/44'/60'/${account}'/2/0`);
export const depositWallet = (account: number, index: number): HDAccount =>
  wallet(`m/44'/60'/${account}'/0/${index}`);

function wallet(path: `m/44'/60'/${string}`): HDAccount {
  return mnemonicToAccount(PUBLIC_TEST_MNEMONIC, { path });
}

interface Signature {
  unsigned: Hex;
  purpose: Purpose;
}

/**
 * A wallet that signs whatever the one history asks for that it signs for. It remembers attempts as the signer does: an
 * attempt gets its first bytes again, or a new version where both fees are a tenth higher.
 */
export class KeySigner implements TransactionSigner, WalletHolder {
  /** Every request, in order. */
  readonly requests: SignRequest[] = [];
  #held: HeldFor | undefined;
  readonly #numbers = new Map<string, Map<bigint, string>>();
  readonly #signed = new Map<string, Signature>();
  readonly #answers: (RefusalAnswer | Error | ((answer: SignAnswer) => SignAnswer))[] = [];

  /** Refuses the next request, is away, or changes the answer. */
  next(...answers: (RefusalAnswer | Error | ((answer: SignAnswer) => SignAnswer))[]): void {
    this.#answers.push(...answers);
  }

  async current(): Promise<HeldFor | undefined> {
    return this.#held;
  }

  async limits(): Promise<undefined> {
    return undefined;
  }

  async approvalRules(): Promise<undefined> {
    return undefined;
  }

  async claim(history: string, over: bigint): Promise<boolean> {
    if ((this.#held?.generation ?? 0n) !== over) return false;
    this.#held = { history, generation: over + 1n };
    return true;
  }

  async sign(request: SignRequest): Promise<SignAnswer | RefusalAnswer> {
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
    const raw = await signRaw(request.account, signature);
    const journal = { entries: this.requests.length, head: keccak256(raw).slice(2) };
    const answer = { raw, txId: keccak256(raw), journal };
    return planned === undefined ? answer : planned(answer);
  }

  #remember({ account, attempt, unsigned, purpose }: SignRequest): Signature | RefusalAnswer {
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
    if (earlier !== undefined && contentsOf(earlier) !== contentsOf(asked)) {
      return refusal('history', 'this attempt was signed with other contents');
    }
    this.#numbers.set(wallet, new Map([...known, ...placing.added]));
    const signature = earlier === undefined || isReplacement(earlier, asked) ? asked : earlier;
    this.#signed.set(attemptId, signature);
    return signature;
  }
}

const refusal = (code: RefusalAnswer['code'], message: string): RefusalAnswer => ({ code, message });
const bytes = (text: string): Hex => `0x${text.slice(2)}`;

function contentsOf({ unsigned }: Signature): string {
  const { nonce, to, value, data } = parseTransaction(unsigned);
  return [nonce, to, value, data].join();
}

function isReplacement(earlier: Signature, asked: Signature): boolean {
  const [a, b] = [parseTransaction(earlier.unsigned), parseTransaction(asked.unsigned)];
  return (['maxFeePerGas', 'maxPriorityFeePerGas'] as const).every(
    (fee) => (b[fee] ?? 0n) * 10n >= (a[fee] ?? 0n) * 11n,
  );
}

async function signRaw(account: number, { unsigned, purpose }: Signature): Promise<Hex> {
  const key = hotWallet(account);
  const parsed = parseTransaction(unsigned);
  if (parsed.type === 'eip7702') {
    const authorizationList = await authorizations(parsed.chainId, purpose);
    return await key.signTransaction({ ...parsed, authorizationList });
  }
  if (parsed.type === 'eip1559') return await key.signTransaction(parsed);
  throw new Error(`a transaction of type ${parsed.type}`);
}

async function authorizations(chainId: number, purpose: Purpose) {
  if (purpose.kind !== 'sweep') throw new Error('a sweep alone delegates');
  const { account, delegates } = purpose;
  const sweeper = sweeperDeployment(TANK.address).address;
  const { address } = delegateDeployment(hotWallet(account).address, sweeper);
  return await Promise.all(
    delegates.map(({ index, nonce }) => {
      const { signAuthorization } = depositWallet(account, index);
      if (signAuthorization === undefined) throw new Error('a local key signs authorizations');
      return signAuthorization({ address, chainId, nonce: Number(nonce) });
    }),
  );
}
