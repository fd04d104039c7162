import { placeAttempt } from '@florin/signer/numbering';
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';
import { transact } from '../../platform/db/index.ts';
import { deferred, listed, prepared } from '../../platform/db/statements/index.ts';
import type { SignedTx } from '../port/port.ts';
import type { HeldFor, SigningRequest, WalletHolder } from '../port/wallet-holder.ts';
import { readSealed } from './envelope.ts';
import type { ChainId } from './tables.ts';

/** The holder of a sandbox merchant's keys, in the tables of its chains. */
export class SimulatedHolder implements WalletHolder {
  readonly #db: Db;
  readonly #merchantId: string;

  constructor(db: Db, merchantId: string) {
    this.#db = db;
    this.#merchantId = merchantId;
  }

  async current(): Promise<HeldFor | undefined> {
    return await this.#db
      .selectFrom('simchain.holder')
      .select(['history', 'generation'])
      .where('merchant_id', '=', this.#merchantId)
      .executeTakeFirst();
  }

  async claim(history: string, over: bigint): Promise<boolean> {
    if (over === 0n) return await holdFirst(this.#db, this.#merchantId, history);
    const { numUpdatedRows } = await this.#db
      .updateTable('simchain.holder')
      .set({ history, generation: over + 1n })
      .where('merchant_id', '=', this.#merchantId)
      .where('generation', '=', over)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async chargesOn(): Promise<undefined> {
    return undefined;
  }

  async limits(): Promise<undefined> {
    return undefined;
  }

  async approvalRules(): Promise<undefined> {
    return undefined;
  }
}

async function holdFirst(db: Db, merchantId: string, history: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into simchain.holder (merchant_id, history, generation) values (${merchantId}, ${history}, 1)
    on conflict (merchant_id) do nothing`.execute(db);
  return numAffectedRows === 1n;
}

/** A request for a signature and the signed bytes that answer it. */
export interface ToSign {
  signing: SigningRequest;
  signed: SignedTx;
  /** Takes the place of bytes with a lower fee. */
  isReplacement: boolean;
}

type SignatureAnswer = SignedTx | string;
/** The attempts before it are unknown, from that ordinal on. */
interface Gap {
  from: bigint | null;
}
interface SignatureRequest extends ToSign {
  before: readonly string[];
  isWhole: boolean;
}

/**
 * Stores signed transactions before their bytes are returned, many in one statement.
 *
 * @returns for each its own bytes, or the bytes its attempt was signed with before; a string is the reason of a refusal
 */
export async function rememberSigned(
  db: Db,
  id: ChainId,
  list: readonly ToSign[],
): Promise<SignatureAnswer[]> {
  const requests = list.map((one): SignatureRequest => ({ ...one, ...knownBefore(one.signing) }));
  const answers = await remember(db, id, requests);
  const late = requests.flatMap((request, i) => {
    const answer = answers[i];
    return answer !== undefined && isGap(answer) ? [{ request, i, from: answer.from }] : [];
  });
  if (late.length > 0) {
    const filled = await Promise.all(
      late.map(async ({ request, from }) => {
        const before = await request.signing.before(from);
        return { ...request, before, isWhole: request.isWhole || from === null };
      }),
    );
    const given = await remember(db, id, filled);
    for (const [k, { i }] of late.entries()) answers[i] = given[k] ?? '';
  }
  return answers.map((answer) =>
    isGap(answer) ? 'the holder of the wallet does not know the attempts before this one' : answer,
  );
}

const knownBefore = ({ ordinal, previous }: SigningRequest) => ({
  before: previous === null || ordinal === 0n ? [] : [previous],
  isWhole: ordinal === 0n,
});

const isGap = (answer: SignatureAnswer | Gap): answer is Gap =>
  typeof answer === 'object' && 'from' in answer;

/** The lock on the holder's row serialises requests and claims. */
async function remember(
  db: Db,
  id: ChainId,
  requests: readonly SignatureRequest[],
): Promise<(SignatureAnswer | Gap)[]> {
  const [first] = requests;
  if (first === undefined) return [];
  return await transact(db, async (tx) => {
    const held = await lockHolder(tx, id.merchantId, first.signing.history);
    const memory = await readMemory(tx, id, requests);
    const answers = new Map<SignatureRequest, SignatureAnswer | Gap>();
    const inOrder = requests.toSorted((a, b) => (a.signing.ordinal < b.signing.ordinal ? -1 : 1));
    for (const request of inOrder) {
      const isHeldFor = request.signing.history === held.history;
      answers.set(
        request,
        isHeldFor
          ? memory.give(request)
          : `the holder of the wallet signs for another history since generation ${held.generation}`,
      );
    }
    await memory.write(tx);
    return requests.map((request) => answers.get(request) ?? '');
  });
}

async function lockHolder(tx: Tx, merchantId: string, history: string): Promise<HeldFor> {
  const lock = () =>
    tx
      .selectFrom('simchain.holder')
      .select(['history', 'generation'])
      .where('merchant_id', '=', merchantId)
      .forNoKeyUpdate();
  const held = await lock().executeTakeFirst();
  if (held !== undefined) return held;
  await holdFirst(tx, merchantId, history);
  return await lock().executeTakeFirstOrThrow();
}

const walletOf = ({ signing, signed }: ToSign) => `${signed.sender} ${signing.history}`;

interface NewNumber {
  request: SignatureRequest;
  ordinal: bigint;
  attemptId: string;
}

/** The attempts that the holder knows, as far as the requests concern them, and the ones it adds. */
class Memory {
  readonly #id: ChainId;
  readonly #last: Map<string, bigint>;
  readonly #known: Map<string, Map<bigint, string>>;
  readonly #signed: Map<string, SignedTx>;
  readonly #numbers: NewNumber[] = [];
  readonly #signatures: { attemptId: string; raw: string }[] = [];

  constructor(
    id: ChainId,
    known: {
      last: Map<string, bigint>;
      numbers: Map<string, Map<bigint, string>>;
      signed: Map<string, SignedTx>;
    },
  ) {
    this.#id = id;
    this.#last = known.last;
    this.#known = known.numbers;
    this.#signed = known.signed;
  }

  give(request: SignatureRequest): SignatureAnswer | Gap {
    const { signing, signed, before, isWhole } = request;
    const { ordinal, attemptId } = signing;
    const wallet = walletOf(request);
    const known = this.#known.get(wallet) ?? new Map<bigint, string>();
    const last = this.#last.get(wallet) ?? null;
    const placing = placeAttempt({ last, known }, { ordinal, attemptId, before, isWhole });
    if (placing.is === 'gap') return { from: placing.from };
    if (placing.is === 'taken')
      return `number ${placing.ordinal} of ${signed.sender} is another attempt's to the holder of the wallet`;
    const remembered = this.#signed.get(attemptId) ?? signed;
    // The same payments with the same sequence: the network takes one of the two, so it need not be remembered.
    const { isReplacement } = request;
    if (
      isReplacement &&
      placing.added.length === 0 &&
      isAlike(remembered, signed) &&
      isDearer(signed, remembered)
    )
      return signed;
    if (!isAlike(remembered, signed))
      return 'the holder of the wallet has signed this attempt with other contents';
    this.#known.set(wallet, new Map([...known, ...placing.added]));
    const highest = placing.added.at(-1)?.[0];
    if (highest !== undefined) this.#last.set(wallet, highest);
    for (const [number, id] of placing.added) this.#numbers.push({ request, ordinal: number, attemptId: id });
    if (!this.#signed.has(attemptId)) this.#signatures.push({ attemptId, raw: signed.raw });
    this.#signed.set(attemptId, remembered);
    return remembered;
  }

  async write(tx: Tx): Promise<void> {
    const { merchantId, network } = this.#id;
    const numbers = listed('u', this.#numbers, {
      sender: ['text', ({ request }) => request.signed.sender],
      history: ['text', ({ request }) => request.signing.history],
      ordinal: ['bigint', ({ ordinal }) => ordinal],
      attempt_id: ['text', ({ attemptId }) => attemptId],
    });
    const signatures = listed('u', this.#signatures, {
      attempt_id: ['text', ({ attemptId }) => attemptId],
      raw: ['text', ({ raw }) => raw],
    });
    if (this.#numbers.length > 0)
      await deferred`
        insert into simchain.numbering (merchant_id, network, sender, history, ordinal, attempt_id)
        select ${merchantId}::uuid, ${network}::text, u.* from ${numbers}`.execute(tx);
    if (this.#signatures.length > 0)
      await deferred`
        insert into simchain.signature (merchant_id, network, attempt_id, raw)
        select ${merchantId}::uuid, ${network}::text, u.* from ${signatures}`.execute(tx);
  }
}

const isDearer = ({ feeLimit: a = 0n }: SignedTx, { feeLimit: b = 0n }: SignedTx) => a > b;

const isAlike = (a: SignedTx, b: SignedTx) =>
  a.sender === b.sender && a.sequence === b.sequence && a.itemIds.join() === b.itemIds.join();

interface NumberRow {
  sender: string;
  history: string;
  ordinal: bigint;
  attempt_id: string;
}

async function readMemory(tx: Tx, id: ChainId, requests: readonly SignatureRequest[]): Promise<Memory> {
  const { merchantId, network } = id;
  const ordinals = requests.flatMap(({ signing, signed: { sender }, before }) =>
    Array.from({ length: before.length + 1 }, (_, i) => ({
      sender,
      history: signing.history,
      ordinal: signing.ordinal - BigInt(i),
    })),
  );
  const wanted = listed('u', ordinals, {
    sender: ['text', (one) => one.sender],
    history: ['text', (one) => one.history],
    ordinal: ['bigint', (one) => one.ordinal],
  });
  const numbers = await prepared<NumberRow>`
    with wanted as (select * from ${wanted})
    select n.sender, n.history, n.ordinal, n.attempt_id
    from wanted u
    join simchain.numbering n on n.merchant_id = ${merchantId} and n.network = ${network} and n.sender = u.sender
      and n.history = u.history and n.ordinal = u.ordinal
    union
    select u.sender, u.history, n.ordinal, n.attempt_id
    from (select distinct sender, history from wanted) u
    cross join lateral (
      select ordinal, attempt_id from simchain.numbering n
      where n.merchant_id = ${merchantId} and n.network = ${network} and n.sender = u.sender and n.history = u.history
      order by ordinal desc limit 1
    ) n`.execute(tx);
  const ids = requests.map(({ signing }) => signing.attemptId);
  const signatures = await prepared<{ attempt_id: string; raw: string }>`
    select attempt_id, raw from simchain.signature
    where merchant_id = ${merchantId} and network = ${network} and attempt_id = any(${ids}::text[])`.execute(
    tx,
  );
  const byWallet = Map.groupBy(numbers.rows, ({ sender, history }) => `${sender} ${history}`);
  const rows = [...byWallet];
  return new Memory(id, {
    // The rows include the newest attempt of each wallet.
    last: new Map(
      rows.map(([wallet, own]) => [
        wallet,
        own.reduce((max, { ordinal }) => (ordinal > max ? ordinal : max), -1n),
      ]),
    ),
    numbers: new Map(
      rows.map(([wallet, own]) => [wallet, new Map(own.map((row) => [row.ordinal, row.attempt_id]))]),
    ),
    signed: new Map(signatures.rows.map(({ attempt_id, raw }) => [attempt_id, readSealed(raw)])),
  });
}
