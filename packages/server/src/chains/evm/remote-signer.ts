import type { Network } from '@florin/contract/money';
import { isByNamedKey } from '@florin/signer/approvals';
import { SignerUnavailable as NoAnswer, type SignerClient, SignerRefused } from '@florin/signer/client';
import type {
  EpochAnswer,
  EpochRequest,
  OwnerCallAnswer,
  OwnerCallRequest,
  Purpose,
  RefusalAnswer,
  SignAnswer,
  SignerStatus,
  Threshold,
} from '@florin/signer/protocol';
import type { SignersAccount } from '../accounts.ts';
import { SignerUnavailable, SigningBlocked } from '../port/port-errors.ts';
import type {
  ApprovalRule,
  ApprovalRules,
  HeldFor,
  HolderCharges,
  HolderJournal,
  HolderLimits,
  JournalHead,
  TopUpLimits,
  WalletHolder,
} from '../port/wallet-holder.ts';
import type { AskedPurpose, SignRequestOf } from '../signing/ask-signer.ts';
import type { TransactionSigner } from './signing.ts';

/** A changed policy needs a new start of the signer. */
const STATUS_MS = 5_000;
/** So far the signer's clock may be ahead: for an approval that has ended there it would take the request for an attack. */
const CLOCKS_APART_SECONDS = 60;

/** What people see of the signer's process. */
export interface RunningSigner {
  version: string;
  /** Why it signs nothing; null: it is not frozen. */
  frozenFor: string | null;
}

/** The signer process, which holds the keys of all accounts and signs for one history of the database. */
export class RemoteSigner implements TransactionSigner, WalletHolder {
  readonly #client: SignerClient;
  readonly #nowMs: () => number;
  #newest: JournalHead | undefined;
  readonly journal: HolderJournal = {
    takeNewest: () => {
      const newest = this.#newest;
      this.#newest = undefined;
      return newest;
    },
    check: async (head) => {
      const { known, journal } = await orUnavailable(this.#client.checkJournal(head));
      return { isKnown: known, current: journal };
    },
  };
  #status: { value: SignerStatus; readAtMs: number } | undefined;

  /** @param nowMs Unix milliseconds */
  constructor(client: SignerClient, nowMs: () => number) {
    this.#client = client;
    this.#nowMs = nowMs;
  }

  async sign(request: SignRequestOf<Network>): Promise<SignAnswer | RefusalAnswer> {
    try {
      // A signer that is asked for many batches without approvals takes it for an attack, and freezes.
      const missing = await this.#missingApprovals(request.purpose);
      if (missing !== undefined) return { code: 'approvals', message: missing };
      const answer = await this.#client.sign({ ...request, purpose: withoutKeys(request.purpose) });
      this.#newest = answer.journal;
      return answer;
    } catch (error) {
      if (!(error instanceof SignerRefused)) throw error;
      // A head of the journal that is lost must not come back after people have adopted the one there is.
      if (error.code === 'journal') this.#newest = undefined;
      const { code, message, from } = error;
      return { code, message, from };
    }
  }

  /** @throws SignerUnavailable */
  async readAccount(account: number): Promise<SignersAccount> {
    return await orUnavailable(this.#client.account({ network: 'erc20', account }));
  }

  /** @throws SignerUnavailable */
  async readTronAccount(account: number): Promise<SignersAccount> {
    const known = await orUnavailable(this.#client.account({ network: 'trc20', account }), 'trc20');
    return { extendedPublicKey: known.extendedPublicKey, epoch: known.epoch, coldOwner: null };
  }

  /** The hot wallet of an account on Solana. @throws SignerUnavailable */
  async readSolanaWallet(account: number): Promise<string> {
    const { hot } = await orUnavailable(this.#client.account({ network: 'spl', account }), 'spl');
    return hot;
  }

  /** To whom payers' wallets on Solana give an allowance; null: its policy has no charges. @throws SignerUnavailable */
  async readSolanaDelegate(): Promise<string | null> {
    const { networks } = await orUnavailable(this.#recentStatus(), 'spl');
    return networks.find((one) => one.network === 'spl')?.delegate ?? null;
  }

  /** Deposit addresses of an account on Solana. @throws SignerUnavailable */
  async nameAddresses(request: { account: number; from: number; count: number }): Promise<readonly string[]> {
    const { addresses } = await orUnavailable(this.#client.addresses({ network: 'spl', ...request }), 'spl');
    return addresses;
  }

  /** As `SignerClient.beginEpoch`. @throws SigningBlocked where it refuses; SignerUnavailable */
  async beginEpoch(request: Omit<EpochRequest, 'network'>): Promise<EpochAnswer> {
    const begun = await orHeld(this.#client.beginEpoch({ network: 'erc20', ...request }));
    this.#newest = begun.journal;
    return begun;
  }

  /** As `SignerClient.ownerCall`. @throws SigningBlocked where it refuses; SignerUnavailable */
  async ownerCall(request: Omit<OwnerCallRequest, 'network'>): Promise<OwnerCallAnswer> {
    return await orHeld(this.#client.ownerCall({ network: 'erc20', ...request }));
  }

  async approvalRules(): Promise<ApprovalRules> {
    // What was signed a moment ago counts.
    const { thresholds, approvers } = await orUnavailable(this.#readStatus());
    return { approvers, payouts: ruleOf(thresholds.payouts), refunds: ruleOf(thresholds.refunds) };
  }

  async limits(): Promise<HolderLimits | undefined> {
    const { networks } = await orUnavailable(this.#recentStatus());
    const rules = networks.find((one) => one.network === 'erc20');
    return rules && { collector: rules.collector, ...topUpsOf(rules) };
  }

  /** As `limits`, for Tron; in sun. @throws SignerUnavailable */
  async tronLimits(): Promise<HolderLimits | undefined> {
    const { networks } = await orUnavailable(this.#recentStatus(), 'trc20');
    const rules = networks.find((one) => one.network === 'trc20');
    return rules && { collector: rules.collector, ...topUpsOf(rules) };
  }

  async chargesOn(network: Network): Promise<HolderCharges> {
    const { networks } = await orUnavailable(this.#recentStatus(), network);
    const rules = networks.find((one) => one.network === network);
    if (rules?.network !== 'spl') return { by: rules?.collector ?? null, atMost: null };
    const { delegate, chargeAtMost: atMost = null } = rules;
    return { by: delegate, atMost: atMost === null ? null : BigInt(atMost) };
  }

  /** What runs. @throws SignerUnavailable */
  async running(): Promise<RunningSigner> {
    const { version, frozen } = await orUnavailable(this.#recentStatus());
    return { version, frozenFor: frozen?.reason ?? null };
  }

  close(): void {
    this.#client.close();
  }

  async current(): Promise<HeldFor | undefined> {
    const { held } = await this.#client.status();
    return held === null ? undefined : { history: held.history, generation: BigInt(held.generation) };
  }

  async claim(history: string, over: bigint): Promise<boolean> {
    const { claimed } = await this.#client.claim({ history, over: String(over) });
    return claimed;
  }

  /**
   * By number, of those that are in time and by keys that the policy names now: whether the signatures are good is for the
   * signer to say.
   */
  async #missingApprovals(purpose: AskedPurpose): Promise<string | undefined> {
    if (purpose.kind !== 'payout' && purpose.kind !== 'refund') return undefined;
    const rule = purpose.kind === 'payout' ? 'payouts' : 'refunds';
    const total = purpose.items.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    // Read anew: since a moment ago the policy may name other keys, or want people for less.
    const { thresholds, approvers } = await this.#readStatus();
    const { approveAbove, approvals } = thresholds[rule];
    const endsAfter = Math.floor(this.#nowMs() / 1000) + CLOCKS_APART_SECONDS;
    const current = purpose.approvals.filter(
      (approval) => approval.validUntil >= endsAfter && isByNamedKey(approvers, approval),
    );
    const given = new Set(current.map(({ approver }) => approver)).size;
    if (total <= BigInt(approveAbove) || given >= approvals) return undefined;
    return (
      `${approvals} of the policy's approvers have to sign this ${purpose.kind}; ${given} have, in time and by a key ` +
      'that it names.'
    );
  }

  async #recentStatus(): Promise<SignerStatus> {
    const known = this.#status;
    const isRecent = known !== undefined && performance.now() - known.readAtMs <= STATUS_MS;
    return isRecent ? known.value : await this.#readStatus();
  }

  async #readStatus(): Promise<SignerStatus> {
    const readAtMs = performance.now();
    const value = await this.#client.status();
    this.#status = { value, readAtMs };
    return value;
  }
}

const topUpsOf = (rules: Record<keyof TopUpLimits, string>): TopUpLimits => ({
  gasTopUp: BigInt(rules.gasTopUp),
  gasTopUpsLeft: BigInt(rules.gasTopUpsLeft),
});

/** As the signer knows it. */
function withoutKeys(purpose: AskedPurpose): Purpose {
  if (purpose.kind !== 'payout' && purpose.kind !== 'refund') return purpose;
  const approvals = purpose.approvals.map(({ approver, validUntil, signature, passkey }) => ({
    approver,
    validUntil,
    signature,
    ...(passkey !== undefined && { passkey }),
  }));
  return { ...purpose, approvals };
}

const ruleOf = ({ approveAbove, approvals, unapprovedPerDay, unapprovedUsed }: Threshold): ApprovalRule => ({
  approveAbove: BigInt(approveAbove),
  approvals,
  unapprovedPerDay: BigInt(unapprovedPerDay),
  unapprovedUsed: BigInt(unapprovedUsed),
});

/** What a person asks of the signer. @throws SigningBlocked where it refuses; SignerUnavailable */
async function orHeld<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof SignerRefused)) return await orUnavailable(Promise.reject(error));
    const reason = error.code === 'epoch' ? 'epoch' : 'invalid_request';
    throw new SigningBlocked('erc20', reason, error.message);
  }
}

/** @throws SignerUnavailable where the signer gives no answer */
async function orUnavailable<T>(answer: Promise<T>, network: Network = 'erc20'): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const isAway = error instanceof SignerRefused || error instanceof NoAnswer;
    throw isAway ? new SignerUnavailable(network, error.message, error) : error;
  }
}
