import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { topUpsLeft } from './admit.ts';
import { Alarm } from './alarm.ts';
import { solanaBookOf, tronBookOf } from './books.ts';
import { toHex } from './bytes.ts';
import { checkColdOwners } from './collector-owner.ts';
import { crashPoint } from './crash-point.ts';
import type { Entry } from './entries.ts';
import { Journal, JournalFailure } from './journal.ts';
import { judge, type Knowledge, type Verdict } from './judge.ts';
import { attemptsBefore, judgeOnce, type OnceVerdict } from './judge-once.ts';
import type { Keys } from './keys.ts';
import { Memory } from './memory.ts';
import { SignerMistake } from './mistake.ts';
import { networksOf } from './network-status.ts';
import { makeOwnerCall, ownerFeesOf } from './owner-call.ts';
import type { PaymentRules, Policy } from './policy.ts';
import type {
  AccountAnswer,
  AccountRequest,
  AddressesAnswer,
  AddressesRequest,
  ClaimAnswer,
  ClaimRequest,
  EpochAnswer,
  EpochRequest,
  JournalAnswer,
  JournalHead,
  OwnerCallAnswer,
  OwnerCallRequest,
  Refusal,
  SignAnswer,
  SignerStatus,
  SignRequest,
} from './protocol.ts';
import { Recent } from './recent.ts';
import { Refused } from './refusal.ts';
import { signOnce, solanaSigned } from './sign-once.ts';
import { readOutcomes, type ShownByNode } from './solana/own-node.ts';
import type { SolanaBook } from './solana/purposes.ts';
import { signAuthorization, signTransaction } from './transaction.ts';
import type { TronBook } from './tron/purposes.ts';
import { findUnpaid, signedByRotated } from './unpaid-items.ts';

export interface SignerOptions {
  keys: Keys;
  policy: Policy;
  journalFile: string;
  /** Throws where it is not the key file's. */
  checkPassphrase: (passphrase: string) => Promise<void>;
  /** A line for the operator; the digest of the policy is in each. */
  log: (event: string, facts: Record<string, unknown>) => void;
  /** Unix milliseconds. */
  clock?: () => number;
}

/** What the operator's own nodes show of earlier signatures. */
type Shown = Partial<ShownByNode> & Pick<Knowledge, 'unpaid'>;

/** Refusals for what was signed before. */
const LIFTED_BY_NODES: ReadonlySet<Refusal> = new Set<Refusal>(['limit', 'item_signed', 'cap_exceeded']);

/** Keys, policy and memory: signs what `judge` lets pass, after its line is on disk. */
export class Signer {
  readonly #keys: Keys;
  readonly #policy: Policy;
  readonly #journal: Journal;
  readonly #memory: Memory;
  readonly #tronBook: TronBook;
  readonly #solanaBook: SolanaBook;
  readonly #alarm: Alarm;
  readonly #options: SignerOptions;
  readonly #deposits = new Recent<string, string>(DEPOSITS_MAX);
  #passphrases: Promise<void> = Promise.resolve();

  private constructor(options: SignerOptions, journal: Journal, memory: Memory) {
    this.#options = options;
    this.#keys = options.keys;
    this.#tronBook = tronBookOf(options.keys);
    this.#solanaBook = solanaBookOf(options.keys);
    this.#policy = options.policy;
    this.#alarm = new Alarm(options.policy.freezeAfter);
    this.#journal = journal;
    this.#memory = memory;
  }

  /** @throws SignerMistake where the journal is missing, broken or of other keys */
  static async open(options: SignerOptions): Promise<Signer> {
    const { keys, policy, journalFile, log } = options;
    const memory = new Memory();
    const journal = await Journal.open(journalFile, {
      take: (entry) => memory.apply(entry),
      dropped: (bytes) => log('journal_torn', { policy: policy.digest, dropped_bytes: bytes }),
    });
    if (memory.fingerprint !== keys.fingerprint) {
      await journal.close();
      throw new SignerMistake(
        'journal',
        `the journal ${journalFile} is of the keys ${memory.fingerprint}, the key file of ${keys.fingerprint}.`,
      );
    }
    const signer = new Signer(options, journal, memory);
    try {
      checkColdOwners(policy.erc20, signer.#book, (account) => memory.epochOf(account));
    } catch (error) {
      await journal.close();
      throw error;
    }
    signer.#warnOfClock();
    signer.#record({ type: 'start', at: signer.#now(), policy: policy.digest });
    await journal.flushed();
    return signer;
  }

  status(): SignerStatus {
    const { approvers, payouts, refunds, digest } = this.#policy;
    const { held, frozen } = this.#memory;
    const now = this.#now();
    const threshold = (kind: 'payout' | 'refund', rules: PaymentRules) => ({
      approveAbove: String(rules.approveAbove),
      approvals: rules.approvals,
      unapprovedPerDay: String(rules.unapprovedPerDay),
      unapprovedUsed: String(this.#memory.unapproved(kind).total(now)),
    });
    return {
      version: VERSION,
      policy: digest,
      frozen,
      journal: this.#journal.head,
      held: held === null ? null : { history: held.history, generation: String(held.generation) },
      networks: networksOf(this.#policy, this.#keys, (rules) =>
        topUpsLeft(rules, { memory: this.#memory, now }),
      ),
      thresholds: { payouts: threshold('payout', payouts), refunds: threshold('refund', refunds) },
      approvers,
    };
  }

  account({ network, account }: AccountRequest): AccountAnswer {
    const version = VERSION;
    if (network === 'spl') return { version, network, account, hot: this.#keys.spl.hot(account).address };
    const keys = this.#keys[network];
    const epoch = network === 'erc20' ? this.#memory.epochOf(account) : 0;
    const { address: hot } = epoch === 0 ? keys.hot(account) : this.#keys.erc20.hot(account, epoch);
    const known = { version, account, extendedPublicKey: keys.extendedPublicKey(account), epoch, hot };
    if (network === 'trc20') return { ...known, network };
    return { ...known, network, coldOwner: this.#policy.erc20.coldOwners.get(account) ?? null };
  }

  /** In slices: a signature does not wait for all of them. */
  async addresses({ network, account, from, count }: AddressesRequest): Promise<AddressesAnswer> {
    const addresses: string[] = [];
    while (addresses.length < count) {
      if (addresses.length % ADDRESSES_SLICE === 0) await setImmediate();
      addresses.push(this.#keys[network].deposit(account, from + addresses.length).address);
    }
    return { network, account, from, addresses };
  }

  /**
   * Gives an account its next hot wallet, for ever: the one before only hands its coins over from now on. Asked for the present
   * epoch, it changes nothing.
   *
   * @throws Refused; SignerMistake for a wrong passphrase
   */
  async beginEpoch({ network, account, epoch, passphrase }: EpochRequest): Promise<EpochAnswer> {
    await this.#checkPassphrase(passphrase);
    const present = this.#memory.epochOf(account);
    if (account === 0) throw new Refused('epoch', 'account 0 is the gas tank, which is not rotated.');
    if (epoch !== present && epoch !== present + 1)
      throw new Refused(
        'epoch',
        `account ${account} is in epoch ${present}, so epoch ${epoch} cannot begin: they follow each other.`,
      );
    const { address: hot } = this.#keys.erc20.hot(account, epoch);
    if (epoch !== present) {
      this.#record({ type: 'epoch', at: this.#now(), account, epoch });
      this.#log('epoch_begun', { account, epoch, hot });
    }
    await this.#journal.flushed();
    crashPoint('epoch.journaled');
    return { network, account, epoch, hot, journal: this.#journal.head };
  }

  /** @throws Refused; SignerMistake for a wrong passphrase, or where the policy does not allow it */
  async ownerCall({ account, epoch, passphrase, what, ...fees }: OwnerCallRequest): Promise<OwnerCallAnswer> {
    await this.#checkPassphrase(passphrase);
    const present = this.#memory.epochOf(account);
    if (epoch !== present)
      throw new Refused('epoch', `account ${account} is in epoch ${present}, not in ${epoch}.`);
    const { address } = this.#keys.erc20.hot(account, epoch);
    const call = { account, what, address, fees: ownerFeesOf(fees) };
    const made = makeOwnerCall(this.#keys.erc20, this.#policy.erc20, call);
    const tx = 'txId' in made ? { tx: made.txId } : {};
    this.#log('txId' in made ? 'owner_signed' : 'owner_asked', { account, epoch, what, ...tx });
    return made;
  }

  /** @throws Refused, JournalFailure */
  async sign(request: SignRequest): Promise<SignAnswer> {
    const verdict = this.#decide(request, await this.#askNodes(request));
    crashPoint('sign.decided');
    const journal = verdict.entry === null ? this.#journal.head : this.#record(verdict.entry);
    // Also where the line is an older one, which may still be on its way to the disk.
    await this.#journal.flushed();
    crashPoint('sign.journaled');
    const { raw, txId } =
      'network' in verdict ? signOnce(this.#keys, request, verdict) : this.#signed(request, verdict);
    crashPoint('sign.signed');
    const { attemptId } = request.attempt;
    this.#log('signed', {
      kind: request.purpose.kind,
      attempt: attemptId,
      network: request.network,
      tx: txId,
      entries: journal.entries,
    });
    return { raw, txId, journal };
  }

  checkJournal(head: JournalHead): JournalAnswer {
    return { known: this.#journal.knows(head), journal: this.#journal.head };
  }

  /** By compare-and-set; see `WalletHolder` of the server. */
  async claim({ history, over }: ClaimRequest): Promise<ClaimAnswer> {
    const generation = this.#memory.held?.generation ?? 0n;
    if (generation !== BigInt(over)) return { claimed: false };
    this.#record({ type: 'claim', at: this.#now(), history, generation: String(generation + 1n) });
    await this.#journal.flushed();
    this.#log('claimed', { history, generation: String(generation + 1n) });
    return { claimed: true };
  }

  async freeze(reason: string): Promise<void> {
    if (this.#memory.frozen === null) {
      this.#record({ type: 'freeze', at: this.#now(), reason });
      this.#log('frozen', { reason });
    }
    await this.#journal.flushed();
  }

  /** @throws SignerMistake for a wrong passphrase */
  async unfreeze(passphrase: string): Promise<void> {
    await this.#checkPassphrase(passphrase);
    if (this.#memory.frozen !== null) {
      this.#record({ type: 'unfreeze', at: this.#now() });
      this.#alarm.reset();
      this.#log('unfrozen', {});
    }
    await this.#journal.flushed();
  }

  /** One is tried at a time, which takes a second. @throws SignerMistake for a wrong one */
  async #checkPassphrase(passphrase: string): Promise<void> {
    const turn = this.#passphrases.then(() => this.#options.checkPassphrase(passphrase));
    this.#passphrases = turn.catch(() => undefined);
    await turn;
  }

  async close(): Promise<void> {
    await this.#journal.close();
  }

  /**
   * What the operator's own nodes show of earlier signatures. Nodes are asked before the decision, since decision and journal entry are one
   * step, and not about a request that is refused whatever they answer: otherwise any caller could make the signer query them without limit.
   */
  async #askNodes(request: SignRequest): Promise<Shown> {
    const { spl, erc20 } = this.#policy;
    const { account, purpose } = request;
    const hot = this.#book.hot(account, this.#memory.epochOf(account));
    const byRotated = signedByRotated(request, this.#memory, hot);
    const before = attemptsBefore(request, { memory: this.#memory });
    if (before.length + byRotated.length === 0 || !this.#mayBeLifted(request)) return {};
    const unpaid = await findUnpaid(erc20, 'id' in purpose ? purpose.id : '', byRotated);
    if (spl === null || spl.node === null) return { unpaid };
    const signed = before.flatMap((attempt) => {
      const known = this.#memory.signedOnce(attempt);
      return known === undefined
        ? []
        : [{ attempt, at: known.at, ...solanaSigned(this.#keys, known.unsigned) }];
    });
    return { ...(await readOutcomes(spl.node, spl.genesis, signed)), unpaid };
  }

  #mayBeLifted(request: SignRequest): boolean {
    try {
      this.#judge(request, {});
      return true;
    } catch (error) {
      return error instanceof Refused && LIFTED_BY_NODES.has(error.code);
    }
  }

  #decide(request: SignRequest, shown: Shown): Verdict | OnceVerdict {
    try {
      return this.#judge(request, shown);
    } catch (error) {
      if (error instanceof Refused) this.#refused(error, request);
      throw error;
    }
  }

  #judge(request: SignRequest, shown: Shown): Verdict | OnceVerdict {
    if (request.journal !== undefined && !this.#journal.knows(request.journal))
      throw new Refused(
        'journal',
        `the caller has stored a head of entry ${request.journal.entries} that this journal lacks: it was restored from ` +
          'a backup or replaced.',
      );
    const [now, clock] = [this.#now(), this.#clock()];
    const known = { memory: this.#memory, policy: this.#policy, now, clock, ...shown };
    return request.network === 'erc20'
      ? judge(request, { ...known, book: this.#book })
      : judgeOnce(request, { ...known, tron: this.#tronBook, solana: this.#solanaBook });
  }

  #refused({ code, message }: Refused, { attempt, purpose }: SignRequest): void {
    this.#log('refused', { code, message, attempt: attempt.attemptId, kind: purpose.kind });
    const attempts = this.#alarm.refused(code, attempt.attemptId, this.#clock());
    if (attempts === undefined || this.#memory.frozen !== null) return;
    const reason = `${attempts} attempts were refused within a minute`;
    this.#record({ type: 'freeze', at: this.#now(), reason });
    this.#log('frozen', { reason });
    // The refusal does not wait for the disk. A journal that cannot be written ends the process at the next signature.
    void this.#journal.flushed().catch(() => undefined);
  }

  readonly #book = {
    hot: (account: number, epoch?: number) => this.#keys.erc20.hot(account, epoch).address,
    owner: (account: number) => this.#keys.erc20.owner(account).address,
    deposit: (account: number, index: number) =>
      this.#deposits.get(`${account} ${index}`, () => this.#keys.erc20.deposit(account, index).address),
  };

  #signed({ account, epoch }: SignRequest, { tx, delegations }: Verdict) {
    const authorizations = delegations.map(({ account: owner, index, nonce, delegate }) =>
      signAuthorization(
        { chainId: tx.chainId, delegate, nonce },
        this.#keys.erc20.deposit(owner, index).privateKey,
      ),
    );
    const { raw, hash } = signTransaction(
      tx,
      authorizations,
      this.#keys.erc20.hot(account, epoch).privateKey,
    );
    return { raw: toHex(raw), txId: toHex(hash) };
  }

  #record(entry: Entry) {
    const head = this.#journal.append(entry);
    try {
      this.#memory.apply(entry);
    } catch (error) {
      throw new JournalFailure('the memory could not follow its journal', { cause: error });
    }
    return head;
  }

  /** A clock that is put back does not bring limits back that are used up. */
  #now(): number {
    return Math.max(this.#clock(), this.#memory.newest);
  }

  #clock(): number {
    return (this.#options.clock ?? Date.now)();
  }

  #warnOfClock(): void {
    const behindMs = this.#memory.newest - this.#clock();
    if (behindMs < CLOCK_BEHIND_MS) return;
    const message =
      'the newest entry of the journal is of a later time than the clock has: set the clock, if it is wrong. If it was ahead once, ' +
      'what is signed from now on counts to the limits until a day after that entry: raise them in the policy for so long.';
    this.#log('clock_behind', { seconds: Math.round(behindMs / 1000), message });
  }

  #log(event: string, facts: Record<string, unknown>): void {
    this.#options.log(event, { policy: this.#policy.digest, ...facts });
  }
}

/** Each takes about a millisecond. */
const ADDRESSES_SLICE = 8;
/** Of deposit addresses that were swept. */
const DEPOSITS_MAX = 100_000;
/** A clock is set by less now and then. */
const CLOCK_BEHIND_MS = 60_000;
const VERSION = String(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version);
