import type { Network } from '@florin/contract/money';
import type { Logger } from '../platform/observability/index.ts';
import type { Accounts, ChainAccount, SignersAccount } from './accounts.ts';

// Deposit addresses are derived from keys that the database holds. Coins that are paid to them can be moved by the signer
// only while those are its own keys: after a start with another seed, or a row that somebody changed, they would be lost.
// The owner of an account at the collector is the signer's to say, too, and must not change once payers have given mandates.

const AGAIN_MS = 60_000;
/** So many in a row are no account's fault: the database, or the signer, is away. */
const FAILURES_MAX = 3;

/** What the signer says otherwise than the database. */
export interface AccountFault {
  account: ChainAccount;
  /** `key`: coins at its addresses may be out of reach. `owner`: nothing is charged. `epoch`: nothing is signed for its hot wallet. */
  what: 'key' | 'owner' | 'epoch';
  /** For an operator, with what to do. */
  line: string;
}

interface Source {
  /** Undefined: nobody uses accounts of that network here. */
  readAccount(account: number, network: Network): Promise<SignersAccount | undefined>;
}

/**
 * Compares accounts with the signer. One that is an epoch behind the signer is no fault: `florin signer rotate` goes on.
 *
 * @throws ChainUnavailable while the signer does not answer
 */
export async function findAccountFaults(
  accounts: readonly ChainAccount[],
  source: Source,
): Promise<AccountFault[]> {
  const faults: AccountFault[] = [];
  for (const account of accounts) faults.push(...((await compare(account, source)) ?? []));
  return faults;
}

/** @returns undefined where nobody uses accounts of its network here: nothing was compared */
async function compare(account: ChainAccount, source: Source): Promise<AccountFault[] | undefined> {
  const signers = await source.readAccount(account.account, account.network);
  if (signers === undefined) return undefined;
  if (signers.extendedPublicKey !== account.extendedPublicKey) {
    const line = "the database holds a key of this account that is not the signer's";
    return [{ account, what: 'key', line }];
  }
  const faults: AccountFault[] = [];
  if (signers.coldOwner !== account.coldOwner)
    faults.push({ account, what: 'owner', line: ownerFault(account, signers.coldOwner) });
  const line = epochFault(account, signers.epoch);
  if (line !== undefined) faults.push({ account, what: 'epoch', line });
  return faults;
}

/** Why nothing is charged for an account whose owner the policy names otherwise. */
export function ownerFault(
  { account, coldOwner }: Pick<ChainAccount, 'account' | 'coldOwner'>,
  signers: string | null,
): string {
  const policy =
    signers === null
      ? `The policy names no cold owner for account ${account}`
      : `The policy names ${signers} as the cold owner of account ${account}`;
  const database = coldOwner === null ? "the signer's own key" : coldOwner;
  return (
    `${policy}, and this database has ${database} as its owner, which its mandates depend on: put cold_owners of the policy ` +
    'back. Before the first mandate florin networks enable takes the policy’s over.'
  );
}

function epochFault({ account, epoch }: ChainAccount, signers: number): string | undefined {
  if (signers === epoch || signers === epoch + 1) return undefined;
  return signers < epoch
    ? `The signer has account ${account} in epoch ${signers} and this database in ${epoch}: its journal is not the newest. Put that back, or tell it by florin signer begin-epoch ${account} ${signers + 1}.`
    : `The signer has account ${account} in epoch ${signers} and this database in ${epoch}: this database is an old copy, and nothing is signed for the account's hot wallet. Put the newest one back.`;
}

/**
 * Compares each account with the signer, once: when the process starts, or within a minute after the account was opened or changed. The
 * process stops using an account with another key, so that nobody pays to it. While the signer does not answer, accounts are
 * used unchecked, because payments must not depend on the signer.
 */
export class AccountKeyChecks {
  readonly #accounts: Accounts;
  readonly #source: Source;
  readonly #log: Logger;
  /** Names of accounts of which everything agrees. */
  readonly #confirmed = new Set<string>();
  readonly #unanswered = new Set<string>();
  #checking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(accounts: Accounts, source: Source, log: Logger) {
    this.#accounts = accounts;
    this.#source = source;
    this.#log = log;
  }

  start(): void {
    void this.check();
    this.#timer = setInterval(() => void this.check(), AGAIN_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Calls at the same time share one comparison: a signer that hangs is not asked by ever more of them. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #check(): Promise<void> {
    try {
      // Another process may have rotated a wallet, or taken a cold owner over.
      await this.#accounts.load();
      // Read once: while the signer is asked, others may read accounts anew.
      const open = this.#accounts.list().filter((account) => !this.#confirmed.has(nameOf(account)));
      // One that the signer does not answer for must not keep the others from being compared: it comes last.
      const isLate = (account: ChainAccount) => Number(this.#unanswered.has(nameOf(account)));
      const errors: unknown[] = [];
      let inARow = 0;
      for (const account of open.toSorted((a, b) => isLate(a) - isLate(b))) {
        const before = errors.length;
        await this.#compare(account).catch((error: unknown) => void errors.push(error));
        inARow = errors.length > before ? inARow + 1 : 0;
        if (inARow === FAILURES_MAX) break;
      }
      if (errors.length > 0) throw errors[0];
    } catch (error) {
      this.#log.warn({ err: error }, 'the keys of the accounts could not be compared with the signer');
    }
  }

  async #compare(account: ChainAccount): Promise<void> {
    const name = nameOf(account);
    this.#unanswered.add(name);
    const faults = await compare(account, this.#source);
    this.#unanswered.delete(name);
    if (faults === undefined) return;
    for (const fault of faults) this.#show(fault);
    if (!faults.some(({ what }) => what === 'key')) this.#accounts.confirm(account);
    if (faults.length === 0) this.#confirmed.add(name);
  }

  #show({ account, what, line }: AccountFault): void {
    if (what === 'key') this.#accounts.refuse(account);
    const { merchantId, network, account: number } = account;
    const fields = { merchant_id: merchantId, network, account: number };
    this.#log.error(fields, what === 'key' ? `${line}: the account is used no more` : line);
  }
}

const nameOf = ({ network, account, extendedPublicKey, epoch, coldOwner }: ChainAccount) =>
  `${network} ${account} ${epoch} ${coldOwner} ${extendedPublicKey}`;
